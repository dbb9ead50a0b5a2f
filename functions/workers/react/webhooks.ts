// What the outside is told: each occurrence becomes a delivery per endpoint that asks for it. Deliveries of one batch
// are numbered together and share messages (AMB-124).

import { anyStore } from "../../../shared/http/signing.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { topicKeyOf } from "../../../shared/rules/topics.ts";
import type { WebhookEvent } from "../../../shared/rules/webhook-events.ts";
import { postWebhookQueue } from "../../../shared/runtime/resources.ts";
import type { Store } from "../../../shared/store/context.ts";
import { StepState } from "../../../shared/store/journeys/step-brake-items.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { MemberLeaf, SegmentMembership } from "../../../shared/store/lists/items.ts";
import { ReportedInteraction } from "../../../shared/store/sends/interactions/items.ts";
import { JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import { jobOf } from "../../../shared/store/sends/jobs/jobs.ts";
import { TouchItem } from "../../../shared/store/sends/ledger/ledger-items.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import {
  attributesOf,
  countSubscribers,
  isLiving,
  type LivingProfile,
} from "../../../shared/store/subscribers/subscribers.ts";
import { noteDeliveries, type Occurrence } from "../../../shared/store/webhooks/deliveries.ts";
import { DeliveryItem, ReplayItem } from "../../../shared/store/webhooks/delivery-items.ts";
import { acceptedAt, numberAccepted } from "../../../shared/store/webhooks/sequences.ts";
import { webhookWatch } from "../../../shared/store/webhooks/watch.ts";
import { listWebhooks } from "../../../shared/store/webhooks/webhooks.ts";
import { becomes, type Change, type Changes, isNew } from "./change.ts";
import { segmentMovesOf } from "./segment-moves.ts";

export const webhookUses = [anyStore, postWebhookQueue, webhookWatch] as const;
type WorkerContext = Context<typeof webhookUses>;

/** What a change may tell. The occurrences are asked for only where an endpoint wants one of the events. */
interface WebhookSource {
  tenant: string;
  events: readonly WebhookEvent[];
  occurrences(store: Store): Occurrence[] | Promise<Occurrence[]>;
}

/** Occurrences become rows of the delivery log; those rows come back through the stream and are sent out. */
export async function queueWebhooks(
  changes: Changes,
  { storeOf, postWebhookQueue: queue, webhookWatch: watch }: WorkerContext,
): Promise<void> {
  for (const [tenant, sources] of Map.groupBy(sourcesOf(changes), ({ tenant }) => tenant)) {
    const store = storeOf(tenant as TenantId);
    const webhooks = (await listWebhooks(store)).filter(({ active }) => active);
    const wanted = new Set(webhooks.flatMap(({ events }) => events));
    const asked = sources.filter(({ events }) => events.some((event) => wanted.has(event)));
    const occurrences = await Promise.all(asked.map((source) => source.occurrences(store)));
    await noteDeliveries(
      store,
      occurrences
        .flat()
        .flatMap((occurrence) =>
          webhooks
            .filter(({ events }) => events.includes(occurrence.event))
            .map(({ id: webhook }) => ({ webhook, occurrence })),
        ),
    );
  }
  await queueDeliveries(changes, { storeOf, postWebhookQueue: queue, webhookWatch: watch });
}

function sourcesOf(changes: Changes): WebhookSource[] {
  const jobs = changes.of(JobItem, "job");
  const profiles = changes.of(Profile, "subscriber");
  return [
    ...profiles
      .filter(isNew)
      .flatMap(({ tenant, after }) => (isLiving(after) ? [subscriberCreated(tenant, after)] : [])),
    ...profiles.filter(changesConsent).map(consentChanged),
    ...jobs.filter((change) => becomes("queued")(change) && !change.after.no_webhooks).map(dispatched),
    ...jobs.filter(({ before, after }) => !before?.halted && after.halted !== undefined).map(halted),
    ...changes
      .of(StepState, "journey-step")
      .filter(({ before, after }) => !before?.halted && after.halted !== undefined)
      .map(stepHalted),
    ...jobs.filter((change) => becomes("completed")(change) || becomes("failed")(change)).map(ended),
    ...changes.of(ReportedInteraction, "interaction").filter(isNew).map(interacted),
    ...changes
      .of(TouchItem, "fate")
      .filter(({ before }) => before !== undefined)
      .map(fateKnown),
    ...[...changes.of(SegmentMembership, "membership"), ...changes.of(MemberLeaf, "leaf")].map(membersMoved),
  ];
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
  events: ["subscriber.created"],
  occurrences: () => {
    const { id, external_id, email = null, created_at } = profile;
    const data = { subscriber_id: id, external_id, email, attributes: attributesOf(profile), created: true };
    return [{ event: "subscriber.created", key: id, at: Date.parse(created_at), data }];
  },
});

/** WEV-2, WEV-7. */
const dispatched = ({ tenant, after }: Change<typeof JobItem>): WebhookSource => ({
  tenant,
  events: ["notification.dispatched"],
  occurrences: async (store) => {
    const { id, ranges, direct, sent, subscriber_ids_count, scheduled_at, created_at } = jobOf(after);
    const target_size_estimate = ranges || direct ? sent : (subscriber_ids_count ?? (await countSubscribers(store)));
    const data = { job_id: id, target_size_estimate, scheduled_at };
    return [{ event: "notification.dispatched", key: id, at: Date.parse(scheduled_at ?? created_at), data }];
  },
});

