// Upsert of subscribers: from clients (SUB-1 to SUB-7, SUB-17), attributes (D-ATTR) and consent (D-CONSENT).
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { type Answer, START, type Tenant, type TestWorld } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const upsert = (world: TestWorld, tenant: Tenant, body: unknown): Promise<Answer> =>
  world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body });

const attributesOf = ({ body }: Answer) => JSON.parse(body.attributes);

describe("upsert", () => {
  it("an upsert is answered with exactly the subscriber's fields, attributes as text (SUB-1, SUB-3, SUB-5, GEN-2, GEN-3)", async () => {
    const { world, tenant } = await withTenant();
    const body = { external_id: "ada", email: "ada@example.com", attributes: { plan: "pro", age: 36 } };
    const answer = await upsert(world, tenant, body);
    expect(answer.status).toBe(200);
    const now = new Date(START).toISOString();
    expect(answer.body).toEqual({
      id: expect.stringMatching(UUID),
      external_id: "ada",
      email: "ada@example.com",
      attributes: expect.any(String),
      created_at: now,
      updated_at: now,
    });
    expect(attributesOf(answer)).toEqual({ plan: "pro", age: 36 });
  });

  it("a subscriber leaves email out where there is none, and has an empty object as attributes (SUB-1, SUB-3)", async () => {
    const { world, tenant } = await withTenant();
    const { body } = await upsert(world, tenant, { external_id: "ada" });

    expect(body).not.toHaveProperty("email");
    expect(body.attributes).toBe("{}");
  });

  it("a repeated upsert keeps id and created_at and moves updated_at (SUB-2, SUB-6)", async () => {
    const { world, tenant } = await withTenant();
    const first = (await upsert(world, tenant, { external_id: "ada" })).body;
    await world.advance(90 * SECOND);
    const second = (await upsert(world, tenant, { external_id: "ada" })).body;
    expect(second.id).toBe(first.id);
    expect(second.created_at).toBe(first.created_at);
    expect(second.updated_at).toBe(new Date(START + 90 * SECOND).toISOString());
    const list = await world.call("GET /v1/subscribers", { as: tenant.server });
    expect(list.body.items).toHaveLength(1);
  });

  it("racing upserts of one external_id make one subscriber (SUB-2, SUB-6)", async () => {
    const { world, tenant } = await withTenant();
    const keys = ["a", "b", "c", "d", "e", "f"];
    const answers = await Promise.all(
      keys.map((key) => upsert(world, tenant, { external_id: "ada", attributes: { [key]: 1 } })),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const last = await upsert(world, tenant, { external_id: "ada" });
    expect(Object.keys(attributesOf(last)).sort()).toEqual(keys);
  });

  it("the same external_id is another subscriber in another workspace, and two subscribers may have one email (GEN-8, AMB-45)", async () => {
    const world = await fresh();
    const [one, two] = [await world.tenant(), await world.tenant()];
    const ids = [
      (await upsert(world, one, { external_id: "ada", email: "a@example.com" })).body.id,
      (await upsert(world, two, { external_id: "ada", email: "a@example.com" })).body.id,
      (await upsert(world, one, { external_id: "bob", email: "a@example.com" })).body.id,
    ];

    expect(new Set(ids).size).toBe(3);
  });

  const untouched = shared((own) => own.withTenant());
  it.each([
    ["email", { external_id: "a", email: "nobody" }],
    ["email", { external_id: "a", email: "" }],
    ["attributes", { external_id: "a", attributes: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [i, 1])) }],
    ["phone", { external_id: "a", phone: "555-1234" }],
    ["timezone", { external_id: "a", timezone: "Mars/Olympus" }],
    ["locale", { external_id: "a", locale: "not a locale" }],
    ["consent.channel", { external_id: "a", consent: { status: "opted_in", channel: "fax" } }],
  ])("an upsert is refused with 422 naming %s (SUB-7, AMB-84)", async (field, body) => {
    const { world, tenant } = await untouched();
    const answer = await upsert(world, tenant, body);

    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(answer.body.fields)).toEqual([field]);
  });

  it("attributes that grow too large over several calls are 422, and the subscriber stays unchanged (SUB-7)", async () => {
    const { world, tenant } = await withTenant();
    for (const key of ["a", "b", "c"])
      await upsert(world, tenant, { external_id: "ada", attributes: { [key]: "x".repeat(95_000) } });
    const before = (await upsert(world, tenant, { external_id: "ada" })).body;
    const answer = await upsert(world, tenant, {
      external_id: "ada",
      attributes: { d: "x".repeat(95_000), e: "x".repeat(95_000) },
    });

    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.fields)).toEqual(["attributes"]);
    expect((await upsert(world, tenant, { external_id: "ada" })).body).toEqual(before);
  });

  it("only a net-new subscriber counts: updates do not (SUB-17, GEN-8)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    for (const external_id of ["a", "b", "a", "a"]) await upsert(world, tenant, { external_id });
    await world.settle();
    const body = { target: { type: "all" }, title: "t", body: "b" };
    const sent = async (who: Tenant) => (await who.call("POST /api/v1/notifications", body)).body.sent;

    expect(await sent(tenant)).toBe(2);
    expect(await sent(other)).toBe(0);
  });
});

