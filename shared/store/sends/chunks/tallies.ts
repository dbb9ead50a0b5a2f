// The numbers of a send: each is added once on its way from chunk to range to job (docs/decisions/0002).
import * as v from "valibot";
import { said } from "../../../contract/schemas.ts";
import { compareTexts } from "../../../kernel/order.ts";
import { type RankSource, rankSources } from "../../../rules/arbitration.ts";
import { type ChannelClass, channelClasses } from "../../../rules/channel-types.ts";
import { addedUp } from "../../../rules/counting.ts";
import { UNCONFIRMED } from "../../../rules/reasons.ts";
import type { StepAttempts } from "../../../rules/step-brake.ts";
import { familyOf } from "../../families.ts";
import { type ExtraReads, NO_EXTRA_READS } from "../audience/extra-reads.ts";

const Numbers = v.record(v.string(), v.number());

/** The totals of a job that the API returns as they are. */
export const tallyFields = {
  counts: v.object({
    /** Everyone in the audience: held-out and skipped included (AMB-95). */
    total: v.number(),
    /** Accepted into delivery. */
    sent: v.number(),
    delivered: v.number(),
    failed: v.number(),
    skipped: v.number(),
    held_out: v.number(),
  }),
  skip_reasons: Numbers,
  /** Why recipients were not reached; `delivery_unconfirmed` is among them. */
  fail_reasons: Numbers,
  /** Recipients reached, by channel type. */
  delivered_by_channel: Numbers,
};

/** F1: those among `failed` whose provider did not confirm the message. */
export const uncertain = said(
  "Those among `failed` who may have got it: the provider did not confirm, and it is not sent again",
  v.number(),
);
export const uncertainIn = (failReasons: Record<string, number>): number => failReasons[UNCONFIRMED] ?? 0;

/** The report of a smart send in the API (SMA-7). */
export const ArbitrationReport = v.object({
  chosen: v.array(
    v.object({ class: v.picklist(channelClasses), source: v.picklist(rankSources), subscribers: v.number() }),
  ),
  suppressed_devices: v.number(),
  rank_errors: v.number(),
  fallback_steps: v.number(),
  fallback_dedup_errors: v.number(),
});
type ArbitrationReport = v.InferOutput<typeof ArbitrationReport>;

/** The same as numbers that can be added up. */
interface Arbitration extends Omit<ArbitrationReport, "chosen"> {
  /** Subscribers by `class:source`. */
  chosen: Record<string, number>;
}

export interface Tally extends v.InferOutput<v.ObjectSchema<typeof tallyFields, undefined>> {
  /**
   * Recipients whom a channel type did not reach, whatever the others did; skipped recipients are not counted
   * (AMB-139).
   */
  failed_by_channel: Record<string, number>;
  /** Those of them whose provider did not answer. */
  uncertain_by_channel: Record<string, number>;
  /** Mails handed over, by the provider of their mailboxes; those of others are left out. */
  mailboxes: Record<string, number>;
  /** Recipients reached, by arm; empty of a send without arms. */
  delivered_by_arm: Record<string, number>;
  arbitration: Arbitration;
  /** The figures for the brake of a send (F21), by addresses and chunks; empty without a brake. */
  attempts: StepAttempts;
  /** Among `skipped`, those who were planned as recipients: the lift looks at them (D-ATTRIB). */
  late_skips: number;
  /** The cost of reading its candidates beyond the rates of recipients. */
  extra: ExtraReads;
}

export const NO_COUNTS: Tally["counts"] = { total: 0, sent: 0, delivered: 0, failed: 0, skipped: 0, held_out: 0 };

const NO_ARBITRATION: Arbitration = {
  chosen: {},
  suppressed_devices: 0,
  rank_errors: 0,
  fallback_steps: 0,
  fallback_dedup_errors: 0,
};

