// The stored form of channels, their credentials and their chat-app templates (CHN, CRD, WAT).
import * as v from "valibot";
import { ChannelSettings, credentialTypes } from "../../contract/credentials.ts";
import { LastError, said, Timestamp, titled } from "../../contract/schemas.ts";
import { channelStatuses } from "../../rules/channel-states.ts";
import { channelTypes } from "../../rules/channel-types.ts";
import { chatAppCategories, chatAppTemplateStatuses } from "../../rules/chat-app-template-states.ts";
import { priceOf } from "../../rules/cost.ts";
import type { DmarcCheck, RecordCheck } from "../../rules/mail-domain.ts";
import { entity, item, type RowOf } from "../item.ts";
import { fromJson, json } from "../json-text.ts";

/** A channel as the API returns it. */
export const Channel = v.object({
  id: v.string(),
  type: v.picklist(channelTypes),
  name: v.string(),
  active: v.boolean(),
  status: v.picklist(channelStatuses),
  verified_at: v.optional(Timestamp),
  verification_error: v.optional(v.string()),
  last_error: v.optional(LastError),
  rate_per_second: v.optional(said("The most messages a second; absent: not limited", v.number())),
  price_per_message: v.optional(
    said("What its provider charges for a message, in US dollars, where that was set", v.number()),
  ),
  settings: v.optional(
    said("What is known of its credentials, without secrets; absent without credentials", ChannelSettings),
  ),
  created_at: Timestamp,
});
export type Channel = v.InferOutput<typeof Channel>;

export const ChannelItem = entity("channel", {
  about: "A channel with the state of its verification.",
  row: {
    ...Channel.entries,
    settings: v.optional(json<ChannelSettings>()),
    react: v.optional(v.literal("channel")),
    /** The version of the stored credentials: each upload makes a new one. */
    credentials: v.optional(v.string()),
    /** The version of the last verified credentials. */
    verified_credentials: v.optional(v.string()),
    /** The id of the verification in progress, and when it was requested. */
    verification: v.optional(v.string()),
    queued_at: v.optional(v.string()),
  },
  writers: ["api-channels", "verify-channel", "api-auth", "api-agency", "operator"],
});
export type ChannelRow = RowOf<typeof ChannelItem>;

export const channelOf = ({ settings, ...row }: ChannelRow): Channel => ({
  ...row,
  ...(settings !== undefined && { settings: fromJson(settings) }),
});

/** The provider's charge for a message, in dollars; undefined if it is not known. */
export const messagePrice = ({ type, price_per_message, settings }: ChannelRow): number | undefined =>
  priceOf(type, price_per_message, settings && fromJson(settings).provider);

/** Credentials in the API (CRD-1). */
export const CredentialConfirmation = titled("CredentialConfirmation", {
  id: v.string(),
  channel_id: v.string(),
  type: v.picklist(credentialTypes),
  created_at: Timestamp,
  updated_at: Timestamp,
  vapid_public_key: v.optional(said("What browsers subscribe with; only for `vapid`", v.string())),
});
export type CredentialConfirmation = v.InferOutput<typeof CredentialConfirmation>;

export const CredentialsItem = item({
  about: "The credentials of a channel, sealed; an upload replaces them as a whole.",
  pk: ({ channel }: { channel: string }) => `channel#${channel}`,
  sk: () => "credentials",
  prefix: "credentials",
  row: {
    id: v.string(),
    type: v.picklist(credentialTypes),
    /** See `shared/store/vault.ts`. */
    sealed: v.string(),
    /** The version, as the row of the channel names it. */
    version: v.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
    vapid_public_key: v.optional(v.string()),
  },
  writers: ["api-channels"],
});
export type CredentialsRow = RowOf<typeof CredentialsItem>;

export const ChatAppTemplate = titled("ChatAppTemplate", {
  id: v.string(),
  channel_id: v.string(),
  name: v.string(),
  language: v.string(),
  category: v.picklist(chatAppCategories),
  body: v.string(),
  status: v.picklist(chatAppTemplateStatuses),
  provider_template_id: v.optional(v.string()),
  status_reason: v.optional(v.string()),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const PaceItem = item({
  about: "How far the slots of a channel with a rate are given, how its provider slowed it, and how it answered last.",
  pk: ({ channel }: { channel: string }) => `channel#${channel}`,
  sk: () => "PACE",
  prefix: "PACE",
  row: {
    /** Until when slots are taken, in milliseconds, by the category of messages. */
    marketing: v.optional(v.number()),
    transactional: v.optional(v.number()),
    /** When the slots were given anew, in milliseconds: slots given before that no longer count. */
    anew_at: v.optional(v.number()),
    /** The rate after the last throttle, per second, and when that was, in milliseconds. */
    rate: v.optional(v.number()),
    cut: v.optional(v.number()),
    /** The rate that the provider allows the account, per second, and when it was read, in milliseconds. */
    account_rate: v.optional(v.number()),
    account_at: v.optional(v.number()),
    /** When its provider last accepted a message, to within five minutes. */
    last_success_at: v.optional(Timestamp),
    /** When it last refused or failed to accept one, and why. */
    last_error_at: v.optional(Timestamp),
    last_error: v.optional(v.string()),
  },
  writers: ["deliver", "api-channels", "run-campaign"],
});

/** The state of each record of the domain, as far as it is known. */
export interface SenderDomainState {
  domain: string;
  spf: RecordCheck;
  dkim: RecordCheck;
  dmarc: DmarcCheck;
  checked_at: string;
}

export const SenderDomainItem = item({
  about: "What DNS and the provider said of the domain that a channel sends mail from, when it was verified last.",
  pk: ({ channel }: { channel: string }) => `channel#${channel}`,
  sk: () => "DOMAIN",
  prefix: "DOMAIN",
  row: { domain: json<SenderDomainState>() },
  writers: ["verify-channel"],
});

export const ChatAppTemplateItem = item({
  about: "A chat-app template: a draft, or a template under review or reviewed by the provider.",
  pk: ({ channel }: { channel: string }) => `channel#${channel}`,
  sk: ({ id }: { id: string }) => `T#${id}`,
  prefix: "T#",
  row: {
    ...ChatAppTemplate.entries,
    /** When the provider decided, in seconds of its clock: an earlier callback is ignored. */
    verdict_at: v.optional(v.number()),
  },
  writers: ["api-channels", "api-inbound"],
});
export type ChatAppTemplateRow = RowOf<typeof ChatAppTemplateItem>;
