// The results of one send, and of its arms (F9).
import { liftFields, liftOf } from "../../rules/lift.ts";
import type { StoreReader } from "../context.ts";
import { jobNow } from "../sends/chunks/deferred.ts";
import { interactionTotals } from "../sends/interactions/totals.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { reachedByArm } from "../sends/jobs/late.ts";
import { type CampaignSend, campaignTotals } from "./insights.ts";

/** The results of a send so far, from any source; `by_variant` is empty without arms. */
export async function sendReportOf(store: StoreReader, send: JobRecord) {
  const [job, totals] = await Promise.all([jobNow(store, send), interactionTotals(store, send.id)]);
  const sends = [{ job, totals }];
  const { cost: _cost, ...results } = campaignTotals(sends);
  return { ...results, ...armsOf(sends) };
}

/** The results of each arm, and how certain their difference is (F9). */
export function armsOf(sends: readonly CampaignSend[]) {
  const split = sends.filter(({ job }) => job.isSplit);
  if (split.length === 0) return { by_variant: [], b_over_a: null };
  const [a, b] = [armIn(split, "a"), armIn(split, "b")];
  const lift = (stage: "opened_human" | "clicked_human") => {
    const armFigures = (arm: typeof a) => ({ size: arm.delivered, converters: Math.min(arm[stage], arm.delivered) });
    return liftFields(liftOf(armFigures(b), armFigures(a)));
  };
  return { by_variant: [a, b], b_over_a: { opened: lift("opened_human"), clicked: lift("clicked_human") } };
}

function armIn(split: readonly CampaignSend[], variant_id: "a" | "b") {
  const stages = { opened: 0, opened_human: 0, clicked: 0, clicked_human: 0 };
  let delivered = 0;
  for (const { job, totals } of split) {
    delivered += reachedByArm(job, job)[variant_id];
    for (const stage of Object.keys(stages) as (keyof typeof stages)[])
      stages[stage] += totals.variants[variant_id]?.recipients[stage] ?? 0;
  }
  return { variant_id, delivered, ...stages };
}
