// Ids of jobs. The partition of a job is known from its id, so that one read finds it (docs/decisions/0022).
import { timeOfUuid, uuidV8 } from "../../../kernel/ids.ts";

export const jobSources = ["api", "campaign", "journey", "schedule", "experience"] as const;
export type JobSource = (typeof jobSources)[number];

/** Sources with many jobs have partitions of their own, so that the list of the others never reads them. */
const jobKinds = ["api", "journey", "authored"] as const;
export type JobKind = (typeof jobKinds)[number];

const kindOf = (source: JobSource): JobKind => (source === "api" || source === "journey" ? source : "authored");

export const kindsOf = (sources: readonly JobSource[]): JobKind[] => [...new Set(sources.map(kindOf))];

const JOB_SHARDS = [..."0123456789abcdef"];
/** The digit after the version names the kind; with this bit the job is in one of 16 shards, by its last digit. */
const WIDE = 8;
const VERSION_AT = 14;
const VERSION = "8";

export type JobLane = `JOB#${JobKind}` | `JOB#${JobKind}#${string}`;

/** Where any other id is looked for, in vain. */
const OF_NO_JOB: JobLane = "JOB#api";

/**
 * The id of a new job, the same for a repeat with the same time and tail. @param at in milliseconds: the order of the
 * list @param tail ten bytes: random, or a hash of the job's origin @param isWide the jobs of this kind are spread over
 * shards
 */
export function jobIdOf(source: JobSource, at: number, tail: Uint8Array, isWide = false): string {
  const bytes = Uint8Array.from(tail.subarray(0, 10));
  bytes[0] = jobKinds.indexOf(kindOf(source)) + 1 + (isWide ? WIDE : 0);
  return uuidV8(at, bytes);
}

/** The digit of test sends: they have ids as jobs have, and no job (docs/decisions/0040). */
const TEST = 7;

/** The id of a test send. @param tail ten random bytes */
export function testIdOf(at: number, tail: Uint8Array): string {
  const bytes = Uint8Array.from(tail.subarray(0, 10));
  bytes[0] = TEST;
  return uuidV8(at, bytes);
}

/** Whether a message is of a test send: no report counts it. */
export const isTestId = (job: string): boolean =>
  job[VERSION_AT] === VERSION && job[VERSION_AT + 1] === String(TEST) && Number.isFinite(timeOfUuid(job));

export function laneOf(job: string): JobLane {
  if (job[VERSION_AT] !== VERSION || !Number.isFinite(timeOfUuid(job))) return OF_NO_JOB;
  const digit = Number.parseInt(job[VERSION_AT + 1] ?? "", 16);
  const kind = jobKinds[(digit & ~WIDE) - 1];
  if (!kind) return OF_NO_JOB;
  return (digit & WIDE) === 0 ? `JOB#${kind}` : `JOB#${kind}#${job.slice(-1)}`;
}

export const isOfJourney = (job: string): boolean => laneOf(job).startsWith("JOB#journey");

export const lanesOf = (kinds: readonly JobKind[], isWide: (kind: JobKind) => boolean): JobLane[] => [
  ...kinds.map((kind): JobLane => `JOB#${kind}`),
  ...kinds.filter(isWide).flatMap((kind) => JOB_SHARDS.map((shard): JobLane => `JOB#${kind}#${shard}`)),
];
