// The published description is fresh, valid, and says what the service really answers.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { contents, operationsOf } from "../docs/generate/contents.ts";
import { errorSchemas } from "../docs/generate/errors.ts";
import { generatedFiles } from "../docs/generate/files.ts";
import { declaredItems } from "../docs/generate/items.ts";
import { limits } from "../docs/generate/limits.ts";
import type { OpenApi } from "../docs/generate/openapi.ts";
import { webhookEvents } from "../shared/rules/webhook-events.ts";
import { operationOf } from "./support/document.ts";
import { faultsOf } from "./support/json-schema.ts";
import { addPeople, send } from "./support/people.ts";
import { partsOf } from "./support/schema-parts.ts";
import { openStream } from "./support/sse.ts";
import { testWorld } from "./support/world.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const operations = operationsOf(contents);

const files = await generatedFiles(contents);
const document: OpenApi = JSON.parse(files.get("docs/openapi.json")!);

describe("generated files are as the declarations make them: `npm run docs`", () => {
  it.each([...files.keys()])("%s", (path) => {
    expect(readFileSync(`${root}/${path}`, "utf8")).toBe(files.get(path));
  });

  it("no sample event of a function that is gone", () => {
    expect(
      readdirSync(`${root}/events`).filter((file) => file.endsWith(".json") && !files.has(`events/${file}`)),
    ).toEqual([]);
  });

  it("the data model names every declared item with its key", async () => {
    const page = files.get("docs/data-model.md") ?? "";
    const named = [...page.matchAll(/^\| (\w+) \|/gm)].map(([, name]) => name);
    const { items, indexes } = await declaredItems();
    expect(named).toEqual(expect.arrayContaining([...items, ...indexes].map(({ name }) => name)));
    expect(page).toContain("| DueItem | `DUE#‹minute›#‹shard›` |");
    expect(page).toContain("| GivenIds | `T#‹tenant›#J#‹job›` |");
  });
});

