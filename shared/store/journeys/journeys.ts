// Journeys (JNY): edited as drafts. Each activated version is kept, because runs stay on the version that they entered.
import * as v from "valibot";
import { grammar } from "../../contract/grammar.ts";
import { pageRoom } from "../../contract/paging.ts";
import { MINUTE, timestamp } from "../../kernel/clock.ts";
import { beingChanged, conflict, notFound, requireFound } from "../../kernel/errors.ts";
import { type EntryRules, type Graph, type Trigger, triggerTypes } from "../../rules/journey-graph.ts";
import { dependenciesOf, type RunDependencies } from "../../rules/journey-paths.ts";
import { type JourneyStatus, journeyMoves, journeyStatuses } from "../../rules/journey-states.ts";
import { all, is, oneOf, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { type EditResult, edited, outdated } from "../edits.ts";
import { type EntityPage, type EntityRange, entityPage } from "../entity-pages.ts";
import { watchWrites } from "../events/watchers.ts";
import { type AutoKind, annotationWrite } from "../insights/annotations.ts";
import {
  type ChangeOf,
  changeItem,
  fieldsOf,
  type ItemWrite,
  type NewRowOf,
  putItem,
  type RowOf,
  removeItem,
} from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { orRefuse } from "../refusals.ts";
import { changeListed, createListed, Status } from "../status-index.ts";
import { KeyWarnings } from "../subscribers/unknown-keys.ts";
import type { Timers } from "../timers.ts";
import { ActiveJourney, DeletedJourney, JourneyItem, JourneyVersion, journeyFields } from "./items.ts";
import { type Pauses, withPause } from "./pauses.ts";

export const MAX_NAME_CHARACTERS = 200;

const AnyObject = v.record(v.string(), v.any());

export const Journey = v.object({
  id: journeyFields.id,
  name: journeyFields.name,
  trigger: v.pipe(
    v.object({
      type: v.picklist(triggerTypes),
      segment_id: v.optional(v.string()),
      event_name: v.optional(v.string()),
      max_age: v.optional(v.string()),
    }),
    grammar("JourneyTrigger"),
  ),
  entry_rules: v.nullable(
    v.pipe(
      v.object({
        eligibility: v.optional(v.nullable(AnyObject)),
        allow_reentry: v.optional(v.boolean()),
        reentry_window: v.optional(v.nullable(v.string())),
      }),
      grammar("EntryRules"),
    ),
  ),
  steps: v.pipe(AnyObject, grammar("JourneyGraph")),
  status: journeyFields.status,
  version: journeyFields.version,
  entered: v.number(),
  completed: v.number(),
  created_at: journeyFields.created_at,
  updated_at: journeyFields.updated_at,
  warnings: KeyWarnings,
});

/** A journey without the numbers of its runs, which are counted elsewhere. */
export type Journey = Omit<v.InferOutput<typeof Journey>, "entered" | "completed" | "warnings">;

/** What a user defines. The graph of a draft may be incomplete. */
export type Definition = Pick<Journey, "name" | "trigger" | "entry_rules" | "steps">;

type NewJourney = NewRowOf<typeof JourneyItem>;

const storedDefinition = ({ name, trigger, entry_rules, steps }: Definition) => ({
  name,
  trigger: toJson<Trigger>(trigger),
  entry_rules: toJson<EntryRules | null>(entry_rules),
  steps: toJson<Record<string, unknown>>(steps),
});

/** Creates a journey. @throws 429 beyond 10,000 journeys */
export async function createJourney(store: Store, definition: Definition): Promise<Journey> {
  const now = store.clock.now();
  const row: NewJourney = {
    ...storedDefinition(definition),
    id: store.ids.uuidAt(now),
    react: "journey",
    status: "draft",
    version: 1,
    created_at: timestamp(now),
    updated_at: timestamp(now),
  };
  await createListed(store, JourneyItem, row.status, row);
  return journeyOf(row);
}

/** Gets a journey. @throws 404, also for another workspace's journey */
export const getJourney = async (store: StoreReader, id: string): Promise<Journey> =>
  journeyOf(await requireRow(store, id));

async function requireRow(store: StoreReader, id: string): Promise<NewJourney> {
  return requireFound(await store.get(JourneyItem, { id }), "journey");
}

/** Newest first; a page may be short when journeys are large. */
export const listJourneys = (store: StoreReader, range: EntityRange): Promise<EntityPage<Journey>> =>
  entityPage(store, JourneyItem, range, { read: journeyOf, accepts: pageRoom() });

/** Counts journeys, without archived ones (JNY-21, AMB-74). */
export async function countJourneys(store: StoreReader): Promise<{ active: number; total: number }> {
  const counts = { active: 0, total: 0 };
  for (const { status } of await store.queryAll(Status, { kind: "journey" })) {
    if (status !== "archived") counts.total++;
    if (status === "active") counts.active++;
  }
  return counts;
}

/** The status alone, from its small row; undefined after the journey is deleted. */
export async function statusOf(store: StoreReader, id: string): Promise<JourneyStatus | undefined> {
  const row = await store.get(Status, { kind: "journey", id });
  return journeyStatuses.find((status) => status === row?.status);
}

/** Replaces the whole definition, in a new version (JNY-13). @throws 404, 409 naming the status */
export function replaceJourney(store: Store, journey: Journey, definition: Definition): Promise<EditResult<Journey>> {
  const set = { ...storedDefinition(definition), version: journey.version + 1 };
  return tryChange(store, journey, set, { from: ["draft", "paused"], verb: "changed" });
}

/**
 * Activates a journey (JNY-14): from now on subscribers enter this version, which is kept for them. Exactly the journey
 * that was read and validated becomes active. @param graph its steps, without a problem @throws 404, 409 naming the
 * status
 */
export async function activateJourney(store: Store, journey: Journey, graph: Graph): Promise<Journey> {
  const { id, version, trigger, entry_rules } = journey;
  const { heard: stored } = await requireRow(store, id);
  const current = dependenciesOf(graph);
  // Runs of earlier versions go on.
  const dependencies = stored ? union(fromJson(stored), current) : current;
  const row = { trigger: toJson<Trigger>(trigger), entry_rules: toJson<EntryRules | null>(entry_rules) };
  const pauses = pausesOf(await store.get(ActiveJourney, { journey: id }), store.clock.now());
  const active = { ...row, version, heard: toJson(dependencies), pauses: pauses && toJson(pauses) };
  const extraItems = [
    putItem(ActiveJourney, { journey: id }, active),
    putItem(JourneyVersion, { journey: id, version }, { ...row, steps: toJson(graph) }),
    ...watchWrites("journey", id, [...triggerEvents(trigger), ...dependencies.events]),
    annotationOf(store, "journey_activated", journey, "activated"),
  ];
  const { from, to: status } = journeyMoves.activate;
  const change = { heard: toJson(dependencies), status };
  return changeJourney(store, journey, change, { from, verb: "activated", extraItems });
}

/** The pauses of a journey that becomes active again now. */
function pausesOf(row: RowOf<typeof ActiveJourney> | undefined, now: number): Pauses | undefined {
  const former = row?.pauses && fromJson(row.pauses);
  return row?.paused === undefined ? former : withPause(former, row.paused, now);
}

/**
 * Pauses a journey (JNY-17, JNY-18). Only the status changes; timers that fire in the meantime have no effect. @throws
 * 404, 409
 */
export async function pauseJourney(store: Store, id: string, reason?: string): Promise<Journey> {
  const journey = await getJourney(store, id);
  const text = reason === undefined ? "paused" : `paused: ${reason}`;
  const extraItems = [
    changeItem(ActiveJourney, { journey: id }, { set: { paused: store.clock.now() } }, present()),
    ...watchWrites("journey", id, triggerEvents(journey.trigger)),
    annotationOf(store, "journey_paused", journey, text),
  ];
  const { from, to: status } = journeyMoves.pause;
  return changeJourney(store, journey, { status }, { from, verb: "paused", extraItems });
}

/** Pauses a journey that uses a resource deleted by force. Another request may have paused or deleted it (AMB-119). */
export async function pauseInUse(store: Store, id: string, reason: string): Promise<void> {
  try {
    await pauseJourney(store, id, reason);
  } catch (error) {
    const row = await store.get(JourneyItem, { id });
    if (row?.status === "active") throw error;
  }
}

/** Archives a journey: its active runs are canceled in the background (D-JNY-ARCHIVE). @throws 404, 409 from active */
export async function archiveJourney(store: Store, id: string): Promise<Journey> {
  const journey = await getJourney(store, id);
  if (journey.status === "archived") return journey;
  const { from, to: status } = journeyMoves.archive;
  return changeJourney(store, journey, { status }, { from, verb: "archived", extraItems: deactivationWrites(id) });
}

/** Copies a journey as a draft with the same definition. @throws 404, 429 */
export async function duplicateJourney(store: Store, id: string): Promise<Journey> {
  const { name, trigger, entry_rules, steps } = await getJourney(store, id);
  const copy = [...`Copy of ${name}`].slice(0, MAX_NAME_CHARACTERS).join("");
  return createJourney(store, { name: copy, trigger, entry_rules, steps });
}

/** By this time, requests that read the journey before its deletion have ended. */
export const SECOND_PASS_MS = 10 * MINUTE;

/** Deletes a journey at once, and its runs in the background (JNY-19). @throws 404 */
export async function removeJourney(store: Store, timers: Timers, id: string): Promise<void> {
  await requireRow(store, id);
  await timers.set([{ kind: "journey-gone", id, at: store.clock.now() + SECOND_PASS_MS }]);
  await store
    .transact([
      removeItem(JourneyItem, { id }, present()),
      removeItem(Status, { kind: "journey", id }),
      putItem(DeletedJourney, { journey: id }, { react: "journey-gone", id, at: store.clock.now() }),
      ...deactivationWrites(id),
    ])
    .catch(orRefuse(() => notFound("journey")));
}

const triggerEvents = ({ type, event_name }: Trigger): string[] => (type === "event" && event_name ? [event_name] : []);

/** From now on no subscriber enters. */
const deactivationWrites = (id: string): ItemWrite<"workspace">[] => [
  removeItem(ActiveJourney, { journey: id }),
  ...watchWrites("journey", id, []),
];

const annotationOf = (store: Store, kind: AutoKind, { id, name }: Journey, verb: string): ItemWrite<"workspace"> =>
  annotationWrite(store, { kind, text: `The journey ${name} was ${verb}.`, ref_id: id });

/** The dependencies of both: runs of older versions still react to theirs. */
const union = (a: RunDependencies, b: RunDependencies): RunDependencies => ({
  events: [...new Set([...a.events, ...b.events])],
  attributes: [...new Set([...a.attributes, ...b.attributes])],
});

interface Move {
  from: readonly JourneyStatus[];
  verb: string;
  extraItems?: readonly ItemWrite[];
}

type Set = NonNullable<ChangeOf<typeof JourneyItem>["set"]>;

/** Changes a journey whose version and status are unchanged since they were read. */
async function changeJourney(store: Store, journey: Journey, set: Set, move: Move): Promise<Journey> {
  const outcome = await tryChange(store, journey, set, move);
  if (outcome.kind === "outdated") throw beingChanged();
  return outcome.entity;
}

async function tryChange(
  store: Store,
  { id, version }: Journey,
  set: Set,
  { from, verb, extraItems = [] }: Move,
): Promise<EditResult<Journey>> {
  const change = { set: { ...set, updated_at: timestamp(store.clock.now()) } };
  const when = all(oneOf("status", from), is("version", version));
  const outcome = await changeListed(store, JourneyItem, id, { change, status: set.status, when, extraItems });
  if (outcome.kind === "changed") return edited(journeyOf(outcome.row));
  if (!outcome.current) throw notFound("journey");
  const { status } = outcome.current;
  if (!from.includes(status)) throw conflict(`The journey is ${status} and cannot be ${verb}.`);
  return outdated;
}

export const journeyOf = (row: NewJourney): Journey => ({
  ...fieldsOf(journeyFields, row),
  trigger: fromJson(row.trigger),
  entry_rules: fromJson(row.entry_rules),
  steps: fromJson(row.steps),
});
