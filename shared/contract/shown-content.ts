// The content of a message in responses (CHC-1). It is separate from the shapes of requests, which need the renderer.
import * as v from "valibot";
import type { ByChannel } from "../rules/channel-content.ts";
import { grammar } from "./grammar.ts";
import { said } from "./schemas.ts";

/** The variations of channels in a response. The cast is safe: the content was checked when it was stored. */
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
