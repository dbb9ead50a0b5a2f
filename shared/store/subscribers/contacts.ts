// The addresses of a subscriber, as the profile and the devices beside it say.
import type { Contact } from "../../rules/reach.ts";
import { type Addresses, consentsNow } from "./addresses.ts";
import type { DeviceRow } from "./device-items.ts";
import { deviceOf } from "./devices.ts";
import { attributesOf, type LivingProfile } from "./subscribers.ts";

/** @param addresses what holds for its addresses, where a channel is among the wanted ones that sends to one */
export const contactOf = (
  profile: LivingProfile,
  devices: readonly DeviceRow[],
  addresses: Addresses = {},
): Contact => ({
  email: profile.email,
  phone: attributesOf(profile).phone,
  consents: consentsNow(profile, addresses),
  devices: devices.map((row) => {
    const { id, platform, status, push_enabled } = deviceOf(row);
    return { id, platform, status, push_enabled };
  }),
});
