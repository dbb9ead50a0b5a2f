// At rest, no run goes on although a condition of its journey ends it: an event that occurred since it began, or an
// attribute (JND-9). Whether an event of the very instant of the trigger is later is a matter of their order (AMB-136).
import { timeOfUuid } from "../../../shared/kernel/ids.ts";
import type { Graph } from "../../../shared/rules/journey-graph.ts";
import { compilePredicate } from "../../../shared/rules/predicates.ts";
import { eventsIn, HISTORY } from "../../../shared/store/events/history.ts";
import { ActorEvents } from "../../../shared/store/events/items.ts";
import { rowOf } from "../../../shared/store/item.ts";
import { JourneyVersion } from "../../../shared/store/journeys/items.ts";
import { RunItem, type RunRow } from "../../../shared/store/journeys/run-items.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { attributesForRules, living } from "../../../shared/store/subscribers/subscribers.ts";
import { itemsOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import type { Mirror } from "../mirror.ts";

type Condition = NonNullable<Graph["exit_conditions"]>[number];

export const journeyExits: Invariant = {
  name: "journey-exits",
  watch: ({ mirror, ledger }, broken) => ({
    end: () => {
      for (const { tenant, item: journey } of itemsOf(mirror, "journey")) {
        if (journey.status !== "active" || ledger.deleted.has(tenant) || ledger.suspended.has(tenant)) continue;
        const id = String(journey.id);
        for (const run of runsOf(mirror, tenant, id))
          for (const condition of exitsOf(mirror, tenant, run))
            if (holds(mirror, tenant, run, condition))
              broken(`run ${run.id} goes on although ${JSON.stringify(condition)} holds`, run.id, id);
      }
    },
  }),
};

function* runsOf(mirror: Mirror, tenant: string, journey: string): Generator<RunRow> {
  for (const { tenant: of, item } of itemsOf(mirror, "U"))
    if (of === tenant && item.journey_id === journey && item.status === "active") yield rowOf(RunItem, item);
}

function exitsOf({ get }: Mirror, tenant: string, { journey_id: journey, version }: RunRow): readonly Condition[] {
  const item = get(`T#${tenant}#journey#${journey}`, `V#${String(version).padStart(7, "0")}`);
  return (item && fromJson(rowOf(JourneyVersion, item).steps).exit_conditions) ?? [];
}

function holds({ get, under }: Mirror, tenant: string, run: RunRow, condition: Condition): boolean {
  const { id: runId, subscriber_id: subscriber, entered_at, context } = run;
  if ("attribute" in condition) {
    const item = get(`T#${tenant}#${Profile.pk({ id: subscriber })}`, subscriber);
    const profile = living(item && rowOf(Profile, item));
    return profile !== undefined && compilePredicate(condition.attribute)(attributesForRules(profile));
  }
  if (!("event" in condition)) return false;
  const { event_id: trigger, occurred_at: causedAt } = fromJson(context);
  const since = Math.min(causedAt === undefined ? timeOfUuid(runId) : Date.parse(causedAt), Date.parse(entered_at));
  for (const [sk, item] of under(`T#${tenant}#U#${subscriber}`)) {
    if (!sk.startsWith(HISTORY)) continue;
    for (const { id, event_name, occurred_at } of eventsIn(rowOf(ActorEvents, item)))
      if (event_name === condition.event.name && Date.parse(occurred_at) > since && id !== trigger) return true;
  }
  return false;
}
