// Sends of server keys in the audit trail: one entry for all sends of a key in a quarter-hour, with the sum of their
// MACs (RDA-23, docs/decisions/0102). If the row of a send is changed or removed later, the sum differs.
import * as v from "valibot";
import { said, Timestamp } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { fromJson, toJson } from "../json-text.ts";
import type { JobLane } from "../sends/jobs/job-ids.ts";
import { QuarterItem } from "../sends/jobs/job-items.ts";
import { QUARTER_MS } from "../workspaces/sends-ahead.ts";
import type { SealedSends, Seals } from "./items.ts";
import { auditKey, totalMac } from "./macs.ts";
import { addedSeals } from "./seals.ts";
import type { SealingContext } from "./trail.ts";

export const SealedSendsShape = v.object({
  count: said("How many sends", v.number()),
  from: said("The quarter-hour in which they were made: its beginning", Timestamp),
  to: said("Its end", Timestamp),
});

export const shownSends = ({ quarter, count }: SealedSends): v.InferOutput<typeof SealedSendsShape> => ({
  count,
  from: timestamp(quarter * QUARTER_MS),
  to: timestamp((quarter + 1) * QUARTER_MS),
});

/**
 * Adds the sends of a quarter-hour to the audit trail, one entry for each key, when all its partitions are settled. A
 * new entry replaces one with a former total. A crash between entry and mark, or two workers at once, may leave two
 * equal entries. @returns false while a partition is not settled
 */
export async function sealSends(
  store: Store,
  { auditTrail, secrets }: SealingContext,
  quarter: number,
  lanes: readonly JobLane[],
): Promise<boolean> {
  const keys = lanes.map((lane) => ({ quarter, lane }));
  const rows = await store.getAll(QuarterItem, keys);
  const [first] = lanes;
  if (first === undefined || rows.some((row) => row === undefined)) return false;
  const totals = addedSeals(rows.map((row) => (row?.seals ? fromJson(row.seals) : {})));
  const marks = new Map(familyOf(rows[0] ?? {}, "s:"));

  for (const [actor, { count, sum }] of Object.entries(totals)) {
    const sends = { quarter, count, sum };
    const mark = totalMac(auditKey(await secrets.root(), store.tenant), actor, sends);
    if (marks.get(actor) === mark) continue;
    const entry = {
      action: "notifications.create",
      actor_type: "server_key",
      actor,
      request_id: `sends-${quarter}`,
      sends: toJson(sends),
    } as const;
    await auditTrail.record(
      { tenant: store.tenant, secrets },
      entry,
      () => store.change(QuarterItem, { quarter, lane: first }, { set: { [`s:${actor}`]: mark } }, present("rev")),
      () => ({ status: 201 }),
    );
  }
  return true;
}

/**
 * Whether the sends of an entry are unchanged, or a later entry has replaced it. @param now the present sums of the
 * quarter-hour
 */
export async function isWhole(
  store: StoreReader,
  key: Buffer,
  { actor, sends, now, lanes }: { actor: string; sends: SealedSends; now: Seals; lanes: readonly JobLane[] },
): Promise<boolean> {
  const { quarter } = sends;
  const { count, sum } = now[actor] ?? { count: 0, sum: "0" };
  if (count === sends.count && sum === sends.sum) return true;
  const [first] = lanes;
  const row = first && (await store.get(QuarterItem, { quarter, lane: first }));
  return row?.[`s:${actor}`] === totalMac(key, actor, { quarter, count, sum });
}
