// Anonymous ids that turned out to be somebody: two rows each, whatever happened before; histories follow them on reading.

import type { Store, StoreReader } from "../../resources.ts";
import { absent, all, present } from "../conditions.ts";
import { historyOf } from "../events/events.ts";
import { keys } from "../keys.ts";
import { allItems } from "../pages.ts";
import { onTransactionCanceled } from "../refusals.ts";

export interface Link {
  /** Whether the anonymous id is this subscriber's after the call (AMB-26). */
  linked: boolean;
  /** Events stored of it that this call gave to the subscriber. */
  backfilled: number;
}

/**
 * IDN-2: gives an anonymous id to a subscriber, with all its events past and to come; the first link wins.
 * @returns undefined if there is no such subscriber.
 */
export async function linkAlias(store: Store, anonymous: string, subscriber: string): Promise<Link | undefined> {
  const living = all(present("external_id"), absent("erased_at"));
  const row = { subscriber, anonymous };
  return store
    .transact([
      { check: keys.subscriber(store.tenant, subscriber), when: living },
      { put: { ...keys.alias(store.tenant, anonymous), ...row }, when: absent() },
      { put: { ...keys.aliasOfSubscriber(store.tenant, subscriber, anonymous), ...row, react: "alias" } },
    ])
    .then(
      async () => ({ linked: true, backfilled: await store.count(allOf(store, anonymous)) }),
      onTransactionCanceled(([unknown, taken]) => {
        if (unknown) return undefined;
        return { linked: taken?.old?.subscriber === subscriber, backfilled: 0 };
      }),
    );
}

const allOf = (store: StoreReader, anonymous: string) => ({
  pk: historyOf(store.tenant, { anonymous }),
  index: "i2" as const,
});

/** The anonymous ids of a subscriber. */
export async function aliasesOf(store: StoreReader, subscriber: string): Promise<string[]> {
  const { pk, sk: prefix } = keys.aliasOfSubscriber(store.tenant, subscriber, "");
  return (await allItems(store, { pk, prefix })).map(({ anonymous }) => String(anonymous));
}

/** Whose each of these anonymous ids is; nobody's are left out. */
export async function ownersOf(store: StoreReader, anonymous: readonly string[]): Promise<Map<string, string>> {
  const rows = await store.getAll(anonymous.map((id) => keys.alias(store.tenant, id)));
  return new Map(rows.flatMap((row) => (row ? [[String(row.anonymous), String(row.subscriber)]] : [])));
}
