// The stored form of in-app experiences (INX).
import * as v from "valibot";
import { LastError, said, Timestamp } from "../../contract/schemas.ts";
import { experienceStatuses } from "../../rules/experience-states.ts";
import { entity, type RowOf } from "../item.ts";
import { json } from "../json-text.ts";
import { Audience, Content, DEFAULT_DISPLAY, Display, Format, VariantB } from "./blocks.ts";

/** An experience as the API returns it. */
export const Experience = v.object({
  id: v.string(),
  name: v.string(),
  format: Format,
  status: v.picklist(experienceStatuses),
  content: Content,
  /** AMB-120. */
  display: v.optional(Display, DEFAULT_DISPLAY),
  audience: v.optional(Audience),
  start_at: v.optional(Timestamp),
  end_at: v.optional(Timestamp),
  notification_id: v.optional(said("The send that publishing began", v.string())),
  last_error: v.optional(said("Why its send reached nobody. A pause and a resume start another one", LastError)),
  variant_b: v.optional(VariantB),
  split_percentage: v.optional(v.number()),
  holdout_percentage: v.number(),
  created_at: Timestamp,
  updated_at: Timestamp,
  archived_at: v.optional(Timestamp),
});
export type Experience = Omit<v.InferOutput<typeof Experience>, "display"> & {
  display?: v.InferOutput<typeof Display> | undefined;
};

export const ExperienceItem = entity("experience", {
  about: "An in-app experience; only a draft can be changed.",
  row: {
    ...Experience.entries,
    content: json<v.InferOutput<typeof Content>>(),
    display: v.optional(json<v.InferOutput<typeof Display>>()),
    audience: v.optional(json<v.InferOutput<typeof Audience>>()),
    variant_b: v.optional(json<v.InferOutput<typeof VariantB>>()),
    /** Counts the changes, as its version: a transition is conditional on the one that was read. */
    rev: v.number(),
    /** A pause canceled the send: a resume starts another one (AMB-6). */
    canceled_send: v.optional(v.boolean()),
  },
  writers: ["api-experiences", "end-experience", "fan-out", "deliver"],
});
export type ExperienceRow = RowOf<typeof ExperienceItem>;
