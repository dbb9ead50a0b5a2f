// What an experience may be made of: single fields are checked here, rules across fields in the store.
import * as v from "valibot";
import { maxCharacters, TimestampInput } from "../../../shared/contract/schemas.ts";
import { Audience, Content, Display, Format, VariantB } from "../../../shared/store/experiences/blocks.ts";
import { MAX_NAME_CHARACTERS } from "../../../shared/store/experiences/experiences.ts";

const text = v.string("must be a string");

const Percentage = (from: number) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(from, `must be at least ${from}`),
    v.maxValue(99, "must be at most 99"),
  );

const Name = v.pipe(text, v.trim(), v.nonEmpty("must not be empty"), maxCharacters(MAX_NAME_CHARACTERS));

/** INX-26: an empty one clears it. */
const Time = v.union([v.literal(""), TimestampInput], "must be an RFC 3339 timestamp, or empty for none");

const optional = {
  display: v.optional(Display),
  audience: v.optional(Audience),
  start_at: v.optional(Time),
  end_at: v.optional(Time),
  variant_b: v.optional(VariantB),
  split_percentage: v.optional(
    v.pipe(Percentage(1), v.description("The share of arm A in percent, 1 to 99. Default: 50 where there is an arm B")),
  ),
  holdout_percentage: v.optional(Percentage(0)),
};

export const NewExperience = v.strictObject({ name: Name, format: Format, content: Content, ...optional });

export const ExperienceChange = v.strictObject({
  name: v.optional(Name),
  format: v.optional(Format),
  content: v.optional(Content),
  ...optional,
  remove_variant_b: v.optional(v.boolean("must be true or false")),
});

export const CopyName = v.strictObject({ name: v.optional(Name) });
