// The slots of a channel with a rate: one conditional write for each chunk (AMB-111, docs/decisions/0030).
import { timestamp } from "../../clock.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { CUT_ONCE_MS, loweredRate, nextSlot, type Pace, rateAt } from "../../rules/pacing.ts";
import { absent, all, any, below, is } from "../conditions.ts";
import { ref } from "../item.ts";
import { onConditionFailed } from "../refusals.ts";
import { ChannelItem, PaceItem } from "./items.ts";

/** Attempts to take a slot while others take theirs. */
const MAX_ATTEMPTS = 10;

interface Paced {
  pace: Pace;
  /** The channel's setting, per second. */
  own: number | undefined;
}

async function readPace(store: StoreReader, channel: string): Promise<Paced> {
  const [row, pace] = await store.getEach([ref(ChannelItem, { id: channel }), ref(PaceItem, { channel })]);
  return { pace: pace ?? {}, own: row?.rate_per_second };
}

/** The rate of a channel now, per second; undefined: not limited. */
export async function channelRate(store: StoreReader, channel: string): Promise<number | undefined> {
  const { pace, own } = await readPace(store, channel);
  return rateAt(pace, own, store.clock.now());
}

/** How fast the channels with a rate send what is in progress, and until when their slots are given. */
export async function pacingOf(
  store: StoreReader,
  channels: readonly string[],
  category: "marketing" | "transactional",
): Promise<{ channel_id: string; rate_per_second: number; until: string }[]> {
  const now = store.clock.now();
  const all = await Promise.all(channels.map(async (id) => ({ id, ...(await readPace(store, id)) })));
  return all.flatMap(({ id, pace, own }) => {
    const rate = rateAt(pace, own, now);
    if (rate === undefined) return [];
    const until = timestamp(Math.max(now, pace[category] ?? 0));
    return [{ channel_id: id, rate_per_second: Math.round(rate * 100) / 100, until }];
  });
}

/**
 * Takes the next slot of a channel for `n` messages.
 * @returns when they may go, in milliseconds, and how many a second; undefined: at once
 */
export async function takeSlot(
  store: Store,
  channel: string,
  { n, category }: { n: number; category: "marketing" | "transactional" },
): Promise<{ at: number; rate: number } | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { pace, own } = await readPace(store, channel);
    const now = store.clock.now();
    const rate = rateAt(pace, own, now);
    if (rate === undefined) return undefined;
    const { after, ...slot } = nextSlot(pace, { n, rate, category, now });
    const unchanged = (name: "marketing" | "transactional") =>
      pace[name] === undefined ? absent(name) : is(name, pace[name]);
    const when = all(unchanged("marketing"), unchanged("transactional"));
    const isTaken = await store.change(PaceItem, { channel }, { set: after }, when).then(
      () => true,
      onConditionFailed(() => false),
    );
    if (isTaken) return slot;
  }
  throw new Error("The slots of a channel changed too often.");
}

/** A provider throttled a channel: its rate falls, once for all throttles of a moment. */
export async function slowDown(store: Store, channel: string): Promise<void> {
  const { pace, own } = await readPace(store, channel);
  const now = store.clock.now();
  const set = { rate: loweredRate(pace, own, now), cut: now };
  await store
    .change(PaceItem, { channel }, { set }, any(absent("cut"), below("cut", now - CUT_ONCE_MS)))
    .catch(onConditionFailed(() => undefined));
}
