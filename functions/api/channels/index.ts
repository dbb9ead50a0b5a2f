// Channels: through what a workspace sends, whether their credentials work, and what may be sent by chat app.
import * as v from "valibot";
import { callbacks } from "../../../shared/callbacks.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { maxCharacters, Timestamp } from "../../../shared/http/schemas.ts";
import { channelTypes } from "../../../shared/plans.ts";
import { storeWrite, timers } from "../../../shared/resources.ts";
import { channelStatuses } from "../../../shared/rules/channel-states.ts";
import {
  createChannel,
  getChannel,
  listChannels,
  removeChannel,
  updateChannel,
} from "../../../shared/store/channels/channels.ts";
import { requestVerification } from "../../../shared/store/channels/verifications.ts";
import { chatAppTemplateEndpoints } from "./chat-app-templates.ts";
import { credentialEndpoints } from "./credentials.ts";

const MAX_NAME_CHARACTERS = 128;

const Name = v.pipe(
  v.string("must be a string"),
  v.trim(),
  v.nonEmpty("must not be empty"),
  maxCharacters(MAX_NAME_CHARACTERS),
);

const Channel = v.object({
  id: v.string(),
  type: v.picklist(channelTypes),
  name: v.string(),
  active: v.boolean(),
  status: v.picklist(channelStatuses),
  verified_at: v.optional(Timestamp),
  verification_error: v.optional(v.string()),
  created_at: Timestamp,
});

const NewChannel = v.strictObject({
  type: v.picklist(channelTypes, `must be one of ${channelTypes.join(", ")}`),
  name: Name,
});

const ChannelChange = v.strictObject({
  name: v.optional(Name),
  active: v.optional(v.boolean("must be true or false")),
});

const Force = v.object({
  force: v.pipe(
    v.optional(v.picklist(["true", "false"], "must be true or false"), "false"),
    v.transform((text) => text === "true"),
  ),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeWrite] });

export const channels = group("channels", "Through what a workspace sends.", [
  endpoint(
    "POST /api/v1/channels",
    { permission: "channels:write", uses: [timers] },
    {
      summary: "Create a channel",
      description: "It is `pending` until its credentials are verified; an `in_app` channel needs none.",
      body: NewChannel,
      returns: Channel,
      status: 201,
      example: { body: { type: "ios", name: "Our app for iPhone" } },
      errors: ["FEATURE_NOT_AVAILABLE", "QUOTA_EXCEEDED"],
    },
    ({ store, timers, caller, body }) => createChannel(store, timers, workspaceOf(caller).plan, body),
  ),

  endpoint(
    "GET /api/v1/channels",
    {},
    { summary: "List channels", returns: v.object({ channels: v.array(Channel) }) },
    async ({ store }) => ({ channels: await listChannels(store) }),
  ),

  endpoint(
    "GET /api/v1/channels/:id",
    {},
    { summary: "Get a channel", returns: Channel, errors: ["NOT_FOUND"] },
    ({ store, params }) => getChannel(store, params.id),
  ),

  endpoint(
    "PATCH /api/v1/channels/:id",
    { permission: "channels:write" },
    {
      summary: "Rename a channel, or switch it on or off for sending",
      body: ChannelChange,
      returns: Channel,
      example: { body: { active: false } },
      errors: ["NOT_FOUND"],
    },
    ({ store, params, body }) => updateChannel(store, params.id, body),
  ),

  endpoint(
    "DELETE /api/v1/channels/:id",
    { permission: "channels:write", uses: [callbacks] },
    {
      summary: "Delete a channel",
      description: "With its credentials only where `force` is true. A send that names it goes on without it.",
      query: Force,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, callbacks, params, query }) => {
      await removeChannel(store, params.id, query);
      await callbacks.forget(params.id);
    },
  ),

  endpoint(
    "POST /api/v1/channels/:id/verify",
    { permission: "channels:write", uses: [timers] },
    {
      summary: "Ask the provider again whether a channel's credentials work",
      description: "404 where no credentials are stored.",
      returns: v.object({ status: v.literal("queued") }),
      status: 202,
      errors: ["NOT_FOUND"],
    },
    async ({ store, timers, params }) => {
      await requestVerification(store, timers, params.id);
      return { status: "queued" };
    },
  ),

  ...credentialEndpoints,
  ...chatAppTemplateEndpoints,
]);
