// What recipients did with a job: every report a row and a count, in one transaction, once (docs/decisions/0011,
// AMB-106).
import { createHash } from "node:crypto";
import { DAY, MINUTE, timestamp } from "../../clock.ts";
import { invalid } from "../../http/errors.ts";
import type { Store } from "../../resources.ts";
import { channelOf, type Interaction, type Platform, stagesOf } from "../../rules/interactions.ts";
import type { MachineVerdict } from "../../rules/tracking.ts";
import { absent, all } from "../conditions.ts";
import { reachedWrites } from "../journeys/totals.ts";
import { keys, SHARDS, shardOf } from "../keys.ts";
import type { Item } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { answeredClass, noteEngagement } from "../subscribers/engagement.ts";
import { isLiving } from "../subscribers/subscribers.ts";
import type { TransactItem } from "../table.ts";
import { countersOf } from "./interaction-totals.ts";
import { jobOf } from "./jobs.ts";

export interface Report {
  job_id: string;
  interaction: Interaction;
  platform: Platform;
  occurred_at: string;
  action_id?: string | undefined;
  url?: string | undefined;
  subscriber_id?: string | undefined;
  device_id?: string | undefined;
  variant_id?: string | undefined;
  /** That a machine did it: stored beside it, and no part of what makes two reports the same (AMB-92). */
  machine?: MachineVerdict | undefined;
}

const MAX_ATTEMPTS = 8;

/**
 * Counts a report, unless one equal in every field was counted. A recipient who is unknown or erased is left out of it.
 * @returns the subscriber it was counted for, if it counted and is known whose it was.
 * @throws 422 naming an unknown job (AMB-41).
 */
export async function countInteraction(store: Store, report: Report): Promise<{ subscriber: string | undefined }> {
  const digest = digestOf(report);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await read(store, report, digest);
    if (!found.job) throw invalid({ job_id: "names no notification" });
    if (found.isKnown) return { subscriber: undefined };
    const { subscriber } = found;
    const writes = writesOf(store, report, digest, found);
    const outcome = await store.transact(writes).then(
      () => "counted" as const,
      onTransactionCanceled(([existing]) => (existing ? ("known" as const) : ("again" as const))),
    );
    if (outcome === "counted") return { subscriber };
    if (outcome === "known") return { subscriber: undefined };
  }
  throw Object.assign(new Error("Too many reports of one recipient at once."), { name: "ThrottlingException" });
}

const digestOf = (report: Report): string => {
  const { job_id, interaction, platform, occurred_at, action_id, url, subscriber_id, device_id, variant_id } = report;
  const fields = [job_id, interaction, platform, occurred_at, action_id, url, subscriber_id, device_id, variant_id];
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex").slice(0, 40);
};

interface ReportContext {
  job: Item | undefined;
  isKnown: boolean;
  subscriber: string | undefined;
  /** How far the subscriber had come with the job. */
  engagement: Item | undefined;
}

async function read(
  store: Store,
  { job_id, subscriber_id, device_id }: Report,
  digest: string,
): Promise<ReportContext> {
  const { tenant } = store;
  const device =
    subscriber_id === undefined && device_id !== undefined
      ? await store.get(keys.deviceBy(tenant, "name", device_id))
      : undefined;
  const given = subscriber_id ?? (device && String(device.subscriber));
  const [job, existing, profile, engagement] = await store.getAll([
    keys.job(tenant, job_id),
    keys.interaction(tenant, job_id, digest),
    ...(given === undefined ? [] : [keys.subscriber(tenant, given), keys.engagement(tenant, given, job_id)]),
  ]);
  const subscriber = profile && isLiving(profile) ? given : undefined;
  return { job, isKnown: existing !== undefined, subscriber, engagement };
}

function writesOf(
  store: Store,
  report: Report,
  digest: string,
  { job, subscriber, engagement }: ReportContext,
): TransactItem[] {
  const { job_id, interaction, platform, occurred_at, action_id, machine } = report;
  const receivedAt = store.clock.now();
  const received_at = timestamp(receivedAt);
  const channel = channelOf(interaction, platform);
  const variant_id = jobOf(job!).variant_b && isArm(report.variant_id) ? report.variant_id : undefined;
  const reached = stagesOf(interaction, machine !== undefined).flatMap((stage) => [
    stage,
    ...(channel ? [`${stage}@${channel}`] : []),
  ]);
  const firsts = subscriber === undefined ? [] : reached.filter((mark) => engagement?.[mark] === undefined);
  const answered = answeredClass(interaction, platform);
  const answer = answered && `answered@${answered}`;
  const isFirstAnswer = subscriber !== undefined && answer !== undefined && engagement?.[answer] === undefined;
  const row = {
    ...{ job: job_id, interaction, platform, occurred_at, received_at, firsts },
    ...(channel !== undefined && { channel }),
    ...(variant_id !== undefined && { variant_id }),
    ...(action_id !== undefined && { action_id }),
    ...(machine !== undefined && { machine }),
  };
  const shard = shardOf(digest);
  const writes: TransactItem[] = [
    { put: { ...keys.interaction(store.tenant, job_id, digest), react: "interaction", ...row }, when: absent() },
    { update: keys.interactions(store.tenant, job_id, shard), change: { add: countersOf(row) } },
  ];
  const marks = isFirstAnswer ? [...firsts, answer] : firsts;
  if (subscriber !== undefined && marks.length > 0)
    writes.push({
      update: keys.engagement(store.tenant, subscriber, job_id),
      change: { set: Object.fromEntries(marks.map((mark) => [mark, received_at])) },
      when: all(...marks.map((mark) => absent(mark))),
    });
  // A job is one delivery, so it is one answer by each class, however often it is tapped (D-ARB).
  if (isFirstAnswer) writes.push(...noteEngagement(store, subscriber, report));
  writes.push(
    ...reachedWrites(
      store,
      jobOf(job!),
      stagesOf(interaction, machine !== undefined).filter((stage) => firsts.includes(stage)),
    ),
  );
  if (firsts.includes("opened")) {
    const at = hourOf(occurred_at, receivedAt);
    const key = keys.hours(store.tenant, SHARDS[Number.parseInt(digest.slice(1, 2), 16)]!, at.slice(0, 10));
    writes.push({ update: key, change: { add: { [`opened:${at.slice(11, 13)}`]: 1 } } });
  }
  return writes;
}

const isArm = (variant: string | undefined): boolean => variant === "a" || variant === "b";

/** A clock that is far off does not reach back into days long closed: its open counts when it was heard of. */
function hourOf(occurred: string, receivedAt: number): string {
  const at = Date.parse(occurred);
  return at > receivedAt - 2 * DAY && at < receivedAt + 5 * MINUTE ? occurred : timestamp(receivedAt);
}
