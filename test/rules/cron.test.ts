// Cron expressions: strict parsing, the next run against a naive search and croner, every clock change of every zone.
import { Cron as Croner } from "croner";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cron, nextRun, parseCron } from "../../shared/rules/cron.ts";
import { zoneOffsetMinutes } from "../../shared/rules/time-zones.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const cron = (text: string): Cron => {
  const read = parseCron(text);
  if (read.kind === "refused") throw new Error(`${text}: ${read.problem}`);
  return read.cron;
};
const next = (text: string, zone: string, after: string) =>
  new Date(nextRun(cron(text), zone, Date.parse(after))!).toISOString();

describe("reading", () => {
  it.each([
    "* * * * *",
    "0 9 * * 1-5",
    "*/15 0,12 1-15/2 1,6 7",
    "59 23 31 12 0",
    "0 0 29 2 *",
    "0 0 31 4 1",
    "5-10,20-30/5  *\t* * *",
  ])("the reader of cron expressions takes %s (SCH-10)", (text) => {
    expect(parseCron(text).kind).toBe("cron");
  });

  it.each([
    ["60 * * * *", "minute"],
    ["* 24 * * *", "hour"],
    ["* * 0 * *", "day of month"],
    ["* * 32 * *", "day of month"],
    ["* * * 13 *", "month"],
    ["* * * 0 *", "month"],
    ["* * * * 8", "day of week"],
    ["*/0 * * * *", "minute"],
    ["5/10 * * * *", "minute"],
    ["10-5 * * * *", "minute"],
    ["-1 * * * *", "minute"],
    ["1.5 * * * *", "minute"],
    ["* * * JAN *", "month"],
    ["* * * * MON", "day of week"],
    ["* * L * *", "day of month"],
    ["* * ? * *", "day of month"],
    ["* * * * 1#2", "day of week"],
    ["1,,2 * * * *", "minute"],
    ["0 0 30 2 *", "never fires"],
    ["0 0 31 2,4,6,9,11 *", "never fires"],
    ["* * * *", "five fields"],
    ["0 * * * * *", "five fields"],
    ["@daily", "five fields"],
    ["", "five fields"],
    [" * * * * *", "five fields"],
    [`${"1,".repeat(200)}1 * * * *`, "characters"],
  ])("the reader of cron expressions refuses %s (SCH-13, AMB-64)", (text, why) => {
    expect(parseCron(text)).toMatchObject({ kind: "refused", problem: expect.stringContaining(why) });
  });
});

