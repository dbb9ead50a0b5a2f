// The control surface: workspaces with their credentials, and tokens of members.
import { describe, expect, test } from "vitest";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { MemberItem } from "../../shared/store/workspaces/identity-items.ts";
import { WorkspaceItem } from "../../shared/store/workspaces/items.ts";
import { RefreshFamily } from "../../shared/store/workspaces/session-items.ts";
import { bearer } from "../support/credentials.ts";
import { make } from "../support/workspaces.ts";
import { START, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const platformOf = (world: TestWorld) => platformWrite.open(world.depsFor("control"))("" as TenantId);

describe("workspaces", () => {
  test("workspaces of the control surface carry every credential, and each of them works", async () => {
    const world = await fresh();
    const made = await make(world, { name: "Acme", plan: "growth" });
    expect(made).toMatchObject({ name: "Acme", plan: "growth" });
    const sdk = { "x-sdk-key": made.sdk_key };
    const upsert = await world.call("POST /api/v1/subscribers/upsert", { as: sdk, body: { external_id: "a" } });
    expect(upsert.status).toBe(200);
    const whoami = await world.call("GET /v1/whoami", { as: bearer(made.server_key) });
    expect(whoami.body).toMatchObject({ tenant_id: made.tenant_id, plan: "growth", key: { id: made.server_key_id } });
    const key = await world.call("GET /api/v1/sdk-key", { as: bearer(made.access_token) });
    expect(key.body).toEqual({ sdk_key: made.sdk_key });
    const { email, password, user_id } = made.owner;
    const login = await world.call("POST /api/v1/auth/login", { body: { email, password } });
    expect(login).toMatchObject({ status: 200, body: { user: { id: user_id }, tenant: { role: "owner" } } });
  });

  test("a change of a workspace that the operator refuses says why (F5)", async () => {
    const world = await fresh();
    const account = { email: "tests@example.com", password: "correct horse battery staple", name: "Tests" };
    const register = { ...account, workspace_name: "Tests", kind: "sandbox" };
    const { workspace } = (await world.host.invoke("operator", { register })) as { workspace: { id: string } };

    const refused = await world.call(`PATCH /_local/workspaces/${workspace.id}`, { body: { kind: "agency" } });

    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining("A sandbox stays one") } });
  });

  test.each([
    [{ advance: "1y" }, { advance: expect.stringContaining("such as 72h") }],
    [{ to: "tomorrow" }, { to: expect.stringContaining("RFC 3339") }],
  ])("a move of the clock by %j is refused in words (F5)", async (body, fields) => {
    const world = await fresh();

    expect(await world.call("POST /_local/clock", { body })).toMatchObject({ status: 422, body: { fields } });
  });

  test("workspaces of the control surface take the default plan and a name of their own", async () => {
    const world = await fresh({ plan: "starter" });
    const [one, two] = [await make(world), await make(world)];
    expect(one.plan).toBe("starter");
    expect(one.name).not.toBe(two.name);
    expect(one.owner.email).not.toBe(two.owner.email);
  });

  test("their refresh token is good for a new pair, and its text is stored nowhere", async () => {
    const world = await fresh();
    const { refresh_token } = await make(world);
    const [family, secret] = refresh_token.split(".");
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const row = await platformOf(world).get(RefreshFamily, { family });
    expect(row?.expires).toBe(START / 1_000 + 30 * 86_400);
    expect(JSON.stringify(row)).not.toContain(secret);
    const refreshed = await world.call("POST /api/v1/auth/refresh", { body: { refresh_token } });
    expect(refreshed).toMatchObject({ status: 200, body: { access_token: expect.any(String) } });
  });

  test("workspaces of the control surface can be changed as an operator does, and the change shows at once", async () => {
    const world = await fresh();
    const { tenant_id, sdk_key, access_token } = await make(world);
    const path = `PATCH /_local/workspaces/${tenant_id}`;
    const change = { plan: "free", kind: "agency", monthly_send_cap: 10, usage: { sends: 7 } };
    const changed = await world.call(path, { body: change });
    expect(changed).toMatchObject({ status: 200, body: { tenant_id, ...change, usage: { sends: 7, events: 0 } } });
    const beyond = await world.call(path, { body: { monthly_send_cap: 1e21 } });
    expect([beyond.status, Object.keys(beyond.body.fields)]).toEqual([422, ["monthly_send_cap"]]);
    const inbox = await world.call(`GET /v1/in-app/messages?subscriber_id=${tenant_id}`, {
      as: { "x-sdk-key": sdk_key },
    });
    expect(inbox.status).toBe(403);
    await world.call(path, { body: { status: "suspended", monthly_send_cap: null } });
    const suspended = await world.call("GET /api/v1/templates", { as: bearer(access_token) });
    expect(suspended).toMatchObject({ status: 403, body: { code: "TENANT_SUSPENDED" } });
    const row = await platformOf(world).get(WorkspaceItem, { tenant: tenant_id });
    expect(row).toMatchObject({ plan: "free", kind: "agency", status: "suspended" });
    const bill = await world.call("GET /api/v1/billing", { as: bearer(access_token) });
    expect(bill.body.usage.sends).toBe(7);
    expect(row).not.toHaveProperty("monthly_send_cap");
  });

  test("an empty change shows the workspace; an unknown workspace is 404", async () => {
    const world = await fresh();
    const { tenant_id } = await make(world);
    const same = await world.call(`PATCH /_local/workspaces/${tenant_id}`, { body: {} });
    expect(same).toMatchObject({ status: 200, body: { status: "active" } });
    for (const body of [{}, { plan: "free" }])
      expect((await world.call("PATCH /_local/workspaces/nobody", { body })).status).toBe(404);
  });
});

