// Moments in words: by the calendar of the zone in which they are read.
import { expect, it } from "vitest";
import {
  bytes,
  dateTime,
  dayName,
  distance,
  fromLocalInput,
  setServiceTime,
  toLocalInput,
} from "../../console/app/time.ts";

const BERLIN = "Europe/Berlin";

it("a moment has its year where it is in another one than now, by the calendar of its zone (CON-3)", () => {
  setServiceTime(Date.parse("2026-12-30T12:00:00Z"));
  expect(dateTime("2026-12-31T23:30:00Z", BERLIN)).toBe("1 Jan 2027, 00:30");
  expect(dateTime("2026-12-31T23:30:00Z", "UTC")).toBe("31 Dec, 23:30");
});

it("yesterday is the day before, also where the clock skips an hour or has one twice (CON-3)", () => {
  // Sunday 29 March has 23 hours in Berlin, Sunday 25 October has 25.
  setServiceTime(Date.parse("2026-03-29T22:30:00Z"));
  expect([dayName("2026-03-29T10:00:00Z", BERLIN), dayName("2026-03-28T22:45:00Z", BERLIN)]).toEqual([
    "Yesterday",
    "Saturday 28 March",
  ]);
  setServiceTime(Date.parse("2026-10-25T22:45:00Z"));
  expect([dayName("2026-10-24T22:15:00Z", BERLIN), dayName("2026-10-24T21:45:00Z", BERLIN)]).toEqual([
    "Today",
    "Yesterday",
  ]);
});

it("a time that is not touched is saved to the second, though its input shows minutes (CON-3)", () => {
  const known = "2027-10-31T01:30:20.000Z";
  const shown = toLocalInput(Date.parse(known));
  expect(fromLocalInput(shown, known)).toBe(known);
  expect(fromLocalInput(shown.replace(/\d\d$/, "45"), known)).toMatch(/:45:00\.000Z$/);
});

it("what is more than a day away is tomorrow only where it is the next day (CON-3)", () => {
  setServiceTime(Date.parse("2026-11-30T20:00:00Z"));
  expect([
    distance("2026-12-01T21:00:00Z", "UTC"),
    distance("2026-12-02T02:00:00Z", "UTC"),
    distance("2026-11-29T19:00:00Z", "UTC"),
    distance("2026-11-28T23:00:00Z", "UTC"),
    distance("2026-12-01T19:00:00Z", "UTC"),
  ]).toEqual(["tomorrow", "in 2 days", "yesterday", "2 days ago", "in 23 hours"]);
});

it("sizes have units that are written alike, and one byte is one (CON-3)", () => {
  expect([0, 1, 78, 1_000, 38_806, 1_100_000_000_000].map(bytes)).toEqual([
    "0 bytes",
    "1 byte",
    "78 bytes",
    "1 kB",
    "38.8 kB",
    "1.1 TB",
  ]);
});
