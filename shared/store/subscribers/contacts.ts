// How a person can be reached, as the profile and the devices beside it say.
import { timestamp } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import type { Contact, ReachableDevice } from "../../rules/reach.ts";
import { absent, all, present } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { deviceOf } from "./devices.ts";
import { attributesOf, subscriberOf } from "./subscribers.ts";

const CONSENT = "c:";

/** A mailbox that the provider knows to be dead gets no mail any more, whatever was agreed (D-CONSENT). */
export async function suppressEmail(store: Store, subscriber: string): Promise<void> {
  const now = store.clock.now();
  const at = timestamp(now);
  const id = store.ids.uuidAt(now);
  const row: Item = {
    ...keys.consent(store.tenant, subscriber, id),
    ...{ id, subscriber_id: subscriber, channel: "email", status: "suppressed", express: false },
    ...{ consented_at: at, source: "provider", evidence: "{}", recorded_at: at },
  };
  const change = { set: { [`${CONSENT}email`]: "suppressed", "ct:email": at } };
  const isThere = all(present("external_id"), absent("erased_at"));
  await store
    .transact([{ update: keys.subscriber(store.tenant, subscriber), change, when: isThere }, { put: row }])
    .catch(onTransactionCanceled(() => undefined));
}

export function contactOf(profile: Item, devices: readonly Item[]): Contact {
  const consents: Record<string, string> = {};
  for (const [name, value] of Object.entries(profile))
    if (name.startsWith(CONSENT)) consents[name.slice(CONSENT.length)] = String(value);
  return {
    email: subscriberOf(profile).email,
    phone: attributesOf(profile).phone,
    consents,
    devices: devices.map((row): ReachableDevice => {
      const { id, platform, status, push_enabled } = deviceOf(row);
      return { id, platform, status, push_enabled };
    }),
  };
}
