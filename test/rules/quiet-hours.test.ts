// Quiet hours by the clocks of every zone, through both changes a year (D-QUIET, F15), and the windows of caps (D-CAP).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capsOn, windowOf } from "../../shared/rules/caps.ts";
import { type QuietHours, quietUntil } from "../../shared/rules/quiet-hours.ts";
import { wallClock, zoneOffsetMinutes } from "../../shared/rules/time-zones.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const quiet = (start: string, end: string, days = EVERY_DAY): QuietHours => ({ start, end, days });
const utc = (text: string) => Date.parse(`${text}:00Z`);
const until = (hours: QuietHours, zone: string, at: string) => {
  const end = quietUntil(hours, zone, utc(at));
  return end === undefined ? undefined : new Date(end).toISOString().slice(0, 16);
};

describe("quiet hours", () => {
  it.each([
    ["in the evening", "2026-11-20T22:30", "2026-11-21T08:00"],
    ["in the night", "2026-11-21T03:00", "2026-11-21T08:00"],
    ["at their first minute", "2026-11-20T22:00", "2026-11-21T08:00"],
    ["at their end", "2026-11-21T08:00", undefined],
    ["in the afternoon", "2026-11-21T15:00", undefined],
  ])("from 22:00 to 08:00, %s (D-QUIET)", (_, at, end) => {
    expect(until(quiet("22:00", "08:00"), "UTC", at)).toBe(end);
  });

  it("quiet hours count the days on which they begin (D-QUIET, F15)", () => {
    const friday = quiet("22:00", "08:00", [5]);
    expect(until(friday, "UTC", "2026-11-20T23:00")).toBe("2026-11-21T08:00");
    expect(until(friday, "UTC", "2026-11-21T07:00")).toBe("2026-11-21T08:00");
    expect(until(friday, "UTC", "2026-11-21T23:00")).toBeUndefined();
    expect(until(quiet("00:00", "23:59", [6]), "America/New_York", "2026-11-21T05:00")).toBe("2026-11-22T04:59");
  });

  it("a gap of the clocks begins and ends them, of an hour that comes twice they take both (D-QUIET, F15)", () => {
    const zone = "America/New_York";
    // 02:00 to 03:00 on 8 March is a gap at 07:00 UTC; 01:00 to 02:00 on 1 November comes twice, from 05:00 UTC.
    expect(until(quiet("22:00", "02:30"), zone, "2026-03-08T06:30")).toBe("2026-03-08T07:00");
    expect(until(quiet("02:30", "09:00"), zone, "2026-03-08T06:59")).toBeUndefined();
    expect(until(quiet("02:30", "09:00"), zone, "2026-03-08T07:00")).toBe("2026-03-08T13:00");
    expect(until(quiet("22:00", "01:30"), zone, "2026-11-01T05:45")).toBe("2026-11-01T06:30");
    expect(until(quiet("01:30", "09:00"), zone, "2026-11-01T05:30")).toBe("2026-11-01T14:00");
    expect(until(quiet("01:30", "09:00"), zone, "2026-11-01T06:10")).toBe("2026-11-01T14:00");
  });

  const zones = Intl.supportedValuesOf("timeZone");
  /** The minute of each change of clocks of a zone in a year. */
  const changesOf = (zone: string): number[] => {
    const changes: number[] = [];
    for (let at = utc("2026-01-01T00:00"); at < utc("2027-01-01T00:00"); at += DAY) {
      let [from, to] = [at, at + DAY];
      if (zoneOffsetMinutes(zone, from) === zoneOffsetMinutes(zone, to)) continue;
      const before = zoneOffsetMinutes(zone, from);
      while (to - from > MINUTE) {
        const middle = Math.floor((from + to) / 2 / MINUTE) * MINUTE;
        if (zoneOffsetMinutes(zone, middle) === before) from = middle;
        else to = middle;
      }
      changes.push(to);
    }
    return changes;
  };
  const minuteOfDay = (minute: number) => {
    const within = ((minute % 1_440) + 1_440) % 1_440;
    return `${String(Math.floor(within / 60)).padStart(2, "0")}:${String(within % 60).padStart(2, "0")}`;
  };

  it("in every zone, around every change: what the clock shows within the hours is deferred to their end (D-QUIET, F15)", () => {
    const changing = zones
      .map((zone) => ({ zone, changes: changesOf(zone) }))
      .filter(({ changes }) => changes.length > 0);
    expect(changing.length).toBeGreaterThan(50);
    const near = fc.oneof(fc.integer({ min: -200, max: 200 }), fc.integer({ min: 0, max: 1_439 }));
    const cases = fc.record({
      place: fc.oneof(
        {
          weight: 3,
          arbitrary: fc.constantFrom(...changing.flatMap(({ zone, changes }) => changes.map((at) => ({ zone, at })))),
        },
        { weight: 1, arbitrary: fc.constantFrom(...zones).map((zone) => ({ zone, at: utc("2026-06-10T12:00") })) },
      ),
      start: near,
      end: near,
      at: fc.integer({ min: -1_500, max: 1_500 }),
      days: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1 }),
    });
    fc.assert(
      fc.property(cases, ({ place: { zone, at: change }, days, ...minutes }) => {
        const ofDay = Math.floor((wallClock(zone, change) % DAY) / MINUTE);
        const [start, end] = [minuteOfDay(ofDay + minutes.start), minuteOfDay(ofDay + minutes.end)];
        fc.pre(start !== end);
        const hours = { start, end, days };
        const at = change + minutes.at * MINUTE;
        /** What the wall clock alone says. */
        const shows = (instant: number) => {
          const wall = wallClock(zone, instant);
          const time = new Date(wall).toISOString().slice(11, 16);
          const begins = (day: number) => days.includes(new Date(day).getUTCDay());
          if (start < end) return begins(wall) && time >= start && time < end;
          return (begins(wall) && time >= start) || (begins(wall - DAY) && time < end);
        };
        const comesTwice = (instant: number) =>
          [-4 * HOUR, 4 * HOUR].some((ms) => {
            const other = wallClock(zone, instant) - zoneOffsetMinutes(zone, instant + ms) * MINUTE;
            return other !== instant && wallClock(zone, other) === wallClock(zone, instant);
          });
        const released = quietUntil(hours, zone, at);
        if (shows(at)) expect(released).toBeDefined();
        if (released === undefined) return;
        expect(released).toBeGreaterThan(at);
        expect(released - at).toBeLessThanOrEqual(3 * DAY);
        expect(quietUntil(hours, zone, released)).toBeUndefined();
        expect(shows(released)).toBe(false);
        for (let instant = at; instant < released; instant += 13 * MINUTE)
          expect([new Date(instant).toISOString(), shows(instant) || comesTwice(instant)]).toEqual([
            new Date(instant).toISOString(),
            true,
          ]);
        expect(shows(released - MINUTE) || comesTwice(released - MINUTE)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe("caps", () => {
  it("days and weeks are those of the workspace's zone, weeks begin on Mondays (D-CAP)", () => {
    expect(windowOf("day", "UTC", utc("2026-11-22T23:30"))).toBe("2026-11-22");
    expect(windowOf("day", "Europe/Berlin", utc("2026-11-22T23:30"))).toBe("2026-11-23");
    expect(windowOf("week", "UTC", utc("2026-11-22T23:30"))).toBe("2026-11-16");
    expect(windowOf("week", "Europe/Berlin", utc("2026-11-22T23:30"))).toBe("2026-11-23");
  });

  it("a message meets the caps of its category, of its classes and of all; of two alike the lower one (D-CAP, F16)", () => {
    const cap = (max: number, more: object = {}) => ({
      category: "marketing" as const,
      max,
      per: "day" as const,
      ...more,
    });
    const caps = [
      cap(5),
      cap(3),
      cap(2, { channel_class: "push" }),
      cap(1, { channel_class: "email" }),
      cap(4, { per: "week" }),
      { ...cap(1), category: "transactional" as const },
    ];
    expect(
      capsOn(caps, "marketing", ["ios", "android"])
        .map(({ max }) => max)
        .toSorted(),
    ).toEqual([2, 3, 4]);
    expect(capsOn(caps, "transactional", ["sms"])).toHaveLength(1);
    expect(capsOn([cap(1)], "transactional", ["sms"])).toEqual([]);
  });
});
