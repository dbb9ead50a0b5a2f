// When a schedule is due: at(), rate() and cron() in a time zone.
import { nextCron, parseCron } from "./cron.ts";
import { formatOf, instantOf } from "./zones.ts";

export interface Expression {
  recurring: boolean;
  /** The first occurrence after an instant. A rate counts from `anchor`. */
  next(after: number, anchor: number): number | undefined;
}

const unitMs: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Throws on what AWS would refuse. */
export function parseExpression(text: string, zone: string): Expression {
  formatOf(zone);
  const [, kind, content = ""] = /^(at|rate|cron)\(([^()]*)\)$/.exec(text) ?? [];
  if (kind === "at") return parseAt(content, zone);
  if (kind === "rate") return parseRate(content);
  if (kind !== "cron") throw new Error("Neither at(…) nor rate(…) nor cron(…).");
  const cron = parseCron(content);
  return { recurring: true, next: (after) => nextCron(cron, zone, after) };
}

function parseAt(content: string, zone: string): Expression {
  const valid = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(content);
  const local = valid ? Date.parse(`${content}Z`) : Number.NaN;
  const isDate = valid && !Number.isNaN(local) && new Date(local).toISOString().startsWith(content);
  const at = isDate ? instantOf(zone, local) : undefined;
  if (at === undefined) throw new Error(`${content} is no time of ${zone}.`);
  return { recurring: false, next: (after) => (at > after ? at : undefined) };
}

function parseRate(content: string): Expression {
  const [, count, unit = ""] = /^([1-9]\d*) (minute|hour|day)s?$/.exec(content) ?? [];
  const period = Number(count) * (unitMs[unit] ?? Number.NaN);
  if (!(period > 0)) throw new Error(`${content} is no rate.`);
  return {
    recurring: true,
    next: (after, anchor) => (after < anchor ? anchor : anchor + (Math.floor((after - anchor) / period) + 1) * period),
  };
}
