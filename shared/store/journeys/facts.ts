// Reads a subscriber for the journey engine: its attributes, and its events since a time.
import { timestamp } from "../../kernel/clock.ts";
import { timeOfUuid } from "../../kernel/ids.ts";
import type { Graph } from "../../rules/journey-graph.ts";
import { knowledgeOf, type Source } from "../../rules/journey-knowledge.ts";
import type { Knowledge } from "../../rules/journey-run.ts";
import { disturbs } from "../../rules/quiet-hours.ts";
import type { StoreReader } from "../context.ts";
import { actorsOf } from "../events/actors.ts";
import { findEvent } from "../events/events.ts";
import { eventsOf } from "../events/history.ts";
import { readHistory } from "../segments/facts.ts";
import { findJob } from "../sends/jobs/jobs.ts";
import { CLOCK_TOLERANCE_MS, timeOfTouch, touchesSince } from "../sends/ledger/touches.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { Profile } from "../subscribers/items.ts";
import { attributesForRules, living } from "../subscribers/subscribers.ts";
import { type Pauses, pausedUntil } from "./pauses.ts";
import type { RunState } from "./runs.ts";

type Subject = Pick<RunState, "id" | "subscriber_id" | "context">;

/** When the cause of a run happened, in milliseconds. The run itself begins later, by the delay of its worker. */
export const startOf = ({ id, context: { occurred_at } }: Pick<Subject, "id" | "context">): number =>
  occurred_at === undefined ? timeOfUuid(id) : Date.parse(occurred_at);

/** The facts about a run's subscriber. @param now the time of the decision, in milliseconds */
export function factsOf(
  store: StoreReader,
  graph: Graph,
  run: Subject,
  { now, pauses }: { now: number; pauses: Pauses | undefined },
): Knowledge {
  const { subscriber_id: subscriber, context } = run;
  const profile = once(async () => living(await store.get(Profile, { id: subscriber })));
  const source: Source = {
    enteredAt: startOf(run),
    triggerId: context.event_id,
    pausedUntil: (at) => pausedUntil(pauses, at),
    triggerProperties: once(async () => {
      const event = context.event_id === undefined ? undefined : await findEvent(store, context.event_id);
      return event?.properties ?? {};
    }),
    attributes: async () => {
      const found = await profile();
      return found ? attributesForRules(found) : {};
    },
    zone: store.zone,
    times: async (conditions, until) => {
      const actors = actorsOf(subscriber, await aliasesOf(store, subscriber));
      return (await readHistory(store, actors, conditions, until)).times;
    },
    events: (event_name, { since, until }) =>
      eventsOf(store, subscriber, { event_name, from: timestamp(since), to: timestamp(until + 1) }),
  };
  return { ...knowledgeOf(graph, source, now), wentOutAt: (send) => wentOutAt(store, subscriber, send) };
}

/** When the deferred messages of a step were sent to a subscriber, or were given up; undefined while they wait. */
async function wentOutAt(store: StoreReader, subscriber: string, send: string): Promise<number | undefined> {
  const touches = await touchesSince(store, subscriber, timeOfUuid(send) - CLOCK_TOLERANCE_MS);
  const times = touches.flatMap((row) =>
    row.job === send && row.channel && disturbs(row.channel) ? timeOfTouch(row) : [],
  );
  if (times.length > 0) return Math.max(...times);

  const job = await findJob(store, send);
  if (!job) return 0;
  return job.completed_at === null ? undefined : Date.parse(job.completed_at);
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => {
    pending ??= read();
    return pending;
  };
}