describe("the document", () => {
  it("says of a field of a body what its declaration says, not what its name means elsewhere", () => {
    const lost = operations.flatMap(({ endpoint: { route, shape } }) => {
      const { entries = {} } = Object(shape.body) as { entries?: Record<string, v.GenericSchema> };
      const { properties = {} } = operationOf(route, document).requestBody?.content["application/json"]?.schema ?? {};
      return Object.entries(entries).flatMap(([name, one]) => {
        const { wrapped = one } = one as { wrapped?: v.GenericSchema };
        const said = v.getDescription(one) ?? v.getDescription(wrapped);
        const isGrammar = properties[name]?.type === undefined;
        return said === undefined || isGrammar || properties[name]?.description === said ? [] : [`${route} ${name}`];
      });
    });
    expect(lost).toEqual([]);
  });

  it("covers every endpoint once, under names that are unique (GEN-16)", () => {
    const all = operations.map(({ endpoint }) => operationOf(endpoint.route, document).operationId);
    expect(new Set(all).size).toBe(all.length);
    expect(Object.values(document.paths).flatMap(Object.keys).length).toBe(all.length);
    expect(JSON.stringify(document.info)).toMatch(/## Resources.*## Authentication.*## States.*## Events.*## Errors/);
    expect(JSON.stringify(document.info)).toMatch(/## Limits.*## Paging and versions/);
  });

  it("the OpenAPI document says of everything what it is: operations, parameters, limits, webhook events (GEN-16)", () => {
    const silent = operations.flatMap(({ endpoint: { route } }) => {
      const { description, parameters = [] } = operationOf(route, document);
      const unsaid = parameters.filter(
        (parameter) =>
          parameter.in === "query" &&
          !parameter.description &&
          !(parameter.schema as { description?: string }).description,
      );
      return [...(description ? [] : [route]), ...unsaid.map(({ name }) => `${route} ${name}`)];
    });
    expect(silent).toEqual([]);
    const { description } = document.info as { description: string };
    for (const [what] of limits) expect(description).toContain(`| ${what} | `);
    for (const event of webhookEvents) expect(description).toContain(`| \`${event}\` | \`{`);
  });

  it("the OpenAPI document says of every field what it is: else add its sentence to docs/generate/sentences (GEN-16)", () => {
    const silent = partsOf(document).filter(
      ({ schema, name, isField }) => isField && name !== "" && !schema.description,
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it("the OpenAPI document shows of every operation a request as curl and as code of the SDK, and a response (GEN-16)", () => {
    const without = operations.flatMap(({ endpoint: { route, shape, access }, isStream }) => {
      const { "x-codeSamples": samples = [], responses } = operationOf(route, document);
      const languages = samples.map(({ lang }) => lang).join();
      const wanted = isStream || shape.text || access.credentials.includes("agent") ? "curl" : "curl,TypeScript";
      const success = Object.values(responses).find((response) => !("$ref" in response));
      const media = success && "content" in success ? success.content?.["application/json"] : undefined;
      const isShown = !shape.returns || isStream || media?.example !== undefined;
      return languages === wanted && isShown ? [] : [route];
    });
    expect(without).toEqual([]);
  });

  it("the OpenAPI document says of every operation how it succeeds: with a 2xx, or the 302 of a link (GEN-16)", () => {
    const without = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { responses }]) => !Object.keys(responses).some((status) => /^(2\d\d|302)$/.test(status)))
        .map(([method]) => `${method} ${path}`),
    );
    expect(without).toEqual([]);
  });

  it("the OpenAPI document names its components with identifiers of any language (GEN-16)", () => {
    const names = Object.values(document.components).flatMap(Object.keys);
    expect(names.filter((name) => !/^[A-Za-z][A-Za-z0-9_]*$/.test(name))).toEqual([]);
  });

  it("the OpenAPI document has patterns that mean the same with and without the flag u (GEN-16)", () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
      JSON.parse(text!),
    );
    expect(patterns.length).toBeGreaterThan(0);
    expect(patterns.filter((pattern) => /\\p\{|[^\0-\uffff]/iu.test(pattern))).toEqual([]);
    for (const pattern of patterns) expect(() => [new RegExp(pattern), new RegExp(pattern, "u")]).not.toThrow();
  });

  it("the OpenAPI document says no maximum of a page that is none (GEN-16)", () => {
    const { parameters = [] } = operationOf("GET /api/v1/subscribers", document);
    expect(parameters.find(({ name }) => name === "limit")!.schema).not.toHaveProperty("maximum");
  });

  it("the OpenAPI document passes the linter without an error or a warning", () => {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ["node_modules/@redocly/cli/bin/cli.js", "lint", "docs/openapi.json", "--format=summary"],
      { cwd: root, encoding: "utf8", env: { ...process.env, REDOCLY_TELEMETRY: "off", NO_COLOR: "1" } },
    );
    expect(status, stdout + stderr).toBe(0);
    expect(stdout + stderr).not.toMatch(/warning/i);
  });

  it("the OpenAPI document holds examples that its own schemas take", () => {
    const wrong: string[] = [];
    const { schemas, responses } = document.components;
    const judge = (where: string, media: object | undefined) => {
      for (const { schema, example, examples = {} } of Object.values(media ?? {}))
        for (const value of [
          ...(example === undefined ? [] : [example]),
          ...Object.values(examples).map((one) => (one as { value: unknown }).value),
        ])
          wrong.push(...faultsOf(schema, value, schemas).map((fault) => `${where}: ${fault}`));
    };
    for (const { endpoint } of operations) {
      const { requestBody, responses: answers, parameters = [] } = operationOf(endpoint.route, document);
      judge(`${endpoint.route} body`, requestBody?.content);
      for (const [status, answer] of Object.entries(answers))
        if (!("$ref" in answer)) judge(`${endpoint.route} ${status}`, answer.content);
      for (const { name, schema, example } of parameters) {
        const value = schema.type === "integer" && example !== undefined ? Number(example) : example;
        if (value !== undefined) wrong.push(...faultsOf(schema, value, schemas, `${endpoint.route} ${name}`));
      }
    }
    for (const [name, { content }] of Object.entries(responses)) judge(name, content);
    expect(wrong).toEqual([]);
  });

  it.each(
    operations
      .filter(({ endpoint: { shape } }) => shape.body)
      .map(({ endpoint }) => [endpoint.route, endpoint] as const),
  )("%s takes the example of its body; if not, its declaration needs an `example`", (route, { shape }) => {
    const example = operationOf(route, document).requestBody!.content["application/json"]!.example;
    const { issues } = v.safeParse(shape.body!, example);
    expect(issues?.map(({ message }) => message)).toBeUndefined();
  });

  it("the OpenAPI document names an error only where the envelope knows it", () => {
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(Object.keys(errorSchemas)));
  });
});

it("the gateway's own refusal of a large body is as described (ERR-0)", async () => {
  const world = await testWorld();
  const as = await (await world.tenant()).dashboard();
  const large = { as, raw: Buffer.alloc(11_000_000, " "), headers: { "content-type": "application/json" } };
  const { status, body } = await world.call("POST /api/v1/templates", large);
  expect([status, faultsOf(errorSchemas.GatewayError!, body, {})]).toEqual([413, []]);
});

it("a frame of the stream is as described (SSE-6)", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  const [id] = (await addPeople(world, tenant, 1)) as [string];
  const stream = await openStream(world, `?subscriber_id=${id}`, tenant.sdk);
  await send(world, tenant, { subscriberIds: [id] });
  const { schemas } = document.components;
  expect(stream.frames().map(({ data }) => faultsOf(schemas.StreamMessage!, data, schemas))).toEqual([[]]);
  stream.disconnect();
});
