// What the outside is told: each occurrence becomes a delivery per endpoint that asks for it. Deliveries of one batch
// are numbered together and share messages (AMB-124).

import { anyStore } from "../../../shared/http/signing.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { postWebhookQueue } from "../../../shared/runtime/resources.ts";
import type { Store } from "../../../shared/store/context.ts";
import { StepState } from "../../../shared/store/journeys/step-brake-items.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { ReportedInteraction } from "../../../shared/store/sends/interactions/items.ts";
import { JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import { jobOf } from "../../../shared/store/sends/jobs/jobs.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import {
  attributesOf,
  countSubscribers,
  isLiving,
  type LivingProfile,
} from "../../../shared/store/subscribers/subscribers.ts";
import { webhookWatch } from "../../../shared/store/webhooks/coverage.ts";
import { noteDeliveries, type Occurrence } from "../../../shared/store/webhooks/deliveries.ts";
import { DeliveryItem, ReplayItem } from "../../../shared/store/webhooks/delivery-items.ts";
import { acceptedAt, numberAccepted } from "../../../shared/store/webhooks/sequences.ts";
import { listWebhooks } from "../../../shared/store/webhooks/webhooks.ts";
import { becomes, type Change, type Changes, isNew } from "./change.ts";

export const webhookUses = [anyStore, postWebhookQueue, webhookWatch] as const;
type WorkerContext = Context<typeof webhookUses>;

type WebhookSource = { tenant: string; occurrence(store: Store): Occurrence | Promise<Occurrence> };

/** Occurrences become rows of the delivery log; those rows come back through the stream and are sent out. */
export async function queueWebhooks(
  changes: Changes,
  { storeOf, postWebhookQueue: queue, webhookWatch: watch }: WorkerContext,
): Promise<void> {
  const jobs = changes.of(JobItem, "job");
  const sources: WebhookSource[] = [
    ...changes
      .of(Profile, "subscriber")
      .filter(isNew)
      .flatMap(({ tenant, after }) => (isLiving(after) ? [subscriberCreated(tenant, after)] : [])),
    ...jobs.filter((change) => becomes("queued")(change) && !change.after.no_webhooks).map(dispatched),
    ...jobs.filter(({ before, after }) => !before?.halted && after.halted !== undefined).map(halted),
    ...changes
      .of(StepState, "journey-step")
      .filter(({ before, after }) => !before?.halted && after.halted !== undefined)
      .map(stepHalted),
    ...jobs.filter((change) => becomes("completed")(change) || becomes("failed")(change)).map(ended),
    ...changes.of(ReportedInteraction, "interaction").filter(isNew).map(interacted),
  ];
  for (const [tenant, occurrences] of Map.groupBy(sources, ({ tenant }) => tenant)) {
    const store = storeOf(tenant as TenantId);
    const webhooks = (await listWebhooks(store)).filter(({ active }) => active);
    if (webhooks.length === 0) continue;
    const wanted = await Promise.all(occurrences.map(({ occurrence }) => occurrence(store)));
    await noteDeliveries(
      store,
      wanted.flatMap((occurrence) =>
        webhooks
          .filter(({ events }) => events.includes(occurrence.event))
          .map(({ id: webhook }) => ({ webhook, occurrence })),
      ),
    );
  }
  await queueDeliveries(changes, { storeOf, postWebhookQueue: queue, webhookWatch: watch });
}

