// What an operator and an owner may change in a workspace, and the effects on its sends.
import { beforeEach, describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { operating } from "../support/operating.ts";
import { requests } from "../support/requests.ts";
import { sandboxIn } from "../support/sandboxes.ts";
import { type Tenant, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const { operate, upsert, send } = operating(() => world);

describe("the plan and the operator", () => {
  it("a change of plan takes effect at once and leaves an annotation (ANN-6, D-BILL)", async () => {
    const tenant = await world.tenant({ plan: "free" });
    const { body } = await tenant.call("PUT /api/v1/billing/plan", { plan: "growth" });
    expect(body.plan).toBe("growth");
    expect(body.limits.sends).toBe(500_000);
    expect(
      (
        await world.call("GET /v1/in-app/messages?subscriber_id=00000000-0000-4000-8000-000000000000", {
          as: tenant.sdk,
        })
      ).status,
    ).toBe(200);
    await tenant.call("PUT /api/v1/billing/plan", { plan: "growth" });
    await operate({ tenant_id: tenant.id, plan: "growth" });
    const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#annotation` });
    expect(items).toEqual([
      expect.objectContaining({ kind: "plan_change", source: "auto", text: "The plan changed from free to growth." }),
    ]);
  });

  it.each([
    { by: "its owner", change: (tenant: Tenant) => tenant.call("PUT /api/v1/billing/plan", { plan: "growth" }) },
    { by: "the operator", change: (tenant: Tenant) => operate({ tenant_id: tenant.id, plan: "growth" }) },
  ])(
    "a change of plan by $by that the table fails on is there with its annotation once it is repeated (ANN-6, D-BILL)",
    async ({ change }) => {
      const noting = requests({ naming: "The plan changed" });
      world = await testWorld({ hooks: noting.hooks });
      const tenant = await world.tenant({ plan: "free" });
      noting.next(() => {
        throw awsFailure("ServiceUnavailable", "busy");
      });
      await Promise.resolve(change(tenant)).catch(() => undefined);
      expect(noting.isAwaited()).toBe(false);

      await change(tenant);

      expect((await tenant.call("GET /api/v1/billing")).body.plan).toBe("growth");
      const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#annotation` });
      expect(items).toMatchObject([{ kind: "plan_change", text: "The plan changed from free to growth." }]);
    },
  );

  it("a change of plan that two people make at once is noted once (ANN-6, D-BILL)", async () => {
    const tenant = await world.tenant({ plan: "free" });
    const change = () => tenant.call("PUT /api/v1/billing/plan", { plan: "growth" });

    expect((await Promise.all([change(), change()])).map(({ status }) => status)).toEqual([200, 200]);

    const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#annotation` });
    expect(items).toHaveLength(1);
  });

  it("what the operator sets as used of a sandbox counts in the month of its own time (D-BILL, F4)", async () => {
    const { tenant, call, move } = await sandboxIn(world);
    await move({ advance: "40d" });

    const set = await operate({ tenant_id: tenant.id, usage: { sends: 5, events: 9 } });

    const used = (await call("GET /api/v1/billing")).usage;
    expect(used).toMatchObject({ sends: 5, events: 9 });
    expect(set.usage).toEqual({ sends: 5, events: 9 });
    expect((await operate({ workspaces: {} })).workspaces).toMatchObject([{ usage: used }]);
  });

  it("a suspended workspace's scheduled sends are held, and go out on reactivation (D-TENANT)", async () => {
    const tenant = await world.tenant();
    const { id: subscriber } = (await upsert(tenant, "a")).body;
    const { id } = (await send(await tenant.dashboard(), { scheduled_at: "2026-11-20T13:00:00Z" })).body;
    const status = async () => (await tenant.call(`GET /api/v1/notifications/${id}`)).body.status;
    await operate({ tenant_id: tenant.id, status: "suspended" });
    await world.advance(5 * 3_600_000);
    await operate({ tenant_id: tenant.id, status: "active" });
    expect(await status()).toBe("scheduled");
    await world.advance(6 * 60_000);
    expect(await status()).toBe("completed");
    expect(
      (await world.call(`GET /v1/in-app/messages?subscriber_id=${subscriber}`, { as: tenant.sdk })).body.messages
        .length,
    ).toBe(1);
  });

  it("a send held for more than 24 hours fails as expired (AMB-86)", async () => {
    const tenant = await world.tenant();
    const { id } = (await send(await tenant.dashboard(), { scheduled_at: "2026-11-20T13:00:00Z" })).body;
    await operate({ tenant_id: tenant.id, status: "suspended" });
    await world.advance(26 * 3_600_000);
    await operate({ tenant_id: tenant.id, status: "active" });
    await world.advance(6 * 60_000);
    const { body } = await tenant.call(`GET /api/v1/notifications/${id}`);

    expect(body.status).toBe("failed");
    expect(body.error).toBe("expired");
  });

  it("the operator function refuses what it does not know", async () => {
    const tenant = await world.tenant();

    expect(await operate({ tenant_id: "nobody", plan: "free" })).toEqual({ error: "not_found" });
    expect(await operate({ tenant_id: tenant.id, plan: "gold" })).toMatchObject({
      error: "invalid",
      fields: { plan: expect.any(String) },
    });
    expect(await operate({ tenant_id: tenant.id, kind: "agency" })).toMatchObject({ workspace: { kind: "agency" } });
  });

  it("settings are read and changed, and a bad one is named (AMB-85)", async () => {
    const tenant = await world.tenant();
    const patch = (body: object) => tenant.call("PATCH /api/v1/workspace", body);
    const quiet_hours = { start: "22:00", end: "08:00", timezone_mode: "subscriber" };

    expect((await patch({ name: "New", timezone: "Europe/Berlin", quiet_hours })).body).toMatchObject({
      name: "New",
      timezone: "Europe/Berlin",
      quiet_hours,
    });
    expect((await patch({ quiet_hours: null })).body.quiet_hours).toBeNull();
    expect(Object.keys((await patch({ timezone: "Mars/Olympus" })).body.fields)).toEqual(["timezone"]);
    expect((await tenant.call("GET /api/v1/workspace")).body.email_consent_mode).toBe("opt_out");
  });

  it("the currency of revenue is said to those who sign in, until it is taken back (CNV-6)", async () => {
    const tenant = await world.tenant();
    const patch = (currency: string | null) => tenant.call("PATCH /api/v1/workspace", { currency });
    const said = async () => (await tenant.call("GET /api/v1/me")).body.tenant.currency;
    expect(await said()).toBeNull();
    expect((await patch("EUR")).body.currency).toBe("EUR");
    expect((await patch("euro")).body.fields).toEqual({ currency: "must be an ISO 4217 code such as EUR" });
    expect(await said()).toBe("EUR");
    await patch(null);
    expect(await said()).toBeNull();
  });
});

describe("registration", () => {
  const account = {
    email: "owner@example.com",
    password: "Correct-Horse-9-Battery",
    name: "Owner",
    workspace_name: "Shop",
  };
  const register = (of: TestWorld) => of.call("POST /api/v1/auth/register", { body: account });

  describe("where registration is closed", () => {
    beforeEach(async () => {
      world = await testWorld({ env: { REGISTRATION: "closed" } });
    });

    it("a stranger makes no workspace (D-AUTH)", async () => {
      expect(await register(world)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    });

    it("the operator makes a workspace, whose owner then logs in (D-AUTH)", async () => {
      const made = await operate({ register: { ...account, plan: "growth" } });
      const { email, password } = account;
      const session = await world.call("POST /api/v1/auth/login", { body: { email, password } });

      expect(made).toMatchObject({ workspace: { name: "Shop", plan: "growth" }, usage: { sends: 0, events: 0 } });
      expect(session).toMatchObject({ status: 200, body: { tenant: { role: "owner" } } });
    });

    it("the operator is told that an invited address could not register (D-AUTH)", async () => {
      expect(await operate({ invite: { email: account.email } })).toEqual({
        error: "conflict",
        message: expect.stringContaining("Registration is closed"),
      });
    });

    it("the operator is told of a password that is too weak (D-AUTH)", async () => {
      expect(await operate({ register: { ...account, password: "password" } })).toEqual({
        error: "invalid",
        fields: { password: expect.any(String) },
      });
    });

    it("the operator is told of an address that is taken (D-AUTH)", async () => {
      await operate({ register: account });

      expect(await operate({ register: account })).toMatchObject({ error: "conflict" });
    });
  });

  it("where registration is by invitation, an address registers that the operator invited within the last 7 days (D-AUTH)", async () => {
    world = await testWorld({ env: { REGISTRATION: "invite" } });
    expect((await register(world)).status).toBe(403);
    expect(await operate({ invite: { email: "nobody" } })).toMatchObject({ error: "invalid" });
    expect(await operate({ invite: { email: account.email.toUpperCase() } })).toMatchObject({
      invited: { until: expect.any(String) },
    });
    await world.advance(8 * 86_400_000);
    expect((await register(world)).status).toBe(403);
    await operate({ invite: { email: account.email } });
    expect((await register(world)).status).toBe(201);
  });
});
