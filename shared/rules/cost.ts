// The cost of a send in the deployment's own account (F10, docs/decisions/0053): list prices of AWS, and the consumed
// units.
import { pricedChannels } from "./channel-types.ts";

/** Prices of us-east-1 on this day, without the free tiers. */
export const PRICES_OF = "2026-11-01";

/** Dollars per million. */
export const PRICES = {
  "write units of an on-demand table": 0.625,
  "read units of an on-demand table": 0.125,
  "requests to a standard queue": 0.4,
} as const;

/** Dollars per million GB-seconds of a function on Arm. */
const GB_SECONDS = 13.3334;
/** Dollars per mail. */
export const SES_MAIL = 0.0001;
export const MILLION = 1_000_000;

/**
 * Requests of a message: it is sent, received and deleted. In a burst, receipts and deletions are made ten at a time.
 */
const REQUESTS_PER_MESSAGE = { alone: 3, burst: 1.2 } as const;

/** Units of the table and of the queues that an operation consumes. */
interface ConsumedUnits {
  wcu: number;
  rcu: number;
  messages: number;
}

/** The cost of a million operations, in dollars: the table and the queues, without functions and providers. */
export function dollarsPerMillion(
  { wcu, rcu, messages }: ConsumedUnits,
  mode: keyof typeof REQUESTS_PER_MESSAGE,
): number {
  return (
    wcu * PRICES["write units of an on-demand table"] +
    rcu * PRICES["read units of an on-demand table"] +
    messages * REQUESTS_PER_MESSAGE[mode] * PRICES["requests to a standard queue"]
  );
}

/** The same units, and the time of the functions. */
export interface Rate extends ConsumedUnits {
  gbSeconds: number;
}

/** The cost of `n` operations, in dollars, with the functions. */
export const dollarsOf = (n: number, rate: Rate, mode: keyof typeof REQUESTS_PER_MESSAGE): number =>
  (n * (dollarsPerMillion(rate, mode) + rate.gbSeconds * GB_SECONDS)) / MILLION;

/** A send on the row of its job, in a journey: between one alone and one of a burst. */
const SINGLE: Rate = { wcu: 2.5, rcu: 4.5, messages: 1, gbSeconds: 0.02 };
/** A send with one recipient, alone in its quarter-hour. */
const ALONE: Rate = { wcu: 6.95, rcu: 10.9, messages: 1, gbSeconds: 0.02 };
/** In addition, if a provider sends it: its claim, its ledger, its channel and the channel's credentials. */
const ALONE_BY_PROVIDER: Rate = { wcu: 1.9, rcu: 5.2, messages: 0, gbSeconds: 0 };
/** Any other send: its row, its place in the quota, its chunks, its end. */
const BASE: Rate = { wcu: 24, rcu: 22, messages: 3, gbSeconds: 0.1 };
/** In addition, for a send to many: its ranges and their plan. */
const RANGES: Rate = { wcu: 20, rcu: 5, messages: 3, gbSeconds: 0.3 };
/** The number of recipients from which a send has ranges. */
export const WIDE_FROM = 1_001;
/**
 * Each recipient, by channel. A mail has a receipt, which is a message, and is read with those of its batch. The state
 * of an address is read twice, half a unit each (docs/decisions/0097).
 */
export const PER_RECIPIENT = {
  in_app: { wcu: 1.047, rcu: 0.06, messages: 0.006, gbSeconds: 0.0002 },
  email: { wcu: 1.15, rcu: 3.08, messages: 1.01, gbSeconds: 0.007 },
  /** An address in the profile whose provider sends no receipt: texts, and mails by a mail server. */
  address: { wcu: 1.15, rcu: 2.08, messages: 0.006, gbSeconds: 0.006 },
  other: { wcu: 1.165, rcu: 0.69, messages: 0.012, gbSeconds: 0.006 },
} as const satisfies Record<string, Rate>;
/** Read units of a recipient that is read by its id: the profile, and the devices. */
const BY_ID_RCU = { in_app: 1, email: 1, address: 1, other: 1.85 };

/**
 * Why the profile of a recipient is read again: a text of its own, or a choice of topic. A profile with the address is
 * read anyway.
 */
export type ProfileReads = "texts" | "topic" | "both";
const PROFILE_READS: Record<"in_app" | "other", Record<ProfileReads, Partial<Rate>>> = {
  in_app: { texts: { rcu: 1 }, topic: { wcu: 0.1, rcu: 2 }, both: { wcu: 0.1, rcu: 3 } },
  other: { texts: { rcu: 1 }, topic: { rcu: 1 }, both: { rcu: 1 } },
};
/** Each recipient, for each period that a frequency cap counts: it is written with the claim. */
const CAPPED = { in_app: { wcu: 2.2, rcu: 1 }, other: { wcu: 2.15 } } as const;
/** Each held-out recipient, with and without an address, and each skipped one, beside the cost of finding them. */
const HELD_OUT = { addressed: { wcu: 1.05, rcu: 0.53 }, other: { wcu: 1.05, rcu: 0.03 } } as const;
const SKIPPED: Partial<Rate> = { wcu: 0.06, rcu: 0.06 };
/** The state of an address: for each skipped recipient with one, and each that a smart send does not choose. */
const ADDRESS_READ: Partial<Rate> = { rcu: 0.5 };
/** Each recipient of a smart send, held-out ones included: the answers and the deliveries of three months. */
const SMART: Partial<Rate> = { rcu: 1.5 };

