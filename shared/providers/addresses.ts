// The provider of a channel, and the address that it takes.

import type { ProvidedChannel } from "../rules/reach.ts";
import { fromJson } from "../store/json-text.ts";
import type { DeviceRow } from "../store/subscribers/device-items.ts";
import { attributesOf, type LivingProfile } from "../store/subscribers/subscribers.ts";
import type { Provider, Providers } from "./provider.ts";

/** A provider takes the credentials and the address of its own channel: both are chosen by the channel. */
export const providerOf = (providers: Providers, channel: ProvidedChannel) =>
  providers[channel] as Provider<unknown, unknown>;

/** The address of a subscriber, or of one of the devices, by a channel. */
export function addressOf(channel: ProvidedChannel, profile: LivingProfile | undefined, device: DeviceRow | undefined) {
  switch (channel) {
    case "ios":
      return { token: device?.token, environment: device?.environment };
    case "android":
      return { token: device?.token };
    case "web_push":
      return device?.subscription && fromJson(device.subscription);
    case "email":
      return { email: profile?.email };
    default:
      return { phone: profile && attributesOf(profile).phone };
  }
}
