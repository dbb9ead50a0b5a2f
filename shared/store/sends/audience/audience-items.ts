// The stored form of a job's audience: ranges, their chunks, and the claims of the chunks (docs/decisions/0002).
import * as v from "valibot";
import { item } from "../../item.ts";
import { json } from "../../json-text.ts";
import { PLANNED_RANGE } from "../chunks/range-names.ts";
import { tallyAttributes } from "../chunks/tallies.ts";
import type { ExtraReads } from "./extra-reads.ts";

const partition = ({ job }: { job: string }) => `J#${job}`;
const padded = (n: number) => String(n).padStart(7, "0");

interface RangeKey {
  job: string;
  range: string;
}

interface ChunkKey extends RangeKey {
  n: number;
}

/** A range has a partition of its own, and so has each chunk with its claim (docs/decisions/0084). */
const partitionOfRange = ({ job, range }: RangeKey) => (range === PLANNED_RANGE ? `J#${job}` : `J#${job}#${range}`);
const partitionOfChunk = ({ job, range, n }: ChunkKey) =>
  range === PLANNED_RANGE ? `J#${job}` : `J#${job}#${range}#${padded(n)}`;

export const GivenIds = item({
  about: "Up to 1,000 ids that the caller gave, written before the job.",
  pk: partition,
  sk: ({ n }: { n: number }) => `A#${padded(n)}`,
  prefix: "A#",
  row: { ids: v.string(), expires: v.number() },
  writers: ["api-mcp", "api-notifications", "api-experiences", "run-campaign", "run-schedule", "step-journey"],
  lifetime: "30 days after the time of the job",
});

export const RangeItem = item({
  about: "How far a range of the audience is planned, and the totals of its closed chunks.",
  pk: partitionOfRange,
  sk: ({ range }: RangeKey) => `R#${range}`,
  prefix: "R#",
  row: {
    /** Chunks known so far. */
    chunks: v.optional(v.number()),
    /** Everyone in these chunks, held out and skipped included. */
    people: v.optional(v.number()),
    /** Where planning continues. */
    cursor: v.optional(v.string()),
    planned: v.optional(v.boolean()),
    /** The number of its last chunk, once it is planned. */
    last: v.optional(v.number()),
    chunks_closed: v.optional(v.number()),
    closed: v.optional(v.boolean()),
    /** Recipients who wait for the end of quiet hours. */
    deferred: v.optional(v.number()),
    /** Deliveries that are counted by the hour already. */
    timed: v.optional(v.number()),
    /** When one of its chunks was worked through once, in milliseconds; only of a send with a brake. */
    passed_at: v.optional(v.number()),
    /** Other outcomes that are counted by the day already: `timed:n:failed`, `timed:by:email`. */
    "timed:*": v.number(),
    ...tallyAttributes,
  },
  writers: ["api-notifications", "api-experiences", "fan-out", "deliver"],
});

export const ChunkItem = item({
  about: "Up to 200 recipients of a range, and where the next chunk begins.",
  pk: partitionOfChunk,
  sk: ({ range, n }: ChunkKey) => `C#${range}#${padded(n)}`,
  prefix: "C#",
  row: {
    /** When its candidates were known to exist, in milliseconds. */
    planned_at: v.number(),
    /** The cost of reading its candidates beyond the rates of recipients (F10). */
    extra: v.optional(json<ExtraReads>()),
    /** Packed recipients, separated by spaces. */
    recipients: v.string(),
    /** Packed ids of the control group. */
    held_out: v.optional(v.string()),
    /** How many were skipped, by reason. */
    skipped: v.optional(json<Record<string, number>>()),
    next: v.optional(v.string()),
  },
  writers: ["api-notifications", "api-experiences", "fan-out", "deliver", "erase"],
  personal: "anonymized",
});

export const SkippedIds = item({
  about: "Ids of a chunk's skipped recipients, by reason.",
  pk: partitionOfChunk,
  sk: ({ range, n }: ChunkKey) => `X#${range}#${padded(n)}`,
  prefix: "X#",
  row: { ids: json<Record<string, string[]>>(), expires: v.number() },
  writers: ["api-notifications", "api-experiences", "fan-out"],
  lifetime: "30 days",
});

export const ClaimItem = item({
  about: "Which worker has a chunk, and how far it has got.",
  pk: partitionOfChunk,
  sk: ({ range, n }: ChunkKey) => `K#${range}#${padded(n)}`,
  prefix: "K#",
  row: {
    owner: v.string(),
    /** Until when the owner has it, in milliseconds. */
    lease: v.number(),
    /** When the chunk was first claimed, in milliseconds. */
    at: v.number(),
    /** How often it was written: a worker recognizes its own write by it. */
    step: v.optional(v.number()),
    progress: v.optional(v.string()),
    /** Released, to be continued at this time, in milliseconds. */
    waits: v.optional(v.number()),
    deferred: v.optional(v.number()),
    /** The outcomes of the chunk that its range counts already. */
    reported: v.optional(json<Record<string, number>>()),
    closed: v.optional(v.boolean()),
    ...tallyAttributes,
  },
  writers: ["deliver"],
});
