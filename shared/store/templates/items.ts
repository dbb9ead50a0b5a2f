// The stored form of notification templates (TPL).
import * as v from "valibot";
import type { ByChannel } from "../../rules/channel-content.ts";
import { editFields } from "../edits.ts";
import { entity, type RowOf } from "../item.ts";
import { fromJson, json } from "../json-text.ts";

export const TemplateItem = entity("template", {
  about: "A notification template.",
  row: {
    id: v.string(),
    name: v.string(),
    title: v.string(),
    body: v.string(),
    /** The variations of some channels. */
    by_channel: v.optional(json<ByChannel>()),
    created_at: v.string(),
    ...editFields,
  },
  writers: ["api-templates"],
});

export interface TemplateContent {
  title: string;
  body: string;
  by_channel?: ByChannel | undefined;
}

export const contentOfTemplate = ({ title, body, by_channel }: RowOf<typeof TemplateItem>): TemplateContent => ({
  title,
  body,
  ...(by_channel && { by_channel: fromJson(by_channel) }),
});
