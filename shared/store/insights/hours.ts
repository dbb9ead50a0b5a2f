// Counters of deliveries and first opens by the hour in UTC (ISG-4).
import { timestamp } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { hashOf } from "../hash.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { HourCount } from "./items.ts";

/** The write that counts `n` at a time. @param shard a hex digit: it spreads the writes of a day */
export const hourWrite = (
  counted: "delivered" | "opened",
  at: string,
  { shard, n }: { shard: string; n: number },
): ItemWrite<"workspace"> =>
  changeItem(HourCount, { shard, day: at.slice(0, 10) }, { add: { [`${counted}:${at.slice(11, 13)}`]: n } });

/** The writes that count what is delivered now. @param unit what was delivered: it decides the shard */
export const deliveredWrites = ({ clock }: Pick<Store, "clock">, unit: string, n: number): ItemWrite<"workspace">[] =>
  n === 0 ? [] : [hourWrite("delivered", timestamp(clock.now()), { shard: hashOf(unit).slice(0, 1), n })];
