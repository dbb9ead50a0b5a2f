// The stored form of the runs of journeys (D-JNY-RUN).
import * as v from "valibot";
import { said, Timestamp } from "../../contract/schemas.ts";
import { runStatuses } from "../../rules/run-states.ts";
import { item, type KeyOf, type RowOf } from "../item.ts";
import { json } from "../json-text.ts";

export const Cause = v.object({
  event_id: v.optional(v.string()),
  event_name: v.optional(v.string()),
  occurred_at: said("Of an event that was received later than it occurred", v.optional(Timestamp)),
  segment_id: v.optional(v.string()),
});
export type Cause = v.InferOutput<typeof Cause>;

/** The fields of a run that are stored as the API returns them. */
export const runFields = {
  id: v.string(),
  journey_id: v.string(),
  version: v.number(),
  subscriber_id: v.string(),
  status: v.picklist(runStatuses),
};

/** The prefix of the sort keys of a subscriber's runs in one journey. */
export const runPrefix = (journey: string): string => `J#${journey}#`;

/** The newest run of a subscriber in a journey has this in its key, in place of its id. It sorts after all ids. */
export const NEWEST = "newest";

export const RunItem = item({
  about:
    "A run of a journey, stored with its subscriber; every move of it increases `seq`. The newest one guards entry.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ journey, run }: { journey: string; run: string }) => runPrefix(journey) + run,
  prefix: "J#",
  row: {
    ...runFields,
    step: v.string(),
    entered_at: Timestamp,
    seq: v.number(),
    context: json<Cause>(),
    ended_at: v.optional(v.string()),
    end_reason: v.optional(v.string()),
    /** Its position: see `Position` of the engine. */
    at: v.optional(v.number()),
    from: v.optional(v.number()),
    since: v.optional(v.number()),
    until: v.optional(v.number()),
    heard: v.optional(v.number()),
    paused: v.optional(v.number()),
    spent: v.optional(v.string()),
    message: v.optional(v.string()),
    /** The pack of its last move, if that was a write of its own. */
    pack: v.optional(v.string()),
    /** Set in a row that is not a run, and prevents a late one of its pack (entry-packs.ts). */
    expires: v.optional(v.number()),
    /** How often a step had an outcome: `o:<step>|<outcome>`. */
    "o:*": v.number(),
    /** The later outcome of a sent message, by its job: `f:<job>`. */
    "f:*": v.string(),
  },
  writers: ["step-journey", "api-journeys", "mail-event", "erase", "recount"],
  personal: "removed",
});

export type RunRow = RowOf<typeof RunItem>;
/** A run by its id, or a row by what its key says. */
export type RunKey = KeyOf<typeof RunItem>;

export const RunEntry = item({
  about: "Finds a run from its journey: its subscriber. After an erasure it names none, and says how the run ended.",
  pk: ({ journey, shard }: { journey: string; shard: string }) => `journey#${journey}#${shard}`,
  sk: ({ run }: { run: string }) => run,
  row: {
    /** The status at entry; final after an erasure. */
    status: v.picklist(runStatuses),
    subscriber: v.optional(v.string()),
    /** The outcomes of a run whose subscriber was erased. */
    "o:*": v.number(),
  },
  writers: ["step-journey", "api-journeys", "erase"],
  personal: "anonymized",
});

export type RunEntryRow = RowOf<typeof RunEntry>;

/** Runs of a pack that change the counts by the same numbers. */
interface PackGroup {
  add: Partial<Record<string, number>>;
  /**
   * `<run>:<seq>` before the move, and `<run>:0:<subscriber>` for a run that begins, separated by spaces; ids as
   * `packId` writes them.
   */
  runs: string;
}

export const RunPack = item({
  about: "Runs that move together, each by a write of its own, and what their moves add to the counts.",
  pk: ({ shard }: { shard: string }) => `RUNPACK#${shard}`,
  sk: ({ pack }: { pack: string }) => pack,
  row: { journey: v.string(), groups: json<PackGroup[]>() },
  writers: ["step-journey", "api-journeys", "erase", "recount"],
  lifetime: "until the runs that moved are counted",
});

export const RunPackSeal = item({
  about: "Says that the runs of a pack that moved are counted, and that no other run of it moves.",
  pk: ({ pack }: { pack: string }) => `RUNPACKSEAL#${pack}`,
  row: { expires: v.number() },
  writers: ["step-journey", "api-journeys", "erase", "recount"],
  lifetime: "7 days",
});

export const packKey = (pack: string) => ({ pack, shard: pack.at(-1) ?? "" });

export const rowKeyOf = ({ subscriber_id: subscriber, journey_id: journey, sk }: RunRow): RunKey => ({
  subscriber,
  journey,
  run: sk.slice(runPrefix(journey).length),
});

/** The keys of these runs, except those whose subscriber was erased. */
export const runKeys = (journey: string, entries: readonly RunEntryRow[]) =>
  entries.flatMap(({ sk, subscriber }) => (subscriber === undefined ? [] : [{ subscriber, journey, run: sk }]));

export const runEntryKey = (journey: string, run: string) => ({ journey, shard: run.at(-1) ?? "", run });

export const RefusalCount = item({
  about: "Entries that a journey refused, by reason, in 8 shards, and the batches that were counted last.",
  pk: ({ journey, shard }: { journey: string; shard: number }) => `journey#${journey}#n${shard}`,
  sk: () => "REFUSED",
  row: {
    "n:*": v.number(),
    /** Guards each change. */
    rev: v.number(),
    /** Digest and time of each. */
    seen: json<(readonly [digest: string, at: number])[]>(),
  },
  writers: ["step-journey"],
});

export const QuotaRefusal = item({
  about: "An entry that a journey refused because the sends of the month were used up: no other row tells of it later.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  /** `cause`: the key of the trigger. */
  sk: ({ journey, cause }: { journey: string; cause: string }) => `Q#${journey}#${cause}`,
  prefix: "Q#",
  row: { journey_id: v.string(), cause: v.string(), expires: v.number() },
  writers: ["step-journey", "erase"],
  lifetime: "90 days",
  personal: "removed",
});

export const JourneyCount = item({
  about: "Runs by status, and active runs and outcomes by step, in 8 shards; changed in the transactions of runs.",
  pk: ({ journey, shard }: { journey: string; shard: number }) => `journey#${journey}#n${shard}`,
  row: {
    "r:*": v.number(),
    "a:*": v.number(),
    "o:*": v.number(),
    changes: v.number(),
    /** `changes` when the row was last compared with the runs. */
    recounted: v.optional(v.number()),
  },
  writers: ["step-journey", "api-journeys", "mail-event", "erase", "recount"],
});
