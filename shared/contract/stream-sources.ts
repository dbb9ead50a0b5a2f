// How the table's stream triggers its workers: which changes, how many at once, and how long they are retried.
import { HOUR } from "../kernel/clock.ts";
import { PUBLISHER, STREAM_WORKER, type StreamWorkerName } from "./messages.ts";

/** A value in a record, or a rule for it. */
type Rule = string | { exists: true } | { prefix: string };

/** Lists are alternatives; members that are not named may have any value. */
export interface StreamPattern {
  [member: string]: StreamPattern | readonly Rule[];
}

const rowWith = (image: StreamPattern): StreamPattern => ({ dynamodb: { NewImage: image } });
const INSERTED = { eventName: ["INSERT"] } as const;

const reactionPatterns: readonly StreamPattern[] = [rowWith({ react: { S: [{ exists: true }] } })];

/** The parts of the publisher that the settings of the deployment turn on. */
export interface PublishedParts {
  bus: boolean;
  archive: boolean;
}

/** The environment variables with these settings. */
export const publishedEnv = ["EVENT_BUS", "ARCHIVE_BUCKET"] as const;

/** The parts to publish, by the variables of a function. */
export const publishedParts = (env: Readonly<Record<string, string | undefined>>): PublishedParts => ({
  bus: Boolean(env.EVENT_BUS),
  archive: Boolean(env.ARCHIVE_BUCKET),
});

/** Rows whose changes may cause an outbound event. */
const TOLD = ["subscriber", "job", "journey-step", "interaction", "fate", "membership", "leaf"];

const outbound = rowWith({ react: { S: TOLD } });
const blocks: StreamPattern = { ...INSERTED, ...rowWith({ react: { S: ["block"] } }) };
/** The row of a single event. A row that only names a block has no event name. */
const lone: StreamPattern = {
  ...INSERTED,
  dynamodb: { Keys: { sk: { S: ["e"] } }, NewImage: { event_name: { S: [{ exists: true }] } } },
};
/** Rows of the ledger, and messages of the inbox, which are their own ledger entries. */
const ledger: StreamPattern = { dynamodb: { Keys: { sk: { S: [{ prefix: "R#" }, { prefix: "I#" }] } } } };

const publishedPatterns = ({ bus, archive }: PublishedParts): readonly StreamPattern[] => [
  ...(bus || archive ? [outbound, blocks, lone] : []),
  ...(archive ? [ledger] : []),
];

interface StreamSource {
  worker: StreamWorkerName;
  /** One of them must match. Without any, the worker has no source. */
  patterns: readonly StreamPattern[];
  batchSize: number;
  /** How long records may be gathered before an invocation. */
  windowSeconds: number;
  /** Batches of a shard at a time. The changes of one partition stay in order. */
  atOnce: number;
  /** Retries of a batch. Undefined: until its records are too old. */
  retries: number | undefined;
  /** When a record goes to the bucket of its worker, which is before the stream drops it after 24 hours. */
  maxRecordAgeMs: number;
}

/** How long events wait for others: a few seconds for the bus, AWS's maximum if there is only the archive. */
const BUS_WINDOW_SECONDS = 5;
const ARCHIVE_WINDOW_SECONDS = 300;

/** The maximum of AWS. */
const MAX_AT_ONCE = 10;

/** The sources of both workers of the stream, by the published parts. */
export const streamSources = (published: PublishedParts): readonly StreamSource[] => [
  {
    worker: STREAM_WORKER,
    patterns: reactionPatterns,
    batchSize: 100,
    windowSeconds: 0,
    atOnce: MAX_AT_ONCE,
    // Enough for some minutes of downstream failure. A batch that throws is bisected first.
    retries: 100,
    maxRecordAgeMs: 12 * HOUR,
  },
  {
    worker: PUBLISHER,
    patterns: publishedPatterns(published),
    batchSize: 1_000,
    // Objects of the archive are few and large. Entries go to the bus soon, and still not one by one.
    windowSeconds: published.bus ? BUS_WINDOW_SECONDS : ARCHIVE_WINDOW_SECONDS,
    atOnce: 1,
    // A bus may refuse for hours, and only its own events wait for it.
    retries: undefined,
    maxRecordAgeMs: 23 * HOUR,
  },
];
