// The published description is fresh, valid, and says what the service really answers.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { contents, operationsOf } from "../docs/generate/contents.ts";
import { errorSchemas } from "../docs/generate/errors.ts";
import { generatedFiles, PACKED, PACKED_GUIDES } from "../docs/generate/files.ts";
import { guides } from "../docs/generate/guides.ts";
import { declaredItems } from "../docs/generate/items.ts";
import { limits } from "../docs/generate/limits.ts";
import { type OpenApi, type OperationObject, openApiOf } from "../docs/generate/openapi.ts";
import { packedGuides } from "../functions/api/service/guides.gen.ts";
import { packedOpenApi } from "../functions/api/service/openapi.gen.ts";
import { type Endpoint, routeKeyOf } from "../shared/http/endpoint.ts";
import { webhookEvents } from "../shared/rules/webhook-events.ts";
import { withMailedToken } from "./support/accounts.ts";
import { everyCredential, refusalOf } from "./support/credentials.ts";
import { faultsOfAnswer } from "./support/described.ts";
import { foreignIds } from "./support/foreign.ts";
import { faultsOf } from "./support/json-schema.ts";
import { addPeople, send } from "./support/people.ts";
import { partsOf } from "./support/schema-parts.ts";
import { openStream } from "./support/sse.ts";
import { type Headers, type Tenant, type TestWorld, testWorld } from "./support/world.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const operations = operationsOf(contents);

let document: OpenApi;
beforeAll(async () => {
  document = await openApiOf(contents);
});

const described = (route: string): OperationObject => {
  const [method = "", path = ""] = routeKeyOf(route).split(" ");
  return document.paths[path]![method.toLowerCase()]!;
};

describe("generated files are as the declarations make them: `npm run docs`", async () => {
  const files = await generatedFiles(contents);
  it.each([...files.keys()].filter((path) => path !== PACKED && path !== PACKED_GUIDES))("%s", (path) => {
    expect(readFileSync(`${root}/${path}`, "utf8")).toBe(files.get(path));
  });

  it("the document in the service's bundle", () => {
    expect(JSON.parse(brotliDecompressSync(Buffer.from(packedOpenApi, "base64")).toString())).toEqual(
      JSON.parse(files.get("docs/openapi.json")!),
    );
  });

  it("the guides in the service's bundle", () => {
    const packed = JSON.parse(brotliDecompressSync(Buffer.from(packedGuides, "base64")).toString());
    expect(packed).toEqual(guides());
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
    expect(page).toContain("| ChunkItem | `T#‹tenant›#J#‹job›` |");
  });
});

