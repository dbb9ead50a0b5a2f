// Frequency caps (D-CAP) and quiet hours (D-QUIET).
import { instantOf, isZone, localOf } from "./cron.ts";
import { type Body, DAY, MINUTE, same, Unpromised } from "./kit.ts";
import type { Subscriber } from "./records/people.ts";
import type { Job, Recipient } from "./records/sends.ts";
import type { World } from "./world.ts";

/**
 * Sends of a subscriber that count for a cap since a time: what was tried, whatever came of it. D-CAP does not say whether
 * what was sent before a cap was set counts for it: it does not.
 */
function tried(world: World, cap: Body, subscriber: string, since: number): number[] {
  const isKnown = (job: Job) =>
    job.settings.frequency_caps.some(({ category, channel_class, per }: Body) =>
      same([category, channel_class, per], [cap.category, cap.channel_class, cap.per]),
    );
  const counted = world.jobs
    .filter(({ spec }) => (spec.category ?? "marketing") === cap.category && !spec.experience)
    .filter(isKnown)
    .flatMap(({ recipients, settings: { timezone } }) =>
      recipients
        .filter(({ subscriber_id }) => subscriber_id === subscriber)
        .flatMap((recipient) => countedAt(cap, recipient, since - DAY).slice(0, 1))
        .map((at) => ({ at, timezone })),
    );
  if (counted.some(({ timezone }) => timezone !== world.settings.timezone))
    throw new Unpromised("whether a cap counts what was sent by the calendar of another zone");
  return counted.flatMap(({ at }) => (at >= since ? [at] : []));
}

const countedAt = ({ channel_class }: Body, { deliveries }: Recipient, since = 0): number[] =>
  deliveries.flatMap(({ attempts: [first = -1], class: name }) =>
    first >= since && [undefined, name].includes(channel_class) ? [first] : [],
  );

/**
 * F16: the tightest cap decides. Days and weeks are those of the calendar of the workspace's zone, from midnight and from
 * Monday (docs/decisions/0018-quiet-hours-and-caps.md).
 */
export function capReason(world: World, spec: Body, subscriber: string, name: string, of?: Recipient): boolean {
  // Experiences are shown as often as their own display says.
  const caps: Body[] = spec.experience ? [] : (world.settings.frequency_caps ?? []);
  return caps.some((cap) => {
    if (cap.category !== (spec.category ?? "marketing")) return false;
    if (cap.channel_class !== undefined && cap.channel_class !== name) return false;
    // A send is counted once, by however many channels it goes.
    if (of && countedAt(cap, of).length > 0) return false;
    const { wall, weekday } = localOf(world.now, world.settings.timezone);
    const midnight = Math.floor(wall / DAY) * DAY;
    const since = instantOf(midnight - (cap.per === "day" ? 0 : (weekday + 6) % 7) * DAY, world.settings.timezone);
    const times = tried(world, cap, subscriber, since);
    // Two of one moment come in any order.
    if (times.length >= cap.max && times.includes(world.now))
      throw new Unpromised("which of two sends of one moment a cap stops");
    return times.length >= cap.max;
  });
}

const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

/** A night over midnight belongs to the day on which it began. */
function isQuiet(quiet: Body, at: number, zone: string): boolean {
  const { hour, minute: past, weekday } = localOf(at, zone);
  const minute = hour * 60 + past;
  const [start, end] = [minuteOf(quiet.start), minuteOf(quiet.end)];
  const days: number[] = quiet.days ?? [0, 1, 2, 3, 4, 5, 6];
  if (start < end) return minute >= start && minute < end && days.includes(weekday);
  if (minute >= start) return days.includes(weekday);
  return minute < end && days.includes((weekday + 6) % 7);
}

/** F15: marketing is deferred to the end of the quiet hours, never dropped. Null: may go now. */
export function quietUntil(world: World, spec: Body, subscriber: Subscriber): number | null {
  const quiet = world.settings.quiet_hours;
  if (!quiet || (spec.category ?? "marketing") !== "marketing" || spec.bypass_quiet_hours) return null;
  const own = subscriber.attributes.timezone;
  const zone = quiet.timezone_mode === "subscriber" && isZone(own) ? own : world.settings.timezone;
  if (!isQuiet(quiet, world.now, zone)) return null;
  let until = Math.floor(world.now / MINUTE) * MINUTE;
  while (isQuiet(quiet, until, zone)) until += MINUTE;
  return until;
}
