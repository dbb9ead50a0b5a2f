// Counters of a day: deliveries and first opens by the hour in UTC (ISG-4), and series by category and by type of
// channel (RDA-10). They change in the transactions of their events.
import { timestamp } from "../../kernel/clock.ts";
import { addedUp } from "../../rules/counting.ts";
import type { Stage } from "../../rules/interactions.ts";
import { fateOf, figuresOfFate, type RecipientFate } from "../../rules/recipient-fates.ts";
import type { Store } from "../context.ts";
import { hashOf } from "../hash.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { beyond } from "../sends/chunks/tallies.ts";
import type { LateResult } from "../sends/jobs/job-items.ts";
import type { Category } from "../sends/jobs/job-spec.ts";
import { HourCount } from "./items.ts";

/**
 * The counters of mails by mailbox provider. They are few, and named by a letter, because each open and each bounce
 * writes the row of its day, which is billed by its length.
 */
export const mailboxFigures = {
  delivered: "d",
  bounced: "b",
  complained: "c",
  unsubscribed: "u",
  opened_human: "o",
} as const;
export type MailboxFigure = keyof typeof mailboxFigures;
const isMailboxFigure = (name: string): name is MailboxFigure => Object.hasOwn(mailboxFigures, name);

const mailboxCounter = (mailbox: string, figure: MailboxFigure): string => `m|${mailbox}|${mailboxFigures[figure]}`;

/** An increment at a time: attributes of `HourCount`, and the addend of each. */
interface HourIncrement {
  /** A timestamp. */
  at: string;
  add: Record<string, number>;
}

/** The writes of these increments, one for each day. @param shard a hex digit: it spreads the writes of a day */
export function dayWrites(shard: string, counted: readonly HourIncrement[]): ItemWrite<"workspace">[] {
  const days = Map.groupBy(counted, ({ at }) => at.slice(0, 10));
  return [...days].flatMap(([day, parts]) => {
    const add = addedUp(parts.map((part) => part.add));
    return Object.keys(add).length === 0 ? [] : [changeItem(HourCount, { shard, day }, { add })];
  });
}

const isOutcome = /^((by|miss|box):|n:(delivered|failed|skipped)$)/;

/** The outcomes of a tally that are counted by the day, as addends. */
export const outcomesOf = (addends: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(addends).filter(([name]) => isOutcome.test(name)));

/** The outcomes of a tally without those counted before. */
export const outcomesBeyond = (addends: Record<string, number>, before: Record<string, number>) =>
  beyond(outcomesOf(addends), outcomesOf(before));

/** The counters of a day that outcomes of sends of a category increase. @param at a timestamp */
export function outcomeCounters(
  at: string,
  category: Category,
  outcomes: Record<string, number>,
): Record<string, number> {
  const parts = Object.entries(outcomes).map(([name, n]): Record<string, number> => {
    const [group, of = ""] = name.split(":");
    if (group === "by") return { [`c|${of}|delivered`]: n };
    if (group === "miss") return { [`c|${of}|failed`]: n };
    if (group === "box") return { [mailboxCounter(of, "delivered")]: n };
    const ofCategory = { [`k|${category}|${of}`]: n };
    return of === "delivered" ? { ...ofCategory, [`delivered:${at.slice(11, 13)}`]: n } : ofCategory;
  });
  return addedUp(parts);
}

export function countedOutcomes(
  { clock }: Pick<Store, "clock">,
  category: Category,
  outcomes: Record<string, number>,
): HourIncrement {
  const at = timestamp(clock.now());
  return { at, add: outcomeCounters(at, category, outcomes) };
}

/** The writes that count outcomes now. @param unit the id of their subject: it decides the shard */
export const countedOutcomeWrites = (
  store: Pick<Store, "clock">,
  unit: string,
  category: Category,
  outcomes: Record<string, number>,
): ItemWrite<"workspace">[] => dayWrites(hashOf(unit).slice(0, 1), [countedOutcomes(store, category, outcomes)]);