describe("tokens", () => {
  test("of every role, the member made once", async () => {
    const world = await fresh();
    const { tenant_id, owner } = await make(world);
    const token = async (body: object) => {
      const answer = await world.call("POST /_local/tokens", { body: { tenant_id, ...body } });
      expect(answer.status).toBe(201);
      return answer.body.access_token as string;
    };
    expect(claimsOf(await token({}))).toMatchObject({ sub: owner.user_id, role: "owner", ro: false });
    const [one, two] = await Promise.all([token({ role: "analyst" }), token({ role: "analyst" })]);
    expect(claimsOf(one).sub).toBe(claimsOf(two).sub);
    const { items } = await platformOf(world).query(MemberItem, { tenant: tenant_id });
    expect(items.map(({ role }) => role).sort()).toEqual(["analyst", "owner"]);
    expect((await world.call("GET /api/v1/templates", { as: bearer(one) })).status).toBe(200);
    const denied = await world.call("POST /api/v1/notifications", { as: bearer(one), body: {} });
    expect(denied).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  });

  test("read-only ones and those of a viewer may not write", async () => {
    const world = await fresh();
    const { tenant_id } = await make(world);
    for (const input of [{ read_only: true }, { role: "viewer" }]) {
      const { body } = await world.call("POST /_local/tokens", { body: { tenant_id, ...input } });
      const answer = await world.call("POST /api/v1/templates", { as: bearer(body.access_token), body: {} });
      expect(answer).toMatchObject({ status: 403, body: { code: "READ_ONLY_TOKEN" } });
    }
  });

  test("of an agency's member act in the client's workspace", async () => {
    const world = await fresh();
    const [client, agency] = [await make(world), await make(world)];
    const body = { tenant_id: client.tenant_id, agency_id: agency.tenant_id, role: "marketer" };
    const { access_token } = (await world.call("POST /_local/tokens", { body })).body;
    expect(claimsOf(access_token)).toMatchObject({ tid: client.tenant_id, agency: agency.tenant_id });
    const key = await world.call("GET /api/v1/sdk-key", { as: bearer(access_token) });
    expect(key.body).toEqual({ sdk_key: client.sdk_key });
  });

  test("tokens of the control surface live for 15 minutes of service time; an unknown workspace is 404", async () => {
    const world = await fresh();
    const { tenant_id } = await make(world);
    const { access_token } = (await world.call("POST /_local/tokens", { body: { tenant_id } })).body;
    await world.call("POST /_local/clock", { body: { advance: "14m" } });
    expect((await world.call("GET /api/v1/sdk-key", { as: bearer(access_token) })).status).toBe(200);
    await world.call("POST /_local/clock", { body: { advance: "1m" } });
    expect((await world.call("GET /api/v1/sdk-key", { as: bearer(access_token) })).status).toBe(401);
    expect((await world.call("POST /_local/tokens", { body: { tenant_id: "nobody" } })).status).toBe(404);
  });
});

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
