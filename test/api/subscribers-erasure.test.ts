// Erasure of subscribers: effective at once for every caller, and complete soon after (SUB-8 to SUB-14).
import { describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { noteDeliveries } from "../../shared/store/webhooks/deliveries.ts";
import { addDevice, addPeople, inboxOf, send, wholeTable } from "../support/people.ts";
import { type Tenant, type TestWorld, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
/** A time to live that does not end during a test. */
const NEVER = Number.MAX_SAFE_INTEGER;

const erase = async (tenant: Tenant, id: string) => tenant.call(`DELETE /api/v1/subscribers/${id}`);

const idsListed = async (world: TestWorld, tenant: Tenant, query = ""): Promise<string[]> => {
  const { items } = (await world.call(`GET /v1/subscribers${query}`, { as: tenant.server })).body;
  return items.map(({ id }: { id: string }) => id);
};

describe("the deletion of a subscriber", () => {
  it("a deletion is answered with 204, and the subscriber is gone at once (SUB-8)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const [id, other] = ids as [string, string];

    const answer = await erase(tenant, id);

    expect(answer).toMatchObject({ status: 204, body: "" });
    expect((await tenant.call(`GET /api/v1/subscribers/${id}`)).status).toBe(404);
    expect((await tenant.call(`GET /api/v1/subscribers/${id}/consents`)).status).toBe(404);
    expect(await idsListed(world, tenant)).toEqual([other]);
  });

  it("an erased subscriber is not sent to with all others (SUB-8)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    await erase(tenant, ids[0]!);

    expect((await send(world, tenant, { target: { type: "all" } })).answer.sent).toBe(1);
  });

  it("an erased subscriber who is named by a send is skipped as unknown (SUB-8)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    await erase(tenant, ids[0]!);

    const { answer, job } = await send(world, tenant, { subscriberIds: ids });

    expect(answer.sent).toBe(1);
    expect(job.skip_reasons).toEqual({ unknown_subscriber: 1 });
  });

  it("an external_id that is created again is another subscriber, three times over (SUB-8, SUB-5)", async () => {
    const { world, tenant } = await withTenant();
    const ids: string[] = [];
    for (let generation = 0; generation < 4; generation++) {
      if (ids.length > 0) await erase(tenant, ids.at(-1)!);
      if (generation % 2 === 0) await world.advance(2 * MINUTE);

      ids.push(await tenant.upsert({ external_id: "ada", attributes: { generation } }));

      expect(await tenant.upsert({ external_id: "ada" })).toBe(ids.at(-1));
      const { attributes } = (await tenant.call(`GET /api/v1/subscribers/${ids.at(-1)}`)).body;
      expect(JSON.parse(attributes)).toEqual({ generation });
    }

    expect(new Set(ids).size).toBe(4);
    expect(await idsListed(world, tenant, "?external_id=ada")).toEqual([ids[3]]);
  });

  it("an upsert during an erasure creates a new subscriber, which is kept (SUB-8)", async () => {
    const { world, tenant } = await withTenant();
    const ada = { external_id: "ada", consent: { status: "opted_in" } };
    await erase(tenant, await tenant.upsert(ada));

    const second = await tenant.upsert(ada);
    await world.settle();
    await world.advance(5 * MINUTE);

    expect((await tenant.call(`GET /api/v1/subscribers/${second}`)).body).toMatchObject({ external_id: "ada" });
    expect((await tenant.call(`GET /api/v1/subscribers/${second}/consents`)).body.items).toHaveLength(1);
  });
});

