// Journeys (JNY): authored as drafts, each version kept from its activation on, for runs stay on the one they entered.

import { MINUTE, timestamp } from "../../clock.ts";
import { conflict, notFound } from "../../http/errors.ts";
import { pageRoom } from "../../http/paging.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { EntryRules, Graph, Trigger } from "../../rules/journey-graph.ts";
import { type Heard, heardBy } from "../../rules/journey-paths.ts";
import { type JourneyStatus, journeyMoves } from "../../rules/journey-states.ts";
import { all, is, oneOf, present } from "../conditions.ts";
import { watchWrites } from "../events/watchers.ts";
import type { Change } from "../expressions.ts";
import { type AutoKind, annotation } from "../insights/annotations.ts";
import { keys } from "../keys.ts";
import { changeListed, createListed } from "../listed.ts";
import type { Item, Key, Value } from "../model.ts";
import { allItems } from "../pages.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";
import type { Timers } from "../timers.ts";

export const MAX_NAME_CHARACTERS = 200;

/** What is authored. The graph of a draft may lack anything. */
export interface Definition {
  name: string;
  trigger: Trigger;
  entry_rules: EntryRules | null;
  steps: Record<string, unknown>;
}

export interface Journey extends Definition {
  id: string;
  status: JourneyStatus;
  version: number;
  created_at: string;
  updated_at: string;
}

/** What a run needs of the version that it entered. */
export interface Version {
  trigger: Trigger;
  entry_rules: EntryRules | null;
  graph: Graph;
}

const stored = ({ name, trigger, entry_rules, steps }: Definition) => ({
  name,
  trigger: JSON.stringify(trigger),
  entry_rules: JSON.stringify(entry_rules),
  steps: JSON.stringify(steps),
});

/** @throws 429 beyond 10,000 journeys. */
export async function createJourney(store: Store, definition: Definition): Promise<Journey> {
  const now = store.clock.now();
  const at = timestamp(now);
  const item = await createListed(store, "journey", store.ids.uuidAt(now), "draft", {
    ...stored(definition),
    react: "journey",
    status: "draft",
    version: 1,
    created_at: at,
    updated_at: at,
  });
  return journeyOf(item);
}

/** @throws 404, also for another workspace's journey. */
export async function getJourney(store: StoreReader, id: string): Promise<Journey> {
  return journeyOf(await requireItem(store, id));
}

async function requireItem(store: StoreReader, id: string): Promise<Item> {
  const item = await store.get(keys.entity(store.tenant, "journey", id));
  if (!item) throw notFound("journey");
  return item;
}

/** Newest first. `next` is absent on the last page; a page may be short when journeys are large. */
export async function listJourneys(
  store: StoreReader,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ journeys: Journey[]; next?: string }> {
  const pk = keys.entities(store.tenant, "journey");
  const journeys: Journey[] = [];
  const takes = pageRoom();
  let position: Key | undefined = after === undefined ? undefined : { pk, sk: after };
  do {
    const page = await store.query({ pk, newestFirst: true, limit: limit - journeys.length, after: position });
    for (const item of page.items) {
      const journey = journeyOf(item);
      if (!takes(journey)) return { journeys, next: journeys.at(-1)!.id };
      journeys.push(journey);
    }
    position = page.next;
  } while (position && journeys.length < limit);
  return { journeys, ...(position && { next: position.sk }) };
}

/** JNY-21: archived ones are left out (AMB-74). */
export async function countJourneys(store: StoreReader): Promise<{ active: number; total: number }> {
  const counts = { active: 0, total: 0 };
  for (const { state } of await allItems(store, { pk: keys.entries(store.tenant, "journey") })) {
    if (state !== "archived") counts.total++;
    if (state === "active") counts.active++;
  }
  return counts;
}

/** The status alone, by its small row; undefined once the journey is deleted. */
export async function statusOf(store: StoreReader, id: string): Promise<JourneyStatus | undefined> {
  return (await store.get(keys.entry(store.tenant, "journey", id)))?.state as JourneyStatus | undefined;
}

/** JNY-13: everything authored is replaced, in a new version. @throws 404, 409 naming the status. */
export function replaceJourney(store: Store, journey: Journey, definition: Definition): Promise<Journey> {
  const set = { ...stored(definition), version: journey.version + 1 };
  return changed(store, journey, { set }, { from: ["draft", "paused"], verb: "changed" });
}

/**
 * JNY-14: from now on subscribers enter this version, which is kept for them. What was read and found valid is what
 * becomes active. @throws 404, 409 naming the status.
 */
export async function activateJourney(store: Store, journey: Journey): Promise<Journey> {
  const { id, version, trigger, entry_rules } = journey;
  // Whoever activates has found it whole.
  const graph = journey.steps as unknown as Graph;
  const item = await requireItem(store, id);
  const heard = union(item.heard ? JSON.parse(String(item.heard)) : { events: [], attributes: [] }, heardBy(graph));
  const begins = trigger.type === "event" && trigger.event_name ? [trigger.event_name] : [];
  const row = { trigger: JSON.stringify(trigger), entry_rules: JSON.stringify(entry_rules) };
  const extraItems: TransactItem[] = [
    { put: { ...keys.activeJourney(store.tenant, id), ...row, version, heard: JSON.stringify(heard) } },
    { put: { ...versionKey(store, id, version), ...row, steps: JSON.stringify(graph) } },
    ...watchWrites(store, "journey", id, [...begins, ...heard.events]),
    note(store, "journey_activated", journey, "activated"),
  ];
  const change = { set: { heard: JSON.stringify(heard), status: journeyMoves.activate.to } };
  return changed(store, journey, change, { from: journeyMoves.activate.from, verb: "activated", extraItems });
}

