// How a send begins: references checked, audience planned or kept for later, and last of all the job row.
import { createHash } from "node:crypto";
import { DAY, MINUTE, SECOND } from "../../../shared/clock.ts";
import { ApiError, conflict, invalid } from "../../../shared/http/errors.ts";
import { type PlanName, plans, requireFeature } from "../../../shared/plans.ts";
import type { Store } from "../../../shared/resources.ts";
import { isHeldOut } from "../../../shared/rules/split.ts";
import { givenRows, PLANNED_RANGE, planSmall, SMALL_AUDIENCE } from "../../../shared/store/audiences.ts";
import { type Channel, isUsable, listChannels } from "../../../shared/store/channels.ts";
import { type Chunk, chunkItem, rangeItem } from "../../../shared/store/chunks.ts";
import { absent, any, below } from "../../../shared/store/conditions.ts";
import { type JobSpec, newJobItem } from "../../../shared/store/jobs.ts";
import { keys } from "../../../shared/store/keys.ts";
import type { Item, Value } from "../../../shared/store/model.ts";
import { refusedSteps } from "../../../shared/store/refusals.ts";
import { countSubscribers } from "../../../shared/store/subscribers.ts";
import type { Step } from "../../../shared/store/table.ts";
import { requireTemplate } from "../../../shared/store/templates.ts";
import type { Timers } from "../../../shared/store/timers.ts";
import { type Allowance, reservation, usageRefusal, warnOfUsage } from "../../../shared/store/usage.ts";
import type { NewNotification } from "./input.ts";

const REMEMBERED_MS = DAY;
const WATCH_AFTER_MS = 15 * MINUTE;

export interface Created {
  id: string;
  sent: number;
  replayed: boolean;
}

/** @throws 403 by plan, 409 for a known key with another body, 422 for a reference that leads nowhere. */
export async function createNotification(
  store: Store,
  timers: Timers,
  allowance: Allowance,
  input: NewNotification,
  idempotencyKey: string | undefined,
): Promise<Created> {
  const { plan } = allowance;
  if (input.channel_arbitration_mode === "smart") requireFeature(plan, "smart_channel");
  const digest = createHash("sha256")
    .update(JSON.stringify({ ...input, idempotency_key: undefined }))
    .digest("hex");
  const remembered = idempotencyKey === undefined ? undefined : keys.idempotency(store.tenant, idempotencyKey);
  const known = remembered && (await store.get(remembered));
  if (known && Number(known.until) > store.clock.now()) return replay(known, digest);

  const spec = await specOf(store, plan, input);
  const id = store.ids.uuidAt(store.clock.now());
  const given = input.subscriberIds && [...new Set(input.subscriberIds)];
  const audience = await prepareAudience(store, id, spec, given);
  await store.writeAll(audience.rows.map((put) => ({ put })));
  await timers.set([
    spec.scheduled_at === null
      ? { kind: "job-watch", id, at: store.clock.now() + WATCH_AFTER_MS }
      : { kind: "job", id, at: Date.parse(spec.scheduled_at) },
  ]);

  const answer = { id, sent: audience.sent };
  const until = store.clock.now() + REMEMBERED_MS;
  const job: Step = { put: newJobItem(store, id, spec, audience), when: absent() };
  const taken = audience.sent > 0 ? [reservation(store, "sends", audience.sent, allowance)] : [];
  const memory: Step[] = remembered
    ? [
        {
          put: { ...remembered, ...answer, digest, until, expires: Math.ceil(until / SECOND) },
          when: any(absent(), below("until", store.clock.now())),
        },
      ]
    : [];
  const earlier = await store.transact([job, ...taken, ...memory]).then(
    () => undefined,
    refusedSteps(async ([, ...refusals]) => {
      await store.writeAll(audience.rows.map(({ pk, sk }) => ({ remove: { pk, sk } })));
      const [usage, known] = taken.length > 0 ? refusals : [undefined, ...refusals];
      if (known?.old) return replay(known.old, digest);
      throw usageRefusal("sends", audience.sent, usage?.old, allowance);
    }),
  );
  if (earlier) return earlier;
  if (audience.sent > 0) await warnOfUsage(store, "sends", allowance);
  return { ...answer, replayed: false };
}

