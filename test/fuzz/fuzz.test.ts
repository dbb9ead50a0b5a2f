// A slice of `npm run fuzz`: answers that no request may lead to.
import { expect, it } from "vitest";
import { accessPage } from "../../docs/generate/access.ts";
import { contents } from "../../docs/generate/contents.ts";
import { recordedCosts } from "../../docs/generate/costs.ts";
import { recordOf, tooDear } from "./costs.ts";
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

it("a record keeps what the run did not reach, but for routes that are gone (D2)", () => {
  const said = { units: 20, bytes: 100, milliseconds: 200 };
  const known = { requests: 10, refused: said, routes: { "GET /gone": { sdk: said }, "GET /rare": { public: said } } };
  const none = { given: 0, events: 0, consents: false } as const;
  const dearest = [
    { ...none, route: "GET /new", by: "sdk", units: 3, bytes: 4, milliseconds: 2 },
    { ...none, route: "GET /rare", by: "dashboard", units: 1, bytes: 1, milliseconds: 1 },
  ] as const;
  expect(recordOf({ dearest, requests: 5 }, ["GET /rare", "GET /new"], known)).toEqual({
    requests: 15,
    refused: said,
    routes: {
      "GET /new": { sdk: { units: 3, bytes: 4, milliseconds: 2 } },
      "GET /rare": { public: said, dashboard: { units: 1, bytes: 1, milliseconds: 1 } },
    },
  });
});

it("a run that met only refusals of a call leaves the time that it takes (D2)", () => {
  const said = { units: 20, bytes: 100, milliseconds: 200 };
  const known = { requests: 10, refused: said, routes: { "POST /login": { public: said } } };
  const met = (units: number) => ({
    dearest: [
      { route: "POST /login", by: "public", units, bytes: 9, milliseconds: 5, given: 0, events: 0, consents: false },
    ] as const,
    requests: 1,
  });
  const timeOf = (units: number) =>
    recordOf(met(units), ["POST /login"], known).routes["POST /login"]?.public?.milliseconds;
  expect([timeOf(3), timeOf(15)]).toEqual([200, 5]);
});
