// A change of one row as the table's stream reports it.
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { SECOND } from "../kernel/clock.ts";
import { ActorEvents } from "./events/items.ts";
import { type AnyItem, type RowOf, rowOf } from "./item.ts";
import { fromJson } from "./json-text.ts";
import type { Item } from "./model.ts";

export interface Change<D extends AnyItem = AnyItem> {
  tenant: string;
  /** Undefined for a new row. */
  before: RowOf<D> | undefined;
  after: RowOf<D>;
  /** When the row was written, in milliseconds, to the second. */
  at: number;
  /** The label of the stream, and the place in it. Places order the changes of a partition. */
  stream: string;
  position: string;
}

export type ReactOf<D> = RowOf<D> extends { react?: infer R } ? Exclude<R, undefined> : never;

/** The changes of one batch, in order. */
export interface Changes {
  /** The changes of an item whose attribute `react` has this value. */
  of<D extends AnyItem>(item: D, react: ReactOf<D>): Change<D>[];
  /** The changes of an item without `react`, recognized by the row's key and attributes. */
  where<D extends AnyItem>(item: D, isOne: (row: Item) => boolean): Change<D>[];
}

export function changesOf(records: readonly DynamoDBRecord[]): Changes {
  const changes = records.flatMap(changeOf);
  const where: Changes["where"] = (item, isOne) =>
    changes
      .filter(({ after }) => isOne(after))
      .map(({ before, after, ...change }) => ({
        ...change,
        before: before && rowOf(item, before),
        after: rowOf(item, after),
      }));
  return { of: (item, react) => where(item, (row) => row.react === react), where };
}

export const isNew = ({ before }: Pick<Change, "before">): boolean => before === undefined;

/** The row reached this status by this change. */
export const becomes =
  (status: string) =>
  ({ before, after }: { before: { status?: string } | undefined; after: { status?: string } }): boolean =>
    after.status === status && before?.status !== status;

export const ofTenants = <D extends AnyItem>(changes: readonly Change<D>[]): Map<string, Change<D>[]> =>
  Map.groupBy(changes, ({ tenant }) => tenant);

interface ReactingEvent {
  tenant: string;
  id: string;
  event_name: string;
}

/** The new events that something reacts to. */
export const newEvents = (changes: Changes): ReactingEvent[] =>
  changes
    .of(ActorEvents, "events")
    .filter(isNew)
    .flatMap(({ tenant, after: { watched } }) =>
      watched === undefined ? [] : fromJson(watched).map(([event_name, id]) => ({ tenant, id, event_name })),
    );

type RawChange = Omit<Change, "before" | "after"> & { before: Item | undefined; after: Item };

function changeOf({ dynamodb, eventSourceARN = "" }: DynamoDBRecord): RawChange[] {
  if (!dynamodb?.NewImage) return [];
  const after = imageOf(dynamodb.NewImage);
  const before = dynamodb.OldImage && imageOf(dynamodb.OldImage);
  const stream = eventSourceARN.slice(eventSourceARN.lastIndexOf("/") + 1);
  const position = dynamodb.SequenceNumber ?? "";
  const at = (dynamodb.ApproximateCreationDateTime ?? 0) * SECOND;
  return [{ tenant: after.pk.split("#")[1] ?? "", before, after, at, stream, position }];
}

/**
 * The row in the stream's wire format. It is that of the client, under another type, except that bytes are in Base64.
 */
const imageOf = (wire: NonNullable<NonNullable<DynamoDBRecord["dynamodb"]>["NewImage"]>) =>
  unmarshall(
    Object.fromEntries(
      Object.entries(wire).map(([name, value]) => [
        name,
        (value.B === undefined ? value : { B: Buffer.from(value.B, "base64") }) as AttributeValue,
      ]),
    ),
  ) as Item;
