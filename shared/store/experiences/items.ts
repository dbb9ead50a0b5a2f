// The stored form of in-app experiences (INX). It does not contain the shapes of their blocks, which need the renderer:
// many functions write or name an experience.
import * as v from "valibot";
import { LastError, Timestamp } from "../../contract/schemas.ts";
import { experienceStatuses } from "../../rules/experience-states.ts";
import { entity, type RowOf } from "../item.ts";
import { json } from "../json-text.ts";
import type { Audience, Content, Display, VariantB } from "./blocks.ts";

export const formats = ["banner", "modal", "inbox_only", "card", "fullscreen"] as const;

/** The fields in the API, as they are stored. */
export const experienceFields = {
  id: v.string(),
  name: v.string(),
  status: v.picklist(experienceStatuses),
  start_at: v.optional(Timestamp),
  end_at: v.optional(Timestamp),
  notification_id: v.optional(v.string()),
  last_error: v.optional(LastError),
  split_percentage: v.optional(v.number()),
  holdout_percentage: v.number(),
  created_at: Timestamp,
  updated_at: Timestamp,
  archived_at: v.optional(Timestamp),
};

export const ExperienceItem = entity("experience", {
  about: "An in-app experience; only a draft can be changed.",
  row: {
    ...experienceFields,
    format: v.picklist(formats),
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
