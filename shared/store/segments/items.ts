// The stored form of segments (SEG) and of their computation.
import * as v from "valibot";
import { LastError, Timestamp } from "../../contract/schemas.ts";
import { counterRow } from "../counters.ts";
import { editFields } from "../edits.ts";
import { entity, item, type RowOf } from "../item.ts";
import { json } from "../json-text.ts";

/** The fields of a segment that are stored as the API returns them. */
export const segmentFields = {
  id: v.string(),
  name: v.string(),
  is_dynamic: v.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const SegmentItem = entity("segment", {
  about: "A segment with its rule, and how far its computation is.",
  row: {
    ...segmentFields,
    react: v.literal("segment"),
    rule: json<Record<string, unknown>>(),
    /** Raised by each change of the rule. */
    rule_version: v.number(),
    /** Raised by each computation. */
    run: v.number(),
    /** The version of the rule that the current run computes. */
    run_version: v.number(),
    parts: v.number(),
    parts_done: v.number(),
    /** When the current run began, and the one before it that was computed completely, in milliseconds. */
    run_at: v.optional(v.number()),
    since: v.optional(v.number()),
    /** The last version of the rule that was computed completely; 0 before. */
    computed: v.number(),
    /** Why the computation of a run has not ended in time. */
    last_error: v.optional(LastError),
    failed_run: v.optional(v.number()),
    ...editFields,
  },
  writers: ["api-segments", "recompute-segment"],
});

export type SegmentRow = RowOf<typeof SegmentItem>;

export const Fill = item({
  about: "How far the computation of a segment is in one part of the subscribers.",
  pk: ({ segment }: { segment: string }) => `FILL#${segment}`,
  sk: ({ part }: { part: string }) => part,
  row: {
    run: v.number(),
    /** Where the next page begins; absent once the part is done. */
    shard: v.optional(v.string()),
    after: v.optional(v.string()),
    done: v.optional(v.boolean()),
  },
  writers: ["recompute-segment", "delete-memberships"],
});

export const DynamicSegmentCount = item({
  about: "The number of dynamic segments, for the limit of the plan.",
  pk: () => "DYNAMIC",
  row: counterRow,
  writers: ["api-segments", "recount"],
});

export const SegmentCheck = item({
  about: "The timer that is set for the next end of a window in a rule of a dynamic segment, for one subscriber.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: () => "GC",
  row: { at: v.number() },
  writers: ["segment", "recompute-segment"],
  personal: "removed",
});