/** Each further message to one recipient: in an inbox, or to a second address, whose profile is read with the first. */
const INBOX_BESIDE: Partial<Rate> = { rcu: 0.9 };
const SECOND_ADDRESS: Partial<Rate> = { rcu: -1.1 };

/** How the audience of a send is found. */
export type Audience = "all" | "list" | "segment" | "given";

/**
 * The cost of finding the audience: of a send to one, and of any other. The profiles of all subscribers are read in
 * whole pages, others by id.
 */
const FOUND = {
  given: { one: {}, many: {}, isById: true },
  all: { one: { rcu: 15.5 }, many: { rcu: 17 }, isById: false },
  list: { one: { wcu: 1, rcu: 19.5 }, many: { wcu: 1, rcu: 7.5 }, isById: true },
  segment: { one: { wcu: 1, rcu: 33.5 }, many: { wcu: 1, rcu: 6.5 }, isById: true },
} as const satisfies Record<Audience, { one: Partial<Rate>; many: Partial<Rate>; isById: boolean }>;

export const isPriced = (type: string): type is (typeof pricedChannels)[number] =>
  pricedChannels.some((pricedChannel) => pricedChannel === type);

/**
 * The provider's price of a message on a channel, in dollars. @param own the price that the workspace set @param
 * provider of an email channel @returns undefined if it is not known
 */
export function priceOf(type: string, ownPrice: number | undefined, provider: string | undefined): number | undefined {
  if (!isPriced(type)) return 0;
  return ownPrice ?? (type === "email" && provider === "ses" ? SES_MAIL : undefined);
}

/** Prices by type of channel; an absent one is not known. */
export type Prices = Readonly<Partial<Record<string, number>>>;

export const pricesOf = (via: readonly { type: string; price?: number | undefined }[]): Prices =>
  Object.fromEntries(via.flatMap(({ type, price }) => (isPriced(type) && price !== undefined ? [[type, price]] : [])));

export interface ProviderCost {
  dollars: number;
  /** The types of channels with messages of unknown price. */
  unpriced: string[];
}

/** The charges of providers for messages. @param messages by the type of channel, or by its class */
export function providerCost(messages: Readonly<Record<string, number>>, prices: Prices): ProviderCost {
  const sent = Object.entries(messages).filter(([type, n]) => isPriced(type) && n > 0);
  return {
    dollars: roundedDollars(sent.reduce((sum, [type, n]) => sum + n * (prices[type] ?? 0), 0)),
    unpriced: sent.flatMap(([type]) => (prices[type] === undefined ? [type] : [])).sort(),
  };
}

export interface SendCost {
  /** The total in dollars. */
  dollars: number;
  /** The table, the queues and the functions. */
  service_dollars: number;
  provider_dollars: number;
  /** The types of channels of unknown price, which are not in the total. */
  unpriced: string[];
  write_units: number;
  read_units: number;
  queue_messages: number;
}

/** The figures that determine the cost of a send. */
interface SentTo {
  /** Recipients by type or class of channels; a recipient of several counts in each. */
  reached: Readonly<Record<string, number>>;
  /** The number of these recipients; it is lower than the number of messages if some get several. */
  people?: number;
  /** Workers plan the send in ranges, as for more than 1,000 recipients. */
  isWide: boolean;
  audience: Audience;
  /** Ids that are read before the audience is planned. */
  lookedUp: number;
  /** The members of its audience who do not get it. */
  heldOut?: number;
  skipped?: number;
  /** How many of the skipped recipients have an address. */
  skippedWithAddress?: number;
  /** In a smart send: the number of kinds of addresses in the profile that it can choose from. */
  smart?: { addressKinds: number } | undefined;
  /** Why profiles are read again before they are sent to. */
  profiles?: ProfileReads | undefined;
  /** The number of periods that its frequency caps count. */
  caps?: number;
  /** The send is on the row of the job: one alone, or the inboxes of a journey's step. */
  direct: "one" | "step" | undefined;
  /** Its mails go through a mail server. */
  isBySmtp: boolean;
  /** Hundredths of read units beyond those of ordinary profiles: read in pages, one by one, and of the recipients. */
  extra?: { pages: number; each: number; sent: number } | undefined;
}

function ratesOf(type: string, isBySmtp: boolean): keyof typeof PER_RECIPIENT {
  if (type === "email") return isBySmtp ? "address" : "email";
  if (type === "sms" || type === "chat_app" || type === "chat") return "address";
  return type === "in_app" ? type : "other";
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0);
const isAddress = (rates: keyof typeof PER_RECIPIENT): boolean => rates === "email" || rates === "address";

