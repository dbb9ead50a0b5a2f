// The declarations as a whole: the endpoints, their access, and the error codes.
import { beforeAll, describe, expect, it } from "vitest";
import { requestEvent } from "../docs/generate/events.ts";
import { groups, stream } from "../functions/index.ts";
import type { Endpoint } from "../shared/http/endpoint.ts";
import { statuses, toApiError } from "../shared/kernel/errors.ts";
import { type Feature, features, requireFeature } from "../shared/rules/plans.ts";
import { addPeople, send } from "./support/people.ts";
import { type Tenant, type TestWorld, testWorld } from "./support/world.ts";

const endpoints: Endpoint[] = [...groups.flatMap((group) => group.endpoints), stream.endpoint];
const find = (route: string) => endpoints.find((endpoint) => endpoint.route === route);

/** Each capability of the specification, and routes without which it would not be there. */
const capabilities: [capability: string, routes: string[]][] = [
  [
    "subscribers and their devices",
    [
      "POST /api/v1/subscribers/upsert",
      "DELETE /api/v1/subscribers/:id",
      "GET /v1/subscribers",
      "POST /api/v1/devices",
    ],
  ],
  [
    "delivery channels",
    [
      "POST /api/v1/channels",
      ...["ios-push", "android-push", "vapid", "sms", "chat_app"].map(
        (kind) => `POST /api/v1/channels/:id/credentials/${kind}`,
      ),
    ],
  ],
  ["reusable templates", ["POST /api/v1/templates", "GET /api/v1/templates", "PATCH /api/v1/templates/:id"]],
  ["one-off sends", ["POST /api/v1/notifications", "GET /api/v1/notifications/:id"]],
  ["campaigns", ["POST /api/v1/campaigns", "GET /api/v1/campaigns", "POST /api/v1/campaigns/:id/release"]],
  ["cron schedules", ["POST /api/v1/schedules", "GET /api/v1/schedules", "PATCH /api/v1/schedules/:id"]],
  ["journeys", ["POST /api/v1/journeys", "GET /api/v1/journeys", "POST /api/v1/journeys/:id/activate"]],
  ["segments", ["POST /api/v1/segments", "GET /api/v1/segments", "POST /api/v1/segments/preview"]],
  [
    "in-app messages, inbox, live stream",
    [
      "POST /api/v1/in-app/experiences",
      "GET /api/v1/in-app/experiences",
      "GET /v1/in-app/messages",
      "GET /v1/in-app/stream",
    ],
  ],
  ["events, identity, export", ["POST /v1/events", "POST /v1/events/identify", "GET /v1/events/export"]],
  [
    "insights",
    [
      ...["funnel", "summary", "heatmap", "lift", "config"].map((report) => `GET /api/v1/insights/${report}`),
      "GET /api/v1/annotations",
      "POST /api/v1/annotations",
    ],
  ],
  ["import from CSV", ["POST /api/v1/lists/import", "GET /api/v1/lists/import/:jobId"]],
  ["webhooks", ["POST /v1/hooks", "GET /v1/hooks", "DELETE /v1/hooks/:id", "GET /v1/hooks/samples/:event"]],
];

describe("every capability is there", () => {
  let world: TestWorld;
  let tenant: Tenant;
  /** What bodies and queries name, as it is in this workspace. */
  let real: Record<string, unknown>;
  beforeAll(async () => {
    world = await testWorld();
    tenant = await world.tenant();
    const template = { name: "welcome", content: { title: "t", body: "b" } };
    real = {
      subscriber_id: (await addPeople(world, tenant, 1))[0],
      template_id: (await tenant.call("POST /api/v1/templates", template)).body.id,
      channel_ids: [(await tenant.call("GET /api/v1/channels")).body.channels[0].id],
    };
    real.job_id = (await send(world, tenant, { target: { type: "all" } })).job.id;
  });

  const withReal = (fields: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, real[name] ?? value]));
  const headersOf = async ({ access: { credentials } }: Endpoint) => {
    if (credentials.includes("sdk")) return tenant.sdk;
    return credentials.includes("server") ? tenant.server : tenant.dashboard();
  };

  it.each(capabilities)("%s: each route is declared, and answers (GEN-9)", async (_, routes) => {
    expect(routes.filter((route) => !find(route))).toEqual([]);
    for (const route of routes.filter((one) => one !== stream.endpoint.route)) {
      const endpoint = find(route)!;
      const { rawPath, rawQueryString, body } = requestEvent(endpoint);
      const query = new URLSearchParams(withReal(Object.fromEntries(new URLSearchParams(rawQueryString))) as never);
      const { status } = await world.call(`${route.split(" ")[0]} ${rawPath}?${query}`, {
        as: await headersOf(endpoint),
        ...(body !== undefined && { body: withReal(JSON.parse(body)) }),
      });
      // A path or a query that names nothing of ours, or a missing file, is what is refused; everything else succeeds.
      const isRefused = route.includes(":") || endpoint.shape.form || query.has("source_id");
      expect([route, status]).toEqual([route, isRefused ? expect.toSatisfy(isUnmet) : expect.toSatisfy(isMet)]);
    }
  });
});

const isMet = (status: number) => status >= 200 && status < 300;
const isUnmet = (status: number) => [200, 400, 404, 422].includes(status);

