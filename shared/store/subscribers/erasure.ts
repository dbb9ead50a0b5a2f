// Erasure of a subscriber: the places where its traces are stored. A test checks that they cover every declared item
// with personal data.
import { SECOND } from "../../kernel/clock.ts";
import { present } from "../conditions.ts";
import type { Store } from "../context.ts";
import { eraseEvents } from "../events/erasure.ts";
import { ActorEvents, EventBlock, EventItem } from "../events/items.ts";
import { forgetExports } from "../exports/exports.ts";
import type { ExportErasing } from "../files/exports.ts";
import type { ImportErasing } from "../files/imports.ts";
import type { AnyItem, ChangeOf } from "../item.ts";
import { RunEntry } from "../journeys/run-items.ts";
import { forgetRuns, isRun } from "../journeys/runs.ts";
import { Member, MemberLeaf } from "../lists/items.ts";
import { forgetMemberships, isMembership } from "../lists/memberships.ts";
import type { Item, Key } from "../model.ts";
import { whereItHolds } from "../refusals.ts";
import { OutboxItem } from "../sandbox/items.ts";
import { sentTo } from "../sandbox/outbox.ts";
import { isSandbox } from "../sandbox/sandbox.ts";
import { forgetStaticMemberships } from "../segments/static-memberships.ts";
import { ChunkItem } from "../sends/audience/audience-items.ts";
import { JobItem } from "../sends/jobs/job-items.ts";
import { forgetBodiesOf, forgetPayloads, isOfDelivery } from "../webhooks/deliveries.ts";
import { DeliveryItem } from "../webhooks/delivery-items.ts";
import { AddressItem } from "./address-items.ts";
import { forgetAddresses } from "./addresses.ts";
import { DeviceItem, DevicePointer } from "./device-items.ts";
import { deviceTraces } from "./devices.ts";
import { addRemoved, isOfReceipt, type RemovedCounts, type RemovedStore } from "./erasure-receipts.ts";
import { eraseFromImports, IDENTIFIERS, type ImportTraces, importTraces } from "./import-erasure.ts";
import { AwaitedRefusal, ImportSample, RejectedRows } from "./import-items.ts";
import { Alias, ConsentItem, Profile, type ProfileRow, SubscriberAlias } from "./items.ts";
import { anonymizeLedger, forgetPseudonym, isLedgerRow, pseudonymOf } from "./ledger-erasure.ts";
import { forgetEntries } from "./search.ts";
import { SearchEntry } from "./search-items.ts";

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
  imports: ImportTraces;
  files: ExportErasing;
  /** The first pass follows the tombstone at once, the second one after `SECOND_PASS_MS`. */
  pass: 1 | 2;
  /** Whether another message must continue the pass. */
  isTimeUp(): boolean;
}

interface ErasureStep {
  name: string;
  /** The items with personal data that are erased here. */
  covers: readonly AnyItem[];
  erase(store: Store, subscriber: string, erasure: Erasure): Promise<RemovedCounts & { isUnfinished?: boolean }>;
}

type Find<K extends Key> = (store: Store, subscriber: string) => Promise<readonly K[]>;

/** Removes the rows of each page, until no page is left. */
const eachPage =
  <K extends Key>(
    find: Find<K>,
    remove: (store: Store, subscriber: string, rows: readonly K[]) => Promise<RemovedCounts>,
  ): ErasureStep["erase"] =>
  async (store, subscriber) => {
    const removed: RemovedCounts = {};
    for (let rows = await find(store, subscriber); rows.length > 0; rows = await find(store, subscriber))
      addRemoved(removed, await remove(store, subscriber, rows));
    return removed;
  };

const removeAs =
  (name: RemovedStore) =>
  async (store: Store, _: string, rows: readonly Key[]): Promise<RemovedCounts> => {
    await store.removeRows(rows);
    return { [name]: rows.length };
  };

const ownRows: Find<Item> = async (store, subscriber) =>
  (await store.queryRows(ConsentItem, { subscriber }, { from: OWN_ROWS_FROM })).items;

