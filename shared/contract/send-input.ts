// The shapes that every kind of send shares: an audience, channels, shares.
import * as v from "valibot";
import { grammar } from "./grammar.ts";
import { Id, SomeOf, said, Uuid, WholeNumber } from "./schemas.ts";

const MAX_CHANNELS = 20;

const kind = <const Type extends string>(type: Type) => said("The kind of target", v.literal(type));

/** The target of a send (NTF-5 to NTF-8), by the names of the reference. */
export const targets = {
  AllTarget: said("All subscribers of the workspace.", v.strictObject({ type: kind("all") })),
  ListTarget: said(
    "The subscribers of a list.",
    v.strictObject({ type: kind("list"), list_id: said("Id of the list", Uuid) }),
  ),
  SegmentTarget: said(
    "The members of a segment.",
    v.strictObject({ type: kind("segment"), segment_id: said("The segment", Uuid) }),
  ),
};

export const AnyTarget = said(
  "Who is addressed: all subscribers, those of a list, or those of a segment.",
  v.variant("type", [targets.AllTarget, targets.ListTarget, targets.SegmentTarget], "must be all, list or segment"),
);

export const Target = v.pipe(AnyTarget, grammar("Target"));
export type Target = v.InferOutput<typeof Target>;

export const ChannelIds = SomeOf(Id, "channel", MAX_CHANNELS);

/** A share in whole percent, at most 99 (ABH-4). */
export const Percentage = (from: number) => WholeNumber(from, 99);