/**
 * First opens and clicks of a recipient.
 * @param mailbox the provider of the recipient's mailbox
 * @param marks stages that the recipient reached first, or by one channel first: `opened`, `opened@email`
 * @param n -1 takes them back
 */
export function countedStages(
  at: string,
  { category, mailbox }: { category: Category; mailbox: string | undefined },
  marks: readonly string[],
  n: 1 | -1 = 1,
): HourIncrement {
  const add: Record<string, number> = {};
  for (const mark of marks) {
    const [stage = "", channel] = mark.split("@");
    if (!isCounted(stage)) continue;
    add[channel === undefined ? `k|${category}|${stage}` : `c|${channel}|${stage}`] = n;
    if (mark === "opened") add[`opened:${at.slice(11, 13)}`] = n;
    if (mark === OPENED_MAIL && mailbox !== undefined) add[mailboxCounter(mailbox, "opened_human")] = n;
  }
  return { at, add };
}

/** The mark of a person who opened the mail. */
export const OPENED_MAIL = "opened_human@email";

const countedStageNames = ["opened", "opened_human", "clicked", "clicked_human"] as const satisfies readonly Stage[];
const isCounted = (stage: string): boolean => countedStageNames.some((name) => name === stage);

/** A conversion by its last touch. @param kind its category and type of channel: `marketing|email` */
export function countedConversion(at: string, kind: string, revenue: number, n: 1 | -1): HourIncrement {
  const [category = "", channel = ""] = kind.split("|");
  const scopes = [`k|${category}`, ...(channel ? [`c|${channel}`] : [])];
  return {
    at,
    add: Object.fromEntries(
      scopes.flatMap((scope) => [
        [`${scope}|converted`, n],
        [`${scope}|revenue`, n * revenue],
      ]),
    ),
  };
}

/** The writes that count late news of a mail, on the day of the mail: a day's numbers add up at every moment. */
export function lateDayWrites(subscriber: string, late: LateResult, category: Category): ItemWrite<"workspace">[] {
  const { kind, at, isUnsure = false, mailbox } = late;
  const fate = fateOf(late);
  const isOfRecipient = kind === "arrived" || kind === "bounced";
  const ofCategory = isOfRecipient ? fate && fateOfDay(fate, at, category, 1) : { [`k|${category}|${kind}`]: 1 };
  const ofMail = {
    ...(kind === "arrived" ? { delivered: 1 } : { [kind]: 1 }),
    ...(kind === "bounced" && !isUnsure && { delivered: -1 }),
    ...(isOfRecipient && isUnsure && { failed: -1 }),
  };
  const add: Record<string, number> = { ...ofCategory };
  for (const [name, n] of Object.entries(ofMail)) {
    add[`c|email|${name}`] = n;
    if (mailbox !== undefined && isMailboxFigure(name)) add[mailboxCounter(mailbox, name)] = n;
  }
  return dayWrites(hashOf(subscriber).slice(0, 1), [{ at: timestamp(at), add }]);
}

/**
 * The writes that take back the effect of a mail on its recipient. @param at when the mail was sent, in milliseconds
 */
export const fateDayWrites = (
  subscriber: string,
  { fate, at }: { fate: RecipientFate; at: number },
  category: Category,
): ItemWrite<"workspace">[] =>
  dayWrites(hashOf(subscriber).slice(0, 1), [{ at: timestamp(at), add: fateOfDay(fate, at, category, -1) }]);

function fateOfDay(fate: RecipientFate, at: number, category: Category, n: 1 | -1): Record<string, number> {
  const { delivered, bounced, failed } = figuresOfFate(fate, n);
  return {
    ...(failed !== undefined && { [`k|${category}|failed`]: failed }),
    ...(bounced !== undefined && { [`k|${category}|bounced`]: bounced }),
    ...(delivered !== undefined && {
      [`k|${category}|delivered`]: delivered,
      [`delivered:${timestamp(at).slice(11, 13)}`]: delivered,
    }),
  };
}
