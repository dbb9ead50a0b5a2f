// A slice of `npm run fuzz`: answers that no request may lead to.
import { expect, it } from "vitest";
import { tooDear } from "./costs.ts";
import { fuzz } from "./fuzz.ts";

it("random requests lead to described answers, never to a 5xx or to data of another workspace (GEN-8, D-HTTPCODES)", async () => {
  const { findings, statuses, dearest } = await fuzz({ requests: 400, seed: 7, costs: true });
  expect(findings).toEqual([]);
  expect(statuses.get(200)).toBeGreaterThan(10);
  expect(statuses.get(422)).toBeGreaterThan(10);
  expect(dearest[0]?.units).toBeGreaterThan(2);
});

it("a request of anybody that costs more units than 10, and one with the publishable key beyond 40, are found (D2)", () => {
  const cost = { route: "POST /x", units: 11, bytes: 10, given: 0, events: 0 } as const;
  expect(tooDear({ ...cost, by: "anybody" })).toBe("costs 11 units, 10 at most");
  expect(tooDear({ ...cost, by: "anybody", units: 10, bytes: 70_000 })).toBe("answers with 70000 bytes");
  expect(tooDear({ ...cost, by: "publishable key", units: 41 })).toBe("costs 41 units, 40 at most");
  expect(tooDear({ ...cost, by: "publishable key", units: 41, events: 1 })).toBeUndefined();
});
