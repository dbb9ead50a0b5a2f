// What moves runs of journeys: events, entries into segments and exits, changed attributes, and journeys themselves.

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
type SegmentMove = Extract<StepMessage, { kind: "moves" }>["moves"][number];

/** Subscribers or events of one message. */
const PER_MESSAGE = 100;

/** Queues what may start or move runs: events, also of visitors who were identified, memberships, changed attributes, and journeys that were resumed or archived. */
export async function queueJourneys(
  changes: Changes,
  { stepJourneyQueue: queue, activeJourneys, watchVersions }: WorkerContext,
): Promise<void> {
  const wasPaused = ({ before }: Change<typeof JourneyItem>) => before?.status === "paused";
  await queue.send([
    ...changes.of(JourneyItem, "journey").filter(becomes("active")).filter(wasPaused).map(sweeping("resume")),
    ...changes.of(JourneyItem, "journey").filter(becomes("archived")).map(sweeping("cancel")),
    ...changes.of(DeletedJourney, "journey-gone").filter(isNew).map(sweeping("delete")),
    ...changes.of(StepState, "journey-step").filter(isReleased).map(releasing),
    ...changes.of(MigrationItem, "migration").filter(isNew).map(migrating),
    ...changes.of(JobItem, "job").filter(hasLost).map(following),
  ]);
  const memberships = ofTenants(changes.of(SegmentMembership, "membership"));
  const leaves = ofTenants(changes.of(MemberLeaf, "leaf"));
  const reacting = Map.groupBy(newEvents(changes), ({ tenant }) => tenant);
  const profiles = ofTenants(changes.of(Profile, "subscriber"));
  const aliases = ofTenants(changes.of(SubscriberAlias, "alias").filter(isNew));
  const touched = [memberships, leaves, reacting, profiles, aliases].flatMap((some) => [...some.keys()]);
  for (const tenant of new Set(touched)) {
    const index = await activeJourneys.of(tenant, watchVersions.of(tenant));
    if (index.journeys.size === 0) continue;
    const awaited = (reacting.get(tenant) ?? []).filter(({ event_name }) => isAwaited(event_name, index));
    const events = awaited.map(({ id }) => id);
    const moves = [
      ...(memberships.get(tenant) ?? []).flatMap((change) => moveOf(change, index)),
      ...(leaves.get(tenant) ?? []).flatMap((change) => movesOf(change, index)),
    ];
    const moved = (profiles.get(tenant) ?? []).filter((change) => changesRun(change, index));
    const people = [...new Set(moved.map(({ after }) => after.id))];
    const linked = index.byEvent.size === 0 ? [] : (aliases.get(tenant) ?? []).map(({ after }) => after.subscriber);
    const identified = chunksOf([...new Set(linked)], PER_MESSAGE).map((some) => ({
      kind: "identified" as const,
      tenant,
      people: some,
    }));
    await queue.send([
      ...chunksOf(events, PER_MESSAGE).map((some) => ({ kind: "events" as const, tenant, events: some })),
      ...chunksOf(moves, PER_MESSAGE).map((some) => ({ kind: "moves" as const, tenant, moves: some })),
      ...chunksOf(people, PER_MESSAGE).map((some) => ({ kind: "people" as const, tenant, people: some })),
      ...identified,
    ]);
    await queue.send(identified, { delaySeconds: ALIAS_AGAIN_SECONDS });
  }
}

const sweeping =
  (mode: "resume" | "cancel" | "delete") =>
  ({ tenant, after }: { tenant: string; after: { id: string } }): StepMessage => ({
    kind: "sweep",
    tenant,
    journey: after.id,
    mode,
  });

/** A halted step was resumed or canceled: what waits there goes on, or ends. */
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

/** A send of a step has ended, and not everybody got its message: of one that failed whole, nobody. */
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

function moveOf(change: Change<typeof SegmentMembership>, { byTrigger }: JourneyIndex): SegmentMove[] {
  if (change.after.historical) return [];
  return segmentMovesOf(change).filter(({ segment, entered }) => byTrigger.has(segmentTrigger(segment, entered)));
}

/** Of a static segment, whose members are packed. */
function movesOf(change: Change<typeof MemberLeaf>, { byTrigger }: JourneyIndex): SegmentMove[] {
  const segment = segmentOfLeaf(change.after);
  const starts = (entered: boolean) => byTrigger.has(segmentTrigger(segment, entered));
  if (!starts(true) && !starts(false)) return [];
  return segmentMovesOf(change).filter(({ entered }) => starts(entered));
}
