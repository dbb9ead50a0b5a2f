// Metrics beside those that AWS counts by itself. They are part of log lines (CloudWatch EMF, D-HEALTH).
import type { LogEntry } from "../kernel/deps.ts";

export const NAMESPACE = "EngagementMessaging";

interface CountedMetric {
  metric: string;
  /**
   * The field of the entry whose value is a dimension: it has few values, because each is billed as a metric of its
   * own.
   */
  by: string;
  amount(entry: LogEntry): number;
}

const always = () => 1;

/** By the message of the entry. A metric is published and billed only in months in which it happens. */
export const counted: Readonly<Record<string, CountedMetric>> = {
  request: { metric: "Requests", by: "status", amount: always },
  "a message failed": { metric: "FailedMessages", by: "worker", amount: always },
  "a workspace nears a limit": { metric: "LimitWarnings", by: "metered", amount: always },
  // The function answers them itself, so Lambda does not count an error.
  "a stream could not open": { metric: "StreamsNotOpened", by: "status", amount: always },
  "a stream ended with an error": { metric: "StreamsBroken", by: "level", amount: always },
  published: { metric: "Published", by: "to", amount: ({ events }) => Number(events) },
  "the sweep found overdue rows": { metric: "OverdueTimers", by: "level", amount: ({ rescued }) => Number(rescued) },
};

/** The entry with the fields that CloudWatch counts by; unchanged if it is not counted. */
export function withMetrics(entry: LogEntry, now: number): LogEntry {
  const found = counted[entry.message];
  if (!found) return entry;
  const { metric, by, amount } = found;
  const Metrics = [{ Name: metric, Unit: "Count" }];
  return {
    ...entry,
    // A dimension is text, whatever the type of the field.
    [dimensionOf(by)]: String(entry[by]),
    [metric]: amount(entry),
    _aws: { Timestamp: now, CloudWatchMetrics: [{ Namespace: NAMESPACE, Dimensions: [[dimensionOf(by)]], Metrics }] },
  };
}

/** `status` → `Status` */
export const dimensionOf = (field: string): string => field.slice(0, 1).toUpperCase() + field.slice(1);
