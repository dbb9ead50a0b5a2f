// Every place where a subscriber leaves traces. Whoever adds a place adds it here; a test looks for what is left.
import { SECOND } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { present } from "../conditions.ts";
import { eraseEvents } from "../events/erasure.ts";
import { forgetRuns, isRun } from "../journeys/runs.ts";
import { keys } from "../keys.ts";
import { forgetMemberships, isMembership } from "../lists/memberships.ts";
import type { Item, Key } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";
import { payloadKeysOf } from "../webhooks/deliveries.ts";
import { deviceTraces } from "./devices.ts";
import { anonymise, forgetPseudonym, isLedgerRow, pseudonymOf } from "./ledger-erasure.ts";

/** When the second pass looks for what was still being written at the time of the tombstone. */
export const SECOND_PASS_MS = 120 * SECOND;
/** Who writes under a subscriber knew it alive no longer ago: with a worker's minute the second pass comes after. */
export const KNOWN_ALIVE_MS = 30 * SECOND;

/** Events and aliases have their own way (event-erasure.ts): the second pass must still know whose ids they were. */
const AFTER_ALIASES = "B";

interface PersonalDataQuery {
  name: string;
  /** A page of keys to remove; it is asked again until it finds none. */
  find(store: Store, subscriber: string): Promise<Key[]>;
}

export const places: readonly PersonalDataQuery[] = [
  {
    name: "devices, and what points at them",
    find: deviceTraces,
  },
  { name: "webhook payloads", find: payloadKeysOf },
  {
    name: "inbox, touches, consents, memberships, runs",
    find: async (store, subscriber) =>
      (await store.query({ pk: keys.person(store.tenant, subscriber), from: AFTER_ALIASES })).items,
  },
];

/** Memberships and runs go from both ends, counts included; the ledger stays, nameless; the rest is rows of their own. */
async function removeTraces(store: Store, subscriber: string, found: readonly Key[]): Promise<void> {
  const memberships = found.filter(isMembership);
  await forgetMemberships(store, subscriber, memberships);
  const runs = found.filter(isRun);
  await forgetRuns(store, subscriber, runs);
  const ledger = (found as Item[]).filter(isLedgerRow);
  if (ledger.length > 0) await anonymise(store, subscriber, await pseudonymOf(store, subscriber), ledger);
  const rest = found.filter((row) => !memberships.includes(row) && !runs.includes(row));
  await store.writeAll(rest.map(({ pk, sk }) => ({ remove: { pk, sk } })));
}

/** Removes every trace. @param pass the first right after the tombstone, the second for what was then under way. */
export async function eraseTraces(store: Store, subscriber: string, pass: 1 | 2): Promise<number> {
  const tombstone = await scrubProfile(store, subscriber);
  let removed = tombstone
    ? await eraseEvents(store, subscriber, {
        erasedAt: Date.parse(String(tombstone.erased_at)),
        eraseProperties: tombstone.erase_properties === true,
        isLast: pass === 2,
      })
    : 0;
  for (const { find } of places)
    for (let found = await find(store, subscriber); found.length > 0; found = await find(store, subscriber)) {
      await removeTraces(store, subscriber, found);
      removed += found.length;
    }
  if (pass === 2) await forgetPseudonym(store, subscriber);
  return removed;
}

/** Leaves of the profile only what the tombstone needs. @returns the tombstone, if there is one. */
async function scrubProfile(store: Store, subscriber: string): Promise<Item | undefined> {
  const key = keys.subscriber(store.tenant, subscriber);
  const profile = await store.get(key);
  if (!profile?.erased_at) return undefined;
  const kept = new Set(["pk", "sk", "id", "erased_at", "erased_by", "erase_properties", "react", "next", "mark"]);
  const remove = Object.keys(profile).filter((name) => !kept.has(name));
  if (remove.length > 0)
    await store.update(key, { remove }, present("erased_at")).catch(onConditionFailed(() => undefined));
  return profile;
}
