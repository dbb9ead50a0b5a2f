// What the engine of journeys reads of a subscriber: its attributes, and its events since a time.
import { MINUTE } from "../../kernel/clock.ts";
import { timeOfUuid } from "../../kernel/ids.ts";
import type { Graph } from "../../rules/journey-graph.ts";
import { knowledgeOf, type Source } from "../../rules/journey-knowledge.ts";
import type { Knowledge } from "../../rules/journey-run.ts";
import type { StoreReader } from "../context.ts";
import { findEvent, type StoredEvent } from "../events/events.ts";
import { eventsOf } from "../events/history.ts";
import type { Actor } from "../events/items.ts";
import { readHistory } from "../segments/facts.ts";
import { aliasesOf } from "../subscribers/aliases.ts";
import { Profile } from "../subscribers/items.ts";
import { attributesForRules, living } from "../subscribers/subscribers.ts";
import type { RunState } from "./runs.ts";

/** The clock of the process that took an event may be so far ahead. */
const AHEAD_MS = MINUTE;

type Subject = Pick<RunState, "id" | "subscriber_id" | "context" | "entered_at" | "seq">;

/**
 * When what started the run happened, in milliseconds. The run itself begins later, by as much as its worker is behind:
 * what the subscriber does meanwhile counts.
 */
const startedAt = ({ id, entered_at, context: { occurred_at } }: Subject): number =>
  Math.min(Date.parse(entered_at), occurred_at === undefined ? timeOfUuid(id) : Date.parse(occurred_at));

/** @param options.seen an event that was just stored @param options.now the time of the decision, in milliseconds */
export function factsOf(
  store: StoreReader,
  graph: Graph,
  run: Subject,
  { seen, now }: { seen?: StoredEvent | undefined; now: number },
): Knowledge {
  const { subscriber_id: subscriber, context } = run;
  const profile = once(async () => living(await store.get(Profile, { id: subscriber })));
  const source: Source = {
    enteredAt: startedAt(run),
    arrivedAt: run.seq === 0 ? startedAt(run) : now,
    triggerId: context.event_id,
    aheadMs: AHEAD_MS,
    triggerProperties: once(async () => {
      const event = context.event_id === undefined ? undefined : await findEvent(store, context.event_id);
      return event?.properties ?? {};
    }),
    attributes: async () => {
      const found = await profile();
      return found ? attributesForRules(found) : {};
    },
    zone: store.zone,
    times: async (conditions) => {
      const aliases = await aliasesOf(store, subscriber);
      const actors: Actor[] = [{ subscriber }, ...aliases.map((anonymous) => ({ anonymous }))];
      return (await readHistory(store, actors, conditions)).times;
    },
    find: async (event_name, { since, until }, counts) => {
      if (seen && counts(seen)) return seen;
      const from = new Date(since).toISOString();
      const to = new Date(until + 1).toISOString();
      return (await eventsOf(store, subscriber, { event_name, from, to })).find(counts);
    },
  };
  return knowledgeOf(graph, source, now);
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => {
    pending ??= read();
    return pending;
  };
}
