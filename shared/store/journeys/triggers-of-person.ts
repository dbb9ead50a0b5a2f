// The triggers of a journey's runs for one person, and their outcomes (AMB-147), derived from stored events and
// memberships, the person's runs, and when the journey was active.
import { MINUTE, timestamp } from "../../kernel/clock.ts";
import { type RefusalReason, refusalReasons } from "../../rules/entry-refusals.ts";
import type { EntryRules } from "../../rules/journey-graph.ts";
import { isTooOld } from "../../rules/journey-paths.ts";
import type { StoreReader } from "../context.ts";
import type { StoredEvent } from "../events/events.ts";
import { eventsOf } from "../events/history.ts";
import { listAnnotations } from "../insights/annotations.ts";
import { SegmentMembership } from "../lists/items.ts";
import { leafMember } from "../lists/leaves.ts";
import { SegmentItem } from "../segments/items.ts";
import { segmentCause } from "./entries.ts";
import type { Journey } from "./journeys.ts";
import { QuotaRefusal } from "./run-items.ts";
import type { RunState } from "./runs.ts";

export const triggerOutcomes = ["entered", ...refusalReasons, "not_active", "not_handled", "not_identified"] as const;
type TriggerOutcome = (typeof triggerOutcomes)[number];

/** A trigger that could start a run. */
export interface PersonalCause {
  /** When it was received, and when it occurred. */
  at: string;
  occurred_at: string;
  /** As an entry names it. */
  key: string;
  historical: boolean;
  event?: StoredEvent;
  segment?: { id: string; name: string | null; entered: boolean };
}

/** Newest first. */
export async function causesOf(
  store: StoreReader,
  { trigger: { type, event_name, segment_id } }: Pick<Journey, "trigger">,
  subscriber: string,
  range: { from: string; to?: string | undefined; limit: number },
): Promise<PersonalCause[]> {
  if (type === "event") {
    if (!event_name) return [];
    return (await eventsOf(store, subscriber, { event_name, ...range })).toReversed().map(causeOfEvent);
  }
  if (!segment_id) return [];
  const cause = await causeOfSegment(store, subscriber, segment_id, type === "segment_entered");
  return cause && cause.at >= range.from && (range.to === undefined || cause.at < range.to) ? [cause] : [];
}

export const causeOfEvent = (event: StoredEvent): PersonalCause => ({
  at: event.received_at,
  occurred_at: event.occurred_at,
  key: `event#${event.id}`,
  historical: event.historical === true,
  event,
});

/** A segment keeps the last entry and the last exit of each member; a static one only the entry. */
async function causeOfSegment(
  store: StoreReader,
  subscriber: string,
  segment: string,
  entered: boolean,
): Promise<PersonalCause | undefined> {
  const [row, packed, named] = await Promise.all([
    store.get(SegmentMembership, { subscriber, segment }),
    entered ? leafMember(store, segment, subscriber) : undefined,
    store.get(SegmentItem, { id: segment }),
  ]);
  const exitedAt = row?.member ? undefined : row?.exited_at;
  const movedAt = entered ? row?.entered_at : exitedAt;
  const at = row ? movedAt : packed?.entered_at;
  if (at === undefined) return undefined;

  const moved = entered ? row?.entered_by_history : row?.historical;
  return {
    at,
    occurred_at: at,
    key: segmentCause({ segment, entered, at }),
    historical: (row ? moved : packed?.historical) === true,
    segment: { id: segment, name: named?.name ?? null, entered },
  };
}

/** The entries of a person that were beyond the quota, by what would have started them. */
export async function beyondQuotaOf(
  store: StoreReader,
  subscriber: string,
  journey?: string,
): Promise<ReadonlySet<string>> {
  const prefix = journey === undefined ? undefined : `Q#${journey}#`;
  const rows = await store.queryAll(QuotaRefusal, { subscriber }, prefix === undefined ? {} : { prefix });
  return new Set(rows.map(({ journey_id, cause }) => refusedKey(journey_id, cause)));
}

const refusedKey = (journey: string, cause: string): string => `${journey} ${cause}`;

