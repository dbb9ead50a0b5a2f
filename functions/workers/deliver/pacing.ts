// Keeps a chunk within the rates of its channels: it waits for its slot, and sends no faster in it (AMB-111).
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import type { ChannelType } from "../../../shared/rules/channel-types.ts";
import type { Progress, Unit } from "../../../shared/rules/progress.ts";
import { groupEnd, putOff, unitsOf } from "../../../shared/rules/progress-rounds.ts";
import { channelRate, isGiven, learnedRate, slowDown, takeSlot } from "../../../shared/store/channels/pace.ts";
import { credentialsFor } from "./channel-credentials.ts";
import { MAX_DELAY_MS } from "./ledger.ts";
import { readShared } from "./memory.ts";
import { channelIdOf, isHeld, isThrottle, type SentMessage, targetOf, type WaitQueue, type Work } from "./work.ts";

/** How long an environment remembers whether a channel has a rate. */
const FRESH_MS = 5 * SECOND;
/** A chunk that comes later for its slot takes another, because chunks that a stop held up would all go at once. */
const LATE_MS = MINUTE;
/** How often a waiting chunk checks whether its slot still counts. */
const LOOK_AGAIN_MS = MAX_DELAY_MS;

/**
 * Takes slots for the rest of a round, before it begins. Recipients that must wait are put off; if all must wait, so
 * must the chunk.
 */
export async function takeSlots(
  work: Work,
  progress: Progress,
  waiting: WaitQueue,
): Promise<{ kind: "go" } | { kind: "wait"; until: number }> {
  const { store, chunk, addressees, clock } = work;
  if (progress.to > 0) return { kind: "go" };
  waiting.putOff(progress);
  const units = unitsOf(progress, addressees);
  const byChannel = Map.groupBy(units, (unit) => targetOf(chunk, unit).channel);
  const waits = new Map<ChannelType, number>();
  for (const [channel, units] of byChannel) {
    const id = channel === "in_app" ? undefined : channelIdOf(work, channel);
    if (id === undefined) continue;
    const held = progress.slots[channel];
    const isGood = held && clock.now() - held.at <= LATE_MS && (await isGiven(store, id, held));
    const slot = isGood ? held : await slotOf(work, channel, id, units.length);
    delete progress.slots[channel];
    if (!slot) continue;
    progress.slots[channel] = slot;
    if (slot.at > clock.now()) waits.set(channel, Math.min(slot.at, clock.now() + LOOK_AGAIN_MS));
  }
  if (waits.size === 0) return { kind: "go" };
  if (waits.size === byChannel.size) {
    progress.work ??= units;
    return { kind: "wait", until: Math.min(...waits.values()) };
  }
  putOff(progress, addressees, (unit) => {
    const due = waits.get(targetOf(chunk, unit).channel);
    const { quiet, throttledSince } = unit;
    return due === undefined ? undefined : { due: Math.max(unit.due, due), quiet, throttledSince };
  });
  return { kind: "go" };
}

/** The next slot of a channel; undefined if it has no rate. */
async function slotOf(work: Work, type: ChannelType, channel: string, n: number) {
  const { store, clock, rates, job } = work;
  const read = () => (type === "email" ? mailRate(work, channel) : channelRate(store, channel));
  const rate = await readShared(clock, rates, `${store.tenant} ${channel}`, { ms: FRESH_MS, read });
  return rate === undefined ? undefined : takeSlot(store, channel, { n, category: job.category });
}

/** The rate of a mail channel. SES limits an account; other mail servers do not report a rate. */
const mailRate = (work: Work, channel: string) =>
  learnedRate(work.store, channel, async () => {
    const opened = await credentialsFor(work, "email");
    if (opened.kind !== "open" || opened.credentials.type !== "email") return undefined;
    return opened.credentials.provider === "ses" ? work.sesAccount() : { rate: undefined, at: work.clock.now() };
  });

/**
 * The next group. On a channel with a rate it holds no more messages than go in a second, because a burst would be
 * throttled at any rate. The messages of one recipient stay together, because caps count them together.
 */
export function nextGroup({ chunk }: Work, { slots, to }: Progress, units: readonly Unit[]): readonly Unit[] {
  const whole = units.slice(to, groupEnd(units, to));
  const counts = new Map<ChannelType, number>();
  for (const unit of whole) {
    const { channel } = targetOf(chunk, unit);
    const n = (counts.get(channel) ?? 0) + 1;
    counts.set(channel, n);
    const first = whole.findIndex(({ recipient }) => recipient === unit.recipient);
    if (first > 0 && n > (slots[channel]?.rate ?? Number.POSITIVE_INFINITY)) return whole.slice(0, first);
  }
  return whole;
}

/** Waits until a group may go at the rates of its channels. @returns how long it must wait beyond this worker's time */
export async function keepRate(work: Work, progress: Progress, group: readonly Unit[]): Promise<number> {
  const { chunk, clock } = work;
  const groups = [...Map.groupBy(group, (unit) => targetOf(chunk, unit).channel)];
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
export async function slowThrottled(work: Work, sent: readonly SentMessage[]): Promise<void> {
  for (const channel of throttledIn(sent.filter(({ outcome }) => !isHeld(outcome)))) {
    const id = channelIdOf(work, channel);
    if (id === undefined) continue;
    work.rates.delete(`${work.store.tenant} ${id}`);
    await slowDown(work.store, id);
  }
}

const throttledIn = (sent: readonly SentMessage[]): ReadonlySet<ChannelType> =>
  new Set(sent.filter(({ outcome }) => isThrottle(outcome)).map(({ message }) => message.channel));

/**
 * Puts off messages of a throttled channel, as long as the message that waits longest. A throttled message is not an
 * attempt (AMB-111).
 */
export function holdBack({ chunk, addressees, clock }: Work, progress: Progress, sent: readonly SentMessage[]): void {
  const channels = throttledIn(sent);
  if (channels.size === 0) return;
  const isBehind = (unit: Unit) => channels.has(targetOf(chunk, unit).channel);
  const waits = progress.next.filter((unit) => isBehind(unit) && unit.throttledSince !== undefined);
  const now = clock.now();
  const due = Math.max(now + SECOND, ...waits.map((unit) => unit.due));
  const areHeld = waits.every((unit) => unit.isHeld) || undefined;
  putOff(progress, addressees, (unit) => {
    const { quiet, throttledSince = now } = unit;
    return isBehind(unit) ? { due, quiet, throttledSince, isHeld: areHeld } : undefined;
  });
}
