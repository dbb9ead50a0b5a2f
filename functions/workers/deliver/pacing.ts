// Keeps a chunk to the rates of its channels: it waits for its slot, and sends no faster in it (AMB-111).
import { SECOND } from "../../../shared/kernel/clock.ts";
import type { Capability } from "../../../shared/kernel/deps.ts";
import type { ChannelType } from "../../../shared/rules/channel-types.ts";
import {
  groupEnd,
  type Progress,
  putOff,
  type SendOutcome,
  type Unit,
  unitsOf,
} from "../../../shared/rules/progress.ts";
import { channelRate, learnedRate, slowDown, takeSlot } from "../../../shared/store/channels/pace.ts";
import { recent } from "../../../shared/store/recent.ts";
import { targetOf } from "./addresses.ts";
import { credentialsFor } from "./channel-credentials.ts";
import type { Prepared } from "./prepare.ts";
import type { Work } from "./rounds.ts";
import { isThrottle } from "./throttles.ts";
import type { WaitQueue } from "./wait-queue.ts";

/** How long an environment remembers whether a channel has a rate. */
const FRESH_MS = 5 * SECOND;
const MAX_CHANNELS = 100;

interface CachedRate {
  at: number;
  rate: Promise<number | undefined>;
}

/** The rates of channels as they were found, by workspace and channel. */
export const foundRates: Capability<"rates", ReturnType<typeof recent<CachedRate>>> = {
  as: "rates",
  env: [],
  grants: [],
  open: () => {
    const rates = recent<CachedRate>(MAX_CHANNELS);
    return () => rates;
  },
};

export const channelIdOf = ({ found }: Work, channel: ChannelType): string | undefined =>
  found.job.deliverySettings?.via.find(({ type }) => type === channel)?.id;

/**
 * Takes slots for what is left of a round, before it begins. What must wait is put off.
 * @returns when the chunk goes on, if all of it waits
 */
export async function takeSlots(work: Work, progress: Progress, waiting: WaitQueue): Promise<number | undefined> {
  const { found, addressees, clock } = work;
  if (progress.to > 0) return undefined;
  waiting.putOff(progress);
  const units = unitsOf(progress, addressees);
  const byChannel = Map.groupBy(units, (unit) => targetOf(found.chunk, unit).channel);
  const waits = new Map<ChannelType, number>();
  for (const [channel, some] of byChannel) {
    const id = channel === "in_app" ? undefined : channelIdOf(work, channel);
    if (id === undefined) continue;
    const slot = progress.slots[channel] ?? (await slotOf(work, channel, id, some.length));
    if (!slot) continue;
    progress.slots[channel] = slot;
    if (slot.at > clock.now()) waits.set(channel, slot.at);
  }
  if (waits.size === 0) return undefined;
  if (waits.size === byChannel.size) {
    progress.work ??= units;
    return Math.min(...waits.values());
  }
  putOff(progress, addressees, (unit) => {
    const due = waits.get(targetOf(found.chunk, unit).channel);
    const { quiet, throttledSince } = unit;
    return due === undefined ? undefined : { due: Math.max(unit.due, due), quiet, throttledSince };
  });
  return undefined;
}

/** The next slot of a channel; undefined if it has no rate. Chunks that begin together share the read of that. */
async function slotOf(work: Work, type: ChannelType, channel: string, n: number) {
  const { store, clock, rates, found } = work;
  const name = `${store.tenant} ${channel}`;
  let known = rates.get(name);
  if (!known || clock.now() - known.at >= FRESH_MS) {
    known = { at: clock.now(), rate: type === "email" ? mailRate(work, channel) : channelRate(store, channel) };
    rates.set(name, known);
  }
  const rate = await known.rate.catch((error) => {
    rates.delete(name);
    throw error;
  });
  return rate === undefined ? undefined : takeSlot(store, channel, { n, category: found.job.category });
}

/** SES limits an account; any other mail server says nothing of its rate. */
const mailRate = (work: Work, channel: string) =>
  learnedRate(work.store, channel, async () => {
    const credentials = await credentialsFor(work, work.found.job, "email");
    if (credentials?.type !== "email") return undefined;
    return credentials.provider === "ses" ? work.sesAccount() : { rate: undefined, at: work.clock.now() };
  });

/**
 * The next group. By a channel with a rate it holds no more messages than go in a second: a burst would be throttled,
 * however low the rate is. The messages of one recipient stay together, because caps count them together.
 */
export function nextGroup({ found }: Work, { slots, to }: Progress, units: readonly Unit[]): readonly Unit[] {
  const whole = units.slice(to, groupEnd(units, to));
  const counts = new Map<ChannelType, number>();
  for (const unit of whole) {
    const { channel } = targetOf(found.chunk, unit);
    const n = (counts.get(channel) ?? 0) + 1;
    counts.set(channel, n);
    const first = whole.findIndex(({ recipient }) => recipient === unit.recipient);
    if (first > 0 && n > (slots[channel]?.rate ?? Number.POSITIVE_INFINITY)) return whole.slice(0, first);
  }
  return whole;
}

/** Waits until a group may go at the rates of its channels. @returns how long it must wait beyond this worker's time */
export async function keepRate(work: Work, progress: Progress, group: readonly Unit[]): Promise<number> {
  const { found, clock } = work;
  const groups = [...Map.groupBy(group, (unit) => targetOf(found.chunk, unit).channel)];
  const slots = groups.flatMap(([channel, { length: n }]) => {
    const slot = progress.slots[channel];
    return slot ? [{ slot, n }] : [];
  });
  const at = Math.max(0, ...slots.map(({ slot }) => slot.at));
  if (at >= work.until) return at - clock.now();
  if (at > clock.now()) await clock.sleep(at - clock.now());
  for (const { slot, n } of slots) {
    slot.at = Math.max(slot.at, clock.now()) + Math.ceil((n * SECOND) / slot.rate);
    slot.isUsed = true;
  }
  return 0;
}

/** Lowers the rates of the channels that were throttled. */
export async function slowThrottled(
  work: Work,
  sent: readonly { message: Prepared; outcome: SendOutcome }[],
): Promise<void> {
  const channels = new Set(sent.filter(({ outcome }) => isThrottle(outcome)).map(({ message }) => message.channel));
  for (const channel of channels) {
    const id = channelIdOf(work, channel);
    if (id === undefined) continue;
    work.rates.delete(`${work.store.tenant} ${id}`);
    await slowDown(work.store, id);
  }
}
