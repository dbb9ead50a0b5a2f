// Who may do what, stated again independently of the declarations, so that a forgotten permission fails here.
import { expect, it } from "vitest";
import { groups, stream } from "../functions/index.ts";
import type { Permission, Scope } from "../shared/contract/roles.ts";
import type { Endpoint } from "../shared/http/endpoint.ts";

const endpoints: Endpoint[] = [...groups.flatMap((group) => group.endpoints), stream.endpoint];
const dashboard = endpoints.filter(({ access }) => access.credentials.includes("dashboard"));

/** By the first pattern that a route meets (docs/decisions/0021#permissions). */
const asked: [routes: RegExp, permission: Permission | undefined][] = [
  [/^(GET|HEAD) /, undefined],
  [/^POST \/api\/v1\/(segments|notifications|templates)\/preview$/, undefined],
  [/^POST \/api\/v1\/(journeys\/:id\/simulate|segments\/:id\/compare)$/, undefined],
  [/^POST \/api\/v1\/(auth\/(switch|tokens\/read-only)|agency\/workspaces\/:id\/session)$/, undefined],
  // The reader of an inbox marks what is theirs; a read-only token does not.
  [/^POST \/v1\/in-app\/messages\//, undefined],
  [/^(PATCH|POST) \/api\/v1\/campaigns\/:id(\/(release|approve|decline|withdraw))?$/, "send"],
  [/^POST \/api\/v1\/notifications(\/:id\/cancel)?$/, "send"],
  [
    /^POST \/api\/v1\/journeys\/:id\/(activate|pause|archive|migrations|brakes\/(resume|cancel)|runs\/:runId\/cancel)$/,
    "send",
  ],
  [/^POST \/api\/v1\/in-app\/experiences\/:id\/(publish|pause|resume|end)$/, "send"],
  [/ \/api\/v1\/(subscribers|devices)\//, "subscribers:write"],
  [/^POST \/api\/v1\/lists\/(:id\/subscribers|import)/, "subscribers:write"],
  [/ \/api\/v1\/channels\/:id\/credentials\//, "credentials:manage"],
  [/ \/api\/v1\/(server-keys|identity-keys|webhooks)/, "credentials:manage"],
  [/ \/api\/v1\/channels/, "channels:write"],
  [/ \/api\/v1\/(insights\/config|annotations)/, "insights:write"],
  [/ \/api\/v1\/billing/, "billing:manage"],
  [/ \/api\/v1\/(team|workspace|agency)/, "team:manage"],
  [/ \/api\/v1\/(templates|schedules|campaigns|journeys|segments|lists|in-app)/, "content:write"],
];

/** What these areas demand; a new area says so in its declarations alone. */
const demanded = (route: string) => asked.find(([routes]) => routes.test(route));

it("every role reads everything, and every other route asks for its permission (D-TEAM, ATH-R5, docs/decisions/0021#permissions)", () => {
  const known = dashboard.filter(({ route }) => demanded(route));
  const declared = known.map(({ route, access }) => [route, access.permission]);
  expect(declared).toEqual(known.map(({ route }) => [route, demanded(route)?.[1]]));
  expect(declared.length).toBeGreaterThan(100);
});

it("what changes something is a write, whatever its method; sessions, previews and simulations are none (ERR-9, docs/decisions/0021#permissions)", () => {
  const noWrites = dashboard.filter(({ access }) => access.effect !== "write").map(({ route }) => route);
  expect(noWrites.filter((route) => !/^(GET|HEAD) /.test(route)).sort()).toEqual([
    "DELETE /api/v1/auth/sessions/:id",
    "POST /api/v1/agency/workspaces/:id/session",
    "POST /api/v1/audit/verify",
    "POST /api/v1/auth/email/resend",
    "POST /api/v1/auth/password/change",
    "POST /api/v1/auth/recovery-codes/renew",
    "POST /api/v1/auth/second-factor/begin",
    "POST /api/v1/auth/second-factor/confirm",
    "POST /api/v1/auth/second-factor/remove",
    "POST /api/v1/auth/switch",
    "POST /api/v1/auth/tokens/read-only",
    "POST /api/v1/journeys/:id/simulate",
    "POST /api/v1/notifications/preview",
    "POST /api/v1/segments/:id/compare",
    "POST /api/v1/segments/preview",
    "POST /api/v1/templates/preview",
  ]);
});

it("every route of server keys asks for its scope, whoami for none (D-SCOPE, AMB-79, ATH-R3, ATH-R4, ATH-R11)", () => {
  const scopes = endpoints
    .filter(({ access }) => access.credentials.includes("server"))
    .map(({ route, access }): [string, Scope | undefined] => [route, access.scope]);
  expect(Object.fromEntries(scopes)).toMatchObject({
    "GET /v1/subscribers": "subscribers:read",
    "GET /v1/subscribers/:id": "subscribers:read",
    "POST /v1/subscribers/upsert": "subscribers:write",
    "POST /v1/notifications": "messages:send",
    "POST /v1/notifications/:id/cancel": "messages:send",
    "GET /v1/notifications/:id": "messages:read",
    "POST /v1/hooks": "hooks:write",
    "GET /v1/hooks": "hooks:read",
    "DELETE /v1/hooks/:id": "hooks:write",
    "GET /v1/hooks/samples/:event": "hooks:read",
    "POST /v1/events": "events:write",
    "POST /v1/events/identify": "events:write",
    "GET /v1/events/export": "events:read",
    "GET /v1/whoami": undefined,
  });
});

it("only sessions, the own account, the bill and /me are open while suspended, only ingestion remembers a credential (ARC-9, D-TENANT, ATH-R6)", () => {
  const open = endpoints.filter(({ access }) => access.openWhileSuspended).map(({ route }) => route);
  expect(open.sort()).toEqual([
    "DELETE /api/v1/auth/sessions/:id",
    "GET /api/v1/auth/second-factor",
    "GET /api/v1/auth/sessions",
    "GET /api/v1/billing",
    "GET /api/v1/me",
    "PATCH /api/v1/billing",
    "POST /api/v1/auth/email/resend",
    "POST /api/v1/auth/password/change",
    "POST /api/v1/auth/recovery-codes/renew",
    "POST /api/v1/auth/second-factor/begin",
    "POST /api/v1/auth/second-factor/confirm",
    "POST /api/v1/auth/second-factor/remove",
    "PUT /api/v1/billing/plan",
  ]);
  expect(endpoints.filter(({ access }) => access.cachesCredentials).map(({ route }) => route)).toEqual([
    "POST /v1/events",
  ]);
});
