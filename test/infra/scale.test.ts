// docs/scale.md: the day of a billion events and 100 million pushes fits into what it says lifts each ceiling.
import { expect, it } from "vitest";
import { ceilings, events, pushes, SETTINGS, scalePage } from "../../docs/generate/scale.ts";
import { RATES } from "../../shared/rules/month-cost.ts";
import { ofType, synthesize, whole } from "./support/template.ts";

it("the busiest second is below each ceiling once it is lifted, and above some at first (D21)", () => {
  const beyond = (at: "first" | "lifted") =>
    ceilings()
      .filter((ceiling) => ceiling.need > ceiling[at])
      .map(({ what }) => what);
  expect(beyond("lifted")).toEqual([]);
  expect(beyond("first")).toContain("Write units of the table");
  expect(beyond("first")).toContain("Pushes that the workers deliver");
});

it("the average second is a day's share of what was measured (D21)", () => {
  expect(events.writes).toBeCloseTo((2_000 * 1_000_000) / 86_400, 0);
  expect(pushes.writes).toBeGreaterThan(1_000);
});

it("the page has the storage of a month's events and pushes, at what a GB costs (D20, D21)", () => {
  const [, gb, dollars] = /month of such days is ([\d,]+) GB, which cost ([\d,]+) dollars/.exec(scalePage()) ?? [];
  const number = (text = "") => Number(text.replaceAll(",", ""));
  expect(Math.abs(number(dollars) / number(gb) - RATES.storedGb)).toBeLessThan(0.001);
});

it("each alarm that the page names is in the template, and its settings are those of a deployment (D21)", () => {
  const named = ceilings().flatMap(({ rings }) => [...rings.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name!));
  const alarms = ofType(whole(), "AWS::CloudWatch::Alarm").map(([id]) => id.replace(/Alarm[0-9A-F]{8}$/, ""));
  expect(named.filter((name) => name !== "Retry-After" && !alarms.includes(name))).toEqual([]);
  expect(named.length).toBeGreaterThan(4);
  const { Resources } = synthesize({ context: { ...SETTINGS } });
  const deliver = Object.entries(Resources).find(([id]) => id.startsWith("DeliverWake"))![1];
  expect(deliver.Properties.ScalingConfig).toEqual({ MaximumConcurrency: SETTINGS.workerConcurrency });
});
