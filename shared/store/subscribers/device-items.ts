// The stored form of devices (D-DEV): in the partition of their subscriber's profile, so that one query reads both.
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { devicePlatforms } from "../../rules/channel-types.ts";
import { hashOf } from "../hash.ts";
import { item, type RowOf } from "../item.ts";
import { fromJson, type JsonText, json } from "../json-text.ts";
import { shardOf } from "../shards.ts";

/** The browser's PushSubscription. */
export interface PushSubscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

const Version = v.object({ major: v.number(), minor: v.number(), patch: v.number() });

/** The details that a client may give of a device: absent from the row and null in the API while unknown. */
export const deviceDetails = {
  device_id: v.string(),
  model: v.string(),
  os_version: Version,
  app_version: Version,
  sdk_version: Version,
  locale: v.string(),
  timezone: v.string(),
  environment: v.picklist(["sandbox", "production"]),
};

/** The fields of a device that are stored as the API returns them. */
export const deviceFields = {
  id: v.string(),
  subscriber_id: v.string(),
  platform: v.picklist(devicePlatforms),
  push_enabled: v.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_seen_at: Timestamp,
};

export const DeviceItem = item({
  about: "A device of a subscriber, with its address for pushes.",
  pk: ({ subscriber }: { subscriber: string }) => `S${shardOf(subscriber)}`,
  sk: ({ subscriber, device }: { subscriber: string; device: string }) => `${subscriber}#D#${device}`,
  row: {
    ...deviceFields,
    ...v.partial(v.object(deviceDetails)).entries,
    /** The token of APNs or FCM: up to 4 KB, so it is stored once (`addressOf`). */
    token: v.optional(v.string()),
    /** The subscription of a browser. */
    subscription: v.optional(json<PushSubscription>()),
    status: v.picklist(["active", "invalid"]),
    /** Raised by each registration. */
    rev: v.number(),
  },
  writers: ["api-devices", "deliver", "erase"],
  personal: "removed",
});

export type DeviceRow = RowOf<typeof DeviceItem>;

export interface DeviceAddress extends Pick<DeviceRow, "platform"> {
  token?: string | undefined;
  subscription?: JsonText<PushSubscription> | undefined;
}

/** The address that a push goes to, `<platform>:<token or endpoint>`, which only one device can have. */
export const addressOf = ({ platform, token, subscription }: DeviceAddress): string =>
  `${platform}:${token ?? (subscription === undefined ? "" : fromJson(subscription).endpoint)}`;

/** The devices of one subscriber, for a query of `DeviceItem`. */
export const devicesBySubscriber = (subscriber: string) => ({ prefix: `${subscriber}#D#` });

export const DevicePointer = item({
  about: "The device that has a device_id, or an address: one at most.",
  pk: ({ by, text }: { by: "name" | "token"; text: string }) => `DB#${hashOf(`${by}:${text}`)}`,
  row: { subscriber: v.string(), device: v.string() },
  writers: ["api-devices", "erase"],
  personal: "removed",
});