/** New deliveries are numbered and queued in groups, reopened ones alone or with their replay. */
async function queueDeliveries(
  changes: Changes,
  { storeOf, postWebhookQueue: queue, webhookWatch: watch }: WorkerContext,
): Promise<void> {
  const pending = changes.of(DeliveryItem, "delivery").filter(({ after }) => after.outcome === "pending");
  const accepted = pending.filter(isNew);
  const reopened = pending.filter(({ before, after }) => before && before.reopened !== after.reopened);
  await watch.cover([...accepted, ...reopened].map(({ tenant, after }) => ({ tenant, delivery: after.id })));
  for (const [first, ...others] of Map.groupBy(accepted, ({ after }) => after.pk).values()) {
    if (!first) continue;
    const { tenant, stream, after } = first;
    const positions = [first, ...others].map(({ after: row, position }) => ({
      id: row.id,
      acceptedAt: acceptedAt(row),
      position,
    }));
    const groups = await numberAccepted(storeOf(tenant as TenantId), after.webhook, stream, positions);
    await queue.send(groups.map(({ first, ids }) => ({ tenant, webhook: after.webhook, first, deliveries: [...ids] })));
  }
  await queue.send(
    reopened
      .filter(({ after }) => after.replay === undefined)
      .map(({ tenant, after }) => ({
        tenant,
        webhook: after.webhook,
        delivery: after.id,
        attempt: after.attempt_count + 1,
      })),
  );
  await queue.send(
    changes
      .of(ReplayItem, "replay")
      .filter(isNew)
      .map(({ tenant, after }) => ({ tenant, webhook: after.webhook, replay: after.id, next: 0 })),
  );
}

/** WEV-1, WEV-6. */
const subscriberCreated = (tenant: string, profile: LivingProfile): WebhookSource => ({
  tenant,
  occurrence: () => {
    const { id, external_id, email = null, created_at } = profile;
    const data = { subscriber_id: id, external_id, email, attributes: attributesOf(profile), created: true };
    return { event: "subscriber.created", key: id, at: Date.parse(created_at), data };
  },
});

/** WEV-2, WEV-7. */
const dispatched = ({ tenant, after }: Change<typeof JobItem>): WebhookSource => ({
  tenant,
  occurrence: async (store) => {
    const { id, ranges, direct, sent, subscriber_ids_count, scheduled_at, created_at } = jobOf(after);
    const target_size_estimate = ranges || direct ? sent : (subscriber_ids_count ?? (await countSubscribers(store)));
    const data = { job_id: id, target_size_estimate, scheduled_at };
    return { event: "notification.dispatched", key: id, at: Date.parse(scheduled_at ?? created_at), data };
  },
});

/** F21. A send may halt again after it was resumed. */
const halted = ({ tenant, after }: Change<typeof JobItem>): WebhookSource => ({
  tenant,
  occurrence: () => {
    const { id, halted: halt, created_at } = jobOf(after);
    const { at = created_at, ...figures } = halt ?? {};
    return { event: "notification.halted", key: `${id}:${at}`, at: Date.parse(at), data: { job_id: id, ...figures } };
  },
});

/** F21. */
const stepHalted = ({ tenant, after }: Change<typeof StepState>): WebhookSource => ({
  tenant,
  occurrence: (store) => {
    const { journey, version, step, halted } = after;
    const { at = timestamp(store.clock.now()), ...figures } = halted ? fromJson(halted) : {};
    const data = { journey_id: journey, version, step, ...figures };
    return { event: "journey.halted", key: `${journey}:${version}:${step}:${at}`, at: Date.parse(at), data };
  },
});

/** WEV-3, WEV-8, AMB-95. */
const ended = ({ tenant, after }: Change<typeof JobItem>): WebhookSource => ({
  tenant,
  occurrence: () => {
    const { id, status, counts, completed_at, created_at } = jobOf(after);
    const { delivered, failed } = counts;
    const data = { job_id: id, status, delivered, failed, total: delivered + failed };
    return { event: "notification.terminal", key: id, at: Date.parse(completed_at ?? created_at), data };
  },
});

/** WEV-4, WEV-9, ABH-3. */
const interacted = ({ tenant, after }: Change<typeof ReportedInteraction>): WebhookSource => ({
  tenant,
  occurrence: () => {
    const { job: job_id, interaction: interaction_type, platform, variant_id, received_at, sk } = after;
    const data = { job_id, interaction_type, platform, ...(variant_id !== undefined && { variant_id }) };
    return { event: "notification.interaction", key: sk, at: Date.parse(received_at), data };
  },
});
