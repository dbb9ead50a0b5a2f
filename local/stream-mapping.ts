// The mapping of a table's stream: in order, with a checkpoint that survives a restart, bounded retries and bisection.
import { SECOND } from "../shared/kernel/clock.ts";
import type { StreamRecord } from "./aws/index.ts";
import { backoff, failedIdentifiers, type Mapping, type MappingDeps } from "./mapping.ts";

export interface StreamMappingOptions {
  table: string;
  function: string;
  /** Distinguishes several streams of one table name: the checkpoint belongs to this one. */
  stream?: string | undefined;
  batchSize?: number;
  /** Records that it rejects never reach the function. */
  filter?: (record: StreamRecord) => boolean;
  /** Maximum invocations of one batch (splitting it does not count). */
  maxAttempts?: number;
  /** How old a record may become before it is given up, as an alternative to a number of attempts. */
  maxRecordAgeMs?: number;
  /** The on-failure destination: gets batches whose retries are used up. */
  onFailure?: (records: StreamRecord[]) => void;
  /** How many batches of different partition keys are in flight at once. */
  parallelizationFactor?: number;
  /** The partition key of a record, for `parallelizationFactor`. */
  partitionKey?: (record: StreamRecord) => string;
}

/** Records that still have to be delivered, and when. */
interface Segment {
  records: StreamRecord[];
  attempts: number;
  notBefore: number;
}

const READ_LIMIT = 1_000;
const MAX_ATTEMPTS = 10;

