// Who is let into a journey, and what an event does to the runs under way (JND-10 to JND-13, AMB-73, AMB-134, AMB-147).
import { duration, HOUR, Unpromised } from "./kit.ts";
import type { Event, Subscriber } from "./records/people.ts";
import type { Journey, Run } from "./records/plans.ts";
import { holdsFor, treeOf } from "./rules.ts";
import { newRun, tick } from "./runs.ts";
import { momentOf } from "./stitching.ts";
import type { World } from "./world.ts";

const DEFAULT_MAX_AGE = 72 * HOUR;

/** What would start runs: an event, or a change of a segment, which may come of historical events (AMB-134). */
interface Trigger {
  event: Event | null;
  isHistorical: boolean;
}

/** Why somebody is not let in, or null (AMB-147). */
function refusal(
  world: World,
  journey: Journey,
  subscriber: Subscriber,
  { event, isHistorical }: Trigger,
): string | null {
  const { trigger, entry_rules } = journey.active!;
  // What is history starts nothing, whatever the state of the journey.
  if (isHistorical) return "historical";
  if (event && trigger.max_age !== "none") {
    const age = event.received_at - event.occurred_at;
    if (age > (duration(trigger.max_age) ?? DEFAULT_MAX_AGE)) return "too_old";
  }
  if (journey.status === "paused") return "paused";
  const earlier = world.runs.filter((run) => run.journey_id === journey.id && run.subscriber_id === subscriber.id);
  if (earlier.some(({ status }) => status === "active")) return "already_active";
  if (event && earlier.some((run) => endsBehind(world, run, event)))
    throw new Unpromised("a run that ends by an event behind a trigger of one batch stands in the way of it, or not");
  if (earlier.length > 0) {
    const last = Math.max(...earlier.map(({ entered_at }) => entered_at));
    if (!entry_rules?.allow_reentry) return "reentry_window";
    if (world.now - last < (duration(entry_rules.reentry_window) ?? 0)) return "reentry_window";
  }
  const tree = entry_rules?.eligibility ? treeOf(entry_rules.eligibility) : undefined;
  return tree && !holdsFor(world, tree, subscriber, event ? momentOf(event) : world.now) ? "not_eligible" : null;
}

/** The trigger finds a run that a later event of its own batch ends. */
const endsBehind = ({ events }: World, run: Run, trigger: Event): boolean =>
  events.some(
    (other) =>
      other.received_at === trigger.received_at && other.order > trigger.order && run.ended_at === momentOf(other),
  );

function enter(world: World, journey: Journey, subscriber: Subscriber, trigger: Trigger): void {
  if (journey.status !== "active" && journey.status !== "paused") return;
  const refused = refusal(world, journey, subscriber, trigger);
  const run = refused ? undefined : newRun(world, journey, subscriber, trigger.event);
  const reason = refused ?? "over_quota";
  if (!run) {
    journey.refused[reason] = (journey.refused[reason] ?? 0) + 1;
    return;
  }
  world.runs.push(run);
  tick(world, run);
}

/** AMB-147: why a trigger would start no run now, or null. */
export function standing(world: World, journey: Journey, subscriber: Subscriber): string | null {
  if (journey.status !== "active") return journey.status === "paused" ? "paused" : "not_active";
  const reason = refusal(world, journey, subscriber, { event: null, isHistorical: false });
  return reason ?? (newRun(world, journey, subscriber, null) ? null : "over_quota");
}

/** JND-9: exit conditions are looked at while a run waits, too. */
export function moveRuns(world: World, { id }: Subscriber): void {
  for (const run of world.runs) if (run.subscriber_id === id && run.status === "active") tick(world, run);
}

/** First the runs under way move by it, then it starts others: the trigger never satisfies a wait (AMB-75). */
export function eventArrived(world: World, event: Event, subscriber: Subscriber): void {
  moveRuns(world, subscriber);
  for (const journey of world.journeys) {
    const trigger = journey.active?.trigger;
    if (trigger?.type === "event" && trigger.event_name === event.event_name)
      enter(world, journey, subscriber, { event, isHistorical: event.historical });
  }
}

/** Somebody entered or left a segment: historical events alone start nothing by it (AMB-134). */
export function segmentChanged(
  world: World,
  change: { type: string; segment: string; isHistorical: boolean },
  subscriber: Subscriber,
): void {
  for (const journey of world.journeys) {
    const trigger = journey.active?.trigger;
    if (trigger?.type === change.type && trigger.segment_id === change.segment)
      enter(world, journey, subscriber, { event: null, isHistorical: change.isHistorical });
  }
}
