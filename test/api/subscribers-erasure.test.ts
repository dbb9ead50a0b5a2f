// Erasure of subscribers: effective at once for every caller, and complete soon after (SUB-8 to SUB-14).

import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { addDevice, addPeople, inboxOf, send, wholeTable } from "../support/people.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
/** A time to live that does not end during a test. */
const NEVER = Number.MAX_SAFE_INTEGER;

const erase = async (tenant: Tenant, id: string) => tenant.call(`DELETE /api/v1/subscribers/${id}`);

const upsert = async (world: TestWorld, tenant: Tenant, body: object) =>
  (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;

describe("delete", () => {
  it("answers 204 without a body, and the subscriber is gone at once (SUB-8)", async () => {
    const { world, tenant } = await withTenant();
    const [id, other] = (await addPeople(world, tenant, 2)) as [string, string];
    const answer = await erase(tenant, id);
    expect([answer.status, answer.body]).toEqual([204, ""]);
    expect((await tenant.call(`GET /api/v1/subscribers/${id}`)).status).toBe(404);
    expect((await tenant.call(`GET /api/v1/subscribers/${id}/consents`)).status).toBe(404);
    const { items } = (await world.call("GET /v1/subscribers", { as: tenant.server })).body;
    expect(items.map((one: { id: string }) => one.id)).toEqual([other]);
  });

  it("an erased subscriber is skipped by the next send (SUB-8)", async () => {
    const { world, tenant } = await withTenant();
    const [id, other] = (await addPeople(world, tenant, 2)) as [string, string];
    await erase(tenant, id);
    const all = await send(world, tenant, { target: { type: "all" } });
    expect(all.answer.sent).toBe(1);
    const given = await send(world, tenant, { subscriberIds: [id, other] });
    expect(given.answer.sent).toBe(1);
    expect(given.job.skip_reasons).toEqual({ unknown_subscriber: 1 });
  });

  it("an external_id that is created again is another subscriber, three times over (SUB-8, SUB-5)", async () => {
    const { world, tenant } = await withTenant();
    const ids: string[] = [];
    for (let generation = 0; generation < 4; generation++) {
      const made = await upsert(world, tenant, { external_id: "ada", attributes: { generation } });
      const again = await upsert(world, tenant, { external_id: "ada" });
      expect(again.id).toBe(made.id);
      expect(JSON.parse(again.attributes)).toEqual({ generation });
      ids.push(made.id);
      if (generation < 3) expect((await erase(tenant, made.id)).status).toBe(204);
      if (generation % 2) await world.advance(2 * MINUTE);
    }
    expect(new Set(ids).size).toBe(4);
    const { items } = (await world.call("GET /v1/subscribers?external_id=ada", { as: tenant.server })).body;
    expect(items.map(({ id }: { id: string }) => id)).toEqual([ids[3]]);
  });

  it("an upsert during an erasure creates a new subscriber, which is kept (SUB-8)", async () => {
    const { world, tenant } = await withTenant();
    const first = await upsert(world, tenant, { external_id: "ada", consent: { status: "opted_in" } });
    await erase(tenant, first.id);
    const second = await upsert(world, tenant, { external_id: "ada", consent: { status: "opted_in" } });
    await world.settle();
    await world.advance(5 * MINUTE);
    expect((await tenant.call(`GET /api/v1/subscribers/${second.id}`)).body).toMatchObject(second);
    expect((await tenant.call(`GET /api/v1/subscribers/${second.id}/consents`)).body.items).toHaveLength(1);
  });
});

describe("traces", () => {
  it("no row of the table names the subscriber afterwards: profile, devices, inbox, consents (SUB-9, SUB-10)", async () => {
    const { world, tenant } = await withTenant();
    const canary = "canary-7f3a";
    const person = {
      external_id: `${canary}-external`,
      email: `${canary}@example.com`,
      phone: "+4915112345678",
      attributes: { note: `${canary}-attribute` },
      consent: { status: "opted_in", source: `${canary}-source`, ip: "198.51.100.77", text: `${canary}-text` },
    };
    const { id } = await upsert(world, tenant, person);
    const [other] = (await addPeople(world, tenant, 1)) as [string];
    await addDevice(world, tenant, id, "phone", {
      token: `${canary}-token`,
      os_version: { major: 17, minor: 1, patch: 0 },
    });
    const { job } = await send(world, tenant, {
      target: { type: "all" },
      title: "Hi {{ subscriber.attributes.note | default: 'you' }}",
    });
    const [message] = await inboxOf(world, tenant, id);
    expect(message.content.title).toContain(canary);
    await world.call(`POST /v1/in-app/messages/${message.id}/read`, { as: tenant.sdk, body: { subscriber_id: id } });
    await world.call("POST /v1/in-app/messages/read", { as: tenant.sdk, body: { subscriber_id: other } });
    const holds = async (text: string) =>
      (await wholeTable(world)).filter((item) => JSON.stringify(item).includes(text));
    expect((await holds(canary)).length).toBeGreaterThan(3);

    expect((await erase(tenant, id)).status).toBe(204);
    await world.settle();
    expect(await holds(canary)).toEqual([]);
    expect(await holds("4915112345678")).toEqual([]);
    expect(await holds("198.51.100.77")).toEqual([]);
    const left = (await wholeTable(world)).filter(
      ({ pk, sk }) => pk.S.endsWith(`#U#${id}`) || sk.S.startsWith(`${id}#`),
    );
    expect(left).toEqual([]);
    expect(await inboxOf(world, tenant, id)).toEqual([]);

    expect(await inboxOf(world, tenant, other)).toHaveLength(1);
    const { body } = await tenant.call(`GET /api/v1/notifications/${job.id}`);
    expect(body.counts).toEqual(job.counts);
  });

  it("rows that are written during the erasure are removed by the second pass (SUB-9)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    await erase(tenant, id);
    await world.settle();
    await addDevice(world, tenant, id, "late", { token: "late-canary" });
    const late = { job: world.ids.uuid(), content: toJson({ title: "late-canary", body: "" }), expires: NEVER };
    await tenant.store.put(Message, { subscriber: id, message: world.ids.uuid() }, late);
    await world.advance(30 * SECOND);
    expect(JSON.stringify(await wholeTable(world))).toContain("late-canary");
    await world.advance(2 * MINUTE);
    expect(JSON.stringify(await wholeTable(world))).not.toContain("late-canary");
  });

  it("a subscriber with hundreds of messages loses them all (SUB-9)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const content = toJson({ title: "Long", body: "x".repeat(3_000) });
    const row = { job: world.ids.uuid(), content, expires: NEVER };
    const messages = Array.from({ length: 700 }, () => world.ids.uuid());
    await tenant.store.writeAll(messages.map((message) => putItem(Message, { subscriber: id, message }, row)));
    await erase(tenant, id);
    await world.settle();
    expect((await wholeTable(world)).filter(({ pk }) => pk.S.endsWith(`#U#${id}`))).toEqual([]);
  });
});