export function streamMapping(deps: MappingDeps, options: StreamMappingOptions): Mapping {
  const { clock, database, dynamodb, host, log } = deps;
  const { table, function: target, batchSize = 100, filter, onFailure } = options;
  const { maxRecordAgeMs, parallelizationFactor = 1, partitionKey = partitionKeyOf } = options;
  const maxAttempts = options.maxAttempts ?? (maxRecordAgeMs === undefined ? MAX_ATTEMPTS : Number.POSITIVE_INFINITY);
  const name = `${options.stream ?? `${table} stream`} -> ${target}`;

  database.exec("CREATE TABLE IF NOT EXISTS stream_checkpoints (mapping TEXT PRIMARY KEY, sequence TEXT NOT NULL)");
  let checkpoint = String(
    database.first("SELECT sequence FROM stream_checkpoints WHERE mapping = ?", name)?.sequence ?? "",
  );
  let position = checkpoint;
  let readTo = checkpoint;
  let unread: StreamRecord[] = [];
  let mayHaveMore = true;
  /** One lane per concurrent batch; a lane's first segment blocks the following ones. */
  let lanes: Segment[][] = [];
  let busy = false;
  let failures = 0;
  let retryAt = 0;

  dynamodb.onWrite((written) => {
    if (written === table) mayHaveMore = true;
  });
  dynamodb.keepRecords(() => checkpoint);

  const save = () => {
    if (position === checkpoint) return;
    database.run("INSERT OR REPLACE INTO stream_checkpoints (mapping, sequence) VALUES (?, ?)", name, position);
    checkpoint = position;
  };

  const read = async () => {
    if (unread.length > 0 || !mayHaveMore) return;
    mayHaveMore = false;
    try {
      unread = await dynamodb.records(table, readTo, READ_LIMIT);
    } catch (error) {
      mayHaveMore = true;
      throw error;
    }
    mayHaveMore ||= unread.length === READ_LIMIT;
    readTo = unread.length > 0 ? sequenceOf(unread.at(-1)!) : readTo;
  };

  /** Moves the next records into lanes; the position is where they end, rejected records included. */
  const take = async () => {
    await read();
    const room = batchSize * parallelizationFactor;
    const chosen: StreamRecord[] = [];
    let consumed = 0;
    while (consumed < unread.length && chosen.length < room) {
      const record = unread[consumed]!;
      consumed++;
      if (!filter || filter(record)) chosen.push(record);
    }
    if (consumed === 0) return false;
    position = sequenceOf(unread[consumed - 1]!);
    unread = unread.slice(consumed);
    lanes = split(chosen);
    return true;
  };

  const split = (records: StreamRecord[]): Segment[][] => {
    const byLane = Map.groupBy(records, (record) => laneOf(partitionKey(record), parallelizationFactor));
    return [...byLane.values()].map((lane) => {
      const segments: Segment[] = [];
      for (let from = 0; from < lane.length; from += batchSize) {
        segments.push({ records: lane.slice(from, from + batchSize), attempts: 0, notBefore: 0 });
      }
      return segments;
    });
  };

  const giveUp = (segment: Segment) => {
    log("The retries of stream records are used up.", { mapping: name, records: segment.records.map(sequenceOf) });
    onFailure?.(segment.records);
  };

  const isTooOld = ({ records: [first] }: Segment) =>
    maxRecordAgeMs !== undefined && clock.now() - writtenAt(first) > maxRecordAgeMs;

  /** What remains of a segment after an invocation: nothing, the rest from the first failure on, or two halves. */
  const remainder = async (segment: Segment): Promise<Segment[]> => {
    const { records, attempts } = segment;
    let from = 0;
    let threw = false;

    try {
      from = firstFailure(records, await host.invoke(target, { Records: records }));
      if (from === records.length) return [];
    } catch (error) {
      threw = true;
      log("A worker failed.", { mapping: name, error: String(error) });
    }

    // A batch at which the function throws is split in two, to isolate the record that fails.
    if (threw && records.length > 1) {
      const middle = Math.ceil(records.length / 2);
      return [records.slice(0, middle), records.slice(middle)].map((half) => ({ ...segment, records: half }));
    }

    // Progress within the batch resets the count for the rest.
    const tries = from > 0 ? 1 : attempts + 1;
    const rest = { records: records.slice(from), attempts: tries, notBefore: clock.now() + backoff(tries) };
    if (tries < maxAttempts && !isTooOld(rest)) return [rest];
    giveUp(rest);
    return [];
  };

  const isDue = (lane: Segment[]) => lane[0] !== undefined && lane[0].notBefore <= clock.now();

  const runLane = async (lane: Segment[]) => {
    while (isDue(lane)) lane.splice(0, 1, ...(await remainder(lane[0]!)));
  };

  const round = async () => {
    if (lanes.length === 0 && !(await take())) return false;
    await Promise.all(lanes.filter(isDue).map(runLane));
    lanes = lanes.filter((lane) => lane.length > 0);
    if (lanes.length === 0) save();
    failures = 0;
    return true;
  };

  const runnable = () => {
    if (busy || clock.now() < retryAt) return false;
    return lanes.length > 0 ? lanes.some(isDue) : unread.length > 0 || mayHaveMore;
  };

  const pump = async () => {
    if (!runnable()) return false;
    busy = true;
    try {
      return await round();
    } catch (error) {
      retryAt = clock.now() + backoff(++failures);
      log("A stream could not be read.", { mapping: name, error: String(error) });
      return false;
    } finally {
      busy = false;
    }
  };

  const nextAt = () => {
    if (busy) return undefined;
    if (retryAt > clock.now()) return retryAt;
    const due = lanes.flatMap(([head]) => (head ? [head.notBefore] : []));
    return due.length > 0 ? Math.min(...due) : undefined;
  };

  return { name, function: target, runnable, pump, nextAt };
}

/** Where delivery continues: after the last record if all succeeded. An unknown identifier fails the whole batch. */
function firstFailure(records: StreamRecord[], answer: unknown): number {
  const failed = failedIdentifiers(answer);
  if (!failed) return 0;
  const places = failed.map((id) => records.findIndex((record) => sequenceOf(record) === id));
  if (places.includes(-1)) return 0;
  return Math.min(records.length, ...places);
}

const writtenAt = (record: StreamRecord | undefined): number =>
  (record?.dynamodb.ApproximateCreationDateTime ?? Number.POSITIVE_INFINITY) * SECOND;

const sequenceOf = (record: StreamRecord): string => record.dynamodb.SequenceNumber;

function partitionKeyOf({ dynamodb }: StreamRecord): string {
  const keys = dynamodb.Keys;
  return JSON.stringify(keys.PK ?? keys.pk ?? keys);
}

function laneOf(key: string, lanes: number): number {
  if (lanes === 1) return 0;
  let hash = 0;
  for (let index = 0; index < key.length; index++) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) >>> 0;
  return hash % lanes;
}
