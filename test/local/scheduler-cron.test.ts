// AWS's six-field cron: what each wildcard means, and what happens when clocks change.
import { describe, expect, test } from "vitest";
import { nextCron, parseCron } from "../../local/aws/scheduler/cron.ts";

const start = Date.UTC(2026, 0, 1);

describe("cron", () => {
  const table: [expression: string, zone: string, times: string[]][] = [
    [
      "cron(15 8,20 ? * MON-FRI *)",
      "UTC",
      ["2026-01-01T08:15", "2026-01-01T20:15", "2026-01-02T08:15", "2026-01-02T20:15", "2026-01-05T08:15"],
    ],
    ["cron(0/30 9 1 1 ? 2026)", "UTC", ["2026-01-01T09:00", "2026-01-01T09:30"]],
    ["cron(0 0 L * ? *)", "UTC", ["2026-01-31T00:00", "2026-02-28T00:00", "2026-03-31T00:00"]],
    ["cron(0 0 LW * ? *)", "UTC", ["2026-01-30T00:00", "2026-02-27T00:00", "2026-03-31T00:00"]],
    ["cron(0 0 1W * ? *)", "UTC", ["2026-01-01T00:00", "2026-02-02T00:00", "2026-03-02T00:00"]],
    ["cron(0 0 31W * ? *)", "UTC", ["2026-01-30T00:00", "2026-03-31T00:00", "2026-05-29T00:00"]],
    ["cron(0 12 ? * 3#2 *)", "UTC", ["2026-01-13T12:00", "2026-02-10T12:00"]],
    ["cron(0 12 ? * FRIL *)", "UTC", ["2026-01-30T12:00", "2026-02-27T12:00"]],
    ["cron(0 12 ? * L *)", "UTC", ["2026-01-03T12:00", "2026-01-10T12:00"]],
    ["cron(0 12 29 FEB ? *)", "UTC", ["2028-02-29T12:00", "2032-02-29T12:00"]],
    ["cron(0-10/5 0 1 2 ? *)", "UTC", ["2026-02-01T00:00", "2026-02-01T00:05", "2026-02-01T00:10", "2027-02-01T00:00"]],
    ["cron(30 2 28,29,30 3 ? *)", "Europe/Berlin", ["2026-03-28T01:30", "2026-03-30T00:30"]],
    ["cron(30 2 25 10 ? *)", "Europe/Berlin", ["2026-10-25T00:30", "2027-10-25T00:30"]],
    ["cron(0 9 ? JUL MON-TUE *)", "Australia/Lord_Howe", ["2026-07-05T22:30", "2026-07-06T22:30"]],
  ];

  test.each(table)("%s in %s", (expression, zone, times) => {
    const cron = parseCron(expression.slice("cron(".length, -1));
    const found: string[] = [];
    for (let at = nextCron(cron, zone, start - 1); at !== undefined && found.length < times.length; ) {
      found.push(new Date(at).toISOString().slice(0, 16));
      at = nextCron(cron, zone, at);
    }
    expect(found).toEqual(times);
  });

  test("a day that never comes never fires", () => {
    expect(nextCron(parseCron("0 0 31 2 ? *"), "UTC", start)).toBeUndefined();
  });

  test.each([
    "0 8 * * *",
    "60 8 * * ? *",
    "0 24 * * ? *",
    "0 8 1 * MON *",
    "0 8 ? * ? *",
    "0 8 ? * MON#6 *",
    "0 8 5-1 * ? *",
  ])("%s is refused", (expression) => {
    expect(() => parseCron(expression)).toThrow();
  });
});