it("every surface of a feature asks for it (GEN-10)", () => {
  const surfaces: [RegExp, Feature][] = [
    [/\/in-app\//, "in_app"],
    [/^(POST|PATCH) \/api\/v1\/schedules/, "schedules"],
    [/^POST (\/v1\/hooks|\/api\/v1\/webhooks)$/, "webhooks"],
  ];
  for (const [surface, feature] of surfaces) {
    const found = endpoints.filter(({ route }) => surface.test(route));
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ access }) => access.feature !== feature).map(({ route }) => route)).toEqual([]);
  }
});

it("no credential but the four opens anything, and the dashboard's lasts 15 minutes (ATH-R8, ATH-R9, AMB-55)", async () => {
  const kinds = new Set(endpoints.flatMap(({ access }) => access.credentials));
  expect([...kinds].sort()).toEqual(["agent", "dashboard", "sdk", "server"]);
  const world = await testWorld();
  const tenant = await world.tenant();
  const issuing = endpoints.filter(({ shape }) => JSON.stringify(shape.returns ?? "").includes("access_token"));
  expect(issuing.length).toBeGreaterThan(3);
  const { body } = await tenant.call("POST /api/v1/auth/tokens/read-only");
  const as = await tenant.dashboard();
  for (const token of [as.authorization!.slice(7), String(body.access_token)]) {
    const { iat, exp } = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
    expect(exp - iat).toBe(900);
  }
  const all = { name: "all", scopes: ["read", "read:pii", "write:drafts", "write:send"] };
  const { key } = (await tenant.call("POST /api/v1/agent-keys", all)).body;
  const agent = { authorization: `Bearer ${key}` };
  for (const route of ["GET /v1/whoami", "GET /v1/subscribers", "GET /api/v1/me", "GET /v1/hooks"])
    expect([route, (await world.call(route, { as: agent })).status]).toEqual([route, 401]);
});

it("every feature is refused in the body that the specification gives it (GEN-10, ERR-8, ERR-20)", () => {
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

it("what is not ours says nothing of itself; a busy dependency is 503 with Retry-After (ERR-17, ERR-18)", () => {
  const secret = toApiError(new Error("table T#secret is broken"), "r-1");
  expect([secret.status, secret.body()]).toEqual([
    500,
    { code: "INTERNAL_ERROR", message: expect.stringContaining("r-1") },
  ]);
  expect(JSON.stringify(secret.body())).not.toContain("secret");
  for (const name of [
    "ThrottlingException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "TransactionConflictException",
    "ServiceUnavailable",
    "InternalServerError",
    "KMSInternalException",
    "TimeoutError",
  ]) {
    const busy = toApiError(Object.assign(new Error("slow down"), { name }), "r-2");
    expect([busy.status, busy.code, busy.details.headers]).toEqual([
      503,
      "SERVICE_UNAVAILABLE",
      { "retry-after": "1" },
    ]);
  }
});

it("the vocabulary (ERR-1, ERR-2, ERR-3, ERR-4, ERR-5, ERR-6, ERR-7, ERR-8, ERR-9, ERR-10, ERR-11, ERR-12, ERR-13, ERR-14, ERR-15, ERR-16, ERR-17, ERR-18)", () => {
  expect(Object.entries(statuses).map(([code, status]) => `${code} ${status}`)).toEqual([
    "BAD_REQUEST 400",
    "UNAUTHORIZED 401",
    "SECOND_FACTOR_REQUIRED 401",
    "PAYMENT_REQUIRED 402",
    "SEND_CAP_REACHED 402",
    "FORBIDDEN 403",
    "TENANT_SUSPENDED 403",
    "TENANT_DELETED 403",
    "FEATURE_NOT_AVAILABLE 403",
    "READ_ONLY_TOKEN 403",
    "EMAIL_NOT_CONFIRMED 403",
    "SECOND_FACTOR_MISSING 403",
    "SIGN_IN_REQUIRED 403",
    "APPROVAL_REQUIRED 403",
    "NOT_FOUND 404",
    "CONFLICT 409",
    "NOT_A_SANDBOX 409",
    "PRECONDITION_FAILED 412",
    "FILE_TOO_LARGE 413",
    "VALIDATION_ERROR 422",
    "TEMPLATE_NOT_FOUND 422",
    "QUOTA_EXCEEDED 429",
    "RATE_LIMITED 429",
    "INTERNAL_ERROR 500",
    "SERVICE_UNAVAILABLE 503",
  ]);
});

it("the client key opens only what rule 1 lists, and the preferences (ATH-R1, TPC-3)", () => {
  const open = endpoints.filter(({ access }) => access.credentials.includes("sdk"));
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
    // AMB-122: the goodbye to a stream.
    "POST /v1/in-app/stream/close",
    "GET /v1/preferences",
    "PUT /v1/preferences",
    // CLI-1: they do what the upsert, the registration of devices and events do.
    "POST /v1/segment/:call",
    "POST /v1/segment/v1/:call",
    "POST /v1/batch",
  ];
  expect(allowed).toEqual(expect.arrayContaining(open.map(({ route }) => route)));
});

it("every other management route asks for the dashboard token (ATH-R7)", () => {
  const management = endpoints.filter(
    ({ route, access }) => route.includes(" /api/v1/") && !access.credentials.includes("sdk"),
  );
  const publicRoutes = management.filter(({ access }) => access.credentials.length === 0).map(({ route }) => route);
  expect(publicRoutes.every((route) => route.includes("/api/v1/auth/"))).toBe(true);
  expect(management.filter(({ access }) => access.credentials.includes("server"))).toEqual([]);
});
