// Counters of rows: changed in the transactions that add and remove the rows, and compared with them by the recount.
import * as v from "valibot";

/**
 * The attributes of a counter. Every change increases `changes`, so that a recount can tell whether the counter was
 * changed while it read the rows.
 */
export const counterRow = { n: v.number(), changes: v.number() };

export const countChange = <N extends string>(add: Record<N, number>) => ({ add: { ...add, changes: 1 } });
