// The cost of a month in the deployment's own account: of the whole deployment, and of one workspace (docs/deploy.md).
import { dollarsOf, MILLION, PER_RECIPIENT, PRICES, type Rate, roundedDollars, SES_MAIL } from "./cost.ts";

/**
 * The units of a send to one recipient by itself, and of an event with a key in a batch of a thousand: of a hundred
 * people, or of nearly as many people as events, each of whom has a row in the batch (docs/performance.md).
 */
export const MEASURED = {
  alone: { wcu: 4, rcu: 6, messages: 1, gbSeconds: 0.02 },
  event: { wcu: 1.13, rcu: 1.1, messages: 0.001, gbSeconds: 0.0003 },
  eventOfMany: { wcu: 2, rcu: 1.95, messages: 0.001, gbSeconds: 0.0006 },
} as const satisfies Record<string, Rate>;

/** Rates of docs/deploy.md. */
export const RATES = {
  /** Dollars per million. CloudFront 1.00, the gateway 1.00, authentication 0.25, the function 0.33, logs and traces 0.50. */
  requests: 3.08,
  /** Of 90 seconds: 128 MB, 13 write and 66 read units, a request to the edge and to Lambda, and its log line. */
  streamMinutes: 111,
  /** Outbound events on the account's bus, of which four share an entry: EventBridge 0.25, the function 0.03. */
  published: 0.28,
  /** Dollars a month. */
  atRest: 3.86,
  queueAtRest: 0.46,
  /** If events are published: the two alarms of `publish-events`. */
  publisherAtRest: 0.2,
  /** A GB in the table with its point-in-time recovery, in dollars a month. */
  storedGb: 0.45,
  /** A GB from CloudFront, in dollars. */
  transferGb: 0.085,
} as const;

const MINUTES_OF_A_MONTH = 43_800;
const EVENTS_OF_A_REQUEST = 1_000;
/**
 * The stored bytes in the table and its indexes, with the 100 bytes that AWS adds to each row: a profile with its keys,
 * a message of a send to many, a send to one with its message, an event with a key in a batch of many people. A test
 * measures them.
 */
export const STORED_BYTES = { subscriber: 1_400, send: 450, single: 1_700, event: 1_050 };
const GB = 1_000_000_000;

/** The amounts of a month of an idle deployment. */
export const EMPTY_MONTH = {
  subscribers: 0,
  sends: 0,
  singles: 0,
  /** To phones and browsers, of sends to many. */
  pushes: 0,
  mails: 0,
  events: 0,
  /** Events on the account's bus. */
  published: 0,
  requests: 0,
  /** Live streams that are open at the same time, on average. */
  streams: 0,
  /** Gigabytes of answers. */
  gigabytes: 0,
  /** How long sends and events have been kept so far. */
  months: 1,
};
export type Month = typeof EMPTY_MONTH;

/** The cost of a month, in dollars, line by line: every dimension that AWS bills, without other providers. */
export function costOfMonth(month: Month, queues: number): [what: string, dollars: number][] {
  const { subscribers, sends, singles, pushes, mails, events, published, requests, streams, gigabytes, months } = month;
  const bytes =
    subscribers * STORED_BYTES.subscriber +
    months * ((sends + pushes) * STORED_BYTES.send + singles * STORED_BYTES.single + events * STORED_BYTES.event);
  // A request of ours writes a row; sends and events have units of their own.
  const asked = requests + singles + events / EVENTS_OF_A_REQUEST;
  const rows = requests * PRICES["write units of an on-demand table"];
  return [
    ["at rest", RATES.atRest + queues * RATES.queueAtRest + (published > 0 ? RATES.publisherAtRest : 0)],
    ["sends to many, in-app", dollarsOf(sends, PER_RECIPIENT.in_app, "burst")],
    ["sends to one, in-app", dollarsOf(singles, MEASURED.alone, "alone")],
    ["pushes to many", dollarsOf(pushes, PER_RECIPIENT.other, "burst")],
    ["emails", dollarsOf(mails, PER_RECIPIENT.email, "burst")],
    ["emails, SES", mails * SES_MAIL],
    ["events, a thousand a request", dollarsOf(events, MEASURED.eventOfMany, "burst")],
    ["events on the account's bus", (published * RATES.published) / MILLION],
    ["requests", (asked * RATES.requests + rows) / MILLION],
    ["live streams", (streams * MINUTES_OF_A_MONTH * RATES.streamMinutes) / MILLION],
    ["transfer", gigabytes * RATES.transferGb],
    ["storage", (bytes / GB) * RATES.storedGb],
  ];
}

/**
 * The cost of a workspace's month, in dollars, from its counters. Sends to one and to many are one counter. `least`
 * assumes that all were sends to many, and that batches of events were of few people; `most` assumes that each was a
 * request of its own, and that batches were of many.
 */
export function costOfUsage({ sends, events }: { sends: number; events: number }): { least: number; most: number } {
  const alone = dollarsOf(sends, MEASURED.alone, "alone") + (sends / MILLION) * RATES.requests;
  return {
    least: roundedDollars(dollarsOf(events, MEASURED.event, "burst") + dollarsOf(sends, PER_RECIPIENT.in_app, "burst")),
    most: roundedDollars(dollarsOf(events, MEASURED.eventOfMany, "burst") + alone),
  };
}
