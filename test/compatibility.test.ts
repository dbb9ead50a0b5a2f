// D-VER: within v1 every removal is announced 12 months ahead, and deprecated endpoints say so.
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { breaksOf, type Release } from "../docs/generate/compatibility.ts";
import { contents } from "../docs/generate/contents.ts";
import { requestEvent } from "../docs/generate/events.ts";
import { guides } from "../docs/generate/guides.ts";
import { type OpenApi, type OperationObject, openApiOf } from "../docs/generate/openapi.ts";
import { type Signature, signatureOf } from "../docs/generate/signature.ts";
import { buildDocumentation } from "../docs/site/build.ts";
import { groups, stream } from "../functions/index.ts";
import { type Deprecation, faultOfDeprecation } from "../shared/http/deprecation.ts";
import { endpoints, group, type Shape } from "../shared/http/endpoint.ts";
import { serve } from "../shared/http/serve.ts";
import { timestamp } from "../shared/kernel/clock.ts";
import { ApiError } from "../shared/kernel/errors.ts";
import type { JsonSchema } from "../shared/rules/json-schema.ts";
import { systemClock } from "../shared/runtime/system.ts";
import { document } from "./support/document.ts";
import { testWorld } from "./support/world.ts";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const released: Release = JSON.parse(read("docs/released-api.json"));
const TODAY = timestamp(systemClock.now()).slice(0, 10);

it("what the last release promised still holds: else announce it, see docs/architecture.md (D-VER)", () => {
  // What was an endpoint and is a file now is still there, under its path.
  const files = buildDocumentation(document, guides());
  const isFile = (found: string) => files.has(/^GET (\S+): is gone$/.exec(found)?.[1] ?? "");
  expect(breaksOf(released, signatureOf(document), TODAY).filter((found) => !isFile(found))).toEqual([]);
});

it("no deprecation is shorter than 12 months (D-VER)", () => {
  const all = [...groups.flatMap((group) => group.endpoints), stream.endpoint];
  const wrong = all.flatMap(({ route, shape: { deprecated } }) =>
    deprecated && faultOfDeprecation(deprecated) ? route : [],
  );
  expect(wrong).toEqual([]);
});

