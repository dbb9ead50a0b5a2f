// The brake of a send (F21): when its figures are so bad that it stops, and how much of it may begin before they are known.
import { SECOND } from "../kernel/clock.ts";
import { wilson } from "./lift.ts";
import { bucket } from "./split.ts";

/** Rates from 0 to 1. An absent one is not checked. */
export interface Limits {
  max_error_rate?: number | undefined;
  max_bounce_rate?: number | undefined;
  max_complaint_rate?: number | undefined;
  max_opt_out_rate?: number | undefined;
}

export interface Safety extends Limits {
  /** The percentage of the audience that gets the send first. Absent: no canary. */
  canary_percent?: number | undefined;
  /** How long the other recipients wait after the canary. */
  canary_wait_minutes?: number | undefined;
}

const RATE = { min: 0.0001, max: 1, isWhole: false } as const;

/** The bounds of the settings: rates from 0.0001 to 1, which is never exceeded, and whole numbers. */
export const SAFETY_BOUNDS = {
  canary_percent: {
    about: "The share of the audience that gets it first, in percent. Left out: nobody gets it first",
    min: 1,
    max: 50,
    isWhole: true,
  },
  canary_wait_minutes: { about: "How long the others wait after that. Default: 30", min: 1, max: 1_440, isWhole: true },
  max_error_rate: {
    about:
      "The share of messages of a channel that its provider may refuse or leave without an answer, from 0.0001 to 1, which is never exceeded",
    ...RATE,
  },
  max_bounce_rate: { about: "The share of mails that may bounce, from 0.0001 to 1", ...RATE },
  max_complaint_rate: { about: "The share of mails that may lead to a complaint, from 0.0001 to 1", ...RATE },
  max_opt_out_rate: { about: "The share of mails that may lead to an opt-out, from 0.0001 to 1", ...RATE },
} as const satisfies Record<keyof Safety, { about: string; min: number; max: number; isWhole: boolean }>;

/** What a workspace sets for its sends without settings of their own. */
export interface DefaultSafety extends Safety {
  /** For larger audiences only. */
  min_audience: number;
}

export const DEFAULT_SAFETY: DefaultSafety = {
  min_audience: 1_000,
  max_error_rate: 0.2,
  max_bounce_rate: 0.05,
  max_complaint_rate: 0.003,
};
export const DEFAULT_CANARY_WAIT_MINUTES = 30;

type ByChannel = Readonly<Record<string, number>>;

/** The figures of a send. */
export interface Figures {
  /** Addresses that were tried once, without throttled ones. */
  tried: ByChannel;
  /** Of these, refused by the provider, or without an answer. */
  errors: ByChannel;
  bounced: number;
  complained: number;
  opted_out: number;
  /** Chunks that were worked through once. */
  passed: number;
}

export const breachReasons = ["error_rate", "bounce_rate", "complaint_rate", "opt_out_rate"] as const;
type BreachReason = (typeof breachReasons)[number];

export interface Breach {
  reason: BreachReason;
  /** The channel type with the breach. */
  channel: string;
  rate: number;
  limit: number;
  count: number;
  /** The number of messages of the rate. */
  tried: number;
}

/** Why a send halted, with the figures of that moment. */
export interface Halt extends Breach {
  at: string;
}

const percentText = (rate: number) => `${Number((rate * 100).toFixed(2))}%`;

/** `ios error rate 30% of 200, limit 20%` */
export const textOf = ({ reason, channel, rate, tried, limit }: Breach): string =>
  `${channel} ${reason.replaceAll("_", " ")} ${percentText(rate)} of ${tried}, limit ${percentText(limit)}`;

