// A copy of the table, kept from its own stream, and the log of commits: what the invariants read.
import { TABLE } from "../../local/account.ts";
import type { DynamoDb, StreamRecord } from "../../local/aws/index.ts";
import type { Item } from "../../shared/store/model.ts";

export interface Commit {
  pk: string;
  sk: string;
  before: Item | undefined;
  after: Item | undefined;
  /** Who wrote. */
  by: string;
  /** When the request set out, in virtual milliseconds; undefined for what no process wrote. */
  sentAt: number | undefined;
}

export interface Mirror {
  get(pk: string, sk: string): Item | undefined;
  /** The items of a partition, by their sort keys. */
  under(pk: string): ReadonlyMap<string, Item>;
  partitions(): Iterable<string>;
  /** Reads what was committed since the last time. */
  sync(by: string, sentAt?: number): void;
}

type Wire = Record<string, unknown>;

export function createMirror(
  dynamodb: DynamoDb,
  { record, commit }: { record(record: StreamRecord): void; commit(commit: Commit): void },
): Mirror {
  const partitions = new Map<string, Map<string, Item>>();
  let position = "";
  let dirty = true;
  dynamodb.onWrite(() => {
    dirty = true;
  });

  const apply = (read: StreamRecord, by: string, sentAt: number | undefined) => {
    position = read.dynamodb.SequenceNumber;
    const { Keys, NewImage, OldImage } = read.dynamodb;
    const { pk, sk } = plain(Keys) as { pk: string; sk: string };
    const after = NewImage && (plain(NewImage) as Item);
    const items = partitions.get(pk) ?? new Map<string, Item>();
    partitions.set(pk, items);
    if (after) items.set(sk, after);
    else items.delete(sk);
    record(read);
    commit({ pk, sk, before: OldImage && (plain(OldImage) as Item), after, by, sentAt });
  };

  return {
    get: (pk, sk) => partitions.get(pk)?.get(sk),
    under: (pk) => partitions.get(pk) ?? new Map(),
    partitions: () => partitions.keys(),
    sync: (by, sentAt) => {
      if (!dirty) return;
      dirty = false;
      for (const read of dynamodb.records(TABLE, position, Number.MAX_SAFE_INTEGER)) apply(read, by, sentAt);
    },
  };
}

const plain = (item: object): Wire =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plainValue(value)]));

function plainValue(value: Wire): unknown {
  if ("S" in value) return value.S;
  if ("N" in value) return Number(value.N);
  if ("BOOL" in value) return value.BOOL;
  if ("NULL" in value) return null;
  if ("L" in value) return (value.L as Wire[]).map(plainValue);
  if ("M" in value) return plain(value.M as object);
  if ("B" in value) return new Uint8Array(Buffer.from(String(value.B), "base64"));
  return value;
}