describe("attributes", () => {
  it("attributes of a subscriber merge one level deep, and null removes a key (AMB-44)", async () => {
    const { world, tenant } = await withTenant();
    await upsert(world, tenant, { external_id: "ada", attributes: { a: 1, b: { x: 1, y: 2 }, c: "old" } });
    const answer = await upsert(world, tenant, {
      external_id: "ada",
      attributes: { b: { z: 3 }, c: null, d: [1, "two"] },
    });

    expect(attributesOf(answer)).toEqual({ a: 1, b: { z: 3 }, d: [1, "two"] });
  });

  it("attributes keep values as they were sent, whatever the key is called (SUB-3)", async () => {
    const { world, tenant } = await withTenant();
    const attributes = {
      "a.b": 0.1,
      "#name": "",
      ":v": false,
      naïve: [null, { deep: [] }],
      id: "mine",
      pk: "mine",
      react: "x",
    };
    const answer = await upsert(world, tenant, { external_id: "ada", attributes });

    expect(attributesOf(answer)).toEqual(attributes);
    expect(answer.body.id).not.toBe("mine");
  });

  it("an email of null removes it, an omitted one stays (SUB-5)", async () => {
    const { world, tenant } = await withTenant();
    await upsert(world, tenant, { external_id: "ada", email: "ada@example.com" });

    expect((await upsert(world, tenant, { external_id: "ada" })).body.email).toBe("ada@example.com");
    expect((await upsert(world, tenant, { external_id: "ada", email: null })).body).not.toHaveProperty("email");
  });

  it("phone, timezone and locale at the top level are written into the attributes (D-ATTR)", async () => {
    const { world, tenant } = await withTenant();
    const reserved = { phone: "+4930123456", timezone: "Europe/Berlin", locale: "de-DE" };
    const answer = await upsert(world, tenant, { external_id: "ada", ...reserved, attributes: { first_name: "Ada" } });
    expect(attributesOf(answer)).toEqual({ ...reserved, first_name: "Ada" });
    expect(Object.keys(answer.body)).not.toContain("phone");
    const after = await upsert(world, tenant, { external_id: "ada", phone: null });
    expect(attributesOf(after)).toEqual({ timezone: "Europe/Berlin", locale: "de-DE", first_name: "Ada" });
  });
});