describe("the document", () => {
  it("GEN-16 covers every endpoint once, under names that are unique", () => {
    const all = operations.map(({ endpoint }) => described(endpoint.route).operationId);
    expect(new Set(all).size).toBe(all.length);
    expect(Object.values(document.paths).flatMap(Object.keys).length).toBe(all.length);
    expect(JSON.stringify(document.info)).toMatch(/## Resources.*## Authentication.*## States.*## Events.*## Errors/);
    expect(JSON.stringify(document.info)).toMatch(/## Limits.*## Paging and versions/);
  });

  it("GEN-16 says of everything what it is: operations, parameters, limits, webhook events", () => {
    const silent = operations.flatMap(({ endpoint: { route } }) => {
      const { description, parameters = [] } = described(route);
      const unsaid = parameters.filter(
        (one) => one.in === "query" && !one.description && !(one.schema as { description?: string }).description,
      );
      return [...(description ? [] : [route]), ...unsaid.map(({ name }) => `${route} ${name}`)];
    });
    expect(silent).toEqual([]);
    const { description } = document.info as { description: string };
    for (const [what] of limits) expect(description).toContain(`| ${what} | `);
    for (const event of webhookEvents) expect(description).toContain(`| \`${event}\` | \`{`);
  });

  it("GEN-16 says of every field what it is: else add its sentence to docs/generate/sentences", () => {
    const silent = partsOf(document).filter(
      ({ schema, name, isField }) => isField && name !== "" && !schema.description,
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it("GEN-16 shows of every operation a request as curl and as code of the SDK, and a response", () => {
    const without = operations.flatMap(({ endpoint: { route, shape, access }, isStream }) => {
      const { "x-codeSamples": samples = [], responses } = described(route);
      const languages = samples.map(({ lang }) => lang).join();
      const wanted = isStream || shape.text || access.credentials.includes("agent") ? "curl" : "curl,TypeScript";
      const success = Object.values(responses).find((one) => !("$ref" in one));
      const media = success && "content" in success ? success.content?.["application/json"] : undefined;
      const isShown = !shape.returns || isStream || media?.example !== undefined;
      return languages === wanted && isShown ? [] : [route];
    });
    expect(without).toEqual([]);
  });

  it("GEN-16 says of every operation how it succeeds: with a 2xx, or the 302 of a link", () => {
    const without = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { responses }]) => !Object.keys(responses).some((status) => /^(2\d\d|302)$/.test(status)))
        .map(([method]) => `${method} ${path}`),
    );
    expect(without).toEqual([]);
  });

  it("passes the linter without an error or a warning", () => {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ["node_modules/@redocly/cli/bin/cli.js", "lint", "docs/openapi.json", "--format=summary"],
      { cwd: root, encoding: "utf8", env: { ...process.env, REDOCLY_TELEMETRY: "off", NO_COLOR: "1" } },
    );
    expect(status, stdout + stderr).toBe(0);
    expect(stdout + stderr).not.toMatch(/warning/i);
  }, 60_000);

  it("holds examples that its own schemas take", () => {
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
      const { requestBody, responses: answers, parameters = [] } = described(endpoint.route);
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
    const example = described(route).requestBody!.content["application/json"]!.example;
    const { issues } = v.safeParse(shape.body!, example);
    expect(issues?.map(({ message }) => message)).toBeUndefined();
  });

  it("names an error only where the envelope knows it", () => {
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(Object.keys(errorSchemas)));
  });
});

