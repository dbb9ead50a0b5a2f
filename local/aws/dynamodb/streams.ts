// The streams of tables: a record per changed item, kept with the data and readable for 24 hours.
import { createHash } from "node:crypto";
import { DAY, HOUR, SECOND } from "../../../shared/clock.ts";
import type { Database, Row } from "../database.ts";
import { itemOf, type Stored } from "./stored.ts";
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
  /** Tells tables apart that had the same name one after the other. */
  tableId: string;
  label: string;
  view: StreamView;
}

export interface Streams {
  append(table: Table, before: Stored | undefined, after: Stored | undefined, expired: boolean): void;
  /** Records after a sequence number (empty text: from the first there is), oldest first. */
  read(stream: Stream, after: string, limit: number): StreamRecord[];
  /** The sequence number of the newest record of all, for iterators that start there. */
  latest(): string;
  /** Forgets records older than 24 hours, at most once an hour. */
  trim(): void;
  /** Keeps what comes after a reader's checkpoint, however old: the service may have been stopped for days. */
  keepFor(checkpoint: () => string): void;
}

const RETENTION = DAY;
const SEQUENCE_DIGITS = 21;

export const sequenceText = (sequence: number): string => String(sequence).padStart(SEQUENCE_DIGITS, "0");

export function openStreams(database: Database, now: () => number): Streams {
  database.exec(
    "CREATE TABLE IF NOT EXISTS dynamodb_records (stream TEXT, sequence INTEGER, at INTEGER, record TEXT, PRIMARY KEY (stream, sequence)) WITHOUT ROWID",
  );
  let sequence: number | undefined;
  let trimmedAt = 0;
  const checkpoints: (() => string)[] = [];
  const newest = (): number =>
    Number(database.first("SELECT coalesce(max(sequence), 0) AS newest FROM dynamodb_records")!.newest);
  /** Up to here, every reader has read. */
  const slowest = () => Math.min(Number.MAX_SAFE_INTEGER, ...checkpoints.map((checkpoint) => Number(checkpoint())));

  return {
    append: (table, before, after, expired) => {
      const stream = table.record.stream;
      if (!stream?.enabled) return;
      sequence = (sequence ?? newest()) + 1;
      const text = recordText(table, stream.view, before, after, expired);
      database.run(
        "INSERT INTO dynamodb_records (stream, sequence, at, record) VALUES (?, ?, ?, ?)",
        streamKey(table.record.TableId, stream.label),
        sequence,
        now(),
        text,
      );
    },
    read: (stream, after, limit) =>
      database
        .all(
          "SELECT sequence, at, record FROM dynamodb_records WHERE stream = ? AND sequence > ? AND (at > ? OR sequence > ?) ORDER BY sequence LIMIT ?",
          streamKey(stream.tableId, stream.label),
          after === "" ? 0 : Number(after),
          now() - RETENTION,
          slowest(),
          limit,
        )
        .map((row) => recordOf(row, stream)),
    latest: () => sequenceText(sequence ?? newest()),
    trim: () => {
      if (now() < trimmedAt + HOUR) return;
      trimmedAt = now();
      // The newest record stays, so that sequence numbers go on from it after a restart.
      const done = Math.min((sequence ?? newest()) - 1, slowest());
      database.run("DELETE FROM dynamodb_records WHERE at <= ? AND sequence <= ?", now() - RETENTION, done);
    },
    keepFor: (checkpoint) => {
      checkpoints.push(checkpoint);
    },
  };
}

const streamKey = (tableId: string, label: string): string => `${tableId}/${label}`;

function recordText(
  table: Table,
  view: StreamView,
  before: Stored | undefined,
  after: Stored | undefined,
  expired: boolean,
): string {
  const keys = keyOf(itemOf((after ?? before)!), table.keys);
  const showOld = before && (view === "OLD_IMAGE" || view === "NEW_AND_OLD_IMAGES");
  const showNew = after && (view === "NEW_IMAGE" || view === "NEW_AND_OLD_IMAGES");
  const size = sizeOfItem(keys) + (showOld ? before.size : 0) + (showNew ? after.size : 0);
  const name = !before ? "INSERT" : !after ? "REMOVE" : "MODIFY";
  const images = (showNew ? `,"new":${after.text}` : "") + (showOld ? `,"old":${before.text}` : "");
  return `{"name":"${name}","size":${size},"expired":${expired},"keys":${JSON.stringify(keys)}${images}}`;
}

interface KeptRecord {
  name: StreamRecord["eventName"];
  size: number;
  expired: boolean;
  keys: Item;
  new?: Item;
  old?: Item;
}

function recordOf(row: Row, stream: Stream): StreamRecord {
  const kept = JSON.parse(String(row.record)) as KeptRecord;
  const sequence = sequenceText(Number(row.sequence));
  return {
    eventID: createHash("md5")
      .update(`${streamKey(stream.tableId, stream.label)}/${sequence}`)
      .digest("hex"),
    eventName: kept.name,
    eventVersion: "1.1",
    eventSource: "aws:dynamodb",
    awsRegion: REGION,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(Number(row.at) / SECOND),
      Keys: kept.keys,
      ...(kept.new && { NewImage: kept.new }),
      ...(kept.old && { OldImage: kept.old }),
      SequenceNumber: sequence,
      SizeBytes: kept.size,
      StreamViewType: stream.view,
    },
    eventSourceARN: streamArn(stream.table, stream.label),
    ...(kept.expired && { userIdentity: { type: "Service", principalId: "dynamodb.amazonaws.com" } }),
  };
}
