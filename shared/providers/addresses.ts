// The provider of a channel, and the address that it takes.
import type { ProvidedChannel } from "../rules/channel-types.ts";
import { channels } from "../rules/channels.ts";
import { fromJson } from "../store/json-text.ts";
import type { DeviceRow } from "../store/subscribers/device-items.ts";
import { attributesOf, type LivingProfile } from "../store/subscribers/subscribers.ts";
import type { Provider, Providers } from "./provider.ts";

/** A provider gets the credentials and the address of its own channel: both are chosen by the channel. */
export const providerOf = (providers: Providers, channel: ProvidedChannel) =>
  providers[channel] as Provider<unknown, unknown>;

export function addressOf(channel: ProvidedChannel, profile: LivingProfile | undefined, device: DeviceRow | undefined) {
  switch (channels[channel].address) {
    case "token":
      return { token: device?.token, environment: device?.environment };
    case "subscription":
      return device?.subscription && fromJson(device.subscription);
    case "email":
      return { email: profile?.email };
    case "phone":
      return { phone: profile && attributesOf(profile).phone };
  }
}
