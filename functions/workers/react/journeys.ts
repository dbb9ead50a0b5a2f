// What moves runs of journeys: events, entries into segments and exits, changed attributes, and journeys themselves.

import type { Context } from "../../../shared/deps.ts";
import type { Message } from "../../../shared/messages.ts";
import { stepJourneyQueue } from "../../../shared/resources.ts";
import { activeJourneys, type JourneyIndex, segmentTrigger } from "../../../shared/store/journeys/active.ts";
import { changedKeys } from "../../../shared/store/segments/facts.ts";
import { chunksOf } from "../../../shared/store/table.ts";
import { becomes, type Change, type Changes, isNew } from "./change.ts";

export const journeyUses = [stepJourneyQueue, activeJourneys] as const;
type WorkerContext = Context<typeof journeyUses>;
type StepMessage = Message<"step-journey">;

/** Subscribers or events of one message. */
const PER_MESSAGE = 10;

export async function followJourneys(
  changes: Changes,
  { stepJourneyQueue: queue, activeJourneys }: WorkerContext,
): Promise<void> {
  const wasPaused = ({ before }: Change) => before?.status === "paused";
  await queue.send([
    ...changes.of("journey").filter(becomes("active")).filter(wasPaused).map(sweeping("resume")),
    ...changes.of("journey").filter(becomes("archived")).map(sweeping("cancel")),
    ...changes.of("journey-gone").filter(isNew).map(sweeping("delete")),
  ]);
  const kinds = ["membership", "event", "subscriber"] as const;
  const byTenant = Map.groupBy(
    kinds.flatMap((kind) => changes.of(kind).map((change) => ({ kind, ...change }))),
    ({ tenant }) => tenant,
  );
  for (const [tenant, group] of byTenant) {
    const index = await activeJourneys.of(tenant);
    if (index.journeys.size === 0) continue;
    const of = (kind: (typeof kinds)[number]) => group.filter((change) => change.kind === kind);
    const events = of("event").filter((change) => isNew(change) && isAwaited(change, index));
    const moves = of("membership").flatMap((change) => moveOf(change, index));
    const subscribers = of("subscriber").filter((change) => isHeard(change, index));
    await queue.send([
      ...chunksOf(events, PER_MESSAGE).map((some) =>
        step(tenant, { events: some.map(({ after }) => eventIdOf(after.pk)) }),
      ),
      ...chunksOf(moves, PER_MESSAGE).map((some) => step(tenant, { moves: some })),
      ...chunksOf([...new Set(subscribers.map(({ after }) => String(after.id)))], PER_MESSAGE).map((some) =>
        step(tenant, { people: some }),
      ),
    ]);
  }
}

const step = (tenant: string, more: Partial<StepMessage>): StepMessage => ({
  ...{ tenant, events: [], moves: [], people: [], tries: 0 },
  ...more,
});

const sweeping =
  (mode: "resume" | "cancel" | "delete") =>
  ({ tenant, after }: Change): StepMessage =>
    step(tenant, { sweep: { journey: String(after.id), mode } });

const eventIdOf = (pk: string): string => pk.slice(pk.lastIndexOf("#") + 1);

const isAwaited = ({ after }: Change, { byTrigger, byEvent }: JourneyIndex): boolean =>
  byTrigger.has(`event#${after.event_name}`) || byEvent.has(String(after.event_name));

/** Only a subscriber who was there before can have a run. */
const isHeard = ({ before, after }: Change, { byAttribute }: JourneyIndex): boolean =>
  before !== undefined && changedKeys(before, after).some((key) => byAttribute.has(key));

function moveOf({ before, after }: Change, { byTrigger }: JourneyIndex): StepMessage["moves"] {
  const entered = after.member === true;
  if (entered === (before?.member === true)) return [];
  const segment = String(after.segment_id);
  if (!byTrigger.has(segmentTrigger(segment, entered))) return [];
  const at = String(entered ? after.entered_at : after.exited_at);
  return [{ subscriber: String(after.subscriber_id), segment, entered, at }];
}
