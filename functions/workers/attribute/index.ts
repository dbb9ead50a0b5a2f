// Conversions: an event that a definition names is counted for the sends that touched its subscriber (D-ATTRIB).
import { MINUTE, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { attributeQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { type Store, storeWrite } from "../../../shared/store/context.ts";
import { anonymousActor } from "../../../shared/store/events/actors.ts";
import { findEvent, type StoredEvent } from "../../../shared/store/events/events.ts";
import { eventsOfActor } from "../../../shared/store/events/history.ts";
import { recordConversion } from "../../../shared/store/insights/attribution.ts";
import { conversionDefinitions, definitionFor } from "../../../shared/store/insights/conversions.ts";
import { ownersOf, subscribersOf } from "../../../shared/store/subscribers/aliases.ts";

/** A chunk writes the outcomes of a round within this time after it began: an event that came before them waits for them. */
const ROUND_MS = 2 * MINUTE;
/** Those of a worker that stopped are written by its successor, with the time of the same round: by then. */
const LATE_MS = 15 * MINUTE;
/** Events of an anonymous id that are looked at for one message, of each definition; the older ones have a message after it. */
const PAGE_EVENTS = 200;

export const attributeConversions = queueWorker(
  "attribute",
  "Counts conversions for the sends before them.",
  [storeWrite, attributeQueue],
  async (message, { store, tenant, clock, log, attributeQueue: queue }) => {
    const lookAgain = (event: string, waitMs: number) =>
      queue.send([{ kind: "event", tenant, event }], { delaySeconds: Math.ceil(waitMs / SECOND) });
    if (message.kind === "visitor") {
      const { again, more } = await attributeAlias(store, message);
      for (const { id, waitMs } of again) await lookAgain(id, waitMs);
      await queue.send(more.map((older) => ({ ...message, older })));
      return;
    }
    const event = await findEvent(store, message.event);
    if (!event?.actor)
      return log({ level: "info", message: "a missing or erased event was dropped", tenant, event: message.event });
    const definition = await definitionFor(store, event.event_name);
    if (!definition) return;
    const subscriber = (await subscribersOf(store, [event.actor]))(event.actor);
    if (subscriber === undefined) return;
    const isOpen = await recordConversion(store, subscriber, event, definition);
    const waitMs = waitOf(event, isOpen, clock.now());
    if (waitMs > 0) await lookAgain(message.event, waitMs);
  },
);

/** When an event is looked at again: until the outcomes of the sends before it must be there. 0: not at all. */
function waitOf({ occurred_at }: Pick<StoredEvent, "occurred_at">, isOpen: boolean, now: number): number {
  const age = now - Date.parse(occurred_at);
  return isOpen || age < ROUND_MS ? ROUND_MS : Math.max(0, LATE_MS - age);
}

interface Older {
  event_name: string;
  /** RFC 3339. */
  than: string;
}

/**
 * IDN-2: the events of an anonymous id belong to the identified subscriber, and can be conversions of its sends.
 * @param options.older default: the newest events of every definition
 * @returns those that are to be looked at again, as each event of a subscriber is, and where older ones may be
 */
async function attributeAlias(
  store: Store,
  { anonymous, older }: { anonymous: string; older?: Older | undefined },
): Promise<{ again: { id: string; waitMs: number }[]; more: Older[] }> {
  const again: { id: string; waitMs: number }[] = [];
  const more: Older[] = [];
  const subscriber = (await ownersOf(store, [anonymous])).get(anonymous);
  if (subscriber === undefined) return { again, more };
  for (const definition of await conversionDefinitions(store)) {
    const { event_name } = definition;
    if (older && older.event_name !== event_name) continue;
    const { events, than } = await pageOf(store, anonymous, event_name, older?.than);
    for (const event of events) {
      const isOpen = await recordConversion(store, subscriber, event, definition);
      again.push({ id: event.id, waitMs: waitOf(event, isOpen, store.clock.now()) });
    }
    if (than !== undefined) more.push({ event_name, than });
  }
  return { again: again.filter(({ waitMs }) => waitMs > 0), more };
}

/** The newest events before a time, with all that occurred at the instant of the oldest; `than`: before it are more. */
async function pageOf(
  store: Store,
  anonymous: string,
  event_name: string,
  to: string | undefined,
): Promise<{ events: StoredEvent[]; than?: string }> {
  const actor = anonymousActor(anonymous);
  const events = await eventsOfActor(store, actor, { event_name, to, limit: PAGE_EVENTS });
  const than = events[0]?.occurred_at;
  if (than === undefined || events.length < PAGE_EVENTS) return { events };
  const after = timestamp(Date.parse(than) + 1);
  const atThan = await eventsOfActor(store, actor, { event_name, from: than, to: after });
  return { events: [...atThan, ...events.filter(({ occurred_at }) => occurred_at >= after)], than };
}
