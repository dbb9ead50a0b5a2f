// When messages arrive, by the hour in UTC (ISG-4); first opens lie in the same rows.
import { createHash } from "node:crypto";
import { timestamp } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { keys, SHARDS } from "../keys.ts";
import type { TransactItem } from "../table.ts";

/** The step that goes along with whatever was delivered now; `unit` spreads the writes over the day's shards. */
export function deliveredWrites(
  { tenant, clock }: Pick<Store, "tenant" | "clock">,
  unit: string,
  n: number,
): TransactItem[] {
  if (n === 0) return [];
  const at = timestamp(clock.now());
  const digit = createHash("sha256").update(unit).digest("hex").slice(0, 1);
  const key = keys.hours(tenant, SHARDS[Number.parseInt(digit, 16)]!, at.slice(0, 10));
  return [{ update: key, change: { add: { [`delivered:${at.slice(11, 13)}`]: n } } }];
}