describe("a planted change", () => {
  // The rules are those of each route alone: the whole document would be copied and read for each change.
  const near = /^\/api\/v1\/(templates|channels|schedules|subscribers)|^\/v1\/in-app\/messages$/;
  const paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => near.test(path)));
  const few: OpenApi = { ...document, paths };
  const base: Release = { version: "1", released: "2026-11-21", routes: signatureOf(few) };
  const ROUTE = "POST /api/v1/templates";
  const changed = (change: (all: OpenApi) => void): Signature => {
    const copy = structuredClone(few);
    change(copy);
    return signatureOf(copy);
  };
  const operation = (all: OpenApi, route: string): OperationObject => {
    const [method = "", path = ""] = route.split(" ");
    return all.paths[path]![method.toLowerCase()]!;
  };
  const bodyOf = (all: OpenApi, route: string): JsonSchema =>
    Object.values(operation(all, route).requestBody!.content)[0]!.schema;
  const fields = (schema: JsonSchema): Record<string, JsonSchema> => schema.properties as Record<string, JsonSchema>;
  const shape = (all: OpenApi, name: string): JsonSchema => all.components.schemas[name]!;
  const remove = (record: object, name: string) => Reflect.deleteProperty(record, name);
  const found = (change: (all: OpenApi) => void, today = TODAY, release = base) =>
    breaksOf(release, changed(change), today);

  const breaking: [what: string, change: (all: OpenApi) => void, found: RegExp][] = [
    ["a route removed", (all) => remove(all.paths, "/api/v1/templates"), /^POST \/api\/v1\/templates: is gone$/],
    [
      "a route renamed",
      (all) => {
        all.paths["/api/v1/patterns"] = all.paths["/api/v1/templates"]!;
        remove(all.paths, "/api/v1/templates");
      },
      /templates: is gone/,
    ],
    [
      "a field of an answer removed",
      (all) => remove(fields(shape(all, "Template")), "created_at"),
      /templates: no longer answers 201\.created_at/,
    ],
    [
      "a nested one",
      (all) => remove(fields(fields(shape(all, "Template")).content!), "body"),
      /no longer answers 201\.content\.body/,
    ],
    [
      "a field of an answer that may now be missing",
      (all) => {
        const template = shape(all, "Template");
        template.required = template.required!.filter((name) => name !== "name");
      },
      /201\.name may now be missing/,
    ],
    [
      "a field of an answer that may now be null",
      (all) => {
        fields(shape(all, "Template")).name!.type = ["string", "null"];
      },
      /201\.name may now be null/,
    ],
    [
      "a success that is another one",
      (all) => {
        const { responses } = operation(all, ROUTE);
        responses[200] = responses[201]!;
        remove(responses, "201");
      },
      /no longer answers 201/,
    ],
    [
      "a new required field",
      (all) => {
        const body = bodyOf(all, ROUTE);
        fields(body).language = { type: "string" };
        body.required = [...body.required!, "language"];
      },
      /now needs body\.language/,
    ],
    [
      "a field that was optional and is required",
      (all) => {
        bodyOf(all, "POST /api/v1/subscribers/upsert").required = ["external_id", "email"];
      },
      /upsert: now needs body\.email/,
    ],
    ["a field no longer taken", (all) => remove(fields(bodyOf(all, ROUTE)), "name"), /no longer takes body\.name/],
    [
      "a query field no longer taken",
      (all) => {
        operation(all, "GET /api/v1/templates").parameters = [];
      },
      /no longer takes query\.page/,
    ],
    [
      "an enum narrowed",
      (all) => {
        fields(bodyOf(all, "POST /api/v1/channels")).type!.enum!.pop();
      },
      /body\.type no longer takes chat_app/,
    ],
    [
      "an enum where anything went",
      (all) => {
        fields(bodyOf(all, ROUTE)).name!.enum = ["a"];
      },
      /body\.name no longer takes any other value/,
    ],
    [
      "a tighter bound",
      (all) => {
        fields(bodyOf(all, "POST /api/v1/channels")).name!.maxLength = 64;
      },
      /body\.name has maxLength 64 instead of 128/,
    ],
    [
      "another type",
      (all) => {
        fields(bodyOf(all, "PATCH /api/v1/channels/{id}")).active!.type = "string";
      },
      /body\.active no longer takes boolean/,
    ],
    [
      "a credential no longer taken",
      (all) => {
        operation(all, "GET /v1/in-app/messages").security = [{ sdk: [] }];
      },
      /no longer takes the credential dashboard/,
    ],
  ];

  it.each(breaking)("%s is found (D-VER)", (_, change, expected) => {
    const breaks = found(change);
    expect(breaks.filter((text) => expected.test(text)).length).toBeGreaterThan(0);
  });

  const harmless: [what: string, change: (all: OpenApi) => void][] = [
    ["a new route", (all) => Object.assign(all.paths, { "/api/v1/new": all.paths["/api/v1/templates"] })],
    ["a new field of an answer", (all) => Object.assign(fields(shape(all, "Template")), { extra: { type: "string" } })],
    ["a new optional field", (all) => Object.assign(fields(bodyOf(all, ROUTE)), { extra: { type: "string" } })],
    [
      "a new optional field with a required one in it",
      (all) => {
        const extra = { type: "object", properties: { start: { type: "string" } }, required: ["start"] };
        Object.assign(fields(bodyOf(all, ROUTE)), { extra });
      },
    ],
    ["an enum that grows", (all) => fields(bodyOf(all, "POST /api/v1/channels")).type!.enum!.push("fax")],
    ["a wider bound", (all) => Object.assign(fields(bodyOf(all, "POST /api/v1/channels")).name!, { maxLength: 500 })],
    [
      "an id that may be any text",
      (all) => {
        fields(bodyOf(all, "POST /api/v1/schedules")).campaign_id = { type: "string", maxLength: 2_048 };
      },
    ],
    ["a new refusal", (all) => Object.assign(operation(all, ROUTE).responses, { 418: { $ref: "#/x" } })],
    ["a new name of a shape", (all) => Object.assign(all.components.schemas, { Other: shape(all, "Template") })],
  ];

  it.each(harmless)("%s is no break (D-VER)", (_, change) => {
    expect(found(change)).toEqual([]);
  });

  it("a route may go when it was released as deprecated and its sunset is over, not a day before (D-VER)", () => {
    const announced: Deprecation = { since: "2026-12-01", sunset: "2027-12-01" };
    const announce = (all: OpenApi) => Object.assign(operation(all, ROUTE), { "x-deprecated": announced });
    expect(found(announce)).toEqual([]);
    const next: Release = { version: "1", released: "2026-12-01", routes: changed(announce) };
    const removed = (all: OpenApi) => remove(all.paths["/api/v1/templates"]!, "post");
    expect(found(removed, "2027-11-30", next)).toEqual([`${ROUTE}: is gone`]);
    expect(found(removed, "2027-12-01", next)).toEqual([]);
    const sooner = { "x-deprecated": { ...announced, since: "2026-11-30", sunset: "2027-11-30" } };
    expect(found((all) => Object.assign(operation(all, ROUTE), sooner), TODAY, next)).toEqual([
      `${ROUTE}: goes earlier than was announced`,
    ]);
  });

  it("a deprecation that is too short, or dated before the release that lacks it, announces nothing (D-VER)", () => {
    const announce = (since: string, sunset: string) => (all: OpenApi) =>
      Object.assign(operation(all, ROUTE), { "x-deprecated": { since, sunset } });
    expect(found(announce("2026-12-01", "2027-11-30"))[0]).toContain("2027-11-30 is not 12 months after 2026-12-01");
    expect(found(announce("2024-01-01", "2025-01-01"))[0]).toContain("before the release that did not have it");
    const short: Release = { ...base, routes: changed(announce("2026-01-01", "2026-02-01")) };
    expect(found((all) => remove(all.paths["/api/v1/templates"]!, "post"), TODAY, short)).toEqual([
      `${ROUTE}: is gone`,
    ]);
  });
});

