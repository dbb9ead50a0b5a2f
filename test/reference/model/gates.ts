// What stands between a recipient and a channel: address, consent, topic, caps, quiet hours.
import { mayBeAsked } from "./addresses.ts";
import { deviceMatches } from "./audience.ts";
import { capReason } from "./caps.ts";
import { maySend } from "./consents.ts";
import { type Body, invalid } from "./kit.ts";
import { channelTypesOf, needChannelType } from "./plans.ts";
import type { Device, Subscriber } from "./records/people.ts";
import type { Channel, Delivery } from "./records/sends.ts";
import { isOut } from "./topics.ts";
import { found, type World } from "./world.ts";

/** D-ARB: iOS and Android are one class. */
export const classOf = (type: string) => (type === "ios" || type === "android" ? "push" : type);

const PLATFORM: Record<string, string> = { ios: "ios", android: "android", web_push: "web" };

export const isUsable = ({ active, status }: Channel) => active && status === "active";

/** Default: every active verified channel (D-NTF). By a type that the plan has no more nothing is sent (GEN-10, AMB-87). */
export function channelsOf(world: World, spec: Body): Channel[] {
  const allowed = channelTypesOf(world.plan);
  const named: Channel[] =
    spec.channel_ids?.flatMap((id: string) => found(world.channels, id) ?? []) ?? world.channels.filter(isUsable);
  return named.filter(({ type }) => allowed.includes(type));
}

/** AMB-64, AMB-93: a channel of another workspace is as one that is unknown. */
export function needChannels(world: World, ids: string[] | undefined, field = "channel_ids"): void {
  if (ids?.some((id) => !found(world.channels, id))) invalid(field);
  for (const id of ids ?? []) needChannelType(world, found(world.channels, id)!.type);
}

/** D-ATTR: SMS and chat app go to `attributes.phone`, which must be E.164. */
const isPhone = (value: Body) => typeof value === "string" && /^\+[1-9]\d{6,14}$/.test(value);

const delivery = (channel: Channel, to: string, device: Device | null = null): Delivery => ({
  ...{ channel, class: classOf(channel.type), device, to },
  ...{ state: "pending", reason: null, attempts: [], delivered_at: null },
});

function refusalOf(world: World, spec: Body, { type }: Channel, { id, email }: Subscriber): string | null {
  if (spec.confirms) return mayBeAsked(world, email) ? null : "suppressed";
  return maySend(world, id, type, spec.category ?? "marketing");
}

/** Where one channel reaches a subscriber, or every reason why it does not. */
export function reach(world: World, spec: Body, channel: Channel, subscriber: Subscriber): Delivery[] | string[] {
  const refusal = refusalOf(world, spec, channel, subscriber);
  const consent = refusal ? [refusal] : [];
  if (channel.type === "in_app") return [delivery(channel, subscriber.id)];
  if (channel.type in PLATFORM) {
    const devices = world.devices.filter(
      (device) =>
        device.subscriber_id === subscriber.id &&
        device.platform === PLATFORM[channel.type] &&
        device.status === "active" &&
        device.push_enabled &&
        deviceMatches(world, device, spec.device_filters),
    );
    return devices.length > 0 ? devices.map((device) => delivery(channel, device.token, device)) : ["no_device"];
  }
  const { phone } = subscriber.attributes;
  const address = channel.type === "email" ? subscriber.email : phone;
  if (address === null || address === undefined) return [...consent, "no_address"];
  if (channel.type !== "email" && !isPhone(address)) return [...consent, "invalid_phone"];
  return refusal ? consent : [delivery(channel, address)];
}

/** Two channels of one type reach a person once. */
const isSame = (a: Delivery, b: Delivery) => a.channel.type === b.channel.type && a.to === b.to;

export const isReasons = (result: Delivery[] | string[]): result is string[] => typeof result[0] === "string";

/** Every delivery that may be tried, or the reasons why there is none. */
export function reachable(
  world: World,
  spec: Body,
  subscriber: Subscriber,
  asksCaps = true,
): { deliveries: Delivery[]; reasons: string[] } {
  if (isOut(world, subscriber.id, spec)) return { deliveries: [], reasons: ["topic_opt_out"] };
  const deliveries: Delivery[] = [];
  const reasons = new Set<string>();
  const usable = channelsOf(world, spec).filter(isUsable);
  if (usable.length === 0) return { deliveries: [], reasons: ["no_channel"] };
  for (const channel of usable) {
    const result = reach(world, spec, channel, subscriber);
    if (isReasons(result)) for (const reason of result) reasons.add(reason);
    else deliveries.push(...result.filter((fresh) => !deliveries.some((other) => isSame(fresh, other))));
  }
  const isCapped = (name: string) => asksCaps && capReason(world, spec, subscriber.id, name);
  const allowed = deliveries.filter(({ class: name }) => !isCapped(name));
  if (allowed.length < deliveries.length) reasons.add("capped");
  return { deliveries: allowed, reasons: [...reasons] };
}
