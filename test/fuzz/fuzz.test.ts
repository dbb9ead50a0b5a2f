// A slice of `npm run fuzz`: answers that no request may lead to.
import { expect, it } from "vitest";
import { fuzz } from "./fuzz.ts";

it("GEN-8 D-HTTPCODES random requests lead to described answers, never to a 5xx or to data of another workspace", async () => {
  const { findings, statuses } = await fuzz({ requests: 400, seed: 7 });
  expect(findings).toEqual([]);
  expect(statuses.get(200)).toBeGreaterThan(10);
  expect(statuses.get(422)).toBeGreaterThan(10);
});
