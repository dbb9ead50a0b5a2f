// A subscriber as a person reads and edits it (RDA-20, RDA-7).
import { expect, it } from "vitest";
import { MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { addDevice, addPeople } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

it("a subscriber is read with its devices, consents, lists and segments (RDA-20)", async () => {
  const { world, tenant } = await withTenant();
  const consent = { channel: "email", status: "opted_in" as const, consented_at: timestamp(world.clock.now()) };
  const [id] = await addPeople(world, tenant, 1, () => ({ attributes: { plan: "pro" }, consent }));
  await addDevice(world, tenant, id!, "phone");
  const list = (await tenant.call("POST /api/v1/lists", { name: "friends" })).body;
  await tenant.call(`POST /api/v1/lists/${list.id}/subscribers`, { subscriber_ids: [id] });
  const body = { name: "Paying", is_dynamic: true, rule: { attribute: { plan: { $in: ["pro"] } } } };
  const segment = (await tenant.call("POST /api/v1/segments", body)).body;
  await world.settle();
  const read = () => tenant.call(`GET /api/v1/subscribers/${id}`);
  expect((await read()).body).toMatchObject({
    id,
    external_id: "p0",
    devices: [{ id: "phone", platform: "ios" }],
    consents: [consent],
    lists: [{ id: list.id, name: "friends" }],
    segments: [{ id: segment.id, name: "Paying" }],
  });

  // RDA-7: who is edited leaves the segment.
  const patched = await world.call(`PATCH /api/v1/subscribers/${id}`, {
    as: await tenant.dashboard("developer"),
    body: { email: "ada@example.com", attributes: { plan: "free" }, timezone: "Europe/Berlin" },
  });
  expect(patched.status).toBe(200);
  expect(patched.body.email).toBe("ada@example.com");
  expect(patched.body.external_id).toBe("p0");
  expect(JSON.parse(patched.body.attributes)).toEqual({ plan: "free", timezone: "Europe/Berlin" });
  await tenant.call(`DELETE /api/v1/lists/${list.id}`);
  await world.settle();
  expect((await read()).body).toMatchObject({ lists: [], segments: [] });
});

it("a consent is added to the history, and the newest one decides (RDA-7)", async () => {
  const { world, tenant } = await withTenant();
  const [id] = await addPeople(world, tenant, 1);
  const record = (body: object) => tenant.call(`POST /api/v1/subscribers/${id}/consents`, body);
  const now = world.clock.now();
  const out = await record({ channel: "sms", status: "opted_out", consented_at: timestamp(now) });
  expect(out.status).toBe(201);
  expect(out.body).toMatchObject({ status: "opted_out", source: "dashboard", express: false });
  const earlier = { channel: "sms", status: "opted_in", consented_at: timestamp(now - MINUTE), source: "a call" };
  expect((await record(earlier)).body).toMatchObject({ status: "opted_in", source: "a call", express: true });
  const { consents } = (await tenant.call(`GET /api/v1/subscribers/${id}`)).body;
  expect(consents).toEqual([{ channel: "sms", status: "opted_out", consented_at: timestamp(now) }]);
  const { items } = (await tenant.call(`GET /api/v1/subscribers/${id}/consents`)).body;
  expect(items).toHaveLength(2);
  const future = await record({ channel: "sms", status: "opted_in", consented_at: timestamp(now + 6 * MINUTE) });
  expect(future.status).toBe(422);
  expect(Object.keys(future.body.fields)).toEqual(["consented_at"]);
});

it("a subscriber of another workspace, or an erased one, is neither read nor edited (RDA-7, RDA-20)", async () => {
  const world = await fresh();
  const [tenant, other] = [await world.tenant(), await world.tenant()];
  const [foreign] = await addPeople(world, other, 1);
  const [gone] = await addPeople(world, tenant, 1);
  await tenant.call(`DELETE /api/v1/subscribers/${gone}`);
  for (const id of [foreign, gone, "0190a1b2-0000-7000-8000-000000000000"]) {
    const calls = [
      tenant.call(`GET /api/v1/subscribers/${id}`),
      tenant.call(`PATCH /api/v1/subscribers/${id}`, { email: "eve@example.com" }),
      tenant.call(`POST /api/v1/subscribers/${id}/consents`, { status: "opted_in" }),
    ];
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([404, 404, 404]);
  }
  const { items } = (await other.call("GET /api/v1/subscribers")).body;

  expect(items.map(({ email }: { email?: string }) => email)).toEqual([undefined]);
});

it("an address with an international domain is stored in ASCII and found in either form (AMB-128)", async () => {
  const { world, tenant } = await withTenant();
  const body = { external_id: "uma", email: "uma@exämple.com" };
  const upserted = await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body });
  expect(upserted.status).toBe(200);
  expect(upserted.body.email).toBe("uma@xn--exmple-cua.com");

  const filters = ["uma%40ex%C3%A4mple.com", "uma%40xn--exmple-cua.com"];
  const lists = await Promise.all(filters.map((email) => tenant.call(`GET /api/v1/subscribers?email=${email}`)));
  expect(lists.map((list) => list.body.items.length)).toEqual([1, 1]);
});
