// The pace of a channel (AMB-111): chunks get slots in time, and a throttle lowers the rate.

/** Marketing gets this part of the rate, so that transactional messages never wait behind all of it. */
const MARKETING_SHARE = 0.8;
/** A throttle lowers the rate to this part. */
const CUT = 0.7;
/** The assumed rate of a channel without a known one at its first throttle, per second. */
const FIRST_GUESS = 50;
const MIN_RATE = 0.1;
/** The rate rises by 5% for each half minute without a throttle, up to the channel's own rate. */
const RISE = 1.05;
const RISE_EVERY_MS = 30_000;
/** From this rate on a channel without a setting is not paced: throttles find its limit. */
export const UNLIMITED = 1_000;
/** Throttles of one moment count once. */
export const CUT_ONCE_MS = 2_000;

/** Until when the slots of a channel are taken, in milliseconds, and its rate after a throttle. */
interface Pace {
  marketing?: number | undefined;
  transactional?: number | undefined;
  /** The rate at the last throttle, per second, and when that was. */
  rate?: number | undefined;
  cut?: number | undefined;
}

/** The rate of a channel now, per second; undefined: not limited. @param own the channel's setting, or its account's */
export function rateAt({ rate, cut = 0 }: Pace, ownRate: number | undefined, now: number): number | undefined {
  const risen = rate === undefined ? undefined : rate * RISE ** Math.floor(Math.max(0, now - cut) / RISE_EVERY_MS);
  if (risen === undefined || (ownRate === undefined && risen >= UNLIMITED)) return ownRate;
  return Math.min(risen, ownRate ?? risen);
}

export const loweredRate = (pace: Pace, ownRate: number | undefined, now: number): number =>
  Math.max(MIN_RATE, (rateAt(pace, ownRate, now) ?? FIRST_GUESS) * CUT);

/** Messages of a chunk. */
const IN_A_SLOT = 200;

/**
 * Where the next slots begin after they are given anew, because the former ones are not used, or not at that rate.
 * There is room for the rest of one chunk, which may be in its slot.
 */
export function givenAnew(
  { marketing = 0, transactional = 0 }: Pace,
  rate: number | undefined,
  now: number,
): Slot["after"] {
  const until = (share: number) => (rate === undefined ? now : Math.ceil(now + (IN_A_SLOT * 1_000) / (rate * share)));
  return {
    marketing: Math.min(marketing, until(MARKETING_SHARE)),
    transactional: Math.min(transactional, until(1 - MARKETING_SHARE)),
  };
}

interface Slot {
  /** When `n` messages may be sent. */
  at: number;
  /** The rate at which they are sent, per second. */
  rate: number;
  /** Until when the slots are taken then. */
  after: Required<Pick<Pace, "marketing" | "transactional">>;
}

/**
 * The next slot for `n` messages. Transactional messages have a fifth of the rate, and all of it if no marketing waits.
 */
export function nextSlot(
  pace: Pace,
  { n, rate, category, now }: { n: number; rate: number; category: "marketing" | "transactional"; now: number },
): Slot {
  const { marketing = 0, transactional = 0 } = pace;
  const isAlone = category === "transactional" && marketing <= now;
  const ownShare = category === "marketing" ? MARKETING_SHARE : 1 - MARKETING_SHARE;
  const share = isAlone ? 1 : ownShare;
  const at = Math.max(now, category === "marketing" ? marketing : transactional);
  const end = Math.ceil(at + (n * 1_000) / (rate * share));
  const after =
    category === "marketing"
      ? { marketing: end, transactional }
      : { marketing: isAlone ? end : marketing, transactional: end };
  return { at, rate: rate * share, after };
}
