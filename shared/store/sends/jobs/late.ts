// The late results of a send after it was handed over: bounces, complaints and opt-outs, and the results of mails whose
// provider did not answer, which the tally counts as failed. They are counted on the row of its job, beside its tally,
// which stays as it was closed; the API shows both together (AMB-139, docs/decisions/0098).
import * as v from "valibot";
import { said } from "../../../contract/schemas.ts";
import { UNCONFIRMED } from "../../../rules/reasons.ts";
import { fateOf, type RecipientFate } from "../../../rules/recipient-fates.ts";
import { LANES } from "../../../rules/step-brake.ts";
import { present } from "../../conditions.ts";
import type { StoreReader } from "../../context.ts";
import { fateDayWrites, lateDayWrites } from "../../insights/hours.ts";
import { changeItem, type ItemWrite } from "../../item.ts";
import { StepSignal } from "../../journeys/step-brake-items.ts";
import { fateTotalWrites, lateTotalWrites } from "../../journeys/totals.ts";
import { type Tally, tallyFields, uncertainIn } from "../chunks/tallies.ts";
import { armIn } from "./draws.ts";
import { JobItem, type LateResult } from "./job-items.ts";
import type { JobRecord } from "./job-record.ts";
import { findJob } from "./jobs.ts";

const figure = (sentence: string) => said(sentence, v.number());

export const shownCounts = v.object({
  ...tallyFields.counts.entries,
  bounced: figure("Recipients whose mail came back and whom no other channel reached; they are not among `delivered`"),
  complained: figure("Recipients who called the mail spam"),
  unsubscribed: figure("Recipients who opted out by a link of the mail"),
  uncertain: figure("Those among `failed` who may have got it"),
});

/** The counts of a job with what came back later. */
export const countsNow = (
  { late }: Pick<JobRecord, "late">,
  { counts, fail_reasons }: Pick<Tally, "counts" | "fail_reasons">,
): v.InferOutput<typeof shownCounts> => ({
  ...counts,
  delivered: Math.max(0, counts.delivered - late.lost + late.found),
  failed: Math.max(0, counts.failed - late.found - late.missed),
  bounced: late.lost + late.missed,
  complained: late.complained,
  unsubscribed: late.unsubscribed,
  uncertain: uncertainIn(failReasonsNow({ late }, { fail_reasons })),
});

export function failReasonsNow(
  { late }: Pick<JobRecord, "late">,
  { fail_reasons }: Pick<Tally, "fail_reasons">,
): Record<string, number> {
  const known = late.found + late.missed;
  if (known === 0) return fail_reasons;
  const { [UNCONFIRMED]: unconfirmed = 0, ...others } = fail_reasons;
  return unconfirmed > known ? { ...others, [UNCONFIRMED]: unconfirmed - known } : others;
}

/** Recipients reached by channel, without mails that came back. */
export function reachedNow(
  { late }: Pick<JobRecord, "late">,
  { delivered_by_channel: reached }: Pick<Tally, "delivered_by_channel">,
): Record<string, number> {
  const change = late.arrived - (late.bounced - late.returned);
  return change === 0 || (change < 0 && reached.email === undefined)
    ? reached
    : { ...reached, email: Math.max(0, (reached.email ?? 0) + change) };
}

/** Recipients whom a channel did not reach, without mails of which it is known by now that they arrived or came back. */
export function missedNow(
  { late }: Pick<JobRecord, "late">,
  { failed_by_channel, uncertain_by_channel }: Pick<Tally, "failed_by_channel" | "uncertain_by_channel">,
): Record<"failed" | "uncertain", Record<string, number>> {
  const known = late.arrived + late.returned;
  const unknown = (n: Record<string, number>) => (n.email ? { ...n, email: Math.max(0, n.email - known) } : n);
  return { failed: unknown(failed_by_channel), uncertain: unknown(uncertain_by_channel) };
}

/** Recipients reached by arm, without those whose mail came back. */
export const reachedByArm = (
  { late }: Pick<JobRecord, "late">,
  { delivered_by_arm }: Pick<Tally, "delivered_by_arm">,
) => ({
  a: Math.max(0, (delivered_by_arm.a ?? 0) + late.gained_a - late.lost_a),
  b: Math.max(0, (delivered_by_arm.b ?? 0) + late.gained_b - late.lost_b),
});

/** Count a late result, for the transaction that records it. None for a job that is gone. */
export async function lateWrites(
  store: StoreReader,
  id: string,
  subscriber: string,
  { kind, at, mailbox, isAlone = false, isUnsure = kind === "arrived" }: LateResult,
): Promise<ItemWrite<"workspace">[]> {
  const job = await findJob(store, id);
  if (!job) return [];
  const result = { kind, at, mailbox, isAlone, isUnsure };
  const fate = fateOf(result);
  const add = {
    [`late:${kind}`]: 1,
    ...(kind === "bounced" && isUnsure && { "late:returned": 1 }),
    ...(fate && fateAddend(job, subscriber, fate, 1)),
  };
  return [
    changeItem(JobItem, { job: id }, { add }, present("id")),
    ...lateDayWrites(subscriber, result, job.category),
    ...lateTotalWrites(job, result),
    ...(kind === "arrived" ? [] : stepWrites(job, subscriber, kind)),
  ];
}

/**
 * The writes that take back the effect of a mail on its recipient, because another channel reached them. @param at when
 * the mail was sent
 */
export const takenBackWrites = (
  job: JobRecord,
  subscriber: string,
  { fate, at }: { fate: RecipientFate; at: number },
): ItemWrite<"workspace">[] => [
  changeItem(JobItem, { job: job.id }, { add: fateAddend(job, subscriber, fate, -1) }, present("id")),
  ...fateDayWrites(subscriber, { fate, at }, job.category),
  ...fateTotalWrites(job, fate),
];

/** The change for the send, and for the arm of the recipient. */
function fateAddend(job: JobRecord, subscriber: string, fate: RecipientFate, n: 1 | -1) {
  const ofSend = { [`late:${fate}`]: n };
  if (!job.isSplit || fate === "missed") return ofSend;
  return { ...ofSend, [`late:${fate === "found" ? "gained" : "lost"}_${armIn(job, subscriber)}`]: n };
}

/** For the brake of a journey's step (F21). */
function stepWrites(
  { source, step }: JobRecord,
  subscriber: string,
  kind: Exclude<LateResult["kind"], "arrived">,
): ItemWrite<"workspace">[] {
  if (!step?.hasBrake || source.id === null) return [];
  const lane = (Number.parseInt(subscriber.slice(-1), 16) || 0) % LANES;
  const signal = kind === "unsubscribed" ? "opted_out" : kind;
  const key = { journey: source.id, lane, version: step.version, step: step.id };
  return [changeItem(StepSignal, key, { add: { [signal]: 1 } })];
}