/** The facts that decide the entries of a person into a journey. */
export interface Entry {
  journey: Pick<Journey, "id" | "status" | "trigger" | "entry_rules" | "updated_at">;
  /** The runs of the person, newest first. */
  runs: readonly RunState[];
  /** When it became active or paused, oldest first. */
  times: readonly { at: number; isActive: boolean }[];
  beyondQuota: ReadonlySet<string>;
  /** Whether the person meets the rules of entry now. */
  isEligible: boolean;
  /** When the profile was last written, in milliseconds. */
  changedAt: number;
  now: number;
  /** In milliseconds; undefined: no person enters twice. */
  reentryAfter: number | undefined;
}

export interface Outcome {
  outcome: TriggerOutcome;
  run?: string | undefined;
  /** The decision used the person's present state. */
  isOfToday: boolean;
}

/** A trigger received this recently may still be handled. */
const HANDLED_MS = 15 * MINUTE;

/** The outcome of a trigger: the run that it started, or why none began then. */
export function outcomeOf(entry: Entry, cause: PersonalCause): Outcome {
  const { journey, runs, beyondQuota } = entry;
  const known = (outcome: TriggerOutcome, run?: string): Outcome => ({ outcome, run, isOfToday: false });
  const started = runs.find((run) => isStartedBy(run, cause));
  if (started) return known("entered", started.id);

  const at = Date.parse(cause.at);
  const standing = standingAt(entry, at);
  if (standing?.reason === "not_active") return known("not_active");
  if (cause.historical) return known("historical");
  const isOld = cause.event && isTooOld(journey.trigger as Parameters<typeof isTooOld>[0], cause.event);
  if (isOld) return known("too_old");
  if (standing) return known(standing.reason, standing.run);
  if (beyondQuota.has(refusedKey(journey.id, cause.key))) return known("over_quota");
  const isOfVisitor = cause.event?.actor?.kind === "anonymous";
  if (isOfVisitor && entry.isEligible) return known("not_identified");
  const hasRule = (journey.entry_rules as EntryRules | null)?.eligibility != null;
  if (!hasRule || isWaiting(entry, at)) return known("not_handled");
  // Only the entry rules are left as a reason; the person's state at that time is no longer known.
  return { outcome: "not_eligible", isOfToday: true };
}

/** Whether a person who would be let in now has been that since, so that only the worker is missing. */
const isWaiting = ({ isEligible, changedAt, now }: Entry, at: number): boolean =>
  isEligible && changedAt < at && at > now - HANDLED_MS;

const isStartedBy = ({ context, entered_at }: RunState, { event, segment, at }: PersonalCause): boolean =>
  event ? context.event_id === event.id : context.segment_id === segment?.id && entered_at === at;

/** What prevented an entry at a moment: the state of the journey, then the person's last run. */
export function standingAt(
  { journey, runs, reentryAfter, times }: Entry,
  at: number,
): { reason: RefusalReason | "not_active"; run?: string } | undefined {
  const state = times.findLast((time) => time.at <= at);
  if (!state) return { reason: "not_active" };
  // An archived journey never changes, and only a paused one can be archived.
  const isArchived = journey.status === "archived" && Date.parse(journey.updated_at) <= at;
  if (!state.isActive) return { reason: isArchived ? "not_active" : "paused" };
  const last = runs.find(({ entered_at }) => Date.parse(entered_at) <= at);
  if (!last) return undefined;
  const isActive = last.ended_at === null || Date.parse(last.ended_at) > at;
  if (isActive) return { reason: "already_active", run: last.id };
  const mayReenter = reentryAfter !== undefined && Date.parse(last.entered_at) <= at - reentryAfter;
  return mayReenter ? undefined : { reason: "reentry_window", run: last.id };
}

/** When journeys were activated and paused, by their annotations. */
export async function activeTimes(
  store: StoreReader,
  journeys: readonly Pick<Journey, "id" | "created_at">[],
  from: string,
): Promise<ReadonlyMap<string, Entry["times"]>> {
  const kinds = ["journey_activated", "journey_paused"];
  const since = [from, ...journeys.map(({ created_at }) => created_at)].sort()[0] ?? from;
  const notes = await listAnnotations(store, { from: since, to: timestamp(store.clock.now()), kinds, isAgency: false });
  const times = notes.map(({ occurred_at, kind, ref_id }) => ({
    journey: ref_id ?? "",
    at: Date.parse(occurred_at),
    isActive: kind === "journey_activated",
  }));
  return Map.groupBy(times, ({ journey }) => journey);
}
