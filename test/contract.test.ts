// What every endpoint refuses, derived from its declaration: a new endpoint is covered by existing.
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { groups, stream } from "../functions/index.ts";
import type { Endpoint } from "../shared/http/endpoint.ts";
import { statuses } from "../shared/http/errors.ts";
import { everyCredential, type Presented, refusalOf } from "./support/credentials.ts";
import { foreignIds } from "./support/foreign.ts";
import { type Tenant, type TestWorld, testWorld } from "./support/world.ts";

const endpoints: Endpoint[] = groups.flatMap((group) => group.endpoints);
const UNKNOWN = "00000000-0000-4000-8000-000000000000";

let world: TestWorld;
let tenant: Tenant;
let credentials: Presented[];

beforeAll(async () => {
  world = await testWorld();
  tenant = await world.tenant();
  credentials = await everyCredential(world, tenant);
});

const fill = (route: string, id = UNKNOWN) => route.replaceAll(/:\w+/g, id);

/** The table without limiter rows: the only writes that a refusal may leave (decision 18). */
async function fingerprint(): Promise<string> {
  const { Items } = await world.dynamodb.operate("Scan", { TableName: world.env.TABLE_NAME });
  const rows = (Items as { pk: { S: string } }[]).filter(({ pk }) => !pk.S.startsWith("LIMIT#"));
  return createHash("sha256").update(JSON.stringify(rows)).digest("hex");
}

describe.each(endpoints.map((endpoint) => [endpoint.route, endpoint] as const))("%s", (route, endpoint) => {
  it("ATH-R2 ATH-R7 ERR-6 ERR-7 ERR-9 answers every credential as it declares, and a refusal changes nothing", async () => {
    const before = await fingerprint();
    for (const presented of credentials) {
      const refusal = refusalOf(endpoint, presented);
      if (!refusal) continue;
      const answer = await world.call(fill(route), { as: presented.headers, ...(endpoint.shape.body && { body: {} }) });
      expect({ presented: presented.name, status: answer.status, code: answer.body.code }).toEqual({
        presented: presented.name,
        ...refusal,
      });
    }
    expect(await fingerprint()).toBe(before);
  });

  it("ATH-R1 ATH-R4 lets in whom it declares", async () => {
    const accepted = credentials.filter(
      (presented) => !refusalOf(endpoint, presented) && presented.kind && !presented.status,
    );
    const wrong = [];
    for (const { name, headers, readOnly } of accepted) {
      if (endpoint.access.effect !== "read" && !readOnly) continue;
      const { status } = await world.call(fill(route), { as: headers });
      if (status === 401 || status === 403) wrong.push({ name, status });
    }
    expect(wrong).toEqual([]);
  });

  it("ERR-0 answers a hostile body with an envelope of ours, never with a 5xx", async () => {
    if (!endpoint.shape.body) return;
    const good = credentials.find((presented) => presented.kind && !refusalOf(endpoint, presented));
    const as = good?.headers ?? {};
    const deep = `${'{"a":'.repeat(400)}1${"}".repeat(400)}`;
    const bodies = [
      "",
      "{",
      "[]",
      "null",
      '"text"',
      "7",
      deep,
      '{"__proto__":{"x":1}}',
      '{"unknown_field":1}',
      '{"name":1e400}',
    ];
    const wrong = [];
    for (const body of bodies) {
      const headers = { "content-type": "application/json" };
      const answer = await world.call(fill(route), { as, headers, raw: Buffer.from(body) });
      const expected = body === "" || body === "{}" ? [400, 401, 404, 422, 200, 204] : [400, 401, 404, 422];
      const known = answer.body === "" || answer.body.code in statuses || answer.status < 300;
      if (!expected.includes(answer.status) || !known) wrong.push({ body: body.slice(0, 40), status: answer.status });
    }
    const text = await world.call(fill(route), {
      as,
      headers: { "content-type": "text/plain" },
      raw: Buffer.from("x"),
    });
    expect(wrong).toEqual([]);
    expect([400, 401]).toContain(text.status);
  });

  it("GEN-8 a foreign id and a missing id answer byte for byte the same", async () => {
    if (!route.includes(":")) return;
    const other = await world.tenant();
    const foreign = await foreignIds(world, tenant, route);
    const as = await credentialsOf(other, endpoint);
    for (const id of [foreign, foreign.toUpperCase()]) {
      const body = endpoint.shape.body && { body: { subscriber_id: UNKNOWN, role: "viewer", name: "x" } };
      const [there, missing] = [
        await world.call(fill(route, id), { as, ...body }),
        await world.call(fill(route), { as, ...body }),
      ];
      expect([there.status, there.body]).toEqual([missing.status, missing.body]);
      expect([404, 422]).toContain(there.status);
    }
  });
});

async function credentialsOf(other: Tenant, { access }: Endpoint) {
  if (access.credentials.includes("dashboard")) return other.dashboard();
  return access.credentials.includes("sdk") ? other.sdk : other.server;
}

it("ATH-R1 the client key opens only what rule 1 lists", () => {
  const open = [...endpoints, stream.endpoint].filter(({ access }) => access.credentials.includes("sdk"));
  const allowed = [
    "POST /api/v1/subscribers/upsert",
    "POST /api/v1/devices",
    "DELETE /api/v1/devices/:id",
    "POST /api/v1/notifications/interactions",
    "POST /v1/events",
    "POST /v1/events/identify",
    "GET /v1/in-app/stream",
    "GET /v1/in-app/messages",
    "POST /v1/in-app/messages/read",
    "POST /v1/in-app/messages/:id/read",
    "POST /v1/in-app/messages/:id/dismiss",
  ];
  expect(allowed).toEqual(expect.arrayContaining(open.map(({ route }) => route)));
});

it("ATH-R7 every other management route asks for the dashboard token", () => {
  const management = endpoints.filter(
    ({ route, access }) => route.includes(" /api/v1/") && !access.credentials.includes("sdk"),
  );
  const publicRoutes = management.filter(({ access }) => access.credentials.length === 0).map(({ route }) => route);
  expect(publicRoutes.every((route) => route.includes("/api/v1/auth/"))).toBe(true);
  expect(management.filter(({ access }) => access.credentials.includes("server"))).toEqual([]);
});
