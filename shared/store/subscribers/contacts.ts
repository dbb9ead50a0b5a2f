// The addresses of a subscriber, as the profile and the devices beside it say.
import type { Contact } from "../../rules/reach.ts";
import { familyOf } from "../families.ts";
import type { DeviceRow } from "./device-items.ts";
import { deviceOf } from "./devices.ts";
import { attributesOf, type LivingProfile } from "./subscribers.ts";

export const contactOf = (profile: LivingProfile, devices: readonly DeviceRow[]): Contact => ({
  email: profile.email,
  phone: attributesOf(profile).phone,
  consents: Object.fromEntries(familyOf(profile, "c:")),
  devices: devices.map((row) => {
    const { id, platform, status, push_enabled } = deviceOf(row);
    return { id, platform, status, push_enabled };
  }),
});