describe("next run", () => {
  it.each([
    ["0 9 * * *", "Europe/Berlin", "2026-11-20T12:00:00Z", "2026-11-21T08:00:00.000Z"],
    ["0 9 * * *", "America/New_York", "2026-07-01T12:59:59.999Z", "2026-07-01T13:00:00.000Z"],
    ["0 9 * * *", "America/New_York", "2026-07-01T13:00:00Z", "2026-07-02T13:00:00.000Z"],
    ["30 5 * * *", "Asia/Kathmandu", "2026-01-01T00:00:00Z", "2026-01-01T23:45:00.000Z"],
    ["0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    ["0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00.000Z"],
    ["0 0 * * 7", "UTC", "2026-11-20T00:00:00Z", "2026-11-22T00:00:00.000Z"],
  ])("%s in %s after %s (SCH-11, SCH-14)", (text, zone, after, expected) => {
    expect(next(text, zone, after)).toBe(expected);
  });

  it("a cron expression with a day of the month and a day of the week fires on either (AMB-43)", () => {
    expect(next("0 0 13 * 5", "UTC", "2026-11-20T00:00:00Z")).toBe("2026-11-27T00:00:00.000Z");
    expect(next("0 0 13 * 5", "UTC", "2026-12-12T00:00:00Z")).toBe("2026-12-13T00:00:00.000Z");
  });

  it("a time that does not exist fires at the first instant after the gap, once (AMB-43)", () => {
    expect(next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z")).toBe("2026-03-29T01:00:00.000Z");
    expect(next("30 2 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z")).toBe("2026-03-30T00:30:00.000Z");
    expect(next("0,30 2,3 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z")).toBe("2026-03-29T01:30:00.000Z");
  });

  it("a doubled hour fires once, the first time (AMB-43)", () => {
    expect(next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z")).toBe("2026-10-25T00:30:00.000Z");
    expect(next("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z")).toBe("2026-10-26T01:30:00.000Z");
  });

  it("a wildcard hour follows real time through both changes (AMB-63)", () => {
    const walk = (after: string, n: number) => {
      const times: string[] = [];
      for (let at = after; times.length < n; times.push(at)) at = next("*/30 * * * *", "Europe/Berlin", at);
      return times.map((at) => at.slice(11, 16));
    };
    expect(walk("2026-10-25T00:00:00Z", 4)).toEqual(["00:30", "01:00", "01:30", "02:00"]);
    expect(walk("2026-03-29T00:30:00Z", 3)).toEqual(["01:00", "01:30", "02:00"]);
  });

  it("an hour field of a star and a step fires in both halves of a doubled hour, and for none in a gap (AMB-63)", () => {
    const walk = (after: string) => {
      const times: string[] = [];
      for (let at = after; times.length < 3; times.push(at)) at = next("0 */2 * * *", "Europe/Berlin", at);
      return times.map((at) => at.slice(11, 16));
    };
    expect(walk("2026-10-24T22:00:00Z")).toEqual(["00:00", "01:00", "03:00"]);
    expect(walk("2026-03-28T23:00:00Z")).toEqual(["02:00", "04:00", "06:00"]);
  });

  it("a day that a zone skipped whole fires when the next one begins (AMB-43)", () => {
    expect(next("0 12 30 12 *", "Pacific/Apia", "2011-12-29T12:00:00Z")).toBe("2011-12-30T10:00:00.000Z");
  });
});

/** Every change of clocks in the given years. */
function changesOf(zone: string, from: number, to: number) {
  const changes: { at: number; before: number; after: number }[] = [];
  let before = zoneOffsetMinutes(zone, from);
  for (let day = from; day < to; day += 24 * HOUR) {
    const after = zoneOffsetMinutes(zone, day + 24 * HOUR);
    if (after === before) continue;
    let [low, high] = [day, day + 24 * HOUR];
    while (high - low > MINUTE) {
      const middle = Math.floor((low + high) / 2 / MINUTE) * MINUTE;
      if (zoneOffsetMinutes(zone, middle) === before) low = middle;
      else high = middle;
    }
    changes.push({ at: high, before, after });
    before = after;
  }
  return changes;
}

/** One year in every run; `CRON_YEARS=5` walks 1,300 changes. */
const YEARS = Number(process.env.CRON_YEARS ?? 1);
const [FROM, TO] = [Date.UTC(2026, 0), Date.UTC(2026 + YEARS, 0)];
const zones = Intl.supportedValuesOf("timeZone");

describe("changes of clocks", () => {
  it("a daily time inside every gap and every doubled hour of every zone is neither lost nor doubled (AMB-43)", () => {
    let seen = 0;
    for (const zone of zones)
      for (const { at, before, after } of changesOf(zone, FROM, TO)) {
        seen++;
        // The middle of the gap, or of the doubled time, on the wall clock.
        const wall = new Date(at + ((before + after) / 2) * MINUTE);
        const daily = cron(`${wall.getUTCMinutes()} ${wall.getUTCHours()} * * *`);
        const fires: number[] = [];
        for (let time = at - 40 * HOUR; time < at + 40 * HOUR; ) {
          time = nextRun(daily, zone, time)!;
          if (time < at + 40 * HOUR) fires.push(time);
        }
        const gaps = fires.slice(1).map((time, i) => (time - fires[i]!) / HOUR);
        const wrong = gaps.filter((hours) => hours < 20 || hours > 28);
        expect(wrong, `${zone} ${new Date(at).toISOString()} ${gaps}`).toEqual([]);
        expect(fires.length, zone).toBeGreaterThanOrEqual(3);
        const near = fires.filter((time) => Math.abs(time - at) < 12 * HOUR);
        if (after > before) expect(near, zone).toContain(at);
      }
    expect(seen).toBeGreaterThan(200 * YEARS);
  });

  it("a quarter-hourly cadence is unbroken through every change of some zones (AMB-63)", () => {
    for (const zone of [
      "Europe/Berlin",
      "America/St_Johns",
      "Australia/Lord_Howe",
      "America/Havana",
      "Africa/Casablanca",
    ])
      for (const { at } of changesOf(zone, FROM, TO).slice(0, 4))
        for (let time = at - 3 * HOUR; time < at + 3 * HOUR; time += 15 * MINUTE)
          expect(nextRun(cron("*/15 * * * *"), zone, time)).toBe(time + 15 * MINUTE);
  });
});

const field = (min: number, max: number) => {
  const value = fc.integer({ min: min, max: max });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant("*") },
    { weight: 3, arbitrary: value.map(String) },
    fc.array(value, { minLength: 2, maxLength: 4 }).map((list) => list.join(",")),
    range,
    fc.tuple(range, fc.integer({ min: 1, max: 9 })).map(([text, step]) => `${text}/${step}`),
    fc.integer({ min: 1, max: 20 }).map((step) => `*/${step}`),
  );
};
const expression = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
  .map((fields) => fields.join(" "));

describe("against others", () => {
  it("the next run agrees with croner on random expressions where no clock changes", () => {
    fc.assert(
      fc.property(expression, fc.integer({ min: FROM, max: TO }), (text, after) => {
        const read = parseCron(text);
        if (read.kind === "refused") return;
        const ours = nextRun(read.cron, "UTC", after);
        const theirs = new Croner(text, { timezone: "UTC", legacyMode: true }).nextRun(new Date(after));
        expect(theirs?.getTime(), text).toBe(ours);
      }),
      { numRuns: 1_500 },
    );
  });
});