describe("bulk delete", () => {
  const bulk = async (tenant: Tenant, subscriber_ids: unknown) =>
    tenant.call("POST /api/v1/subscribers/bulk-delete", { subscriber_ids });

  it("deletes what it finds and lists the rest; foreign ids are not found and stay (SUB-12, SUB-13, GEN-8)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const [a, b, kept] = (await addPeople(world, tenant, 3)) as [string, string, string];
    const [foreign] = (await addPeople(world, other, 1)) as [string];
    const answer = await bulk(tenant, [a, UNKNOWN, b, foreign]);
    expect([answer.status, answer.body]).toEqual([200, { deleted: 2, not_found: [UNKNOWN, foreign] }]);
    const { items } = (await world.call("GET /v1/subscribers", { as: tenant.server })).body;
    expect(items.map(({ id }: { id: string }) => id)).toEqual([kept]);
    expect((await world.call("GET /v1/subscribers", { as: other.server })).body.items).toHaveLength(1);
  });

  it("repeats count once, whatever the case of the letters (AMB-36)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const answer = await bulk(tenant, [id, id, id.toUpperCase(), UNKNOWN, UNKNOWN]);
    expect(answer.body).toEqual({ deleted: 1, not_found: [UNKNOWN] });
  });

  it("takes 1,000 ids and erases them all (SUB-12, LIM-7)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 1_000);
    expect((await bulk(tenant, ids)).body).toEqual({ deleted: 1_000, not_found: [] });
    expect((await world.call("GET /v1/subscribers", { as: tenant.server })).body.items).toEqual([]);
  });

  it("an erased subscriber is not part of the next audience, nor of its count (SUB-12)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 30);
    await bulk(tenant, ids.slice(10));
    await world.settle();
    expect((await send(world, tenant, { target: { type: "all" } })).job.counts.total).toBe(10);
  });

  it.each([
    [
      "1,001 ids",
      Array.from({ length: 1_001 }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`),
      "subscriber_ids",
    ],
    ["a string that is no UUID", [UNKNOWN, "nonsense"], "subscriber_ids[1]"],
    ["a number", [7], "subscriber_ids[0]"],
  ])("answers 422 for %s (SUB-14, LIM-7, AMB-36)", async (_, ids, field) => {
    const { tenant } = await withTenant();
    const { status, body } = await bulk(tenant, ids);
    expect([status, body.code, Object.keys(body.fields)]).toEqual([422, "VALIDATION_ERROR", [field]]);
  });
});
