// What the service stores and sends to itself, by kind: rows of the table and messages of the queues, as they are written
// while a workspace is filled. A release records it, so that later versions are tested with it.
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { toJsonSchema } from "@valibot/to-json-schema";
import { declaredItems } from "../../docs/generate/items.ts";
import { type QueueName, queueNames, queues } from "../../shared/contract/messages.ts";
import { DAY } from "../../shared/kernel/clock.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import type { AnyIndex, AnyItem } from "../../shared/store/item.ts";
import { faultsOfRow } from "../support/checked-rows.ts";
import { fillWorkspace } from "../support/full-workspace.ts";
import { testWorld } from "../support/world.ts";

/** A row as the table returns it; bytes are base64 text. */
type WireRow = Record<string, Record<string, unknown>>;

/** The values of a row. */
export const valuesOf = (row: WireRow): object =>
  unmarshall(
    Object.fromEntries(
      Object.entries(row).map(([name, { B, ...value }]) => [
        name,
        (B === undefined ? value : { B: Buffer.from(String(B), "base64") }) as never,
      ]),
    ),
  );

interface Corpus {
  /** Queue → bodies, one of each shape. */
  messages: Partial<Record<QueueName, object[]>>;
  /** Item → rows, one of each shape. */
  rows: Record<string, WireRow[]>;
}

export interface StorageRelease extends Corpus {
  recorded: string;
  /** Queue → what the release reads. */
  reads: Record<string, JsonSchema>;
  /** Item → the attributes that the release expects in every row. */
  required: Record<string, string[]>;
}

const wireOf = (row: object): WireRow =>
  Object.fromEntries(
    Object.entries(marshall(row, { removeUndefinedValues: true })).map(([name, value]) => [
      name,
      value.B === undefined ? { ...value } : { B: Buffer.from(value.B).toString("base64") },
    ]),
  );

function shapeOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value;
  if (Array.isArray(value)) return `[${value.length > 0 ? shapeOf(value[0]) : ""}]`;
  const parts = Object.entries(value).map(([name, part]) => `${name}:${shapeOf(part)}`);
  return `{${parts.sort().join()}}`;
}

/** Stands for the parts of any key. */
const PART = "\u0001";
const anyParts: object = new Proxy({}, { get: () => PART });

const literal = (text: string): string => text.replaceAll(/[^\w#]/g, "\\$&");

/** What the keys of an item look like, and how much of them is fixed. */
function keysOf({ pk, sk, scope }: AnyItem): { matches(row: WireRow): boolean; fixed: number } {
  const partition = (scope === "workspace" ? `T#${PART}#` : "") + pk(anyParts);
  const sort = sk ? sk(anyParts) : partition;
  const pattern = (text: string) => new RegExp(`^${text.split(PART).map(literal).join(".+")}$`);
  const patterns = { pk: pattern(partition), sk: pattern(sort) };
  return {
    matches: (row) => patterns.pk.test(String(row.pk?.S)) && patterns.sk.test(String(row.sk?.S)),
    fixed: `${partition}${sort}`.replaceAll(PART, "").length,
  };
}

/** Finds the item that a row is one of, by its key and its attributes. Keys that hold a hash are not told apart by it. */
async function itemFinder(): Promise<(row: WireRow) => string | undefined> {
  const known = (await declaredItems()).items.map(({ name, item }) => ({ name, item, ...keysOf(item) }));
  known.sort((a, b) => b.fixed - a.fixed);
  return (row) => {
    const plain = valuesOf(row);
    return known.find(({ item, matches }) => matches(row) && faultsOfRow(item, plain).length === 0)?.name;
  };
}

/** Fills a workspace and lets two days pass. @returns the messages that were sent, and the rows that were read or left. */
export async function writtenNow(): Promise<Corpus> {
  const nameOf = await itemFinder();
  const names = new Map((await declaredItems()).items.map(({ name, item }) => [item as AnyItem | AnyIndex, name]));
  const messages = new Map<string, [QueueName, object]>();
  const rows = new Map<string, [string, WireRow]>();
  const keep = (name: string, row: WireRow) => void rows.set(`${name} ${shapeOf(row)}`, [name, row]);
  const send = (url: unknown, body: unknown) => {
    const queue = String(url).split("/").at(-1) as QueueName;
    if (!queueNames.includes(queue)) return;
    const message = JSON.parse(String(body));
    messages.set(`${queue} ${shapeOf(message)}`, [queue, message]);
  };
  const world = await testWorld({
    hooks: () => ({
      before: (service, operation, input) => {
        if (operation === "CreateSchedule") {
          const { Arn, Input } = input.Target as { Arn: string; Input: string };
          send(Arn.replaceAll(":", "/"), Input);
        }
        if (service !== "sqs") return;
        if (operation === "SendMessage") send(input.QueueUrl, input.MessageBody);
        if (operation === "SendMessageBatch")
          for (const { MessageBody } of input.Entries as { MessageBody: string }[]) send(input.QueueUrl, MessageBody);
      },
    }),
    onRead: (item: AnyItem | AnyIndex, row) => {
      const name = names.get(item);
      if (name) keep(name, wireOf(row));
    },
  });
  const take = async () => {
    const { Items = [] } = await world.dynamodb.operate("Scan", { TableName: world.env.TABLE_NAME });
    for (const row of Items as WireRow[]) {
      const name = nameOf(row);
      if (name) keep(name, row);
    }
  };
  try {
    await fillWorkspace(world, await world.tenant());
    await take();
    await world.advance(2 * DAY);
    await take();
  } finally {
    await world.close();
  }
  const byName = <N extends string, V>(found: Iterable<[N, V]>) => {
    const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
    const grouped = Map.groupBy(sorted, ([name]) => name);
    return Object.fromEntries([...grouped].map(([name, all]) => [name, all.map(([, value]) => value)]));
  };
  return { messages: byName(messages.values()), rows: byName(rows.values()) } as Corpus;
}

/** What this version reads. */
export const readsOf = (): Record<string, JsonSchema> =>
  Object.fromEntries(
    queueNames.map((name) => {
      const { $schema: _, ...schema } = toJsonSchema(queues[name].message, { errorMode: "ignore" }) as JsonSchema;
      return [name, schema];
    }),
  );

/** The attributes that this version expects in every row of an item. */
export async function requiredOf(): Promise<Record<string, string[]>> {
  const isRequired = ([name, { type }]: [string, { type: string }]) => type !== "optional" && !name.endsWith("*");
  return Object.fromEntries(
    (await declaredItems()).items.map(({ name, item }) => [
      name,
      Object.entries(item.row)
        .filter(isRequired)
        .map(([attribute]) => attribute)
        .sort(),
    ]),
  );
}