/** Each group of its numbers is a family of attributes. */
export const tallyAttributes = {
  "n:*": v.number(),
  "skip:*": v.number(),
  "fail:*": v.number(),
  "by:*": v.number(),
  "miss:*": v.number(),
  "unsure:*": v.number(),
  "box:*": v.number(),
  "arm:*": v.number(),
  "chosen:*": v.number(),
  "arb:*": v.number(),
  "try:*": v.number(),
  "err:*": v.number(),
  "pass:*": v.number(),
  "late:*": v.number(),
  "extra:*": v.number(),
};

type GroupOf<Family> = Family extends `${infer Group}:*` ? Group : never;
type Group = GroupOf<keyof typeof tallyAttributes>;

/** A tally as attributes to be added. */
export function addends(tally: Tally): Record<string, number> {
  const { chosen, ...plain } = tally.arbitration;
  const groups: Record<Group, object> = {
    n: tally.counts,
    skip: tally.skip_reasons,
    fail: tally.fail_reasons,
    by: tally.delivered_by_channel,
    miss: tally.failed_by_channel,
    unsure: tally.uncertain_by_channel,
    box: tally.mailboxes,
    arm: tally.delivered_by_arm,
    chosen,
    arb: plain,
    try: tally.attempts.tried,
    err: tally.attempts.errors,
    pass: { chunks: tally.attempts.passed },
    late: { skips: tally.late_skips },
    extra: tally.extra,
  };
  const added: Record<string, number> = {};
  for (const [group, numbers] of Object.entries(groups))
    for (const [name, n] of Object.entries(numbers)) if (n > 0) added[`${group}:${name}`] = n;
  return added;
}

/** The difference of two sets of addends, which may be negative: the remaining addends after `before`. */
export function beyond(now: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  const more = [...names].map((name) => [name, (now[name] ?? 0) - (before[name] ?? 0)] as const);
  return Object.fromEntries(more.filter(([, n]) => n !== 0));
}

export const sumOf = (tallies: readonly Tally[]): Tally => tallyOf(addedUp(tallies.map(addends)));

/** The attributes of a row that belong to its tally. */
export const addendsOf = (row: object): Record<string, number> =>
  Object.fromEntries(Object.entries(row).filter(([name]) => Object.hasOwn(tallyAttributes, `${groupOf(name)}:*`)));

const groupOf = (name: string): string => name.slice(0, Math.max(0, name.indexOf(":")));

/** The tally of a row, or of a sum of addends. */
export function tallyOf(row: object): Tally {
  const under = (group: Group): Record<string, number> =>
    Object.fromEntries(familyOf(row as Record<`${Group}:${string}`, number>, `${group}:`));
  return {
    counts: { ...NO_COUNTS, ...under("n") },
    skip_reasons: under("skip"),
    fail_reasons: under("fail"),
    delivered_by_channel: under("by"),
    failed_by_channel: under("miss"),
    uncertain_by_channel: under("unsure"),
    mailboxes: under("box"),
    delivered_by_arm: under("arm"),
    arbitration: { ...NO_ARBITRATION, ...under("arb"), chosen: under("chosen") },
    attempts: { tried: under("try"), errors: under("err"), passed: under("pass").chunks ?? 0 },
    late_skips: under("late").skips ?? 0,
    extra: { ...NO_EXTRA_READS, ...under("extra") },
  };
}

export const NO_TALLY: Tally = /* @__PURE__ */ tallyOf({});

export function arbitrationReport({ chosen, ...numbers }: Arbitration): ArbitrationReport {
  const rows = Object.entries(chosen).map(([name, subscribers]) => ({ ...choiceOf(name), subscribers }));
  const order = ({ class: channelClass, source }: (typeof rows)[number]) => `${channelClass}:${source}`;
  const sorted = rows.sort((a, b) => b.subscribers - a.subscribers || compareTexts(order(a), order(b)));
  return { chosen: sorted, ...numbers };
}

/** The class and the source of a counter that `tallyOfChunk` made of them. */
function choiceOf(name: string) {
  const [channelClass, source] = name.split(":") as [ChannelClass, RankSource];
  return { class: channelClass, source };
}