/** The places, in the order in which they are erased. */
export const places: readonly ErasureStep[] = [
  {
    name: "events and anonymous ids",
    covers: [EventItem, EventBlock, ActorEvents, Alias, SubscriberAlias],
    erase: async (store, subscriber, { tombstone, pass, isTimeUp }) => {
      if (!tombstone?.erased_at) return {};
      const erasedAt = Date.parse(tombstone.erased_at);
      const eraseProperties = tombstone.erase_properties === true;
      const how = { erasedAt, eraseProperties, isLast: pass === 2, isTimeUp };
      const { changed, isUnfinished } = await eraseEvents(store, subscriber, how);
      return { events: changed, isUnfinished };
    },
  },
  {
    name: "devices, and the rows that point to them",
    covers: [DeviceItem, DevicePointer],
    erase: eachPage(deviceTraces, removeAs("devices")),
  },
  {
    name: "webhook payloads",
    covers: [DeliveryItem],
    erase: async (store, subscriber, { tombstone }) =>
      tombstone?.created_at === undefined
        ? {}
        : { webhook_payloads: await forgetPayloads(store, subscriber, tombstone.created_at) },
  },
  {
    name: "the subscriber's own partition, and the rows that its memberships, runs and sends have elsewhere",
    covers: [Member, RunEntry, ChunkItem, JobItem],
    erase: eachPage(ownRows, removeOwnRows),
  },
  {
    name: "members of static segments",
    covers: [MemberLeaf],
    erase: async (store, subscriber) => ({ memberships: await forgetStaticMemberships(store, subscriber) }),
  },
  {
    name: "files of imports, which are searched for the identifiers that the profile has until then",
    covers: [RejectedRows, ImportSample, AwaitedRefusal],
    erase: async (store, subscriber, { imports }) => ({
      import_files: await eraseFromImports(store, subscriber, imports),
    }),
  },
  {
    name: "files of exports that were asked for before",
    covers: [],
    erase: async (store, _, { tombstone, files }) => ({
      export_files: tombstone?.erased_at === undefined ? 0 : await forgetExports(store, files, tombstone.erased_at),
    }),
  },
  {
    name: "the outbox of a sandbox",
    covers: [OutboxItem],
    erase: async (store, subscriber, erasure) =>
      isSandbox(store.tenant) ? eachPage(sentTo, removeAs("other"))(store, subscriber, erasure) : {},
  },
  {
    name: "the names by which it is found",
    covers: [SearchEntry],
    erase: async (store, _, { tombstone }) => ({ other: tombstone ? await forgetEntries(store, tombstone) : 0 }),
  },
  {
    name: "its addresses, of which the hashes keep what holds for them",
    covers: [AddressItem],
    erase: async (store, _, { tombstone }) => ({ other: tombstone ? await forgetAddresses(store, tombstone) : 0 }),
  },
  {
    name: "the profile, of which the tombstone stays",
    covers: [Profile],
    erase: async (store, subscriber, { tombstone, imports, pass }) => {
      if (tombstone) await scrubProfile(store, subscriber, tombstone, { imports, pass });
      return {};
    },
  },
];

/**
 * Memberships and runs are removed with their counts, and what names the subscriber in the log of a webhook; the ledger is kept
 * under a pseudonym; other rows are removed.
 */
async function removeOwnRows(store: Store, subscriber: string, rows: readonly Item[]): Promise<RemovedCounts> {
  const memberships = rows.filter(isMembership);
  await forgetMemberships(store, subscriber, memberships);
  const runs = rows.filter(isRun);
  await forgetRuns(store, subscriber, runs);
  const ledger = rows.filter(isLedgerRow);
  if (ledger.length > 0) await anonymizeLedger(store, subscriber, await pseudonymOf(store, subscriber), ledger);
  const webhook_payloads = await forgetBodiesOf(store, rows.filter(isOfDelivery));
  const others = rows.filter((row) => !memberships.includes(row) && !runs.includes(row));
  await store.removeRows(others);
  const rest = others.filter((row) => !isLedgerRow(row) && !isOfDelivery(row));
  const consents = rest.filter(({ sk }) => sk.startsWith("C#")).length;
  return {
    memberships: memberships.length,
    journey_runs: runs.length,
    sends: ledger.length,
    consents,
    webhook_payloads,
    other: rest.length - consents,
  };
}

interface ErasureResult {
  /** How many rows and files were removed or anonymized. */
  removed: RemovedCounts;
  /** An import that began before the erasure is in progress: another pass must follow. */
  isImporting: boolean;
  /** The time was up: the pass must go on. */
  isUnfinished: boolean;
}

export async function eraseTraces(
  store: Store,
  files: ImportErasing & ExportErasing,
  subscriber: string,
  { pass, isTimeUp }: Pick<Erasure, "pass" | "isTimeUp">,
): Promise<ErasureResult> {
  const profile = await store.get(Profile, { id: subscriber });
  const tombstone = profile?.erased_at ? profile : undefined;
  const imports = await importTraces(store, files, tombstone);
  const removed: RemovedCounts = {};
  const { isImporting } = imports;
  for (const { erase } of places) {
    const { isUnfinished = false, ...erased } = await erase(store, subscriber, {
      tombstone,
      imports,
      files,
      pass,
      isTimeUp,
    });
    addRemoved(removed, erased);
    if (isUnfinished) return { removed, isImporting, isUnfinished };
  }
  if (pass === 2) await forgetPseudonym(store, subscriber);
  return { removed, isImporting, isUnfinished: false };
}

type Removable = NonNullable<ChangeOf<typeof Profile>["remove"]>[number];

/** The attributes of a tombstone. */
const KEPT = new Set(["pk", "sk", "id", "erased_at", "erased_by", "erase_properties", "react", "next", "mark", "pack"]);
const isRemovable = (name: string): name is Removable => !KEPT.has(name) && !isOfReceipt(name);

async function scrubProfile(
  store: Store,
  subscriber: string,
  tombstone: ProfileRow,
  { imports: { isImporting }, pass }: Pick<Erasure, "imports" | "pass">,
): Promise<void> {
  // The second pass finds webhook payloads by the time of creation.
  const isNeeded = (name: Removable) =>
    (isImporting && IDENTIFIERS.includes(name)) || (pass === 1 && name === "created_at");
  const remove = Object.keys(tombstone)
    .filter(isRemovable)
    .filter((name) => !isNeeded(name));
  if (remove.length > 0)
    await whereItHolds(store.change(Profile, { id: subscriber }, { remove }, present("erased_at")));
}
