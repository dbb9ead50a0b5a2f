// What things cost in the deployment's own account (F10, docs/decisions/0053): list prices of AWS, what a send consumes of
// them, and the rates of docs/deploy.md.

/** us-east-1, without the free tiers, as listed on this day. */
export const PRICES_OF = "2026-11-01";

/** Dollars per million. */
export const PRICES = {
  "write units of an on-demand table": 0.625,
  "read units of an on-demand table": 0.125,
  "requests to a standard queue": 0.4,
} as const;

/** Dollars per million: GB-seconds of a function on Arm, and mails of SES. */
const GB_SECONDS = 13.3334;
const SES_MAILS = 100;

/** A message is sent, received and deleted; receipts and deletions go ten at a time in a burst. */
export const REQUESTS_PER_MESSAGE = { alone: 3, burst: 1.2 } as const;

/** What work takes of the table and of the queues. */
export interface Consumed {
  wcu: number;
  rcu: number;
  messages: number;
}

/** What a million of them cost, in dollars: the table and the queues, without functions and providers. */
export function dollarsPerMillion({ wcu, rcu, messages }: Consumed, mode: keyof typeof REQUESTS_PER_MESSAGE): number {
  return (
    wcu * PRICES["write units of an on-demand table"] +
    rcu * PRICES["read units of an on-demand table"] +
    messages * REQUESTS_PER_MESSAGE[mode] * PRICES["requests to a standard queue"]
  );
}

interface Rate extends Consumed {
  gbSeconds: number;
}

/** Of any send: its row, its place in the quota, its end. */
const BASE: Rate = { wcu: 12, rcu: 12, messages: 1, gbSeconds: 0.1 };
/** Of a send to many: its ranges and its plan. A smaller one has a share of it. */
const PLAN: Rate = { wcu: 150, rcu: 270, messages: 23, gbSeconds: 2 };
const WHOLE_PLAN_FROM = 2_000;
/** Of each recipient, by how it is reached. A mail has a receipt, which is a message and a write of its own. */
const PER_RECIPIENT = {
  in_app: { wcu: 1.054, rcu: 0.06, messages: 0.0057, gbSeconds: 0.0002 },
  email: { wcu: 1.82, rcu: 2.42, messages: 0.95, gbSeconds: 0.007 },
  other: { wcu: 1.177, rcu: 0.68, messages: 0.012, gbSeconds: 0.006 },
} as const satisfies Record<string, Rate>;

export interface SendCost {
  /** All of it, in dollars. */
  dollars: number;
  /** The table, the queues and the functions. */
  service_dollars: number;
  /** Mails by SES; the prices of other providers are not known. */
  provider_dollars: number;
  write_units: number;
  read_units: number;
  queue_messages: number;
}

/**
 * What a send costs.
 * @param byClass recipients by the class of channels that reaches them; one of several classes counts in each
 * @param recipients each counted once
 */
export function costOfSend(byClass: Readonly<Record<string, number>>, recipients: number): SendCost {
  const total: Rate = { ...BASE };
  const add = (rate: Rate, n: number) => {
    total.wcu += n * rate.wcu;
    total.rcu += n * rate.rcu;
    total.messages += n * rate.messages;
    total.gbSeconds += n * rate.gbSeconds;
  };
  add(PLAN, Math.min(1, recipients / WHOLE_PLAN_FROM));
  for (const [name, n] of Object.entries(byClass))
    add(name === "in_app" || name === "email" ? PER_RECIPIENT[name] : PER_RECIPIENT.other, n);
  const service = (dollarsPerMillion(total, "burst") + total.gbSeconds * GB_SECONDS) / MILLION;
  const provider = ((byClass.email ?? 0) * SES_MAILS) / MILLION;
  return {
    dollars: rounded(service + provider),
    service_dollars: rounded(service),
    provider_dollars: rounded(provider),
    write_units: Math.round(total.wcu),
    read_units: Math.round(total.rcu),
    queue_messages: Math.round(total.messages),
  };
}

const MILLION = 1_000_000;
const rounded = (dollars: number): number => Math.round(dollars * MILLION) / MILLION;

/** Rates of docs/deploy.md. */
export const RATES = {
  /** Dollars per million. */
  sends: 1,
  events: 2.1,
  streamMinutes: 113,
  /** Dollars a month. */
  atRest: 3.2,
  queueAtRest: 0.46,
  /** A GB in the table with its point-in-time recovery, in dollars a month. */
  storedGb: 0.45,
} as const;

const MINUTES_OF_A_MONTH = 43_800;
/** A profile with its keys and index, a message of the inbox, an event. */
const STORED_BYTES = { subscriber: 1_500, send: 500, event: 120 };
const GB = 1_000_000_000;

/** Amounts of one month. `streams`: open at the same time on average. */
export type Month = Record<"subscribers" | "sends" | "events" | "streams", number>;

/** What a month costs, in dollars, line by line. */
export function costOfMonth(
  { subscribers, sends, events, streams }: Month,
  queues: number,
): [what: string, dollars: number][] {
  const bytes = subscribers * STORED_BYTES.subscriber + sends * STORED_BYTES.send + 3 * events * STORED_BYTES.event;
  return [
    ["at rest", RATES.atRest + queues * RATES.queueAtRest],
    ["sends, in-app", (sends * RATES.sends) / MILLION],
    ["events, a thousand a request", (events * RATES.events) / MILLION],
    ["live streams", (streams * MINUTES_OF_A_MONTH * RATES.streamMinutes) / MILLION],
    ["storage", (bytes / GB) * RATES.storedGb],
  ];
}
