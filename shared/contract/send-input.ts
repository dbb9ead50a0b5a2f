// The shapes that every kind of send shares: an audience, channels, shares.
import * as v from "valibot";
import { grammar } from "./grammar.ts";
import { Id, Uuid } from "./schemas.ts";

const MAX_CHANNELS = 20;

/** NTF-5 to NTF-8. */
export const Target = v.pipe(
  v.variant(
    "type",
    [
      v.strictObject({ type: v.literal("all") }),
      v.strictObject({ type: v.literal("list"), list_id: Uuid }),
      v.strictObject({ type: v.literal("segment"), segment_id: Uuid }),
    ],
    "must be all, list or segment",
  ),
  grammar("Target"),
);
export type Target = v.InferOutput<typeof Target>;

export const ChannelIds = v.pipe(
  v.array(Id, "must be an array"),
  v.minLength(1, "must name at least one channel"),
  v.maxLength(MAX_CHANNELS, `must name at most ${MAX_CHANNELS} channels`),
);

/** A share in whole percent, at most 99 (ABH-4). */
export const Percentage = (from: number) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(from, `must be at least ${from}`),
    v.maxValue(99, "must be at most 99"),
  );
