// A slice of `npm run fuzz`: answers that no request may lead to.
import { expect, it } from "vitest";
import { accessPage } from "../../docs/generate/access.ts";
import { contents } from "../../docs/generate/contents.ts";
import { recordedCosts } from "../../docs/generate/costs.ts";
import { tooDear } from "./costs.ts";
import { fuzz } from "./fuzz.ts";

it("random requests lead to described answers, never to a 5xx or to data of another workspace (GEN-8, D-HTTPCODES)", async () => {
  const { findings, statuses, dearest } = await fuzz({ requests: 250, seed: 7, costs: { known: recordedCosts() } });
  expect(findings).toEqual([]);
  expect(statuses.get(200)).toBeGreaterThan(10);
  expect(statuses.get(422)).toBeGreaterThan(10);
  expect(dearest[0]?.units).toBeGreaterThan(2);
});

it("a request of anybody that costs more units than 10, and one with the publishable key beyond 40, are found (D2)", () => {
  const cost = {
    route: "POST /x",
    units: 11,
    bytes: 10,
    milliseconds: 1,
    given: 0,
    events: 0,
    consents: false,
  } as const;
  expect(tooDear({ ...cost, by: "public" })).toBe("costs 11 units, 10 at most");
  expect(tooDear({ ...cost, by: "public", units: 10, bytes: 70_000 })).toBe("answers with 70000 bytes");
  expect(tooDear({ ...cost, by: "sdk", units: 41 })).toBe("costs 41 units, 40 at most");
  expect(tooDear({ ...cost, by: "sdk", units: 41, events: 1 })).toBeUndefined();
  expect(tooDear({ ...cost, by: "refused" })).toBe("costs 11 units, 10 at most");
});

it("docs/access.md shows no public call beyond 10 units that does not say why (D2)", () => {
  const rows = accessPage(contents)
    .split("\n")
    .filter((line) => line.includes("| public<br>"));
  const dear = rows.filter((line) => Number(/public<br>([0-9]+) u/.exec(line)![1]) > 10);
  expect(dear.filter((line) => !/public<br>[^|]*<br>\(/.test(line))).toEqual([]);
  expect([rows.length > 30, dear.length > 3]).toEqual([true, true]);
});

it("a request that is dearer than docs/access.md says is found, and one that takes longer is not (D2)", () => {
  const said = { units: 20, bytes: 10_000, milliseconds: 1 };
  const known = { requests: 1, refused: said, routes: { "GET /x": { sdk: said, dashboard: said } } };
  const cost = { route: "GET /x", given: 0, events: 0, consents: false, milliseconds: 900 } as const;
  expect(tooDear({ ...cost, by: "sdk", units: 30, bytes: 20_000 }, known)).toBeUndefined();
  expect(tooDear({ ...cost, by: "sdk", units: 31, bytes: 10 }, known)).toBe("takes 31 units, docs/access.md says 30");
  expect(tooDear({ ...cost, by: "sdk", units: 1, bytes: 20_001 }, known)).toBe(
    "takes 20001 bytes, docs/access.md says 20000",
  );
  expect(tooDear({ ...cost, by: "sdk", units: 1, bytes: 20_001, given: 1 }, known)).toBeUndefined();
  expect(tooDear({ ...cost, by: "dashboard", units: 150, bytes: 10 }, known)).toBeUndefined();
  expect(tooDear({ ...cost, by: "dashboard", units: 151, bytes: 10 }, known)).toContain("takes 151 units");
});
