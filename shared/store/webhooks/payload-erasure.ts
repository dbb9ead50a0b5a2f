// The bodies of deliveries that hold a subscriber's data, for an erasure.

import { present } from "../conditions.ts";
import type { Store } from "../context.ts";
import { happened } from "../refusals.ts";
import { deliveryId } from "./deliveries.ts";
import { DeliveryItem } from "./delivery-items.ts";
import { webhooksWithLogs } from "./webhooks.ts";

/**
 * Removes the bodies of the one event whose payload holds personal data, `subscriber.created`, from the log of every
 * endpoint. The deliveries stay.
 * @param createdAt when the subscriber was created
 * @returns how many bodies were removed.
 */
export async function erasePayloads(store: Store, subscriber: string, createdAt: string): Promise<number> {
  const event = { event: "subscriber.created", key: subscriber, at: Date.parse(createdAt) } as const;
  const removed = await Promise.all(
    (await webhooksWithLogs(store)).map((webhook) =>
      happened(
        store.change(DeliveryItem, { webhook, id: deliveryId(webhook, event) }, { remove: ["body"] }, present("body")),
      ),
    ),
  );
  return removed.filter(Boolean).length;
}
