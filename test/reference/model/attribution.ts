// Touches and conversions (D-ATTRIB, AMB-53, AMB-97, AMB-109, AMB-110).
import { CLICKS, didOne, OPENS } from "./interactions.ts";
import { DAY } from "./kit.ts";
import { eventsOf } from "./stitching.ts";
import type { Definition, Event, Job, Recipient, World } from "./world.ts";

export interface Touch {
  job: Job;
  recipient: Recipient;
  at: number;
}

/** A touch is a delivery: the first of a recipient in a job. */
export function touchesOf(jobs: Job[], from: number, to: number): Touch[] {
  const all = jobs.flatMap((job) => job.recipients.map((recipient) => ({ job, recipient, at: touchTime(recipient) })));
  return all.filter((touch): touch is Touch => touch.at !== null && touch.at >= from && touch.at <= to);
}

function touchTime({ deliveries }: Recipient): number | null {
  const times = deliveries.flatMap(({ delivered_at }) => delivered_at ?? []);
  return times.length > 0 ? Math.min(...times) : null;
}

const definitionOf = (world: World, event: Event): Definition | undefined =>
  world.definitions.find(({ event_name }) => event_name === event.event_name);

export function revenueOf(world: World, event: Event): number {
  const property = definitionOf(world, event)?.value_property;
  const value = property ? event.properties[property] : 0;
  return Number.isInteger(value) ? value : 0;
}

/** Conversion events of a person within the window after a time. */
export function conversionsAfter(world: World, subscriber: string, time: number): Event[] {
  return eventsOf(world, subscriber).filter((event) => {
    const definition = definitionOf(world, event);
    if (!definition) return false;
    return event.occurred_at >= time && event.occurred_at <= time + definition.window_seconds * 1000;
  });
}

/** ISG-1, CRP-2: distinct people who converted, and each event's value once. */
export function converted(world: World, touches: Touch[]): { converted: number; revenue_cents: number } {
  const events = new Set<Event>();
  const people = new Set<string>();
  for (const { recipient, at } of touches)
    for (const event of conversionsAfter(world, recipient.subscriber_id, at)) {
      events.add(event);
      people.add(recipient.subscriber_id);
    }
  const revenue_cents = [...events].reduce((sum, event) => sum + revenueOf(world, event), 0);
  return { converted: people.size, revenue_cents };
}

/** AMB-68: distinct recipients per message; a click is an open too. */
export function engagement(world: World, touches: Touch[]): { opened: number; clicked: number } {
  const did = (kinds: string[]) =>
    touches.filter(({ job, recipient }) => didOne(world, job.id, recipient.subscriber_id, kinds)).length;
  return { opened: did([...OPENS, ...CLICKS]), clicked: did(CLICKS) };
}

/** AMB-97: the longest definition in days, rounded up; seven when there is none. */
export function windowDays(world: World): number {
  const seconds = world.definitions.map(({ window_seconds }) => window_seconds);
  return seconds.length === 0 ? 7 : Math.ceil((Math.max(...seconds) * 1000) / DAY);
}