/** F21. A send may halt again after it was resumed. */
const halted = ({ tenant, after }: Change<typeof JobItem>): WebhookSource => ({
  tenant,
  events: ["notification.halted"],
  occurrences: () => {
    const { id, halted: halt, created_at } = jobOf(after);
    const { at = created_at, ...figures } = halt ?? {};
    return [{ event: "notification.halted", key: `${id}:${at}`, at: Date.parse(at), data: { job_id: id, ...figures } }];
  },
});

/** F21. */
const stepHalted = ({ tenant, after }: Change<typeof StepState>): WebhookSource => ({
  tenant,
  events: ["journey.halted"],
  occurrences: (store) => {
    const { journey, version, step, halted } = after;
    const { at = timestamp(store.clock.now()), ...figures } = halted ? fromJson(halted) : {};
    const data = { journey_id: journey, version, step, ...figures };
    return [{ event: "journey.halted", key: `${journey}:${version}:${step}:${at}`, at: Date.parse(at), data }];
  },
});

/** WEV-3, WEV-8, AMB-95. */
const ended = ({ tenant, after }: Change<typeof JobItem>): WebhookSource => ({
  tenant,
  events: ["notification.terminal"],
  occurrences: () => {
    const { id, status, counts, completed_at, created_at } = jobOf(after);
    const { delivered, failed } = counts;
    const data = { job_id: id, status, delivered, failed, total: delivered + failed };
    return [{ event: "notification.terminal", key: id, at: Date.parse(completed_at ?? created_at), data }];
  },
});

/** WEV-4, WEV-9, ABH-3. */
const interacted = ({ tenant, after }: Change<typeof ReportedInteraction>): WebhookSource => ({
  tenant,
  events: ["notification.interaction"],
  occurrences: () => {
    const { job: job_id, interaction: interaction_type, platform, variant_id, received_at, sk } = after;
    const data = { job_id, interaction_type, platform, ...(variant_id !== undefined && { variant_id }) };
    return [{ event: "notification.interaction", key: sk, at: Date.parse(received_at), data }];
  },
});

/** WEV-1: the provider said later what became of a mail. */
const fateKnown = ({ tenant, before, after, at }: Change<typeof TouchItem>): WebhookSource => ({
  tenant,
  events: ["message.bounced", "message.complained"],
  occurrences: () => {
    const { pk, job: job_id, channel = "email", reason = null, sk } = after;
    const data = { job_id, subscriber_id: subscriberIn(pk), channel, reason };
    const bounced = becomesBounced(before, after) ? [{ event: "message.bounced" as const, key: sk, at, data }] : [];
    const complained =
      after.complained && !before?.complained ? [{ event: "message.complained" as const, key: sk, at, data }] : [];
    return [...bounced, ...complained];
  },
});

type Touch = Change<typeof TouchItem>["after"];

const becomesBounced = (before: Touch | undefined, after: Touch): boolean =>
  after.state === "bounced" && before?.state !== "bounced";

const subscriberIn = (pk: string): string => pk.slice(pk.indexOf(OF_SUBSCRIBER) + OF_SUBSCRIBER.length);
const OF_SUBSCRIBER = "#U#";

const CONSENT = "c:";

const changedConsents = ({ before, after }: Change<typeof Profile>): `c:${string}`[] =>
  Object.keys(after).filter(
    (name): name is `c:${string}` =>
      name.startsWith(CONSENT) && after[name as `c:${string}`] !== before?.[name as `c:${string}`],
  );

const changesConsent = (change: Change<typeof Profile>): boolean =>
  isLiving(change.after) && changedConsents(change).length > 0;

const consentChanged = (change: Change<typeof Profile>): WebhookSource => ({
  tenant: change.tenant,
  events: ["consent.changed", "subscriber.unsubscribed"],
  occurrences: () => {
    const { before, after, at } = change;
    const { id: subscriber_id } = after;
    return changedConsents(change).flatMap((name): Occurrence[] => {
      const channel = name.slice(CONSENT.length);
      const status = after[name];
      const key = `${subscriber_id}:${channel}:${status}:${after[`ct:${channel}`]}`;
      const data = { subscriber_id, channel, status, previous: before?.[name] ?? null };
      const isUnsubscribed = status === "opted_out" && topicKeyOf(channel) === undefined;
      return [
        { event: "consent.changed", key, at, data },
        ...(isUnsubscribed
          ? [{ event: "subscriber.unsubscribed" as const, key, at, data: { subscriber_id, channel } }]
          : []),
      ];
    });
  },
});

const membersMoved = (change: Change<typeof SegmentMembership> | Change<typeof MemberLeaf>): WebhookSource => ({
  tenant: change.tenant,
  events: ["segment.entered", "segment.left"],
  occurrences: () =>
    segmentMovesOf(change).map(({ subscriber: subscriber_id, segment: segment_id, entered, at }) => ({
      event: entered ? "segment.entered" : "segment.left",
      key: `${segment_id}:${subscriber_id}:${at}`,
      at: Date.parse(at),
      data: { segment_id, subscriber_id },
    })),
});