describe("a tour of the service finds what the document says", () => {
  const seen = new Map<string, Set<number>>();
  const faults = new Set<string>();
  let world: TestWorld;
  let tenant: Tenant;

  const visit = async (route: string, options: Parameters<TestWorld["call"]>[1] = {}, target = route) => {
    const answer = await world.call(target, options);
    seen.set(route, (seen.get(route) ?? new Set()).add(answer.status));
    for (const fault of faultsOfAnswer(document, answer, target)) faults.add(fault);
    return answer;
  };

  const targetOf = ({ route, shape }: Endpoint, id = UNKNOWN) => {
    const required = (described(route).parameters ?? []).filter((one) => one.in === "query" && one.required);
    const query = new URLSearchParams(
      Object.fromEntries(required.map(({ name, example }) => [name, String(example)])),
    ).toString();
    return route.replaceAll(/:\w+/g, id) + (query && shape.query ? `?${query}` : "");
  };

  const bodyOf = ({ route }: Endpoint) => described(route).requestBody?.content["application/json"]?.example;

  const goodFor = async ({ access }: Endpoint, of = tenant): Promise<Headers> => {
    if (access.credentials.includes("sdk")) return of.sdk;
    if (access.credentials.includes("server")) return of.backend();
    return access.credentials.length > 0 ? of.dashboard() : {};
  };

  beforeAll(async () => {
    world = await testWorld();
    tenant = await world.tenant();
    const poor = await world.tenant({ plan: "free" });
    const all = await everyCredential(world, await world.tenant());
    for (const { endpoint, isStream } of operations) {
      const { route, shape } = endpoint;
      const body = shape.body && { body: bodyOf(endpoint) };
      for (const presented of all.filter((one) => refusalOf(endpoint, one)))
        await visit(route, { as: presented.headers, ...body }, targetOf(endpoint));
      if (endpoint.access.feature)
        await visit(route, { as: await goodFor(endpoint, poor), ...body }, targetOf(endpoint));
      if (isStream) continue;
      const as = await goodFor(endpoint);
      await visit(route, { as, ...body }, targetOf(endpoint));
      if (shape.query)
        await visit(route, { as }, `${route.replaceAll(/:\w+/g, UNKNOWN)}?limit=0&page=0&status=x&cursor=x`);
      if (!shape.body) continue;
      for (const raw of ["{", '{"unknown_field":1}'])
        await visit(
          route,
          { as, raw: Buffer.from(raw), headers: { "content-type": "application/json" } },
          targetOf(endpoint),
        );
    }
    for (const { endpoint } of operations.filter(({ endpoint }) => endpoint.route.includes("/:"))) {
      const owner = await world.tenant();
      const id = await foreignIds(world, owner, endpoint.route);
      const { body: person } = await world.call("POST /api/v1/subscribers/upsert", {
        as: owner.sdk,
        body: { external_id: "foreign" },
      });
      const example = bodyOf(endpoint) as object | undefined;
      const body = example && { body: "subscriber_id" in example ? { ...example, subscriber_id: person.id } : example };
      await visit(endpoint.route, { as: await goodFor(endpoint, owner), ...body }, targetOf(endpoint, id));
    }
    await tourOfSessions();
    await tourOfRefusals();
  }, 120_000);

  async function tourOfSessions() {
    const email = "grace@example.com";
    const password = "correct horse battery staple";
    const named = { email, password, name: "Grace", workspace_name: "Compilers" };
    const { body: session } = await visit("POST /api/v1/auth/register", { body: named });
    await visit("POST /api/v1/auth/register", { body: named });
    await visit("POST /api/v1/auth/login", { body: { email, password } });
    await visit("POST /api/v1/auth/login", { body: { email, password: "wrong" } });
    const { body: fresh } = await visit("POST /api/v1/auth/refresh", {
      body: { refresh_token: session.refresh_token },
    });
    const as = { authorization: `Bearer ${fresh.access_token}` };
    await visit("POST /api/v1/auth/switch", { as, body: { tenant_id: session.tenant.id } });
    const invited = { email: "mary@example.com", role: "admin" };
    const { body: invitation } = await withMailedToken(
      world,
      await visit("POST /api/v1/team/invitations", { as, body: invited }),
    );
    await visit("GET /api/v1/team/invitations", { as });
    const accepting = { token: invitation.token, name: "Mary", password };
    const { body: mary } = await visit("POST /api/v1/auth/invitations/accept", { body: accepting });
    const member = "/api/v1/team/members/";
    await visit(`DELETE ${member}:userId`, { as }, `DELETE ${member}${mary.user.id}`);
    await visit("POST /api/v1/auth/logout", { body: { refresh_token: fresh.refresh_token } });
  }

  async function tourOfRefusals() {
    const as = await tenant.dashboard();
    const body = { target: { type: "all" }, title: "t", body: "b", scheduled_at: "2027-01-01T00:00:00Z" };
    const headers = { "idempotency-key": "one" };
    const { body: job } = await visit("POST /api/v1/notifications", { as, body, headers });
    await visit("POST /api/v1/notifications", { as, body, headers });
    await visit("POST /api/v1/notifications", { as, body: { ...body, title: "other" }, headers });
    await visit("POST /api/v1/notifications", {
      as,
      body: { ...body, template_id: UNKNOWN, title: undefined, body: undefined },
    });
    for (const _ of "ab")
      await visit("POST /api/v1/notifications/:id/cancel", { as }, `POST /api/v1/notifications/${job.id}/cancel`);
    const large = { as, raw: Buffer.alloc(11_000_000, " "), headers: { "content-type": "application/json" } };
    const answer = await world.call("POST /api/v1/templates", large);
    expect([answer.status, faultsOf(errorSchemas.GatewayError!, answer.body, {})]).toEqual([413, []]);
    const small = await world.tenant({ plan: "free" });
    const cheap = await small.dashboard();
    for (let n = 0; n <= 60; n++) await visit("GET /api/v1/templates", { as: cheap });
  }

  it("every answer is described: status, type and body", () => {
    expect([...faults]).toEqual([]);
    expect(seen.get("GET /api/v1/templates")).toContain(429);
  });
});

it("SSE-6 a frame of the stream is as described", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  const [id] = (await addPeople(world, tenant, 1)) as [string];
  const stream = await openStream(world, `?subscriber_id=${id}`, tenant.sdk);
  await send(world, tenant, { subscriberIds: [id] });
  const { schemas } = document.components;
  expect(stream.frames().map(({ data }) => faultsOf(schemas.StreamMessage!, data, schemas))).toEqual([[]]);
  stream.disconnect();
});
