// The shapes that every kind of send shares: an audience, channels, shares.
import * as v from "valibot";
import { grammar } from "./grammar.ts";
import { Id, SomeOf, Uuid, WholeNumber } from "./schemas.ts";

const MAX_CHANNELS = 20;

const kind = <const Type extends string>(type: Type) => v.pipe(v.literal(type), v.description("The kind of target"));

/** NTF-5 to NTF-8, by the names of the reference. */
export const targets = {
  AllTarget: v.pipe(v.strictObject({ type: kind("all") }), v.description("All subscribers of the workspace.")),
  ListTarget: v.pipe(
    v.strictObject({ type: kind("list"), list_id: v.pipe(Uuid, v.description("Id of the list")) }),
    v.description("The subscribers of a list."),
  ),
  SegmentTarget: v.pipe(
    v.strictObject({ type: kind("segment"), segment_id: v.pipe(Uuid, v.description("The segment")) }),
    v.description("The members of a segment."),
  ),
};

export const AnyTarget = v.pipe(
  v.variant("type", [targets.AllTarget, targets.ListTarget, targets.SegmentTarget], "must be all, list or segment"),
  v.description("Who is addressed: all subscribers, those of a list, or those of a segment."),
);

export const Target = v.pipe(AnyTarget, grammar("Target"));
export type Target = v.InferOutput<typeof Target>;

export const ChannelIds = SomeOf(Id, "channel", MAX_CHANNELS);

/** A share in whole percent, at most 99 (ABH-4). */
export const Percentage = (from: number) => WholeNumber(from, 99);
