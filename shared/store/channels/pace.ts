// The slots of a channel with a rate: one conditional write for each chunk (AMB-111, docs/decisions/0030).
import { timestamp } from "../../kernel/clock.ts";
import { CUT_ONCE_MS, givenAnew, loweredRate, nextSlot, rateAt } from "../../rules/pacing.ts";
import { absent, all, any, asRead, below } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { type RowOf, ref } from "../item.ts";
import { contended, done, happened, untilUncontended, whereItHolds } from "../refusals.ts";
import { ChannelItem, PaceItem } from "./items.ts";

interface ChannelPace {
  pace: Partial<RowOf<typeof PaceItem>>;
  /** The channel's setting, or else its account's rate, per second. */
  own: number | undefined;
  isSet: boolean;
}

/** The rate that a provider allows its account. */
export interface AccountRate {
  /** Per second; undefined: not limited. */
  rate: number | undefined;
  /** When it was read, in milliseconds. */
  at: number;
}

/** The rate of a channel without throttles, per second; undefined: not limited. */
export const ownRate = (
  channel: { rate_per_second?: number | undefined } | undefined,
  pace: { account_rate?: number | undefined } | undefined,
): number | undefined => channel?.rate_per_second ?? pace?.account_rate;

async function readPace(store: StoreReader, channel: string): Promise<ChannelPace> {
  const [row, pace] = await store.getEach([ref(ChannelItem, { id: channel }), ref(PaceItem, { channel })]);
  return { pace: pace ?? {}, own: ownRate(row, pace), isSet: row?.rate_per_second !== undefined };
}

/** The rate of a channel now, per second; undefined: not limited. */
export async function channelRate(store: StoreReader, channel: string): Promise<number | undefined> {
  const { pace, own } = await readPace(store, channel);
  return rateAt(pace, own, store.clock.now());
}

/**
 * The same, for a channel that its account may limit. A new rate is stored if the channel has no setting. @param read
 * reads the account's rate; undefined: unknown
 */
export async function learnedRate(
  store: Store,
  channel: string,
  read: () => Promise<AccountRate | undefined>,
): Promise<number | undefined> {
  const { pace, own, isSet } = await readPace(store, channel);
  const found = isSet ? undefined : await read();
  const now = store.clock.now();
  if (!found || found.rate === pace.account_rate || found.at <= (pace.account_at ?? 0)) return rateAt(pace, own, now);
  const { rate, at } = found;
  const change = { set: { account_rate: rate, account_at: at }, remove: rate === undefined ? account : [] };
  await whereItHolds(store.change(PaceItem, { channel }, change, any(absent("account_at"), below("account_at", at))));
  return rateAt(pace, rate, now);
}
const account = ["account_rate" as const];

/** How fast the channels with a rate send now, and until when their slots are taken. */
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

/** A slot in a chunk: when it begins and was given, in milliseconds, and its rate per second. */
interface HeldSlot {
  at: number;
  rate: number;
  given: number;
}

/** Takes the next slot of a channel for `n` messages; undefined: they may be sent at once. */
export async function takeSlot(
  store: Store,
  channel: string,
  { n, category }: { n: number; category: "marketing" | "transactional" },
): Promise<HeldSlot | undefined> {
  return untilUncontended(
    () => new Error("The slots of a channel changed too often."),
    async () => {
      const { pace, own } = await readPace(store, channel);
      const now = store.clock.now();
      const rate = rateAt(pace, own, now);
      if (rate === undefined) return done(undefined);
      const { after, ...slot } = nextSlot(pace, { n, rate, category, now });
      const when = all(asRead("marketing", pace.marketing), asRead("transactional", pace.transactional));
      const isTaken = await happened(store.change(PaceItem, { channel }, { set: after }, when));
      return isTaken ? done({ ...slot, given: now }) : contended;
    },
  );
}

/** Invalidates the slots given until now: waiting chunks take new ones. */
export async function giveSlotsAnew(store: Store, channel: string): Promise<void> {
  const { pace, own } = await readPace(store, channel);
  if (pace.marketing === undefined && pace.transactional === undefined) return;
  const now = store.clock.now();
  const after = givenAnew(pace, rateAt(pace, own, now), now);
  await store.change(PaceItem, { channel }, { set: { ...after, anew_at: now } });
}

/** Whether a slot still counts. */
export async function isGiven(store: StoreReader, channel: string, { given }: { given?: number | undefined }) {
  const { anew_at = 0 } = (await store.get(PaceItem, { channel })) ?? {};
  return given === undefined || given > anew_at;
}

/** Lowers the rate of a channel that its provider throttled, once for all throttles of a moment. */
export async function slowDown(store: Store, channel: string): Promise<void> {
  const { pace, own } = await readPace(store, channel);
  const now = store.clock.now();
  const set = { rate: loweredRate(pace, own, now), cut: now };
  await whereItHolds(store.change(PaceItem, { channel }, { set }, any(absent("cut"), below("cut", now - CUT_ONCE_MS))));
}