describe("what an erasure leaves", () => {
  const MARK = "canary-7f3a";
  const holding = async (world: TestWorld, text: string) =>
    (await wholeTable(world)).filter((item) => JSON.stringify(item).includes(text));

  /** A person with a mark in every field, who got a message and read it, and another who got it too; the first erased. */
  const erased = shared(async (own) => {
    const { world, tenant } = await own.withTenant();
    const id = await tenant.upsert({
      external_id: `${MARK}-external`,
      email: `${MARK}@example.com`,
      phone: "+4915112345678",
      attributes: { note: `${MARK}-attribute` },
      consent: { status: "opted_in", source: `${MARK}-source`, ip: "198.51.100.77", text: `${MARK}-text` },
    });
    const [other] = (await addPeople(world, tenant, 1)) as [string];
    const os_version = { major: 17, minor: 1, patch: 0 };
    await addDevice(world, tenant, id, "phone", { token: `${MARK}-token`, os_version });
    const title = "Hi {{ subscriber.attributes.note | default: 'you' }}";
    const { job } = await send(world, tenant, { target: { type: "all" }, title });
    const [message] = await inboxOf(world, tenant, id);
    await world.call(`POST /v1/in-app/messages/${message.id}/read`, { as: tenant.sdk, body: { subscriber_id: id } });
    await world.call("POST /v1/in-app/messages/read", { as: tenant.sdk, body: { subscriber_id: other } });
    const marked = (await holding(world, MARK)).length;

    await erase(tenant, id);
    await world.settle();
    return { world, tenant, id, other, job, message, marked };
  });

  it("no row holds anything of an erased subscriber: profile, devices, messages, consents (SUB-9, SUB-10)", async () => {
    const { world, message, marked } = await erased();

    expect(message.content.title).toContain(MARK);
    expect(marked).toBeGreaterThan(3);
    for (const text of [MARK, "4915112345678", "198.51.100.77"]) expect(await holding(world, text), text).toEqual([]);
  });

  it("no row is kept under the id of an erased subscriber, whose inbox is empty (SUB-9)", async () => {
    const { world, tenant, id } = await erased();

    const rows = await wholeTable(world);

    expect(rows.filter(({ pk, sk }) => pk.S.endsWith(`#U#${id}`) || sk.S.startsWith(`${id}#`))).toEqual([]);
    expect(await inboxOf(world, tenant, id)).toEqual([]);
  });

  it("an erasure changes neither the counts of a send nor the inbox of anybody else (SUB-10)", async () => {
    const { world, tenant, other, job } = await erased();

    expect((await tenant.call(`GET /api/v1/notifications/${job.id}`)).body.counts).toEqual(job.counts);
    expect(await inboxOf(world, tenant, other)).toHaveLength(1);
  });

  it("why the suppression of an address was lifted is nowhere once its owner is erased (AMB-129, SUB-9)", async () => {
    const { world, tenant } = await withTenant();
    const address = "ada@example.com";
    const id = await tenant.upsert({ external_id: "ada", email: address });
    const suppression = (await tenant.call("POST /api/v1/suppressions", { address })).body.id;
    await tenant.call(`DELETE /api/v1/suppressions/${suppression}?reason=${MARK}`);
    expect(await holding(world, MARK)).toHaveLength(1);

    await erase(tenant, id);
    await world.settle();

    expect(await holding(world, MARK)).toEqual([]);
  });

  it("the log of a webhook that was deleted names nobody who is erased (SUB-9)", async () => {
    const { world, tenant } = await withTenant();
    const hook = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
    const { id } = (await tenant.call("POST /api/v1/webhooks", hook)).body;
    const ada = await tenant.upsert({ external_id: "canary-ada" });
    await world.settle();
    await tenant.call(`DELETE /api/v1/webhooks/${id}`);

    await erase(tenant, ada);
    await world.advance(5 * MINUTE);

    expect(JSON.stringify(await wholeTable(world))).not.toContain("canary-ada");
  });

  it("the log of a webhook names nobody who is erased, whatever it told of them (SUB-9, SUB-10)", async () => {
    const { world, tenant } = await withTenant();
    const events = ["consent.changed", "subscriber.unsubscribed", "segment.entered"];
    const hook = { target_url: "https://hooks.example.com/in", events };
    const { id } = (await tenant.call("POST /api/v1/webhooks", hook)).body;
    const rule = { attribute: { plan: { $eq: "pro" } } };
    await tenant.call("POST /api/v1/segments", { name: "Pro", rule, is_dynamic: true });
    const people = [];
    for (const external_id of ["ada", "bob"]) {
      const person = await tenant.upsert({ external_id, attributes: { plan: "pro" } });
      await tenant.call(`POST /api/v1/subscribers/${person}/consents`, { channel: "email", status: "opted_out" });
      people.push(person);
    }
    await world.advance(MINUTE);
    const log = async () => (await tenant.call(`GET /api/v1/webhooks/${id}/deliveries`)).body.items;
    const about = async (person: string) =>
      (await log()).filter(({ payload }: { payload: object }) => JSON.stringify(payload).includes(person)).length;
    expect([await about(people[0]!), await about(people[1]!)]).toEqual([3, 3]);

    await erase(tenant, people[0]!);
    await world.advance(5 * MINUTE);

    expect([await about(people[0]!), await about(people[1]!), (await log()).length]).toEqual([0, 3, 6]);
  });

  it("rows of a subscriber that are written during the erasure are removed within minutes (SUB-9)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const [id] = ids as [string];
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

  it("the body of a delivery that is stored while its subscriber is erased is removed within minutes (SUB-9, SUB-10)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const [id] = ids as [string];
    const hook = { target_url: "https://hooks.example.com/in", events: ["consent.changed"] };
    const { id: webhook } = (await tenant.call("POST /api/v1/webhooks", hook)).body;
    const data = { subscriber_id: id, channel: "email", status: "opted_out", previous: null } as const;
    const occurrence = { event: "consent.changed", key: id, at: world.clock.now(), data, subscriber: id } as const;
    const put = async (...row: Parameters<typeof tenant.store.put>) => {
      await erase(tenant, id);
      await world.settle();
      return tenant.store.put(...row);
    };

    await noteDeliveries({ ...tenant.store, put: put as typeof tenant.store.put }, [{ webhook, occurrence }]);
    await world.advance(5 * MINUTE);

    const { items } = (await tenant.call(`GET /api/v1/webhooks/${webhook}/deliveries`)).body;
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items[0].payload)).not.toContain(id);
  });

  it("hundreds of messages of an erased subscriber are removed (SUB-9)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const [id] = ids as [string];
    const content = toJson({ title: "Long", body: "x".repeat(3_000) });
    const row = { job: world.ids.uuid(), content, expires: NEVER };
    const messages = Array.from({ length: 700 }, () => world.ids.uuid());
    await tenant.store.writeAll(messages.map((message) => putItem(Message, { subscriber: id, message }, row)));

    await erase(tenant, id);
    await world.settle();

    expect((await wholeTable(world)).filter(({ pk }) => pk.S.endsWith(`#U#${id}`))).toEqual([]);
  });
});

