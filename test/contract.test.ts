// What every endpoint refuses, derived from its declaration: a new endpoint is covered by existing.
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { groups, stream } from "../functions/index.ts";
import type { Endpoint } from "../shared/http/endpoint.ts";
import { statuses, toApiError } from "../shared/http/errors.ts";
import { features, requireFeature } from "../shared/plans.ts";
import { everyCredential, type Presented, refusalOf } from "./support/credentials.ts";
import { foreignIds } from "./support/foreign.ts";
import { type Tenant, type TestWorld, testWorld } from "./support/world.ts";

const endpoints: Endpoint[] = groups.flatMap((group) => group.endpoints);
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const EMPTY_FORM = { raw: Buffer.from("--b--\r\n"), headers: { "content-type": "multipart/form-data; boundary=b" } };

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

  it("ERR-0 GEN-12 answers a hostile body with an envelope of ours, never with a 5xx", async () => {
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
      const sent = endpoint.shape.form ? EMPTY_FORM : body;
      const [there, missing] = [
        await world.call(fill(route, id), { as, ...sent }),
        await world.call(fill(route), { as, ...sent }),
      ];
      expect([there.status, there.body]).toEqual([missing.status, missing.body]);
      expect([404, endpoint.shape.refusal ?? 422]).toContain(there.status);
    }
  });
});

async function credentialsOf(other: Tenant, { access }: Endpoint) {
  if (access.credentials.includes("dashboard")) return other.dashboard();
  return access.credentials.includes("sdk") ? other.sdk : other.server;
}

describe(stream.endpoint.route, () => {
  /** The status of an opened stream, and the body where it was refused. */
  const open = (as: Record<string, string>, query = `subscriber_id=${UNKNOWN}`) =>
    new Promise<{ status: number; body: { code?: string } }>((resolve, reject) => {
      let status = 0;
      const request = {
        method: "GET",
        path: `/v1/in-app/stream?${query}`,
        headers: as,
        body: Buffer.alloc(0),
        sourceIp: "203.0.113.7",
      };
      const out = {
        start: (begun: number) => {
          status = begun;
          if (begun === 200) resolve({ status, body: {} });
        },
        write: (chunk: Buffer) => {
          if (status !== 200) resolve({ status, body: JSON.parse(chunk.toString()) });
          return false;
        },
        end: () => undefined,
      };
      world.gateway.stream(request, out).catch(reject);
    });

  it("ATH-R7 ERR-6 ERR-7 answers every credential as it declares", async () => {
    const answers = [];
    const expected = [];
    for (const presented of credentials) {
      const { status, body } = await open(presented.headers);
      const refusal = refusalOf(stream.endpoint, presented);
      answers.push({ presented: presented.name, status, code: body.code });
      expected.push({ presented: presented.name, ...(refusal ?? { status: 200, code: undefined }) });
    }
    expect(answers).toEqual(expected);
  });

  it("INX-1 is gated by plan, and names what is wrong with a query", async () => {
    const free = await world.tenant({ plan: "free" });
    expect((await open(free.sdk)).body).toMatchObject({ error: "in_app_not_permitted", upgrade_required: true });
    expect(await open(tenant.sdk, "subscriber_id=x")).toMatchObject({
      status: 422,
      body: { fields: { subscriber_id: "must be a UUID" } },
    });
    expect((await open(tenant.sdk, "")).status).toBe(422);
  });
});

it("AMB-59 an SDK key and a dashboard token of different workspaces are refused together, of the same one not", async () => {
  const other = await world.tenant();
  const both = (dashboard: Record<string, string>) =>
    world.call(`GET /v1/in-app/messages?subscriber_id=${UNKNOWN}`, { as: { ...tenant.sdk, ...dashboard } });
  expect((await both(await other.dashboard())).status).toBe(401);
  expect((await both(await tenant.dashboard())).status).toBe(200);
});

it("ERR-1 a body over the gateway's 10 MB is refused before any function runs", async () => {
  const before = await fingerprint();
  const raw = Buffer.alloc(10 * 1_024 * 1_024 + 1, "x");
  expect((await world.call("POST /api/v1/templates", { as: await tenant.dashboard(), raw })).status).toBe(413);
  expect(await fingerprint()).toBe(before);
});

it("GEN-10 ERR-8 ERR-20 every feature is refused in the body that the specification gives it", () => {
  const refusals = features.map((feature) => {
    try {
      requireFeature("free", feature);
    } catch (error) {
      return [feature, toApiError(error, "r").status, toApiError(error, "r").body()];
    }
    return [feature, "let in"];
  });
  expect(refusals).toEqual([
    ["in_app", 403, { error: "in_app_not_permitted", message: expect.any(String), upgrade_required: true }],
    ["webhooks", 403, { error: "feature_not_available" }],
    ["smart_channel", 403, { error: "feature_not_available", feature: "smart_channel" }],
    ["schedules", 403, { error: "PLAN_FEATURE_UNAVAILABLE", message: expect.any(String) }],
    ["agency", 403, { code: "FEATURE_NOT_AVAILABLE", message: expect.any(String) }],
  ]);
});

it("ERR-17 ERR-18 what is not ours says nothing of itself; a busy dependency is 503 with Retry-After", () => {
  const secret = toApiError(new Error("table T#secret is broken"), "r-1");
  expect([secret.status, secret.body()]).toEqual([
    500,
    { code: "INTERNAL_ERROR", message: expect.stringContaining("r-1") },
  ]);
  expect(JSON.stringify(secret.body())).not.toContain("secret");
  const busy = toApiError(Object.assign(new Error("slow down"), { name: "ThrottlingException" }), "r-2");
  expect([busy.status, busy.code, busy.details.headers]).toEqual([503, "SERVICE_UNAVAILABLE", { "retry-after": "1" }]);
});

it("ERR-1 ERR-2 ERR-3 ERR-4 ERR-5 ERR-6 ERR-7 ERR-8 ERR-9 ERR-10 ERR-11 ERR-12 ERR-13 ERR-14 ERR-15 ERR-16 ERR-17 ERR-18 the vocabulary", () => {
  expect(Object.entries(statuses).map(([code, status]) => `${code} ${status}`)).toEqual([
    "BAD_REQUEST 400",
    "UNAUTHORIZED 401",
    "PAYMENT_REQUIRED 402",
    "SEND_CAP_REACHED 402",
    "FORBIDDEN 403",
    "TENANT_SUSPENDED 403",
    "TENANT_DELETED 403",
    "FEATURE_NOT_AVAILABLE 403",
    "READ_ONLY_TOKEN 403",
    "NOT_FOUND 404",
    "CONFLICT 409",
    "FILE_TOO_LARGE 413",
    "VALIDATION_ERROR 422",
    "TEMPLATE_NOT_FOUND 422",
    "QUOTA_EXCEEDED 429",
    "RATE_LIMITED 429",
    "INTERNAL_ERROR 500",
    "SERVICE_UNAVAILABLE 503",
  ]);
});

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
