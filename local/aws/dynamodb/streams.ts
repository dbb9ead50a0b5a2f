// The streams of tables: a record per changed item, kept with the data and readable for 24 hours.
import { hash } from "node:crypto";
import type { Database } from "../database.ts";
import { DAY, HOUR, SECOND } from "../time.ts";
import { openRecordPacks, type RecordRow, recordIn } from "./record-packs.ts";
import { itemOf, type StoredItem, textOf } from "./stored.ts";
import { keyOf, REGION, type StreamView, streamArn, type Table } from "./tables.ts";
import { type Item, sizeOfItem } from "./values.ts";

/** One record of a Lambda event from a DynamoDB stream. */
export interface StreamRecord {
  eventID: string;
  eventName: "INSERT" | "MODIFY" | "REMOVE";
  eventVersion: string;
  eventSource: "aws:dynamodb";
  awsRegion: string;
  dynamodb: {
    ApproximateCreationDateTime: number;
    Keys: Item;
    NewImage?: Item;
    OldImage?: Item;
    SequenceNumber: string;
    SizeBytes: number;
    StreamViewType: StreamView;
  };
  eventSourceARN: string;
  /** Present when the time-to-live service removed the item. */
  userIdentity?: { type: "Service"; principalId: "dynamodb.amazonaws.com" };
}

export interface Stream {
  table: string;
  /** Distinguishes successive tables of the same name. */
  tableId: string;
  label: string;
  view: StreamView;
}

export interface Streams {
  append(table: Table, before: StoredItem | undefined, after: StoredItem | undefined, expired: boolean): void;
  /** Commits or rolls back the records that were appended since the last call. */
  settle(committed: boolean): void;
  /** Records after a sequence number (empty text: from the first one), oldest first. */
  read(stream: Stream, after: string, limit: number): StreamRecord[];
  /** The sequence number of the newest record of all, for iterators that start there. */
  latest(): string;
  /** Deletes records older than 24 hours, at most once an hour. */
  trim(): void;
  /** Keeps records after a reader's checkpoint, however old, because the service may have been stopped for days. */
  keepFor(checkpoint: () => string): void;
}

const RETENTION = DAY;
/** How many records are also kept in memory: readers are seldom further behind. */
const MAX_TAIL = 2_000;
const SEQUENCE_DIGITS = 21;

export const sequenceText = (sequence: number): string => String(sequence).padStart(SEQUENCE_DIGITS, "0");

export function openStreams(database: Database, now: () => number): Streams {
  /** Without a file, records are in memory only. */
  const isKept = database.undo === undefined;
  if (isKept)
    database.exec(
      "CREATE TABLE IF NOT EXISTS dynamodb_records (stream TEXT, sequence INTEGER, at INTEGER, record TEXT, PRIMARY KEY (stream, sequence)) WITHOUT ROWID",
    );
  const packs = isKept ? openRecordPacks(database) : undefined;
  let sequence: number | undefined;
  let trimmedAt = 0;
  const checkpoints: (() => string)[] = [];
  let appended: KeptRecord[] = [];
  /** All records after a sequence number. */
  let tail = { after: isKept ? Number.POSITIVE_INFINITY : 0, records: [] as KeptRecord[] };
  const newest = (): number =>
    isKept ? Number(database.first("SELECT coalesce(max(sequence), 0) AS newest FROM dynamodb_records")!.newest) : 0;
  /** Every reader has read up to here. */
  const slowest = () => Math.min(Number.MAX_SAFE_INTEGER, ...checkpoints.map((checkpoint) => Number(checkpoint())));

  /** Records in the file: those in packs are the older ones. */
  const recordsOf = (
    key: string,
    after: number,
    limit: number,
    isReadable: (at: number, sequence: number) => boolean,
  ): RecordRow[] => {
    const rows: RecordRow[] = [];
    let from = after;
    for (;;) {
      const packed = packs?.read(key, from, limit) ?? [];
      const next =
        packed.length > 0
          ? packed
          : database
              .all(
                "SELECT sequence, at, record FROM dynamodb_records WHERE stream = ? AND sequence > ? ORDER BY sequence LIMIT ?",
                key,
                from,
                limit,
              )
              .map(recordIn);
      rows.push(...next.filter(({ at, sequence: number }) => isReadable(at, number)));
      from = next.at(-1)?.sequence ?? from;
      if (rows.length >= limit || next.length === 0) return rows.slice(0, limit);
    }
  };

  return {
    append: (table, before, after, expired) => {
      const stream = table.record.stream;
      if (!stream) return;
      sequence ??= newest();
      tail.after = Math.min(tail.after, sequence);
      const kept: KeptRecord = {
        stream: streamKey(table.record.TableId, stream.label),
        sequence: ++sequence,
        at: now(),
        change: changeOf(table, stream.view, before, after, expired),
      };
      appended.push(kept);
      if (!isKept) return;
      database.run(
        "INSERT INTO dynamodb_records (stream, sequence, at, record) VALUES (?, ?, ?, ?)",
        kept.stream,
        kept.sequence,
        kept.at,
        recordText(kept.change, before, after),
      );
    },
    settle: (committed) => {
      if (appended.length === 0) return;
      if (committed) tail.records.push(...appended);
      appended = [];
      if (!isKept || tail.records.length <= MAX_TAIL) return;
      const records = tail.records.slice(-MAX_TAIL / 2);
      tail = { after: records[0]!.sequence - 1, records };
      packs?.pack(Math.min(tail.after, slowest()));
    },
    read: (stream, after, limit) => {
      const from = after === "" ? 0 : Number(after);
      if (from >= tail.after) {
        const key = streamKey(stream.tableId, stream.label);
        const oldest = now() - RETENTION;
        const start = tail.records.findLastIndex(({ sequence: number }) => number <= from) + 1;
        return tail.records
          .slice(start)
          .filter((kept) => kept.stream === key && (kept.at > oldest || kept.sequence > slowest()))
          .slice(0, limit)
          .map((kept) => recordOf(kept, stream));
      }
      const oldest = now() - RETENTION;
      const key = streamKey(stream.tableId, stream.label);
      return recordsOf(key, from, limit, (at, number) => at > oldest || number > slowest()).map((row) =>
        recordOf(keptIn(row), stream),
      );
    },
    latest: () => sequenceText(sequence ?? newest()),
    trim: () => {
      if (now() < trimmedAt + HOUR) return;
      trimmedAt = now();
      // The newest record stays, so that sequence numbers continue from it after a restart.
      const done = Math.min((sequence ?? newest()) - 1, slowest());
      const oldest = now() - RETENTION;
      packs?.trim(oldest, done);
      if (isKept) database.run("DELETE FROM dynamodb_records WHERE at <= ? AND sequence <= ?", oldest, done);
      else tail.records = tail.records.filter((kept) => kept.at > oldest || kept.sequence > done);
    },
    keepFor: (checkpoint) => {
      checkpoints.push(checkpoint);
    },
  };
}