/**
 * The further units of long profiles. All subscribers are read in pages, by workers without the newest writes; others
 * one by one. Profiles with the address are read again before the send.
 */
function unitsOf(
  { pages, each, sent }: NonNullable<SentTo["extra"]>,
  { isById, isWide, reached }: { isById: boolean; isWide: boolean; reached: SentTo["reached"] },
): number {
  const isReadAgain = Object.entries(reached).some(
    ([type, n]) => n > 0 && ["email", "address"].includes(ratesOf(type, false)),
  );
  const found = isById ? each : pages * (isWide ? 0.5 : 1);
  return (found + (isReadAgain ? sent : 0)) / 100;
}

/** The units of the service that a send consumes. */
export function takenBy(sentTo: SentTo): Rate {
  const { reached, isWide, audience, lookedUp, direct, isBySmtp, extra, profiles } = sentTo;
  const { heldOut = 0, skipped = 0, caps = 0 } = sentTo;
  const total: Rate = { wcu: 0, rcu: lookedUp, messages: 0, gbSeconds: 0 };
  const add = ({ wcu = 0, rcu = 0, messages = 0, gbSeconds = 0 }: Partial<Rate>, n: number) => {
    total.wcu += n * wcu;
    total.rcu += n * rcu;
    total.messages += n * messages;
    total.gbSeconds += n * gbSeconds;
  };

  const found = FOUND[audience];
  if (direct === "step") add(SINGLE, 1);
  else if (direct === "one") {
    add(ALONE, 1);
    add(found.one, 1);
    if (Object.entries(reached).some(([type, n]) => type !== "in_app" && n > 0)) add(ALONE_BY_PROVIDER, 1);
  } else {
    add(BASE, 1);
    add(found.many, 1);
  }
  if (isWide) add(RANGES, 1);
  if (extra) total.rcu += unitsOf(extra, { isById: found.isById, isWide, reached });

  let isAddressed = false;
  for (const [type, n] of Object.entries(reached)) {
    const rates = ratesOf(type, isBySmtp);
    add(PER_RECIPIENT[rates], n);
    if (direct === undefined && found.isById) total.rcu += n * BY_ID_RCU[rates];
    if (profiles && (rates === "in_app" || rates === "other")) add(PROFILE_READS[rates][profiles], n);
    add(CAPPED[rates === "in_app" ? rates : "other"], n * caps);
    isAddressed ||= n > 0 && isAddress(rates);
  }
  add(HELD_OUT[isAddressed ? "addressed" : "other"], heldOut);
  add(SKIPPED, skipped);
  add(ADDRESS_READ, sentTo.skippedWithAddress ?? 0);

  const messages = sumOf(Object.values(reached));
  if (sentTo.smart) {
    add(SMART, heldOut + messages);
    add(ADDRESS_READ, (heldOut + messages) * Math.max(0, sentTo.smart.addressKinds - 1));
  }
  const further = Math.max(0, messages - (sentTo.people ?? messages));
  add(INBOX_BESIDE, Math.min(further, reached.in_app ?? 0));
  const addressed = Object.entries(reached).flatMap(([type, n]) => (isAddress(ratesOf(type, isBySmtp)) ? [n] : []));
  add(SECOND_ADDRESS, Math.min(further, sumOf(addressed) - Math.max(0, ...addressed)));
  if (direct === undefined && found.isById) total.rcu -= further;
  if (direct === undefined && found.isById) total.rcu += heldOut + skipped;
  return total;
}

/** The cost of sends. @param taken the units of the service that they consume together */
export function costOf(taken: Rate, provider: ProviderCost): SendCost {
  const service = dollarsOf(1, taken, "burst");
  return {
    dollars: roundedDollars(service + provider.dollars),
    service_dollars: roundedDollars(service),
    provider_dollars: provider.dollars,
    unpriced: provider.unpriced,
    write_units: Math.round(taken.wcu),
    read_units: Math.round(taken.rcu),
    queue_messages: Math.round(taken.messages),
  };
}

export const costOfSend = (sentTo: SentTo, provider: ProviderCost): SendCost => costOf(takenBy(sentTo), provider);

export function sumOfCosts(costs: readonly SendCost[]): SendCost {
  const sum = (name: Exclude<keyof SendCost, "unpriced">) => costs.reduce((total, cost) => total + cost[name], 0);
  return {
    dollars: roundedDollars(sum("dollars")),
    service_dollars: roundedDollars(sum("service_dollars")),
    provider_dollars: roundedDollars(sum("provider_dollars")),
    unpriced: [...new Set(costs.flatMap(({ unpriced }) => unpriced))].sort(),
    write_units: sum("write_units"),
    read_units: sum("read_units"),
    queue_messages: sum("queue_messages"),
  };
}

export const roundedDollars = (dollars: number): number => Math.round(dollars * MILLION) / MILLION;
