import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDate } from "../../shared/rules/date-patterns.ts";
import { isTimeZone, zoneOffsetMinutes } from "../../shared/rules/time-zones.ts";

const at = Date.UTC(2024, 2, 5, 7, 8, 9, 45); // a Tuesday

describe("date patterns", () => {
  it.each([
    ["%a %A %^a %^A", "Tue Tuesday TUE TUESDAY"],
    ["%b %B %^b", "Mar March MAR"],
    ["%d|%-d|%_d|%e|%-e|%0e", "05|5| 5| 5|5|05"],
    ["%H|%-H|%k|%I|%l|%-I", "07|7| 7|07| 7|7"],
    ["%j %m %-m %M %S %L", "065 03 3 08 09 045"],
    ["%p %P %s %u %w", "AM am 1709622489 2 2"],
    ["%y %Y %z %Z", "24 2024 +0000 UTC"],
    ["%F %T %R %D", "2024-03-05 07:08:09 07:08 03/05/24"],
    ["%% %%d %Q %-Q 100%", "% %d %Q %-Q 100%"],
    ["", ""],
  ])("a date pattern writes %s", (pattern, text) => {
    expect(formatDate(at, pattern, "UTC")).toBe(text);
  });

  it.each([
    [Date.UTC(2024, 0, 1, 0, 30), "%I:%M %p %u %w %j", "12:30 AM 1 1 001"],
    [Date.UTC(2024, 0, 7, 12, 0), "%I:%M %p %u %w", "12:00 PM 7 0"],
    [Date.UTC(2024, 11, 31, 23, 59), "%l:%M %P %j", "11:59 pm 366"],
    [Date.UTC(2005, 0, 1), "%y %C", "05 %C"],
  ])("a date pattern writes %i as %s", (moment, pattern, text) => {
    expect(formatDate(moment, pattern, "UTC")).toBe(text);
  });

  it.each([
    ["Europe/Berlin", Date.UTC(2026, 2, 29, 0, 59), "01:59 +0100"],
    ["Europe/Berlin", Date.UTC(2026, 2, 29, 1, 0), "03:00 +0200"],
    ["America/New_York", Date.UTC(2026, 10, 1, 5, 30), "01:30 -0400"],
    ["America/New_York", Date.UTC(2026, 10, 1, 6, 30), "01:30 -0500"],
    ["Asia/Kathmandu", Date.UTC(2026, 0, 1), "05:45 +0545"],
    ["America/St_Johns", Date.UTC(2026, 0, 1), "20:30 -0330"],
    ["Pacific/Kiritimati", Date.UTC(2026, 0, 1), "14:00 +1400"],
  ])("a date pattern follows the wall clock of %s (SCH-1)", (zone, moment, text) => {
    expect(formatDate(moment, "%H:%M %z", zone)).toBe(text);
  });

  it("a date pattern keeps to the calendar whatever the zone of the machine", () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }), (date) => {
        expect(formatDate(date.getTime(), "%FT%T.%LZ", "UTC")).toBe(date.toISOString());
      }),
    );
  });
});

describe("time zones", () => {
  it.each(["UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "US/Pacific", "europe/paris"])(
    "the rule of time zones accepts %s (SCH-3, D-ATTR)",
    (zone) => {
      expect(isTimeZone(zone)).toBe(true);
      expect(isTimeZone(zone)).toBe(true);
    },
  );

  it.each([
    "",
    "Mars/Olympus",
    "+02:00",
    "-0500",
    "Europe/",
    " UTC",
    "UTC ",
    "Europe/Paris\n",
    "a".repeat(65),
    "__proto__",
  ])("the rule of time zones refuses %j (SCH-3, D-ATTR)", (zone) => {
    expect(isTimeZone(zone)).toBe(false);
    expect(isTimeZone(zone)).toBe(false);
  });

  it("the rule of time zones gives the offset at any instant, also before 1970 (SCH-1)", () => {
    expect(zoneOffsetMinutes("Asia/Tokyo", -1)).toBe(540);
    expect(zoneOffsetMinutes("UTC", 59_999)).toBe(0);
    expect(() => zoneOffsetMinutes("Mars/Olympus", 0)).toThrow(RangeError);
    for (let i = 0; i < 1_100; i++) isTimeZone(`Zone/X${i}`);
    expect(zoneOffsetMinutes("Asia/Tokyo", 0)).toBe(540);
  });
});
