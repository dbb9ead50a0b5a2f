// An experience as the API returns it (INX-2).
import * as v from "valibot";
import { said } from "../../contract/schemas.ts";
import { Audience, Content, DEFAULT_DISPLAY, Display, Format, VariantB } from "./blocks.ts";
import { experienceFields } from "./items.ts";

const { id, name, status, notification_id, last_error, ...others } = experienceFields;

export const Experience = v.object({
  id,
  name,
  format: Format,
  status,
  content: Content,
  /** AMB-120. */
  display: v.optional(Display, DEFAULT_DISPLAY),
  audience: v.optional(Audience),
  variant_b: v.optional(VariantB),
  notification_id: said("The send that publishing began", notification_id),
  last_error: said("Why its send reached nobody. A pause and a resume start another one", last_error),
  ...others,
});
export type Experience = Omit<v.InferOutput<typeof Experience>, "display"> & {
  display?: v.InferOutput<typeof Display> | undefined;
};
