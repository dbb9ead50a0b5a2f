// Outbound events: each becomes a delivery per subscribed endpoint. Deliveries of one batch are numbered together and
// share messages (AMB-124).
import { anyStore } from "../../../shared/http/signing.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { postWebhookQueue } from "../../../shared/runtime/resources.ts";
import { type Changes, isNew } from "../../../shared/store/changes.ts";
import { watchVersions } from "../../../shared/store/events/watchers.ts";
import { activeWebhooks } from "../../../shared/store/webhooks/active.ts";
import { noteDeliveries } from "../../../shared/store/webhooks/deliveries.ts";
import { DeliveryItem, ReplayItem } from "../../../shared/store/webhooks/delivery-items.ts";
import { occurrenceSources } from "../../../shared/store/webhooks/occurrences.ts";
import { acceptedAt, numberAccepted } from "../../../shared/store/webhooks/sequences.ts";
import { webhookWatch } from "../../../shared/store/webhooks/watch.ts";

export const webhookUses = [anyStore, postWebhookQueue, webhookWatch, activeWebhooks, watchVersions] as const;
type WorkerContext = Context<typeof webhookUses>;

/** Adds outbound events to the delivery log; the stream then sends these rows out. */
export async function queueWebhooks(changes: Changes, context: WorkerContext): Promise<void> {
  const { storeOf, activeWebhooks, watchVersions } = context;
  const mayBeAsked = occurrenceSources(changes).filter(({ withoutWebhook }) => !withoutWebhook);
  for (const [tenant, sources] of Map.groupBy(mayBeAsked, ({ change }) => change.tenant)) {
    const store = storeOf(tenant as TenantId);
    const webhooks = await activeWebhooks.of(tenant, watchVersions.of(tenant));
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
  await queueDeliveries(changes, context);
}

/** Queues deliveries: new ones are numbered and grouped, reopened ones go alone or with their replay. */
async function queueDeliveries(
  changes: Changes,
  { storeOf, postWebhookQueue: queue, webhookWatch: watch }: WorkerContext,
): Promise<void> {
  const pending = changes.of(DeliveryItem, "delivery").filter(({ after }) => after.outcome === "pending");
  const accepted = pending.filter(isNew);
  const reopened = pending.filter(({ before, after }) => before && before.reopened !== after.reopened);
  await watch.cover([...accepted, ...reopened].map(({ tenant, after }) => ({ tenant, delivery: after.id })));
  for (const ofWebhook of Map.groupBy(accepted, ({ after }) => after.pk).values()) {
    const { tenant, stream, after } = ofWebhook[0]!;
    const { webhook } = after;
    const positions = ofWebhook.map(({ after: { id, lease }, position }) => ({
      id,
      acceptedAt: acceptedAt({ id, lease }),
      position,
    }));
    const groups = await numberAccepted(storeOf(tenant as TenantId), webhook, stream, positions);
    await queue.send(groups.map(({ first, ids }) => ({ kind: "group", tenant, webhook, first, deliveries: [...ids] })));
  }
  await queue.send(
    reopened
      .filter(({ after }) => after.replay === undefined)
      .map(({ tenant, after }) => ({
        kind: "attempt",
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
      .map(({ tenant, after }) => ({ kind: "replay", tenant, webhook: after.webhook, replay: after.id, next: 0 })),
  );
}