/** The figures of a send with their limits: errors of each channel separately, so that no channel hides another. */
function* measured(
  limits: Limits,
  { tried, errors, bounced, complained, opted_out }: Figures,
): Generator<Omit<Breach, "rate">> {
  const { max_error_rate, max_bounce_rate, max_complaint_rate, max_opt_out_rate } = limits;
  const of = (reason: BreachReason, channel: string, count: number, limit: number) => {
    const size = tried[channel] ?? 0;
    // A bounce may be known before its attempt.
    return { reason, channel, count: Math.min(count, size), limit, tried: size };
  };
  if (max_error_rate !== undefined)
    for (const [channel, count] of Object.entries(errors)) yield of("error_rate", channel, count, max_error_rate);
  if (max_bounce_rate !== undefined) yield of("bounce_rate", "email", bounced, max_bounce_rate);
  if (max_complaint_rate !== undefined) yield of("complaint_rate", "email", complained, max_complaint_rate);
  if (max_opt_out_rate !== undefined) yield of("opt_out_rate", "email", opted_out, max_opt_out_rate);
}

/**
 * Whether a limit is certainly exceeded: the lower end of the 95% interval of the rate is above it (Wilson). A rate
 * that chance can explain stops nothing. @param z another certainty, in standard deviations
 */
export function breachOf(limits: Limits, figures: Figures, z?: number): Breach | undefined {
  for (const figure of measured(limits, figures)) {
    const { tried: size, count: converters, limit } = figure;
    if (size > 0 && converters > 0 && wilson({ size, converters }, z)[0] > limit)
      return { ...figure, rate: converters / size };
  }
  return undefined;
}

const minus = (now: ByChannel, before: ByChannel = {}): ByChannel =>
  Object.fromEntries(Object.entries(now).map(([channel, n]) => [channel, n - (before[channel] ?? 0)]));

/** The difference between two figures. */
export const since = (before: Figures | undefined, now: Figures): Figures => ({
  tried: minus(now.tried, before?.tried),
  errors: minus(now.errors, before?.errors),
  bounced: now.bounced - (before?.bounced ?? 0),
  complained: now.complained - (before?.complained ?? 0),
  opted_out: now.opted_out - (before?.opted_out ?? 0),
  passed: now.passed - (before?.passed ?? 0),
});

/** Chunks that begin before the first figures of a send. */
const FIRST_CHUNKS = 2;

/**
 * How many chunks may begin, in order: twice as many as were worked through, or one after the other if the errors are
 * above their limit but not certainly. Late figures give a smaller number, never a larger one. @param before the
 * figures when the send was last resumed
 */
export function chunksAllowed(limits: Limits, figures: Figures, before: Figures | undefined): number {
  const { passed, tried, errors } = since(before, figures);
  const { max_error_rate: limit } = limits;
  const isSuspect =
    limit !== undefined && Object.entries(errors).some(([channel, n]) => n > limit * (tried[channel] ?? 0));
  return (before?.passed ?? 0) + (isSuspect ? passed + 1 : Math.max(FIRST_CHUNKS, 2 * passed));
}

/** The chunks of a range: their number so far, and whether it is final. */
export interface RangeSize {
  chunks: number;
  planned: boolean;
}

/** How many chunks come before a chunk, in the order over all ranges: the first of each, then the second of each. */
export const chunksBefore = (sizes: readonly RangeSize[], range: number, n: number): number =>
  sizes.reduce((sum, { chunks, planned }, i) => {
    const earlier = n + (i < range ? 1 : 0);
    return sum + (planned ? Math.min(chunks, earlier) : earlier);
  }, 0);

const MAX_WAIT_MS = 15 * 60 * SECOND;

/** When a waiting chunk checks again: after the number of rounds before it, by the length of the rounds so far. */
export function askAgainIn(before: number, allowed: number, ageMs: number): number {
  const doublings = Math.max(1, Math.ceil(Math.log2((before + 1) / Math.max(1, allowed))));
  const pace = Math.max(1, ageMs / (60 * SECOND));
  return Math.min(MAX_WAIT_MS, Math.round(5 * SECOND * doublings * pace));
}

export const isCanary = (job: string, subscriber: string, percent: number): boolean =>
  bucket("canary", job, subscriber) < percent * 100;
