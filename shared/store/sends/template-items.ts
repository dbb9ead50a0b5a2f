// The stored form of notification templates (TPL).
import * as v from "valibot";
import { entity } from "../item.ts";

/** The content of a template: each field is an attribute of the row, and a field of `content` in the API. */
export const templateContent = { title: v.string(), body: v.string() };

export const TemplateItem = entity("template", {
  about: "A notification template.",
  row: { id: v.string(), name: v.string(), ...templateContent, created_at: v.string() },
  writers: ["api-templates"],
});
