// Translates a message of Segment's libraries into a change of a subscriber, an event, a device and an anonymous id.
import * as v from "valibot";
import { EmailAddress, ExternalId, Locale, TimeZone } from "../../../../shared/contract/schemas.ts";
import { timestamp } from "../../../../shared/kernel/clock.ts";
import { withoutUndefined } from "../../../../shared/kernel/objects.ts";
import { isPhoneNumber } from "../../../../shared/rules/contacts.ts";
import {
  correctedTime,
  MAX_EVENT_NAME_CHARACTERS,
  MAX_PROPERTIES,
  MAX_PROPERTY_CHARACTERS,
  type Tier,
  timeProblem,
} from "../../../../shared/rules/event-limits.ts";
import { parseVersion } from "../../../../shared/rules/versions.ts";
import type { NewEvent } from "../../../../shared/store/events/intake.ts";
import type { Value } from "../../../../shared/store/model.ts";
import type { DeviceInput } from "../../../../shared/store/subscribers/device-registration.ts";
import { type Bounds, type Fitter, openFitter } from "./fitting.ts";
import { MAX_MESSAGE_BYTES, type Message } from "./messages.ts";

/** Why a message is left out; each is counted in the answer. */
type DropReason =
  | "excluded"
  | "no_id"
  | "id_too_long"
  | "no_event_name"
  | "reserved_event_name"
  | "too_old"
  | "too_many_users";

export interface Translation {
  kind: "taken";
  externalId: string | undefined;
  /** The actor of the event if there is no external id. */
  anonymousId: string | undefined;
  /** Undefined if the message says nothing about the subscriber itself. */
  profile: { email?: string; attributes: Record<string, Value> } | undefined;
  /** Anonymous ids that belong to the subscriber from now on. */
  anonymousIds: string[];
  device: Omit<DeviceInput, "subscriber_id"> | undefined;
  /** The event without its actor. */
  event: Omit<NewEvent, "subscriber_id" | "external_id" | "anonymous_id"> | undefined;
  /** How many values were cut, and how many left out. */
  shortened: number;
  omitted: number;
}

export interface Receipt {
  tier: Tier;
  /** When the request was received, in milliseconds. */
  receivedAt: number;
}

const MAX_ID_CHARACTERS = 256;
const MAX_KEY_CHARACTERS = 255;
const MAX_TOKEN_CHARACTERS = 4_096;
const MAX_DETAIL_CHARACTERS = 128;

const properties: Bounds = {
  entries: MAX_PROPERTIES,
  keyCharacters: MAX_PROPERTY_CHARACTERS,
  textCharacters: MAX_PROPERTY_CHARACTERS,
  bytes: MAX_MESSAGE_BYTES,
};
const TRAIT_CHARACTERS = { keyCharacters: 128, textCharacters: 4_096 };
/** AMB-146 bounds what the publishable key may write; room is left for the fields beside the traits. */
const traits: Record<Tier, Bounds> = {
  client: { ...TRAIT_CHARACTERS, entries: 56, bytes: 12_288 },
  server: { ...TRAIT_CHARACTERS, entries: 180, bytes: MAX_MESSAGE_BYTES },
};

/** Translates a message into a profile, an event or both, or says why it is dropped. */
export function translated(message: Message, receipt: Receipt): Translation | { kind: "dropped"; reason: DropReason } {
  const { type, userId = "", anonymousId = "", previousId = "", integrations = {} } = message;
  if (integrations.All === false && integrations["Segment.io"] !== true) return { kind: "dropped", reason: "excluded" };
  if (userId === "" && anonymousId === "") return { kind: "dropped", reason: "no_id" };
  if (!v.is(ExternalId, userId || "-") || [anonymousId, previousId].some((id) => id.length > MAX_ID_CHARACTERS))
    return { kind: "dropped", reason: "id_too_long" };
  const fitter = openFitter();
  const event = type === "identify" ? undefined : eventOf(message, receipt, fitter);
  if (typeof event === "string") return { kind: "dropped", reason: event };
  const profile = type === "identify" && userId !== "" ? profileOf(message, receipt.tier, fitter) : undefined;
  return {
    kind: "taken",
    externalId: userId || undefined,
    anonymousId: anonymousId || undefined,
    profile,
    anonymousIds: userId === "" ? [] : [anonymousId, type === "alias" ? previousId : ""].filter(Boolean),
    device: userId === "" ? undefined : deviceOf(message),
    event,
    ...fitter.counts,
  };
}

