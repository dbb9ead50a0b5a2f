// How a person can be reached, as the profile and the devices beside it say.
import type { Contact, ReachableDevice } from "../rules/reach.ts";
import { deviceOf } from "./devices.ts";
import type { Item } from "./model.ts";
import { attributesOf, subscriberOf } from "./subscribers.ts";

const CONSENT = "c:";

export function contactOf(profile: Item, devices: readonly Item[]): Contact {
  const consents: Record<string, string> = {};
  for (const [name, value] of Object.entries(profile))
    if (name.startsWith(CONSENT)) consents[name.slice(CONSENT.length)] = String(value);
  return {
    email: subscriberOf(profile).email,
    phone: attributesOf(profile).phone,
    consents,
    devices: devices.map((row): ReachableDevice => {
      const { id, platform, status, push_enabled } = deviceOf(row);
      return { id, platform, status, push_enabled };
    }),
  };
}
