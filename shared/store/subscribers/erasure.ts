// Erasure of a subscriber: the places where its traces are stored. A test checks that they cover every declared item
// with personal data.
import { SECOND } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { present } from "../conditions.ts";
import { eraseEvents } from "../events/erasure.ts";
import { EventItem } from "../events/items.ts";
import type { AnyItem, ChangeOf } from "../item.ts";
import { RunEntry } from "../journeys/run-items.ts";
import { forgetRuns, isRun } from "../journeys/runs.ts";
import { Member } from "../lists/items.ts";
import { forgetMemberships, isMembership } from "../lists/memberships.ts";
import type { Item, Key } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";
import { ChunkItem } from "../sends/audience-items.ts";
import { payloadKeysOf } from "../webhooks/deliveries.ts";
import { DeliveryPayload } from "../webhooks/delivery-items.ts";
import { DeviceItem, DevicePointer } from "./device-items.ts";
import { deviceTraces } from "./devices.ts";
import { Alias, ConsentItem, Profile, type ProfileRow, SubscriberAlias } from "./items.ts";
import { anonymizeLedger, forgetPseudonym, isLedgerRow, pseudonymOf } from "./ledger-erasure.ts";

/** The delay of the second pass, which finds rows that were still being written at the time of the tombstone. */
export const SECOND_PASS_MS = 120 * SECOND;

/**
 * Where the rows of the subscriber's own partition begin that are erased as such. The aliases are before: the second
 * pass must still know them, so they are erased with the events.
 */
export const OWN_ROWS_FROM = "B";

interface Erasure {
  /** The profile, once it is a tombstone. */
  tombstone: ProfileRow | undefined;
  /** The first pass follows the tombstone at once, the second one after `SECOND_PASS_MS`. */
  pass: 1 | 2;
}

interface Place {
  name: string;
  /** The items with personal data that are erased here. */
  covers: readonly AnyItem[];
  /** @returns how many rows were removed or anonymized. */
  erase(store: Store, subscriber: string, erasure: Erasure): Promise<number>;
}

type Find<K extends Key> = (store: Store, subscriber: string) => Promise<readonly K[]>;

/** Removes the rows of each page, until no page is left. */
const eachPage =
  <K extends Key>(
    find: Find<K>,
    remove = (store: Store, _: string, rows: readonly K[]): Promise<void> => store.removeRows(rows),
  ): Place["erase"] =>
  async (store, subscriber) => {
    let removed = 0;
    for (let rows = await find(store, subscriber); rows.length > 0; rows = await find(store, subscriber)) {
      await remove(store, subscriber, rows);
      removed += rows.length;
    }
    return removed;
  };

/** The rows of the subscriber's own partition. */
const ownRows: Find<Item> = async (store, subscriber) =>
  (await store.queryRows(ConsentItem, { subscriber }, { from: OWN_ROWS_FROM })).items;

/** The places, in the order in which they are erased. */
export const places: readonly Place[] = [
  {
    name: "the profile, of which the tombstone stays",
    covers: [Profile],
    erase: async (store, subscriber, { tombstone }) => {
      if (tombstone) await scrubProfile(store, subscriber, tombstone);
      return 0;
    },
  },
  {
    name: "events and anonymous ids",
    covers: [EventItem, Alias, SubscriberAlias],
    erase: async (store, subscriber, { tombstone, pass }) => {
      if (!tombstone?.erased_at) return 0;
      const erasedAt = Date.parse(tombstone.erased_at);
      const eraseProperties = tombstone.erase_properties === true;
      return eraseEvents(store, subscriber, { erasedAt, eraseProperties, isLast: pass === 2 });
    },
  },
  {
    name: "devices, and the rows that point to them",
    covers: [DeviceItem, DevicePointer],
    erase: eachPage(deviceTraces),
  },
  {
    name: "webhook payloads",
    covers: [DeliveryPayload],
    erase: eachPage(payloadKeysOf),
  },
  {
    name: "the subscriber's own partition, and the rows that its memberships, runs and sends have elsewhere",
    covers: [Member, RunEntry, ChunkItem],
    erase: eachPage(ownRows, removeOwnRows),
  },
];

/** Memberships and runs are removed with their counts; the ledger is kept under a pseudonym; other rows are removed. */
async function removeOwnRows(store: Store, subscriber: string, rows: readonly Item[]): Promise<void> {
  const memberships = rows.filter(isMembership);
  await forgetMemberships(store, subscriber, memberships);
  const runs = rows.filter(isRun);
  await forgetRuns(store, subscriber, runs);
  const ledger = rows.filter(isLedgerRow);
  if (ledger.length > 0) await anonymizeLedger(store, subscriber, await pseudonymOf(store, subscriber), ledger);
  await store.removeRows(rows.filter((row) => !memberships.includes(row) && !runs.includes(row)));
}

/** Erases every trace. @returns how many rows were removed or anonymized. */
export async function eraseTraces(store: Store, subscriber: string, pass: 1 | 2): Promise<number> {
  const profile = await store.get(Profile, { id: subscriber });
  const tombstone = profile?.erased_at ? profile : undefined;
  let erased = 0;
  for (const { erase } of places) erased += await erase(store, subscriber, { tombstone, pass });
  if (pass === 2) await forgetPseudonym(store, subscriber);
  return erased;
}

type Removable = NonNullable<ChangeOf<typeof Profile>["remove"]>[number];

/** The attributes of a tombstone. */
const KEPT = new Set(["pk", "sk", "id", "erased_at", "erased_by", "erase_properties", "react", "next", "mark"]);
const isRemovable = (name: string): name is Removable => !KEPT.has(name);

async function scrubProfile(store: Store, subscriber: string, tombstone: ProfileRow): Promise<void> {
  const remove = Object.keys(tombstone).filter(isRemovable);
  if (remove.length > 0)
    await store
      .change(Profile, { id: subscriber }, { remove }, present("erased_at"))
      .catch(onConditionFailed(() => undefined));
}
