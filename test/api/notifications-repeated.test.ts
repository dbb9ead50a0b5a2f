// Sends that are repeated: a key makes one send of many requests (AMB-94, AMB-125, D-NTF).
import { expect, it } from "vitest";
import { DAY, HOUR, SECOND } from "../../shared/kernel/clock.ts";
import { inMs, post } from "../support/notify.ts";
import { inboxOf } from "../support/people.ts";
import { START, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
const everybody = { target: { type: "all" } };

/** A send to given people. */
const body = (ids: string[]) => ({ subscriberIds: ids, data: { n: 1 } });

it("a send repeated with its key gets 200, the first response and a header, and is sent once (AMB-94)", async () => {
  const { world, tenant, ids } = await withPeople(2);
  const key = { "idempotency-key": "order-7" };

  const first = await post(world, tenant, body(ids), key);
  const second = await post(world, tenant, body(ids), key);
  await world.settle();

  expect(first.status).toBe(201);
  expect(first.headers).not.toHaveProperty("idempotent-replayed");
  expect(second).toMatchObject({ status: 200, headers: { "idempotent-replayed": "true" }, body: first.body });
  expect(await inboxOf(world, tenant, ids[0]!)).toHaveLength(1);
});

it("a key in the header and one in the body of a send are the same (AMB-94)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  const first = await post(world, tenant, body(ids), { "idempotency-key": "order-7" });

  const second = await post(world, tenant, { ...body(ids), idempotency_key: "order-7" });

  expect(second).toMatchObject({ status: 200, body: first.body });
});

it("a send with the key of another send is refused with 409 (D-NTF)", async () => {
  const { world, tenant, ids } = await withPeople(2);
  await post(world, tenant, { ...body(ids), idempotency_key: "k" });

  const other = await post(world, tenant, { ...body(ids), title: "Other", idempotency_key: "k" });

  expect(other).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
});

it.each([
  ["at once", {}],
  ["later", { scheduled_at: new Date(START + DAY).toISOString() }],
])(
  "a send %s is answered with the given ids that are of no subscriber, and so is its repeat (AMB-125)",
  async (_, when) => {
    const { world, tenant, ids } = await withPeople(2);
    const strangers = Array.from({ length: 101 }, () => world.ids.uuid());
    const given = { subscriberIds: [...ids, ...strangers], ...when, idempotency_key: "k" };

    const { body } = await post(world, tenant, given);

    expect(body).toMatchObject({ unknown: 101, unknown_ids: strangers.slice(0, 100) });
    expect((await post(world, tenant, given)).body).toEqual(body);
  },
);

it("a scheduled send is answered with the given id of somebody who was erased (AMB-125)", async () => {
  const { world, tenant, ids } = await withPeople(2);
  await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);

  const { body } = await post(world, tenant, { subscriberIds: ids, scheduled_at: inMs(world, HOUR) });

  expect(body).toMatchObject({ unknown: 1, unknown_ids: [ids[0]] });
});

it("a send to everybody is not answered with unknown ids (AMB-125)", async () => {
  const { world, tenant } = await withTenant();

  expect((await post(world, tenant, everybody)).body).not.toHaveProperty("unknown");
});

it("requests with one key at the same time make one send (D-NTF)", async () => {
  const { world, tenant, ids } = await withPeople(2);
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => post(world, tenant, body(ids), { "idempotency-key": "race" })),
  );
  await world.settle();

  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
  expect(await inboxOf(world, tenant, ids[0]!)).toHaveLength(1);
});

it("a key is remembered for 24 hours, and no longer where the table has not removed it yet (D-NTF)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  const key = { "idempotency-key": "k" };
  const first = await post(world, tenant, body(ids), key);

  await world.advance(DAY - SECOND);
  expect((await post(world, tenant, body(ids), key)).body.id).toBe(first.body.id);

  world.clock.jumpTo(START + DAY + SECOND);
  const late = await post(world, tenant, body(ids), key);
  expect(late.status).toBe(201);
  expect(late.body.id).not.toBe(first.body.id);
});

it("two workspaces may use the same key (D-NTF)", async () => {
  const { world, tenant } = await withTenant();
  await post(world, tenant, { ...everybody, idempotency_key: "k" });

  expect((await post(world, await world.tenant(), { ...everybody, idempotency_key: "k" })).status).toBe(201);
});

it.each([
  ["empty", ""],
  ["longer than 255 characters", "x".repeat(256)],
])("a key that is %s is refused with 422 (D-NTF)", async (_, key) => {
  const { world, tenant } = await withTenant();

  const { status, body } = await post(world, tenant, everybody, { "idempotency-key": key });

  expect(status).toBe(422);
  expect(Object.keys(body.fields)).toEqual(["Idempotency-Key"]);
});

it("a send that is refused leaves its key free (D-NTF)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  const key = { "idempotency-key": "k" };
  await post(world, tenant, { ...body(ids), channel_ids: [UNKNOWN] }, key);

  expect((await post(world, tenant, body(ids), key)).status).toBe(201);
});
