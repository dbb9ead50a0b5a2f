// A subscriber as a person reads and edits it (RDA-20, RDA-7).
import { describe, expect, it } from "vitest";
import { MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { changeMembers } from "../../shared/store/lists/memberships.ts";
import { addDevice, addPeople } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();

/** A subscriber who pays, with a device and a consent, on a list and in a segment. */
async function member() {
  const { world, tenant } = await withTenant();
  const consent = { channel: "email", status: "opted_in" as const, consented_at: timestamp(world.clock.now()) };
  const [id = ""] = await addPeople(world, tenant, 1, () => ({ attributes: { plan: "pro" }, consent }));
  await addDevice(world, tenant, id, "phone");
  const list = (await tenant.call("POST /api/v1/lists", { name: "friends" })).body;
  await tenant.call(`POST /api/v1/lists/${list.id}/subscribers`, { subscriber_ids: [id] });
  const body = { name: "Paying", is_dynamic: true, rule: { attribute: { plan: { $in: ["pro"] } } } };
  const segment = (await tenant.call("POST /api/v1/segments", body)).body;
  await world.settle();
  const read = async () => (await tenant.call(`GET /api/v1/subscribers/${id}`)).body;
  return { world, tenant, id, consent, list, segment, read };
}

it("a subscriber is read with its devices, consents, lists and segments (RDA-20)", async () => {
  const { id, consent, list, segment, read } = await member();

  expect(await read()).toMatchObject({
    id,
    external_id: "p0",
    devices: [{ id: "phone", platform: "ios" }],
    consents: [consent],
    lists: [{ id: list.id, name: "friends" }],
    segments: [{ id: segment.id, name: "Paying" }],
  });
});

it("a subscriber is read with its dynamic and static segments, the newest first, and the timeline has both (RDA-20, RDA-5)", async () => {
  const { world, tenant, id, read } = await member();
  const rule = { attribute: { external_id: { $exists: true } } };
  await tenant.call("POST /api/v1/segments", { name: "Everybody", rule });
  await world.settle();

  const names = (await read()).segments.map(({ name }: { name: string }) => name);
  expect(names).toEqual(["Everybody", "Paying"]);
  const { items } = (await tenant.call(`GET /api/v1/subscribers/${id}/timeline?kinds=segment`)).body;
  expect(items.map(({ title }: { title: string }) => title).sort()).toEqual(names);
});

it("a subscriber is read with a segment that is older than a hundred which it has left (RDA-20)", async () => {
  const { world, tenant, id, segment, read } = await member();
  await world.advance(MINUTE);
  for (let n = 0; n < 101; n++) {
    const group = { kind: "segment", id: world.ids.uuidAt(world.clock.now()) } as const;
    await changeMembers(tenant.store, group, { enter: [id] });
    await changeMembers(tenant.store, group, { leave: [id] });
  }

  expect((await read()).segments).toMatchObject([{ id: segment.id }]);
});

it("a subscriber who is edited keeps what was not named, and leaves the segment that no longer fits (RDA-7)", async () => {
  const { world, tenant, id, read } = await member();
  const change = { email: "ada@example.com", attributes: { plan: "free" }, timezone: "Europe/Berlin" };

  const { status, body } = await world.call(`PATCH /api/v1/subscribers/${id}`, {
    as: await tenant.dashboard("developer"),
    body: change,
  });
  await world.settle();

  expect(status).toBe(200);
  expect(body).toMatchObject({ email: "ada@example.com", external_id: "p0" });
  expect(JSON.parse(body.attributes)).toEqual({ plan: "free", timezone: "Europe/Berlin" });
  expect((await read()).segments).toEqual([]);
});

it("a subscriber is read with the newest list first (RDA-20)", async () => {
  const { world, tenant, id, read } = await member();
  await world.advance(MINUTE);
  const list = (await tenant.call("POST /api/v1/lists", { name: "newer" })).body;
  await tenant.call(`POST /api/v1/lists/${list.id}/subscribers`, { subscriber_ids: [id] });

  expect((await read()).lists.map(({ name }: { name: string }) => name)).toEqual(["newer", "friends"]);
});

it("a subscriber is read without a list that was deleted (RDA-20)", async () => {
  const { world, tenant, list, read } = await member();

  await tenant.call(`DELETE /api/v1/lists/${list.id}`);
  await world.settle();

  expect((await read()).lists).toEqual([]);
});

describe("consents that a person records", () => {
  async function recording() {
    const { world, tenant, ids } = await withPeople(1);
    const route = `/api/v1/subscribers/${ids[0]}`;
    const record = (status: string, minutes: number, more: object = {}) => {
      const consented_at = timestamp(world.clock.now() + minutes * MINUTE);
      return tenant.call(`POST ${route}/consents`, { channel: "sms", status, consented_at, ...more });
    };
    return { tenant, route, record };
  }

  it("a consent has the dashboard as its source, unless another is named (RDA-7)", async () => {
    const { record } = await recording();

    expect(await record("opted_out", 0)).toMatchObject({
      status: 201,
      body: { status: "opted_out", source: "dashboard", express: false },
    });
    expect((await record("opted_in", 0, { source: "a call" })).body).toMatchObject({ source: "a call", express: true });
  });

  it("a consent is added to the history, and the newest one decides (RDA-7)", async () => {
    const { tenant, route, record } = await recording();
    const { consented_at } = (await record("opted_out", 0)).body;

    await record("opted_in", -1);

    const { consents } = (await tenant.call(`GET ${route}`)).body;
    expect(consents).toEqual([{ channel: "sms", status: "opted_out", consented_at }]);
    expect((await tenant.call(`GET ${route}/consents`)).body.items).toHaveLength(2);
  });

  it("a consent of the future is refused with 422 (RDA-7)", async () => {
    const { record } = await recording();

    const { status, body } = await record("opted_in", 6);

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual(["consented_at"]);
  });
});

it("a subscriber who was erased is neither read nor edited: 404 (RDA-7, RDA-20)", async () => {
  const { tenant, ids } = await withPeople(1);
  const route = `/api/v1/subscribers/${ids[0]}`;
  await tenant.call(`DELETE ${route}`);

  expect((await tenant.call(`GET ${route}`)).status).toBe(404);
  expect((await tenant.call(`PATCH ${route}`, { email: "eve@example.com" })).status).toBe(404);
  expect((await tenant.call(`POST ${route}/consents`, { status: "opted_in" })).status).toBe(404);
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
