// Channels: the ways a workspace sends, the verification of their credentials, and the templates of the chat app.
import * as v from "valibot";
import { Force, NameUpTo, OneOf, said } from "../../../shared/contract/schemas.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { callbacks } from "../../../shared/http/callbacks.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { channelTypes } from "../../../shared/rules/channel-types.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import {
  createChannel,
  getChannel,
  listChannels,
  removeChannel,
  updateChannel,
} from "../../../shared/store/channels/channels.ts";
import { ChannelHealth, healthOf } from "../../../shared/store/channels/health.ts";
import { Channel, channelOf } from "../../../shared/store/channels/items.ts";
import { requestVerification } from "../../../shared/store/channels/verifications.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { chatAppTemplateEndpoints } from "./chat-app-templates.ts";
import { credentialEndpoints } from "./credentials.ts";

const MAX_NAME_CHARACTERS = 128;
/** Messages a second. */
const MIN_RATE = 0.1;
const MAX_RATE = 10_000;
/** Dollars for a message. */
const MAX_PRICE = 100;

const Name = NameUpTo(MAX_NAME_CHARACTERS);

const NewChannel = v.strictObject({
  type: OneOf(channelTypes),
  name: Name,
});

const ChannelChange = v.strictObject({
  name: v.optional(Name),
  active: v.optional(v.boolean()),
  rate_per_second: v.optional(
    v.nullable(v.pipe(v.number("must be a number or null"), v.minValue(MIN_RATE), v.maxValue(MAX_RATE))),
  ),
  price_per_message: said(
    "What the provider charges for a message, in US dollars; `null` removes it",
    v.optional(v.nullable(v.pipe(v.number("must be a number or null"), v.minValue(0), v.maxValue(MAX_PRICE)))),
  ),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const channels = group("channels", "The ways a workspace sends.", [
  endpoint(
    "POST /api/v1/channels",
    { permission: "channels:write", uses: [storeWrite, timers] },
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
    { agents: "read", uses: [storeRead] },
    { summary: "List channels", returns: v.object({ channels: v.array(Channel) }) },
    async ({ store }) => ({ channels: (await listChannels(store)).map(channelOf) }),
  ),

  endpoint(
    "GET /api/v1/channels/:id",
    { uses: [storeRead] },
    { summary: "Get a channel", returns: Channel },
    async ({ store, params }) => channelOf(await getChannel(store, params.id)),
  ),

  endpoint(
    "GET /api/v1/channels/:id/health",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get whether a channel can send, how its provider answered, and what uses it",
      description:
        "What the provider answers is noted within five minutes. The rates are those of all email channels that report " +
        "bounces and complaints (SES), over the last 30 days.",
      returns: ChannelHealth,
    },
    ({ store, params }) => healthOf(store, params.id),
  ),

  endpoint(
    "PATCH /api/v1/channels/:id",
    { permission: "channels:write", uses: [storeWrite] },
    {
      summary: "Rename a channel, switch it on or off for sending, limit its rate, or set its price",
      description:
        "`rate_per_second` is the most messages that are handed to the provider; null removes the limit, and a " +
        "channel that sends by SES then keeps to nine tenths of what SES lets the account send. A provider " +
        "that throttles lowers the rate for a time in any case. Transactional messages keep a fifth of it. " +
        "`price_per_message` is what the provider charges, in US dollars; only of email, SMS and chat app. Mails of SES " +
        "have its list price without it. Sends that are dispatched from now on use it.",
      body: ChannelChange,
      returns: Channel,
      example: { body: { active: false } },
    },
    async ({ store, params, body }) => channelOf(await updateChannel(store, params.id, body)),
  ),

  endpoint(
    "DELETE /api/v1/channels/:id",
    { permission: "channels:write", uses: [storeWrite, timers, callbacks] },
    {
      summary: "Delete a channel",
      description:
        "One with credentials, or that a scheduled or live campaign, an experience to come, an active schedule or an active journey uses, only if " +
        "`force` is true: what uses it is then paused, with an annotation. A send that names the channel continues without it.",
      query: Force,
      errors: ["CONFLICT"],
    },
    async ({ store, timers, callbacks, params, query }) => {
      await removeChannel(store, timers, params.id, query);
      await callbacks.forget(params.id);
    },
  ),

  endpoint(
    "POST /api/v1/channels/:id/verify",
    { permission: "channels:write", uses: [storeWrite, timers] },
    {
      summary: "Verify a channel's credentials with the provider again",
      description: "404 if no credentials are stored.",
      returns: v.object({ status: v.literal("queued") }),
      status: 202,
    },
    async ({ store, timers, params }) => {
      await requestVerification(store, timers, params.id);
      return { status: "queued" };
    },
  ),

  ...credentialEndpoints,
  ...chatAppTemplateEndpoints,
]);