function replay(known: Item, digest: string): Created {
  if (known.digest !== digest) throw conflict("This idempotency key was used with another body in the last 24 hours.");
  return { id: String(known.id), sent: Number(known.sent), replayed: true };
}

/** Everything the request refers to exists, is ours and may be used. */
async function specOf(store: Store, plan: PlanName, input: NewNotification): Promise<JobSpec> {
  const { target = null, scheduled_at = null, template_id = null } = input;
  if (scheduled_at !== null && Date.parse(scheduled_at) <= store.clock.now())
    throw invalid({ scheduled_at: "must be in the future" });
  const channels = await channelsFor(store, plan, input.channel_ids);
  if (target?.type === "list") throw invalid({ "target.list_id": "no such list in this workspace" });
  if (target?.type === "segment") throw invalid({ "target.segment_id": "no such segment in this workspace" });
  if (template_id !== null) await requireTemplate(store, template_id);
  return {
    name: input.name ?? null,
    category: input.category,
    title: input.title ?? null,
    body: input.body ?? null,
    data: (input.data as { [name: string]: Value } | undefined) ?? null,
    template_id,
    channel_ids: channels.map(({ id }) => id),
    target,
    subscriber_ids_count: input.subscriberIds ? new Set(input.subscriberIds).size : null,
    device_filters: input.device_filters ?? null,
    subscriber_filters: input.subscriber_filters ?? null,
    scheduled_at,
    channel_arbitration_mode: input.channel_arbitration_mode,
    holdout_percentage: input.holdout_percentage,
    split_percentage: input.variant_b ? (input.split_percentage ?? 50) : null,
    variant_b: input.variant_b ?? null,
    bypass_quiet_hours: input.bypass_quiet_hours,
    source: { type: "api", id: null },
  };
}

/** The channels asked for, or every usable one that the plan permits. */
async function channelsFor(store: Store, plan: PlanName, wanted: readonly string[] | undefined): Promise<Channel[]> {
  const channels = await listChannels(store);
  const allowed = plans[plan].channelTypes;
  const permits = ({ type }: Channel) => (allowed as readonly string[]).includes(type);
  if (!wanted) return channels.filter((channel) => isUsable(channel) && permits(channel));
  const chosen = [...new Set(wanted)].map((id) => channels.find((channel) => channel.id === id));
  const missing = chosen.indexOf(undefined);
  if (missing >= 0) throw invalid({ [`channel_ids.${missing}`]: "no such channel in this workspace" });
  const found = chosen.filter((channel) => channel !== undefined);
  if (!found.every(permits))
    throw new ApiError("FEATURE_NOT_AVAILABLE", "A channel type is not part of this workspace's plan.", {
      body: { error: "channel_type_not_permitted", allowed, upgrade_required: true },
    });
  return found;
}

interface Audience {
  rows: Item[];
  sent: number;
  ranges?: string[];
}

/** Small and immediate: planned now, so `sent` is exact (AMB-38). Else kept for the workers, `sent` from the counts. */
async function prepareAudience(
  store: Store,
  job: string,
  spec: JobSpec,
  given: readonly string[] | undefined,
): Promise<Audience> {
  if (spec.scheduled_at !== null) return { rows: given ? givenRows(store, job, given) : [], sent: 0 };
  const estimate = given ? given.length : await countSubscribers(store);
  const chunks = estimate <= SMALL_AUDIENCE ? await planSmall(store, job, spec, given) : undefined;
  if (chunks) return planned(store, job, chunks);
  const size = given ? given.length : Math.max(estimate, SMALL_AUDIENCE);
  const treated = given
    ? given.filter((id) => !isHeldOut(job, id, spec.holdout_percentage)).length
    : Math.round(size * (1 - spec.holdout_percentage / 100));
  return { rows: given ? givenRows(store, job, given) : [], sent: treated };
}

const planned = (store: Store, job: string, chunks: readonly Chunk[]): Audience => ({
  rows: [
    ...chunks.map((chunk, n) => chunkItem(store, job, PLANNED_RANGE, n, chunk)),
    rangeItem(store, job, PLANNED_RANGE, chunks.length),
  ],
  sent: chunks.reduce((sum, { recipients }) => sum + recipients.length, 0),
  ranges: [PLANNED_RANGE],
});