function eventOf(message: Message, receipt: Receipt, fitter: Fitter): Translation["event"] | DropReason {
  const { messageId, context } = message;
  const [name, contents] = contentOf(message);
  if (name === undefined || name.trim() === "") return "no_event_name";
  if (name.startsWith("$")) return "reserved_event_name";
  const at = timeOf(message, receipt);
  if (timeProblem(at, receipt.receivedAt, receipt.tier)) return "too_old";
  return {
    event_name: fitter.text(name, MAX_EVENT_NAME_CHARACTERS),
    platform: platformOf(context),
    properties: fitter.fields(contents, properties),
    occurred_at: timestamp(at),
    ...(messageId && messageId.length <= MAX_KEY_CHARACTERS && { idempotency_key: messageId }),
  };
}

/** The name and the properties of the event for a message. */
function contentOf(message: Message): [name: string | undefined, properties: Record<string, unknown>] {
  const { type, event, name, category, groupId, previousId, properties: original = {}, traits = {} } = message;
  if (type === "track") return [event, original];
  if (type === "page" || type === "screen") return [type, { ...original, ...withoutUndefined({ name, category }) }];
  if (type === "group") return ["group", { ...traits, ...withoutUndefined({ group_id: groupId }) }];
  if (type === "alias") return ["alias", withoutUndefined({ previous_id: previousId })];
  return [undefined, {}];
}

/** When the event happened, by the clock of the service (AMB-135). */
function timeOf({ timestamp: stated, originalTimestamp, sentAt }: Message, { receivedAt }: Receipt): number {
  const at = [originalTimestamp, stated].map((text) => Date.parse(text ?? "")).find((time) => !Number.isNaN(time));
  const sent = Date.parse(sentAt ?? "");
  if (at === undefined) return receivedAt;
  return correctedTime(at, Number.isNaN(sent) ? undefined : sent, receivedAt);
}

const isMobile = (type: string | undefined): type is "ios" | "android" => type === "ios" || type === "android";

function platformOf(context: Message["context"]): string | undefined {
  const type = context?.device?.type?.toLowerCase();
  if (isMobile(type)) return type;
  return context?.library?.name === "analytics.js" ? "web" : undefined;
}

function profileOf({ traits: given, context }: Message, tier: Tier, fitter: Fitter): Translation["profile"] {
  const { email, phone, firstName, lastName, timezone, locale, ...others } = { ...context?.traits, ...given };
  const checked = (value: unknown, schema: v.GenericSchema<string, string>): string | undefined => {
    if (value === undefined || value === null || value === "") return undefined;
    const parsed = v.safeParse(schema, value);
    if (!parsed.success) fitter.counts.omitted++;
    return parsed.success ? parsed.output : undefined;
  };
  const address = checked(email, EmailAddress);
  const known = {
    phone: checked(phone, Phone),
    first_name: checked(firstName, Name),
    last_name: checked(lastName, Name),
    timezone: checked(timezone ?? context?.timezone, TimeZone),
    locale: checked(locale ?? context?.locale, Tag),
  };
  const fields = Object.entries(known).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  const attributes = { ...fitter.fields(others, traits[tier]), ...Object.fromEntries(fields) };
  if (address === undefined && Object.keys(attributes).length === 0) return undefined;
  return { ...(address !== undefined && { email: address }), attributes };
}

const Name = v.pipe(v.string(), v.maxLength(MAX_PROPERTY_CHARACTERS));

/** Accepts `en_GB` as `en-GB`. */
const Tag = v.pipe(
  v.string(),
  v.transform((text) => text.replaceAll("_", "-")),
  Locale,
);

/** Removes spaces, brackets, dots and hyphens between the digits. */
const Phone = v.pipe(
  v.string(),
  v.transform((text) => text.replaceAll(/[\s().-]/g, "")),
  v.check(isPhoneNumber),
);

function deviceOf({ context }: Message): Translation["device"] {
  const { device, os, app } = context ?? {};
  const platform = device?.type?.toLowerCase();
  const token = device?.token;
  if (!isMobile(platform) || !token || token.length > MAX_TOKEN_CHARACTERS) return undefined;
  const short = (text: string | undefined) => (text && text.length <= MAX_DETAIL_CHARACTERS ? text : undefined);
  return {
    platform,
    token,
    device_id: short(device.id),
    model: short(device.model),
    os_version: parseVersion(os?.version ?? ""),
    app_version: parseVersion(app?.version ?? ""),
  };
}
