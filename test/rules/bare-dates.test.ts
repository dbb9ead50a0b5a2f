// A bare date is a day in the workspace's zone: it begins and ends with the clock of the zone (AMB-137).
import { expect, it } from "vitest";
import { compilePredicate } from "../../shared/rules/predicates.ts";
import { comparisonIn } from "../../shared/rules/values.ts";

const BERLIN = "Europe/Berlin";
// 19 April 2024 in Berlin lasts from 18 April 22:00 to 19 April 22:00 UTC.
const before = "2024-04-18T21:59:59Z";
const first = "2024-04-18T22:00:00Z";
const last = "2024-04-19T21:59:59.999Z";
const after = "2024-04-19T22:00:00Z";

const selected = (values: unknown[], operators: object, zone = BERLIN) => {
  const satisfies = compilePredicate({ at: operators }, comparisonIn(zone));
  return values.filter((at) => satisfies({ at }));
};

it.each([
  ["$gte", [first, last, after]],
  ["$gt", [after]],
  ["$lte", [before, first, last]],
  ["$lt", [before]],
  ["$eq", [first, last]],
  ["$ne", [before, after]],
])("%s of a day selects the instants by the clock of the zone (AMB-137)", (operator, expected) => {
  expect(selected([before, first, last, after], { [operator]: "2024-04-19" })).toEqual(expected);
});

it("a list of days selects the instants within them (AMB-137)", () => {
  expect(selected([before, first, last, after], { $in: ["2024-04-19", "2024-05-01"] })).toEqual([first, last]);
});

it.each([
  ["$gte", [before, first, last], [after]],
  ["$gt", [before], [first, last, after]],
  ["$lte", [first, last, after], [before]],
  ["$lt", [after], [before, first, last]],
  ["$eq", [first, last], [before, after]],
])("a stored day is %s an instant by the clock of the zone (AMB-137)", (operator, holds, fails) => {
  const isSelected = (instant: string) => selected(["2024-04-19"], { [operator]: instant }).length === 1;
  expect([holds.map(isSelected), fails.map(isSelected)]).toEqual([holds.map(() => true), fails.map(() => false)]);
});

it("two bare dates compare as days (AMB-137)", () => {
  expect(selected(["2024-04-18", "2024-04-19", "2024-04-20"], { $gte: "2024-04-19" })).toEqual([
    "2024-04-19",
    "2024-04-20",
  ]);
});

it("a day that begins after a skipped hour begins with its first hour (AMB-137)", () => {
  // Beirut goes from midnight to one o'clock on 31 March 2024: the day begins at 30 March 22:00 UTC.
  const instants = ["2024-03-30T21:59:59Z", "2024-03-30T22:00:00Z", "2024-03-31T20:59:59Z", "2024-03-31T21:00:00Z"];
  expect(selected(instants, { $eq: "2024-03-31" }, "Asia/Beirut")).toEqual(instants.slice(1, 3));
});