const streamKey = (tableId: string, label: string): string => `${tableId}/${label}`;

interface KeptRecord {
  stream: string;
  sequence: number;
  at: number;
  change: Change;
}

interface Change {
  name: StreamRecord["eventName"];
  size: number;
  expired: boolean;
  keys: Item;
  new?: Item;
  old?: Item;
}

function changeOf(
  table: Table,
  view: StreamView,
  before: StoredItem | undefined,
  after: StoredItem | undefined,
  expired: boolean,
): Change {
  const keys = keyOf(itemOf((after ?? before)!), table.keys);
  const showOld = before && (view === "OLD_IMAGE" || view === "NEW_AND_OLD_IMAGES");
  const showNew = after && (view === "NEW_IMAGE" || view === "NEW_AND_OLD_IMAGES");
  const ofExisting = after ? "MODIFY" : "REMOVE";
  return {
    name: before ? ofExisting : "INSERT",
    size: sizeOfItem(keys) + (showOld ? before.size : 0) + (showNew ? after.size : 0),
    expired,
    keys,
    ...(showNew && { new: itemOf(after) }),
    ...(showOld && { old: itemOf(before) }),
  };
}

/** A change as JSON, from the existing texts of its items. */
function recordText(change: Change, before: StoredItem | undefined, after: StoredItem | undefined): string {
  const { name, size, expired, keys } = change;
  const images = (change.new ? `,"new":${textOf(after!)}` : "") + (change.old ? `,"old":${textOf(before!)}` : "");
  return `{"name":"${name}","size":${size},"expired":${expired},"keys":${JSON.stringify(keys)}${images}}`;
}

const keptIn = ({ sequence, at, record }: RecordRow): Pick<KeptRecord, "sequence" | "at" | "change"> => ({
  sequence,
  at,
  change: JSON.parse(record) as Change,
});

function recordOf(
  { change, at, sequence }: Pick<KeptRecord, "sequence" | "at" | "change">,
  stream: Stream,
): StreamRecord {
  const number = sequenceText(sequence);
  return {
    eventID: hash("md5", `${streamKey(stream.tableId, stream.label)}/${number}`),
    eventName: change.name,
    eventVersion: "1.1",
    eventSource: "aws:dynamodb",
    awsRegion: REGION,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(at / SECOND),
      Keys: change.keys,
      ...(change.new && { NewImage: change.new }),
      ...(change.old && { OldImage: change.old }),
      SequenceNumber: number,
      SizeBytes: change.size,
      StreamViewType: stream.view,
    },
    eventSourceARN: streamArn(stream.table, stream.label),
    ...(change.expired && { userIdentity: { type: "Service", principalId: "dynamodb.amazonaws.com" } }),
  };
}
