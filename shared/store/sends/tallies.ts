// The numbers of a send: each is added once on its way from chunk to range to job (docs/decisions/0002).
import type { RankSource } from "../../rules/arbitration.ts";
import { type Counts, NO_COUNTS } from "../../rules/job-states.ts";
import type { ChannelClass } from "../../rules/reach.ts";
import type { Item } from "../model.ts";

export interface Tally {
  counts: Counts;
  skip_reasons: Record<string, number>;
  /** Why recipients were not reached; `delivery_unconfirmed` is among them. */
  fail_reasons: Record<string, number>;
  /** Recipients reached, by channel type. */
  delivered_by_channel: Record<string, number>;
  arbitration: Arbitration;
}

/** SMA-7, as numbers that add up. */
export interface Arbitration {
  /** `class:source` → subscribers. */
  chosen: Record<string, number>;
  suppressed_devices: number;
  rank_errors: number;
  fallback_steps: number;
  fallback_dedup_errors: number;
}

export interface Readout extends Omit<Arbitration, "chosen"> {
  chosen: { class: ChannelClass; source: RankSource; subscribers: number }[];
}

export const NO_ARBITRATION: Arbitration = {
  chosen: {},
  suppressed_devices: 0,
  rank_errors: 0,
  fallback_steps: 0,
  fallback_dedup_errors: 0,
};

export const NO_TALLY: Tally = {
  counts: NO_COUNTS,
  skip_reasons: {},
  fail_reasons: {},
  delivered_by_channel: {},
  arbitration: NO_ARBITRATION,
};

const COUNT = "n:";
const SKIP = "skip:";
const FAIL = "fail:";
const CHANNEL = "by:";
const CHOSEN = "chosen:";
const ARBITRATION = "arb:";
const PREFIXES = [COUNT, SKIP, FAIL, CHANNEL, CHOSEN, ARBITRATION];

/** A tally as attributes to be added. */
export function addends(tally: Tally): Record<string, number> {
  const { chosen, ...plain } = tally.arbitration;
  const groups: [prefix: string, numbers: object][] = [
    [COUNT, tally.counts],
    [SKIP, tally.skip_reasons],
    [FAIL, tally.fail_reasons],
    [CHANNEL, tally.delivered_by_channel],
    [CHOSEN, chosen],
    [ARBITRATION, plain],
  ];
  const added: Record<string, number> = {};
  for (const [prefix, numbers] of groups)
    for (const [name, n] of Object.entries(numbers)) if (n > 0) added[prefix + name] = n;
  return added;
}

/** What is to be added where `before` was added already: it may be less. */
export function beyond(now: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  const more = [...names].map((name) => [name, (now[name] ?? 0) - (before[name] ?? 0)] as const);
  return Object.fromEntries(more.filter(([, n]) => n !== 0));
}

/** Tallies together. */
export function sumOf(tallies: readonly Tally[]): Tally {
  const sums: Record<string, number> = {};
  for (const tally of tallies)
    for (const [name, n] of Object.entries(addends(tally))) sums[name] = (sums[name] ?? 0) + n;
  return tallyOf(sums);
}

/** The attributes of an item that belong to its tally. */
export const addendsOf = (item: Item): Record<string, number> =>
  Object.fromEntries(
    Object.entries(item).filter(([name]) => PREFIXES.some((prefix) => name.startsWith(prefix))),
  ) as Record<string, number>;

export function tallyOf(item: Record<string, unknown>): Tally {
  const under = (prefix: string): Record<string, number> =>
    Object.fromEntries(
      Object.entries(item).flatMap(([name, n]) =>
        name.startsWith(prefix) ? [[name.slice(prefix.length), Number(n)]] : [],
      ),
    );
  return {
    counts: { ...NO_COUNTS, ...under(COUNT) },
    skip_reasons: under(SKIP),
    fail_reasons: under(FAIL),
    delivered_by_channel: under(CHANNEL),
    arbitration: { ...NO_ARBITRATION, ...under(ARBITRATION), chosen: under(CHOSEN) },
  };
}

/** What GET of a smart send shows. */
export function readoutOf({ chosen, ...numbers }: Arbitration): Readout {
  const rows = Object.entries(chosen).map(([name, subscribers]) => {
    const [one, source] = name.split(":") as [ChannelClass, RankSource];
    return { class: one, source, subscribers };
  });
  const order = ({ class: one, source }: (typeof rows)[number]) => `${one}:${source}`;
  const sorted = rows.sort((a, b) => b.subscribers - a.subscribers || (order(a) < order(b) ? -1 : 1));
  return { chosen: sorted, ...numbers };
}
