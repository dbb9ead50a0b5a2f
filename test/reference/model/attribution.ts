// Touches and conversions (D-ATTRIB, AMB-53, AMB-97, AMB-109, AMB-110).
import { CLICKS, OPENS, peopleWho } from "./interactions.ts";
import { ANY, type Body, DAY, instant, invalid, MINUTE } from "./kit.ts";
import type { Event } from "./records/people.ts";
import type { Channel, Job, Recipient } from "./records/sends.ts";
import { ownerOf } from "./stitching.ts";
import { at, type World } from "./world.ts";

/** ISG-10: the last 30 days. */
export function windowOf(world: World, query: Record<string, string>): [number, number] {
  const end = query.end === undefined ? world.now : (instant(query.end) ?? invalid());
  const start = query.start === undefined ? end - 30 * DAY : (instant(query.start) ?? invalid());
  return [start, end];
}

export interface Touch {
  job: Job;
  recipient: Recipient;
  at: number;
}

/** A touch is a delivery: the first of a recipient in a job, whenever it was. */
export function touchesOf(jobs: Job[]): Touch[] {
  const all = jobs.flatMap((job) => job.recipients.map((recipient) => ({ job, recipient, at: touchTime(recipient) })));
  return all.filter((touch): touch is Touch => touch.at !== null);
}

interface ChannelTouch extends Touch {
  channel: Channel;
}

/** Each message by each channel is a touch, at the time of the round in which it was handed over (AMB-109). */
export const everyTouch = (jobs: Job[]): ChannelTouch[] =>
  jobs.flatMap((job) =>
    job.recipients.flatMap((recipient) =>
      recipient.deliveries.flatMap(({ delivered_at: at, channel }) =>
        at === null ? [] : [{ job, recipient, at, channel }],
      ),
    ),
  );

const arrivals = ({ deliveries }: Recipient): number[] => deliveries.flatMap(({ delivered_at }) => delivered_at ?? []);
const touchTime = (recipient: Recipient): number | null => {
  const times = arrivals(recipient);
  return times.length > 0 ? Math.min(...times) : null;
};

/** How long the outcome of a send may come after an event that it led to. */
const LOOKS = [2 * MINUTE, 15 * MINUTE];

/**
 * An event is looked at when it is known whose it is, and again until the outcomes of the sends before it must be there:
 * by the definition of that moment. One that is made afterwards changes nothing that was counted.
 */
export function lookForConversions(world: World, event: Event): void {
  const look = () => {
    if (event.erased) return false;
    const definition = world.definitions.find(({ event_name }) => event_name === event.event_name);
    if (!definition) return false;
    const owner = ownerOf(world, event);
    const own = everyTouch(world.jobs).filter(({ recipient }) => recipient.subscriber_id === owner);
    const value = definition.value_property === null ? 0 : event.properties[definition.value_property];
    const touches = new Set(own.map((touch) => touch.at));
    event.looks.push({ definition, revenue: Number.isSafeInteger(value) ? value : 0, at: world.now, touches });
    return true;
  };
  if (look()) for (const wait of LOOKS) at(world, world.now + wait, look);
}

interface Conversion {
  event: Event;
  revenue: number;
}

/** Conversion events of a person within the window after a time. */
export function conversionsAfter(world: World, subscriber: string, time: number): Conversion[] {
  const own = world.events.filter((event) => ownerOf(world, event) === subscriber);
  return own.flatMap((event) => {
    const after = event.occurred_at - time;
    // A send after a look, or of its instant, is known at the next.
    const seen = event.looks.filter(({ at, touches }) => at > time || touches.has(time));
    const look = seen.find(({ definition }) => after >= 0 && after <= definition.window_seconds * 1000);
    return look ? [{ event, revenue: look.revenue }] : [];
  });
}

/** What occurred at the moment of a message to its person may come before it: in a storm, and until the last look at it. */
export const isOfOneMoment = (world: World): boolean =>
  everyTouch(world.jobs).some(({ recipient: { subscriber_id }, at }) =>
    world.events.some(
      (event) =>
        event.looks.length > 0 &&
        (world.isStorm || event.looks.length <= LOOKS.length) &&
        event.occurred_at === at &&
        ownerOf(world, event) === subscriber_id,
    ),
  );

/** ISG-1, CRP-2: distinct people who converted, and each event's value once. */
export function converted(world: World, touches: Touch[]): Body {
  if (isOfOneMoment(world)) return { converted: ANY, revenue_cents: ANY };
  const events = new Map<Event, number>();
  const people = new Set<string>();
  // Each message that arrived is a touch.
  for (const { recipient } of touches)
    for (const at of arrivals(recipient))
      for (const { event, revenue } of conversionsAfter(world, recipient.subscriber_id, at)) {
        events.set(event, revenue);
        people.add(recipient.subscriber_id);
      }
  const revenue_cents = [...events.values()].reduce((sum, revenue) => sum + revenue, 0);
  return { converted: people.size, revenue_cents };
}

/** AMB-68: people per message; a click is an open too. */
export const engagement = (world: World, jobs: Job[]): { opened: number; clicked: number } => ({
  opened: peopleWho(world, jobs, [...OPENS, ...CLICKS]),
  clicked: peopleWho(world, jobs, CLICKS),
});

/** AMB-97: the longest definition in days, rounded up; seven when there is none. */
export function windowDays(world: World): number {
  const seconds = world.definitions.map(({ window_seconds }) => window_seconds);
  return seconds.length === 0 ? 7 : Math.ceil((Math.max(...seconds) * 1000) / DAY);
}
