// The bodies of deliveries that hold a subscriber's data, for an erasure.

import { present } from "../conditions.ts";
import type { Store } from "../context.ts";
import { keyOf } from "../item.ts";
import type { Key } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";
import { deliveryId } from "./deliveries.ts";
import { DeliveryItem, DeliveryPayload, PayloadReference } from "./delivery-items.ts";
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
      store
        .change(DeliveryItem, { webhook, id: deliveryId(webhook, event) }, { remove: ["body"] }, present("body"))
        .then(
          () => 1,
          onConditionFailed(() => 0),
        ),
    ),
  );
  return removed.reduce((sum, n) => sum + n, 0);
}

/** The keys of payloads that earlier versions stored apart, and of the rows that name them. */
export async function payloadKeysOf(store: Store, subscriber: string): Promise<Key[]> {
  const { items } = await store.query(PayloadReference, { subscriber });
  return items.flatMap(({ pk, sk }) => {
    const [, webhook = "", delivery = ""] = sk.split("#");
    return [keyOf(DeliveryPayload, store.tenant, { webhook, delivery }), { pk, sk }];
  });
}
