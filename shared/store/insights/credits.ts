// The credits of a conversion: sources and channels, each on the days of the sends that led to it (D-ATTRIB, ISG-1).
import { dayOf } from "../events/events.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { type ConversionGroup, DayTotals } from "./items.ts";

/** A credit of a conversion, on the day on which the send of its touch was dispatched. */
export interface Credit {
  group: ConversionGroup;
  id: string;
  day: string;
}

export const nameOf = ({ group, id }: Credit) => `${group}#${id}`;
export const placeOf = (credit: Credit) => `${nameOf(credit)}#${credit.day}`;

export function creditAt(place: string): Credit {
  const [group = "", id = "", day = ""] = place.split("#");
  return { group: group === "campaign" ? group : "journey", id, day };
}

export const daysOf = (credits: readonly Credit[]): string[] => credits.map(({ day }) => day);

export const creditOf = (job: JobRecord | undefined): Credit | undefined => {
  if (!job?.source.id) return undefined;
  const { type, id } = job.source;
  return type === "campaign" || type === "journey" ? { group: type, id, day: dispatchDay(job) } : undefined;
};

const dispatchDay = ({ dispatched_at, created_at }: JobRecord): string => dayOf(dispatched_at ?? created_at);

/** The send of the last touch, and the type of the channel by which it came. */
export interface LastTouch {
  job: JobRecord;
  channel: string | undefined;
}

/** The source of the last touch, and the channel of the touch: these get the conversion alone (AMB-97). */
export function lastCredits(last: LastTouch | undefined): Credit[] {
  if (!last) return [];
  const { job, channel: type } = last;
  // If several channels have the type, the one of the send.
  const channel = job.deliverySettings?.via.find((sender) => sender.type === type)?.id;
  const source = creditOf(job);
  const byChannel = channel && { group: "channel" as const, id: channel, day: dispatchDay(job) };
  return [...(source ? [source] : []), ...(byChannel ? [byChannel] : [])];
}

export interface AddedCredit {
  credit: Credit;
  add: Record<string, number>;
}

/**
 * Moves credits to further days. A window counts a conversion once: of two consecutive days, the later one knows what
 * the day before has counted.
 */
export function onMoreDays(
  total: "converters" | "revenue",
  value: number,
  credits: readonly Credit[],
  counted: readonly string[],
): AddedCredit[] {
  const days = [...counted].sort();
  return credits.flatMap((credit) => {
    const { day } = credit;
    if (value === 0 || days.includes(day)) return [];
    const before = days.findLast((other) => other < day);
    const after = days.find((other) => other > day);
    days.push(day);
    days.sort();
    const share = (of: string | undefined, n: number) => (of === undefined ? {} : { [`${total}_of|${of}`]: n });
    const change = { credit, add: { [total]: value, ...share(before, value) } };
    if (after === undefined) return [change];
    return [change, { credit: { ...credit, day: after }, add: { ...share(before, -value), ...share(day, value) } }];
  });
}

/** One write for each source or channel and day, because a transaction cannot change an item twice. */
export function totalWrites(shard: string, all: readonly AddedCredit[]): ItemWrite<"workspace">[] {
  const sums = new Map<string, AddedCredit>();
  for (const { credit, add } of all) {
    const sum = sums.get(placeOf(credit)) ?? { credit, add: {} };
    sums.set(placeOf(credit), sum);
    for (const [name, n] of Object.entries(add)) sum.add[name] = (sum.add[name] ?? 0) + n;
  }
  return [...sums.values()].flatMap(({ credit, add }) => {
    const changed = Object.fromEntries(Object.entries(add).filter(([_, n]) => n !== 0));
    return Object.keys(changed).length === 0 ? [] : [changeItem(DayTotals, { ...credit, shard }, { add: changed })];
  });
}
