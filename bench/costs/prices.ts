// List prices of AWS, from which the page counts dollars.

/** us-east-1, without the free tiers, as listed on this day. */
export const PRICES_OF = "2026-11-01";

/** Dollars per million. */
export const PRICES = {
  "write units of an on-demand table": 0.625,
  "read units of an on-demand table": 0.125,
  "requests to a standard queue": 0.4,
} as const;

/** A message is sent, received and deleted; receipts and deletions go ten at a time in a burst. */
export const REQUESTS_PER_MESSAGE = { alone: 3, burst: 1.2 } as const;

interface Consumed {
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
