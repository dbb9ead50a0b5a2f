// Adds up the seals of sends.
import type { Seals } from "./items.ts";
import { type SealedSend, sendMac } from "./macs.ts";

const MODULUS = 1n << 128n;

/** The seals of those sends that a server key made. */
export const sealsOf = (key: Buffer, sends: readonly SealedSend[]): Seals =>
  addedSeals(
    sends.flatMap((send) =>
      send.sent_by === undefined ? [] : [{ [send.sent_by]: { count: 1, sum: sendMac(key, send) } }],
    ),
  );

export function addedSeals(parts: readonly Seals[]): Seals {
  const totals = new Map<string, { count: number; sum: bigint }>();
  for (const part of parts)
    for (const [actor, { count, sum }] of Object.entries(part)) {
      const total = totals.get(actor) ?? { count: 0, sum: 0n };
      totals.set(actor, { count: total.count + count, sum: (total.sum + BigInt(`0x${sum}`)) % MODULUS });
    }
  return Object.fromEntries([...totals].map(([actor, { count, sum }]) => [actor, { count, sum: sum.toString(16) }]));
}
