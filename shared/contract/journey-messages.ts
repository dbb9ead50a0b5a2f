// The messages that start, move or end runs of journeys.
import * as v from "valibot";

const id = v.pipe(v.string(), v.maxLength(128));

const segmentMove = v.object({ subscriber: id, segment: id, entered: v.boolean(), at: v.string() });

/** A run of a journey whose delay or wait ends. */
const runTimer = v.object({
  subscriber: id,
  journey: id,
  run: id,
  seq: v.number(),
  at: v.number(),
  since: v.optional(v.number()),
});
export type RunTimer = v.InferOutput<typeof runTimer>;

export const JourneyMessage = v.union([
  /** Set by timers: the delays and waits of these runs end. */
  v.object({ kind: v.literal("tick"), tenant: id, runs: v.array(runTimer) }),
  v.object({ kind: v.literal("events"), tenant: id, events: v.array(id) }),
  /** Subscribers entered or left segments. */
  v.object({
    kind: v.literal("moves"),
    tenant: id,
    moves: v.array(segmentMove),
    /** Moves of historical events: they start no journeys and are counted (AMB-147). */
    historical: v.optional(v.array(segmentMove)),
  }),
  /** The attributes of these subscribers changed. */
  v.object({ kind: v.literal("attributes"), tenant: id, subscribers: v.array(id) }),
  /** The events of these subscribers as visitors now belong to them. */
  v.object({ kind: v.literal("identified"), tenant: id, subscribers: v.array(id) }),
  /** A send of a step has ended: the outcomes of its runs are set from it. */
  v.object({ kind: v.literal("ended"), tenant: id, job: id }),
  /** All runs of a journey, or those of a shard from a position on. */
  v.object({
    kind: v.literal("sweep"),
    tenant: id,
    journey: id,
    mode: v.picklist(["resume", "cancel", "delete", "migrate"]),
    migration: v.optional(id),
    shard: v.optional(v.string()),
    after: v.optional(id),
  }),
]);