/** JNY-17, JNY-18: one flag; timers fire into it and do nothing. @throws 404, 409 naming the status. */
export async function pauseJourney(store: Store, id: string): Promise<Journey> {
  const journey = await getJourney(store, id);
  const extraItems = [...silent(store, id), note(store, "journey_paused", journey, "paused")];
  const change = { set: { status: journeyMoves.pause.to } };
  return changed(store, journey, change, { from: journeyMoves.pause.from, verb: "paused", extraItems });
}

/** D-JNY-ARCHIVE: the runs in flight are canceled in the background. @throws 404, 409 from active. */
export async function archiveJourney(store: Store, id: string): Promise<Journey> {
  const journey = await getJourney(store, id);
  if (journey.status === "archived") return journey;
  const change = { set: { status: journeyMoves.archive.to } };
  return changed(store, journey, change, { from: journeyMoves.archive.from, verb: "archived" });
}

/** A new draft with everything that is authored. @throws 404, 429. */
export async function duplicateJourney(store: Store, id: string): Promise<Journey> {
  const { name, trigger, entry_rules, steps } = await getJourney(store, id);
  return createJourney(store, {
    name: [...`Copy of ${name}`].slice(0, MAX_NAME_CHARACTERS).join(""),
    trigger,
    entry_rules,
    steps,
  });
}

/** Whoever read the journey before it was deleted has long written by then. */
export const SECOND_PASS_MS = 10 * MINUTE;

/** JNY-19: gone at once, its runs in the background. @throws 404. */
export async function removeJourney(store: Store, timers: Timers, id: string): Promise<void> {
  await requireItem(store, id);
  await timers.set([{ kind: "journey-gone", id, at: store.clock.now() + SECOND_PASS_MS }]);
  await store
    .transact([
      { remove: keys.entity(store.tenant, "journey", id), when: present() },
      { remove: keys.entry(store.tenant, "journey", id) },
      { put: { ...goneKey(store, id), react: "journey-gone", id, at: store.clock.now() } },
      ...silent(store, id),
    ])
    .catch(
      onTransactionCanceled(() => {
        throw notFound("journey");
      }),
    );
}

export const goneKey = ({ tenant }: Pick<Store, "tenant">, id: string): Key => keys.part(tenant, "journey", id, "GONE");

/** Versions among the parts of a journey. */
export const VERSION = "V#";

const versionKey = ({ tenant }: Pick<Store, "tenant">, id: string, version: number): Key =>
  keys.part(tenant, "journey", id, `${VERSION}${String(version).padStart(7, "0")}`);

/** A version that was active once: it never changes. */
export async function getVersion(store: StoreReader, id: string, version: number): Promise<Version | undefined> {
  const item = await store.get(versionKey(store, id, version));
  return (
    item && {
      trigger: JSON.parse(String(item.trigger)),
      entry_rules: JSON.parse(String(item.entry_rules)),
      graph: JSON.parse(String(item.steps)),
    }
  );
}

/** From now on nobody enters. */
const silent = (store: Store, id: string): TransactItem[] => [
  { remove: keys.activeJourney(store.tenant, id) },
  ...watchWrites(store, "journey", id, []),
];

const note = (store: Store, kind: AutoKind, { id, name }: Journey, verb: string): TransactItem => ({
  put: annotation(store, { kind, text: `The journey ${name} was ${verb}.`, ref_id: id }),
});

/** Runs of older versions go on listening to what those named. */
const union = (a: Heard, b: Heard): Heard => ({
  events: [...new Set([...a.events, ...b.events])],
  attributes: [...new Set([...a.attributes, ...b.attributes])],
});

/** Changes a journey that is as it was read. */
async function changed(
  store: Store,
  { id, version }: Journey,
  { set }: { set: Record<string, Value> & Change["set"] },
  {
    from,
    verb,
    extraItems = [],
  }: { from: readonly JourneyStatus[]; verb: string; extraItems?: readonly TransactItem[] },
): Promise<Journey> {
  const change = { set: { ...set, updated_at: timestamp(store.clock.now()) } };
  const when = all(oneOf("status", from), is("version", version));
  const state = set.status === undefined ? undefined : String(set.status);
  const outcome = await changeListed(store, "journey", id, change, { state, when, extraItems });
  if ("item" in outcome) return journeyOf(outcome.item);
  if (!outcome.current) throw notFound("journey");
  const { status } = outcome.current;
  if (!from.some((one) => one === status)) throw conflict(`The journey is ${status} and cannot be ${verb}.`);
  throw conflict("Somebody else is changing this at the moment. Try again.");
}

export function journeyOf(item: Item): Journey {
  return {
    id: String(item.id),
    name: String(item.name),
    trigger: JSON.parse(String(item.trigger)),
    entry_rules: JSON.parse(String(item.entry_rules)),
    steps: JSON.parse(String(item.steps)),
    status: item.status as JourneyStatus,
    version: Number(item.version),
    created_at: String(item.created_at),
    updated_at: String(item.updated_at),
  };
}