describe("consent", () => {
  const consents = async (tenant: Tenant, id: string) => tenant.call(`GET /api/v1/subscribers/${id}/consents`);

  it("an assertion is recorded with its evidence, and the answer stays exactly SUB-1 (SUB-4, D-CONSENT)", async () => {
    const { world, tenant } = await withTenant();
    const consented_at = "2026-11-19T08:00:00.000Z";
    const consent = {
      status: "opted_in",
      consented_at,
      source: "footer form",
      ip: "198.51.100.4",
      text: "Yes, please",
    };
    const { status, body } = await upsert(world, tenant, { external_id: "ada", consent });
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(["attributes", "created_at", "external_id", "id", "updated_at"]);
    const { body: history } = await consents(tenant, body.id);
    expect(history.items).toEqual([
      {
        id: expect.stringMatching(UUID),
        subscriber_id: body.id,
        channel: "email",
        status: "opted_in",
        express: true,
        consented_at,
        source: "footer form",
        evidence: { ip: "198.51.100.4", text: "Yes, please", import_job_id: null },
        recorded_at: new Date(START).toISOString(),
      },
    ]);
  });

  it("the history of consents is append-only, newest first, and a client may withdraw (D-CONSENT)", async () => {
    const { world, tenant } = await withTenant();
    const { id } = (await upsert(world, tenant, { external_id: "ada", consent: { status: "opted_in" } })).body;
    await world.advance(MINUTE);
    await upsert(world, tenant, { external_id: "ada", consent: { status: "opted_out" } });
    const { items } = (await consents(tenant, id)).body;

    expect(items.map(({ status, express }: { status: string; express: boolean }) => [status, express])).toEqual([
      ["opted_out", false],
      ["opted_in", true],
    ]);
  });

  it("an assertion older than the newest is kept in the history and changes the rest of the subscriber (D-CONSENT)", async () => {
    const { world, tenant } = await withTenant();
    await upsert(world, tenant, { external_id: "ada", consent: { status: "opted_out" } });
    const older = { status: "opted_in", consented_at: "2026-01-01T00:00:00Z" };
    const { body } = await upsert(world, tenant, { external_id: "ada", attributes: { a: 1 }, consent: older });
    expect(JSON.parse(body.attributes)).toEqual({ a: 1 });
    const profile = await tenant.rows.get({ pk: `T#${tenant.id}#S${body.id[0]}`, sk: body.id });
    expect(profile?.["c:email"]).toBe("opted_out");
    expect((await consents(tenant, body.id)).body.items).toHaveLength(2);
  });

  it.each(["sdk", "server"] as const)(
    "of two assertions of one time, by a key of kind %s, the one that came later counts (D-CONSENT)",
    async (kind) => {
      const { world, tenant } = await withTenant();
      const as = kind === "sdk" ? tenant.sdk : await tenant.backend("subscribers:write");
      const route = kind === "sdk" ? "POST /api/v1/subscribers/upsert" : "POST /v1/subscribers/upsert";
      const consented_at = "2026-01-01T00:00:00.000Z";
      const say = (status: string) =>
        world.call(route, { as, body: { external_id: "ada", consent: { status, consented_at } } });
      const { id } = (await say("opted_in")).body;
      for (const status of ["opted_out", "opted_in"]) {
        expect((await say(status)).status).toBe(200);
        expect((await tenant.call(`GET /api/v1/subscribers/${id}`)).body.consents).toMatchObject([{ status }]);
      }
    },
  );

  it("consented_at may be five minutes ahead; beyond it is 422 and nothing is written (D-CONSENT, AMB-117)", async () => {
    const { world, tenant } = await withTenant();
    const consentAt = (at: number) => ({ status: "opted_in", consented_at: new Date(at).toISOString() });
    const beyond = { external_id: "ada", consent: consentAt(START + 5 * MINUTE + 1) };
    const answer = await upsert(world, tenant, beyond);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.fields)).toEqual(["consent.consented_at"]);
    expect((await world.call("GET /v1/subscribers", { as: tenant.server })).body.items).toEqual([]);
    const ahead = await upsert(world, tenant, { external_id: "ada", consent: consentAt(START + 5 * MINUTE) });
    expect(ahead.status).toBe(200);
  });

  it("an opt-out after an opt-in from a clock ahead of ours counts at once (AMB-117, AMB-131)", async () => {
    const { world, tenant } = await withTenant();
    const ahead = { status: "opted_in", consented_at: new Date(START + 4 * MINUTE).toISOString() };
    const { id } = (await upsert(world, tenant, { external_id: "ada", consent: ahead })).body;
    await world.advance(SECOND);
    await upsert(world, tenant, { external_id: "ada", consent: { status: "opted_out" } });
    const profile = await tenant.rows.get({ pk: `T#${tenant.id}#S${id[0]}`, sk: id });

    expect(profile?.["c:email"]).toBe("opted_out");
    expect((await consents(tenant, id)).body.items[1].consented_at).toBe(new Date(START).toISOString());
  });
});
