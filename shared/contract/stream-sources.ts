// How the table's stream triggers its workers: which changes, how many at once, and for how long they are tried again.
import { HOUR } from "../kernel/clock.ts";
import { PUBLISHER, STREAM_WORKER, type StreamWorkerName } from "./messages.ts";

/** A value that a record has, or a rule for it. */
type Rule = string | { exists: true } | { prefix: string };

/** Lists are alternatives; members that are not named may be anything. */
export interface StreamPattern {
  [member: string]: StreamPattern | readonly Rule[];
}

const rowWith = (image: StreamPattern): StreamPattern => ({ dynamodb: { NewImage: image } });
const INSERTED = { eventName: ["INSERT"] } as const;

const reactionPatterns: readonly StreamPattern[] = [rowWith({ react: { S: [{ exists: true }] } })];

/** What the publisher is asked for by the settings of the deployment. */
export interface PublishedParts {
  bus: boolean;
  archive: boolean;
}

/** The variables that tell it to a function. */
export const publishedEnv = ["EVENT_BUS", "ARCHIVE_BUCKET"] as const;

/** The same by the variables of a function. */
export const publishedParts = (env: Readonly<Record<string, string | undefined>>): PublishedParts => ({
  bus: Boolean(env.EVENT_BUS),
  archive: Boolean(env.ARCHIVE_BUCKET),
});

/** Rows whose changes may tell of an outbound event type. */
const TOLD = ["subscriber", "job", "journey-step", "interaction", "fate", "membership", "leaf"];

const outbound = rowWith({ react: { S: TOLD } });
const blocks: StreamPattern = { ...INSERTED, ...rowWith({ react: { S: ["block"] } }) };
/** The row of an event that was sent alone: one that only names a block has no name. */
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

/** How long events wait for others: a few seconds for the bus, AWS's maximum for the archive alone. */
const BUS_WINDOW_SECONDS = 5;
const ARCHIVE_WINDOW_SECONDS = 300;

/** AWS's maximum. */
const MAX_AT_ONCE = 10;

/** The sources of both workers of the stream, by what is published. */
export const streamSources = (published: PublishedParts): readonly StreamSource[] => [
  {
    worker: STREAM_WORKER,
    patterns: reactionPatterns,
    batchSize: 100,
    windowSeconds: 0,
    atOnce: MAX_AT_ONCE,
    // Enough for some minutes of downstream failure. A batch that throws is first bisected.
    retries: 100,
    maxRecordAgeMs: 12 * HOUR,
  },
  {
    worker: PUBLISHER,
    patterns: publishedPatterns(published),
    batchSize: 1_000,
    // Objects of the archive are few and large. The bus is asked soon, and still not for each event by itself.
    windowSeconds: published.bus ? BUS_WINDOW_SECONDS : ARCHIVE_WINDOW_SECONDS,
    atOnce: 1,
    // A bus may refuse for hours, and nothing waits for it but its own events.
    retries: undefined,
    maxRecordAgeMs: 23 * HOUR,
  },
];