describe("the deletion of many", () => {
  const bulk = async (tenant: Tenant, subscriber_ids: unknown) =>
    tenant.call("POST /api/v1/subscribers/bulk-delete", { subscriber_ids });

  it("a deletion of many deletes whom it finds and lists the rest, also those of another workspace, who stay (SUB-12, SUB-13, GEN-8)", async () => {
    const { world, tenant, ids } = await withPeople(3);
    const other = await world.tenant();
    const [foreign] = (await addPeople(world, other, 1)) as [string];

    const answer = await bulk(tenant, [ids[0], UNKNOWN, ids[1], foreign]);

    expect(answer).toMatchObject({ status: 200, body: { deleted: 2, not_found: [UNKNOWN, foreign] } });
    expect(await idsListed(world, tenant)).toEqual([ids[2]]);
    expect(await idsListed(world, other)).toEqual([foreign]);
  });

  it("a deletion of many erases the properties of their events where it is asked to (SUB-12)", async () => {
    const { world, tenant, ids } = await withPeople(2);

    await tenant.call("POST /api/v1/subscribers/bulk-delete", { subscriber_ids: ids, erase_properties: true });
    await world.settle();

    for (const id of ids) expect((await tenant.call(`GET /api/v1/erasures/${id}`)).body.properties_erased).toBe(true);
  });

  it("an id that a deletion of many repeats counts once, whatever the case of its letters (AMB-36)", async () => {
    const { tenant, ids } = await withPeople(1);
    const [id] = ids as [string];

    const { body } = await bulk(tenant, [id, id, id.toUpperCase(), UNKNOWN, UNKNOWN]);

    expect(body).toEqual({ deleted: 1, not_found: [UNKNOWN] });
  });

  it("a deletion of many takes 1,000 ids (SUB-12, LIM-7)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await fill(world, tenant, 1_000);

    expect((await bulk(tenant, ids)).body).toEqual({ deleted: 1_000, not_found: [] });

    expect(await idsListed(world, tenant)).toEqual([]);
  });

  it("those who were deleted together are not part of the next audience, nor of its count (SUB-12)", async () => {
    const { world, tenant, ids } = await withPeople(30);

    await bulk(tenant, ids.slice(10));
    await world.settle();

    expect((await send(world, tenant, { target: { type: "all" } })).job.counts.total).toBe(10);
  });
});
