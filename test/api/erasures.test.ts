// The receipt of an erasure: counts of what was removed, signed (F14).
import { createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { mortal } from "../support/mortal.ts";
import { addPeople, send } from "../support/people.ts";
import { addPhone } from "../support/reached.ts";
import { lostReply, requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant, fresh } = worlds();

const receipt = async (tenant: Tenant, id: string) => tenant.call(`GET /api/v1/erasures/${id}`);

const buys = (subscriber_id: string) => ({ events: [{ event_name: "buy", subscriber_id }] });

async function countsOf(tenant: Tenant, id: string): Promise<Record<string, number>> {
  const { removed } = (await receipt(tenant, id)).body;
  return Object.fromEntries(removed.map(({ store, count }: { store: string; count: number }) => [store, count]));
}

async function listed(tenant: Tenant, id: string): Promise<void> {
  const list = (await tenant.call("POST /api/v1/lists", { name: "News" })).body.id;
  await tenant.call(`POST /api/v1/lists/${list}/subscribers`, { subscriber_ids: [id] });
}

async function erasedSubscriber(world: TestWorld, tenant: Tenant): Promise<string> {
  const person = { external_id: "ada", consent: { status: "opted_in" } };
  const { body } = await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: person });
  await send(world, tenant, { subscriberIds: [body.id] });
  await world.call("POST /v1/events", { as: tenant.server, body: buys(body.id) });
  await world.settle();
  await tenant.call(`DELETE /api/v1/subscribers/${body.id}`);
  return body.id;
}

describe("GET /api/v1/erasures/:id", () => {
  it("the receipt of an erasure counts what was removed by store, and is signed once nothing is left (F14)", async () => {
    const { world, tenant } = await withTenant();
    const id = await erasedSubscriber(world, tenant);
    const running = await receipt(tenant, id);
    expect(running.body).toMatchObject({ subscriber_id: id, state: "running", completed_at: null, receipt: null });
    await world.settle();
    await world.advance(5 * MINUTE);
    const { body } = await receipt(tenant, id);
    expect(body).toMatchObject({ state: "completed", exact: true, properties_erased: false });
    expect(body.removed).toEqual(
      expect.arrayContaining([
        { store: "events", count: 1 },
        { store: "sends", count: 1 },
        { store: "consents", count: 1 },
      ]),
    );
    const [key] = (await world.call("GET /.well-known/receipts.json")).body.keys;
    const [head, claims, signature] = body.receipt.split(".");
    const signed = (text: string) =>
      verify(null, Buffer.from(text), createPublicKey({ key, format: "jwk" }), Buffer.from(signature, "base64url"));
    expect(signed(`${head}.${claims}`)).toBe(true);
    expect(signed(`${head}.${claims}x`)).toBe(false);
    const { removed, tenant_id, sub } = JSON.parse(Buffer.from(claims, "base64url").toString());
    expect({ removed, tenant_id, sub }).toEqual({ removed: body.removed, tenant_id: tenant.id, sub: id });
  });

  it.each<[string, number, (tenant: Tenant, id: string, world: TestWorld) => Promise<unknown>]>([
    ["consents", 1, (tenant, id) => tenant.call(`POST /api/v1/subscribers/${id}/consents`, { status: "opted_out" })],
    [
      "events",
      1,
      ({ server: as }, subscriber_id, world) => world.call("POST /v1/events", { as, body: buys(subscriber_id) }),
    ],
    ["memberships", 1, listed],
    // With the row that leads from its token to it.
    ["devices", 2, (tenant, id, world) => addPhone(world, tenant, id, "ios")],
  ])(
    "of two people alike, one who had more has it counted under %s and nowhere else (F14)",
    async (store, count, more) => {
      const { world, tenant } = await withTenant();
      const [plain, richer] = (await addPeople(world, tenant, 2)) as [string, string];
      await more(tenant, richer, world);
      await world.settle();
      for (const id of [plain, richer]) await tenant.call(`DELETE /api/v1/subscribers/${id}`);
      await world.settle();
      await world.advance(5 * MINUTE);

      const [less, own] = await Promise.all([plain, richer].map((id) => countsOf(tenant, id)));
      const differing = Object.keys({ ...less, ...own }).filter((name) => less?.[name] !== own?.[name]);
      expect([differing, own]).toEqual([[store], { ...less, [store]: count }]);
    },
  );

  it("the receipt of an erasure adds up what is found at several places: a list and a segment (F14)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1, () => ({ attributes: { plan: "pro" } }))) as [string];
    await listed(tenant, id);
    const rule = { attribute: { plan: { $eq: "pro" } } };
    await tenant.call("POST /api/v1/segments", { name: "Pros", is_dynamic: false, rule });
    await world.settle();
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    await world.advance(5 * MINUTE);

    expect((await countsOf(tenant, id)).memberships).toBe(2);
  });

  it("the receipt of an erasure is no credential (F14)", async () => {
    const { world, tenant } = await withTenant();
    const id = await erasedSubscriber(world, tenant);
    await world.advance(5 * MINUTE);
    const { body } = await receipt(tenant, id);

    expect((await world.call("GET /api/v1/me", { as: { authorization: `Bearer ${body.receipt}` } })).status).toBe(401);
  });

  it("a worker that died after it had removed rows makes the counts estimates (F14)", async () => {
    const worker = mortal("erase");
    const world = await fresh({ hooks: worker.hooks });
    const tenant = await world.tenant();
    const id = await erasedSubscriber(world, tenant);
    worker.dieAt(8, "after");
    await world.settle();
    worker.revive();
    await world.advance(30 * MINUTE);

    expect((await receipt(tenant, id)).body).toMatchObject({ state: "completed", exact: false });
  });

  it.each(["passes_begun", "passes_ended"])(
    "where the reply to %s is lost, a receipt counts once and is exact (F14)",
    async (naming) => {
      const noting = requests({ of: "erase", naming, moment: "after" });
      const { world, tenant } = await withTenant({ hooks: noting.hooks });
      noting.next(lostReply);
      const id = await erasedSubscriber(world, tenant);
      await world.advance(5 * MINUTE);

      expect((await receipt(tenant, id)).body).toMatchObject({ state: "completed", exact: true });
      expect(await countsOf(tenant, id)).toMatchObject({ events: 1, sends: 1, consents: 1 });
      expect(noting.isAwaited()).toBe(false);
    },
  );

  it("there is no receipt of a living subscriber, an unknown one or another workspace's (F14)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const [living] = (await addPeople(world, tenant, 1)) as [string];
    const foreign = await erasedSubscriber(world, other);
    for (const id of [living, foreign, "nonsense"]) expect((await receipt(tenant, id)).status).toBe(404);
  });
});
