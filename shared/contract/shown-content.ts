// The content of a message as responses show it (CHC-1), apart from what a request may say, which needs the renderer.
import * as v from "valibot";
import type { ByChannel } from "../rules/channel-content.ts";
import { grammar } from "./grammar.ts";
import { said } from "./schemas.ts";

/** What a response says of it. The cast: it was checked when it was stored. */
const ByChannelContent = v.pipe(
  v.record(v.string(), v.looseObject({})) as unknown as v.GenericSchema<ByChannel>,
  grammar("ContentByChannel"),
  v.description("What some channels say instead of title and body"),
);

/** The content of a message, as a response shows it. */
export const ShownContent = v.object({
  title: v.string(),
  body: v.string(),
  by_channel: v.optional(ByChannelContent),
  left_out: said(
    "What is too long for a list, such as `by_channel.email.html`, and what is stored no more. The content by itself has the rest",
    v.optional(v.array(v.string())),
  ),
});
