// Changes that move runs of journeys: events, entries into segments and exits, changed attributes, and changes of
// journeys themselves.
import type { Message } from "../../../shared/contract/messages.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { isTerminal } from "../../../shared/rules/job-states.ts";
import { stepJourneyQueue } from "../../../shared/runtime/resources.ts";
import { becomes, type Change, type Changes, isNew, newEvents, ofTenants } from "../../../shared/store/changes.ts";
import { watchVersions } from "../../../shared/store/events/watchers.ts";
import { activeJourneys, type JourneyIndex, segmentTrigger } from "../../../shared/store/journeys/active.ts";
import { DeletedJourney, JourneyItem } from "../../../shared/store/journeys/items.ts";
import { MigrationItem } from "../../../shared/store/journeys/migration-items.ts";
import { StepState } from "../../../shared/store/journeys/step-brake-items.ts";
import { MemberLeaf, SegmentMembership } from "../../../shared/store/lists/items.ts";
import { segmentOfLeaf } from "../../../shared/store/lists/leaves.ts";
import { segmentMovesOf } from "../../../shared/store/lists/segment-moves.ts";
import { changedKeys } from "../../../shared/store/segments/facts.ts";
import { JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import { Profile, SubscriberAlias } from "../../../shared/store/subscribers/items.ts";
import { ALIAS_AGAIN_SECONDS } from "./events.ts";

export const journeyUses = [stepJourneyQueue, activeJourneys, watchVersions] as const;
type WorkerContext = Context<typeof journeyUses>;
type StepMessage = Message<"step-journey">;

/** Subscribers or events of one message. */
const PER_MESSAGE = 100;

/** Queues the changes that may start or move runs. */
export async function queueJourneys(changes: Changes, context: WorkerContext): Promise<void> {
  const { stepJourneyQueue: queue, activeJourneys, watchVersions } = context;
  await queue.send(sweeps(changes));
  for (const [tenant, touched] of touchedByTenant(changes)) {
    const index = await activeJourneys.of(tenant, watchVersions.of(tenant));
    if (index.journeys.size === 0) continue;
    const identified = identifiedMessages(tenant, touched, index);
    await queue.send([...runMessages(tenant, touched, index), ...identified]);
    await queue.send(identified, { delaySeconds: ALIAS_AGAIN_SECONDS });
  }
}

/**
 * Changes that concern all runs of a journey: it was resumed, archived, deleted or migrated, or one of its sends has
 * ended.
 */
function sweeps(changes: Changes): StepMessage[] {
  const wasPaused = ({ before }: Change<typeof JourneyItem>) => before?.status === "paused";
  return [
    ...changes.of(JourneyItem, "journey").filter(becomes("active")).filter(wasPaused).map(sweeping("resume")),
    ...changes.of(JourneyItem, "journey").filter(becomes("archived")).map(sweeping("cancel")),
    ...changes.of(DeletedJourney, "journey-gone").filter(isNew).map(sweeping("delete")),
    ...changes.of(StepState, "journey-step").filter(isReleased).map(releasing),
    ...changes.of(MigrationItem, "migration").filter(isNew).map(migrating),
    ...changes.of(JobItem, "job").filter(hasLost).map(following),
  ];
}

/** The changes in one workspace that may start or move single runs. */
interface WorkspaceChanges {
  memberships: readonly Change<typeof SegmentMembership>[];
  /** Members of static segments, which are packed. */
  leaves: readonly Change<typeof MemberLeaf>[];
  events: ReturnType<typeof newEvents>;
  profiles: readonly Change<typeof Profile>[];
  /** Visitors who were identified. */
  aliases: readonly Change<typeof SubscriberAlias>[];
}

function touchedByTenant(changes: Changes): Map<string, WorkspaceChanges> {
  const memberships = ofTenants(changes.of(SegmentMembership, "membership"));
  const leaves = ofTenants(changes.of(MemberLeaf, "leaf"));
  const events = Map.groupBy(newEvents(changes), ({ tenant }) => tenant);
  const profiles = ofTenants(changes.of(Profile, "subscriber"));
  const aliases = ofTenants(changes.of(SubscriberAlias, "alias").filter(isNew));
  const tenants = new Set([memberships, leaves, events, profiles, aliases].flatMap((byTenant) => [...byTenant.keys()]));
  const touchedIn = (tenant: string): WorkspaceChanges => ({
    memberships: memberships.get(tenant) ?? [],
    leaves: leaves.get(tenant) ?? [],
    events: events.get(tenant) ?? [],
    profiles: profiles.get(tenant) ?? [],
    aliases: aliases.get(tenant) ?? [],
  });
  return new Map([...tenants].map((tenant) => [tenant, touchedIn(tenant)]));
}

function runMessages(
  tenant: string,
  { memberships, leaves, events, profiles }: WorkspaceChanges,
  index: JourneyIndex,
): StepMessage[] {
  const awaited = events.filter(({ event_name }) => isAwaited(event_name, index)).map(({ id }) => id);
  const moves = [
    ...memberships.flatMap((change) => moveOf(change, index)),
    ...leaves.flatMap((change) => movesOf(change, index)),
  ];
  const changed = profiles.filter((change) => changesRun(change, index)).map(({ after }) => after.id);
  return [
    ...chunksOf(awaited, PER_MESSAGE).map((chunk) => ({ kind: "events" as const, tenant, events: chunk })),
    ...chunksOf(moves, PER_MESSAGE).map((chunk) => movesMessage(tenant, chunk)),
    ...chunksOf([...new Set(changed)], PER_MESSAGE).map((chunk) => ({
      kind: "attributes" as const,
      tenant,
      subscribers: chunk,
    })),
  ];
}

function movesMessage(tenant: string, moves: ReturnType<typeof moveOf>): StepMessage {
  const wanted = (isHistorical: boolean) =>
    moves.flatMap(({ isHistorical: is, ...move }) => (is === isHistorical ? [move] : []));
  const historical = wanted(true);
  return { kind: "moves", tenant, moves: wanted(false), ...(historical.length > 0 && { historical }) };
}

/** Events of visitors before they were identified may concern the runs of their subscribers now. */
function identifiedMessages(tenant: string, { aliases }: WorkspaceChanges, { byEvent }: JourneyIndex): StepMessage[] {
  if (byEvent.size === 0) return [];
  const subscribers = [...new Set(aliases.map(({ after }) => after.subscriber))];
  return chunksOf(subscribers, PER_MESSAGE).map((chunk) => ({ kind: "identified", tenant, subscribers: chunk }));
}

const sweeping =
  (mode: "resume" | "cancel" | "delete") =>
  ({ tenant, after }: { tenant: string; after: { id: string } }): StepMessage => ({
    kind: "sweep",
    tenant,
    journey: after.id,
    mode,
  });

/** A halted step was resumed or canceled: its waiting runs go on, or end. */
const isReleased = ({ before, after }: Change<typeof StepState>): boolean =>
  before?.halted !== undefined && (after.halted === undefined || after.canceled !== before.canceled);

const releasing = ({ tenant, after: { journey } }: Change<typeof StepState>): StepMessage => ({
  kind: "sweep",
  tenant,
  journey,
  mode: "resume",
});

const migrating = ({ tenant, after: { journey, id } }: Change<typeof MigrationItem>): StepMessage => ({
  kind: "sweep",
  tenant,
  journey,
  mode: "migrate",
  migration: id,
});

/** A send of a step has ended without reaching all recipients; a failed one reached none. */
const hasLost = ({ before, after }: Change<typeof JobItem>): boolean =>
  after.source_type === "journey" &&
  isTerminal(after.status) &&
  before?.status !== after.status &&
  (after.status !== "completed" || (after["n:failed"] ?? 0) + (after["n:skipped"] ?? 0) > 0);

const following = ({ tenant, after }: Change<typeof JobItem>): StepMessage => ({
  kind: "ended",
  tenant,
  job: after.id,
});

const isAwaited = (eventName: string, { byTrigger, byEvent }: JourneyIndex): boolean =>
  byTrigger.has(`event#${eventName}`) || byEvent.has(eventName);

/** Only a subscriber that existed before can have a run. */
const changesRun = ({ before, after }: Change<typeof Profile>, { byAttribute }: JourneyIndex): boolean =>
  before !== undefined && changedKeys(before, after).some((key) => byAttribute.has(key));

function moveOf(change: Change<typeof SegmentMembership>, { byTrigger }: JourneyIndex) {
  return segmentMovesOf(change).filter(({ segment, entered }) => byTrigger.has(segmentTrigger(segment, entered)));
}

/** Changes of a static segment, whose members are packed. */
function movesOf(change: Change<typeof MemberLeaf>, { byTrigger }: JourneyIndex): ReturnType<typeof moveOf> {
  const segment = segmentOfLeaf(change.after);
  const starts = (entered: boolean) => byTrigger.has(segmentTrigger(segment, entered));
  if (!starts(true) && !starts(false)) return [];
  return segmentMovesOf(change).filter(({ entered }) => starts(entered));
}