describe("an endpoint that will go", () => {
  const deprecated: Deprecation = { since: "2027-01-31", sunset: "2028-02-01", successor: "GET /api/v1/newer" };
  const shape: Shape = { summary: "Get the old one", returns: v.object({ old: v.boolean() }), deprecated };
  const refuse = { old: false };
  const old = endpoints({ credentials: [], uses: [] })("GET /api/v1/older", {}, shape, async () => {
    if (refuse.old) throw new ApiError("NOT_FOUND", "No such thing.");
    return { old: true };
  });
  const passing = group("passing", "What will go.", [old]);

  it("an endpoint that will go says so by Deprecation, Sunset and Link on every answer; others do not (D-VER)", async () => {
    const world = await testWorld();
    const handler = serve(passing, world.depsFor("test"));
    const ask = () => handler(requestEvent(old), {} as never);
    const wanted = {
      deprecation: "@1801353600",
      sunset: "Tue, 01 Feb 2028 00:00:00 GMT",
      link: '</api/v1/newer>; rel="successor-version"',
    };
    expect(await ask()).toMatchObject({ statusCode: 200, headers: wanted });
    refuse.old = true;
    expect(await ask()).toMatchObject({ statusCode: 404, headers: wanted });
    const { headers } = await world.call("GET /healthz");
    expect(Object.keys(headers).filter((name) => name in wanted)).toEqual([]);
  });

  it("an endpoint that will go is marked in the reference, with its headers and its days (D-VER)", async () => {
    const all = await openApiOf({ ...contents, groups: [...contents.groups, passing] });
    const described = all.paths["/api/v1/older"]!.get!;
    expect(described.deprecated).toBe(true);
    expect(described.description).toMatch(/^Deprecated since 2027-01-31, gone from 2028-02-01 on\./);
    expect(described.description).toContain("`GET /api/v1/newer` takes its place");
    const answer = described.responses[200] as { headers: object };
    expect(Object.keys(answer.headers)).toEqual(["X-Request-Id", "Deprecation", "Sunset", "Link"]);
    expect(signatureOf(all)["GET /api/v1/older"]!.deprecated).toMatchObject({ sunset: "2028-02-01" });
    expect(
      Object.values(document.paths)
        .flatMap(Object.values)
        .some((one) => one.deprecated),
    ).toBe(false);
  });

  it("an endpoint that will go is given 12 months at least, by the calendar (D-VER)", () => {
    const fault = (since: string, sunset: string) => faultOfDeprecation({ since, sunset });
    expect(fault("2027-01-31", "2028-01-31")).toBeUndefined();
    expect(fault("2027-01-31", "2028-01-30")).toContain("not 12 months");
    expect(fault("2028-02-29", "2029-03-01")).toBeUndefined();
    expect(fault("2027-1-1", "2029-01-01")).toContain("is not a day");
    expect(fault("2027-13-01", "2029-01-01")).toContain("is not a day");
  });
});
