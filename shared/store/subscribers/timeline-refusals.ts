// Entries into journeys that were refused: told from the events of the subscriber, as the explanation of one journey tells
// them (AMB-147). They have no rows of their own.
import { DAY, timestamp } from "../../kernel/clock.ts";
import { type RefusalReason, refusalReasons } from "../../rules/entry-refusals.ts";
import { eventsOf } from "../events/history.ts";
import { entriesOf } from "../journeys/eligibility.ts";
import { JourneyItem } from "../journeys/items.ts";
import { journeyOf } from "../journeys/journeys.ts";
import { RunItem } from "../journeys/run-items.ts";
import { isWithdrawn } from "../journeys/run-rows.ts";
import { runOf } from "../journeys/runs.ts";
import {
  activeTimes,
  beyondQuotaOf,
  causeOfEvent,
  causesOf,
  type PersonalCause,
} from "../journeys/triggers-of-person.ts";
import { getProfile } from "./subscribers.ts";
import { type PlacedEntry, placedAt, type Source } from "./timeline-places.ts";

const LOOK_BACK_MS = 90 * DAY;
/** Of the newest journeys, so many are looked at. */
const MAX_JOURNEYS = 100;
const MAX_EVENTS = 100;

const isRefusal = (outcome: string): outcome is RefusalReason => refusalReasons.some((reason) => reason === outcome);

/** Entries of a timeline for journeys that did not let the subscriber in, of the last 90 days. */
export const refusals: Source = async (store, { subscriber, before, limit }) => {
  const { items } = await store.query(JourneyItem, {}, { newestFirst: true, limit: MAX_JOURNEYS, eventual: true });
  const journeys = items.map(journeyOf).filter(({ status }) => status === "active" || status === "paused");
  if (journeys.length === 0) return [];

  const now = store.clock.now();
  const from = timestamp(now - LOOK_BACK_MS);
  const range = { from, to: before && timestamp(Date.parse(before.at) + 1), limit: Math.max(limit, MAX_EVENTS) };
  const names = [...new Set(journeys.flatMap(({ trigger: { event_name } }) => event_name ?? []))];
  const [profile, events, times, beyondQuota, runs] = await Promise.all([
    getProfile(store, subscriber),
    names.length === 0 ? [] : eventsOf(store, subscriber, { event_name: names, ...range }),
    activeTimes(store, journeys, from),
    beyondQuotaOf(store, subscriber),
    store.queryAll(RunItem, { subscriber }, { eventual: true }),
  ]);
  if (!profile) return [];

  const byName = Map.groupBy(events, ({ event_name }) => event_name);
  const placed: PlacedEntry[] = [];
  for (const journey of journeys) {
    const { type, event_name = "" } = journey.trigger;
    const causes: PersonalCause[] =
      type === "event"
        ? (byName.get(event_name) ?? []).map(causeOfEvent)
        : await causesOf(store, journey, subscriber, range);
    if (causes.length === 0) continue;
    const journeyRuns = runs.filter((row) => row.journey_id === journey.id && !isWithdrawn(row)).map(runOf);
    const newestFirst = journeyRuns.toSorted((a, b) => (a.entered_at < b.entered_at ? 1 : -1));
    const known = { runs: newestFirst, times, beyondQuota, now };
    const { outcomeOf } = await entriesOf(store, journey, profile, known);
    for (const cause of causes) {
      const { outcome, run } = await outcomeOf(cause);
      if (!isRefusal(outcome)) continue;
      const { version } = journey;
      const data = { run_id: run ?? "", version, step: "", end_reason: null, refusal: outcome, steps: [] };
      const place = `${cause.key}#${journey.id}`;
      placed.push(placedAt(cause.occurred_at, place, { kind: "journey", state: "refused", ref: journey.id, data }));
    }
  }
  return placed;
};
