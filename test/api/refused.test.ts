// Calls that the state of a thing, a quota or a file refuses, each with the reason.
import { expect, it } from "vitest";
import { timestamp } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const setting = async () => journeySetting(await fresh());

it.each(["resume", "cancel"])("a %s of a step that is not halted is refused with 409 (F21)", async (action) => {
  const { call, active, channel } = await setting();
  const send = { channel_ids: [channel], content: { title: "t", body: "b" }, safety: { max_error_rate: 0.2 } };
  const id = await active(graphOf({ hello: { send: { ...send, next: "end" } }, end: "exit" }));

  const answer = await call(`POST /api/v1/journeys/${id}/brakes/${action}`, { version: 1, step: "hello" });

  expect(answer).toMatchObject({ status: 409, body: { message: "The step is not halted." } });
});

/** An endpoint with a delivery, and its log. */
async function hooked() {
  const found = await setting();
  const { world, call, person } = found;
  const body = { target_url: "https://example.com/in", events: ["subscriber.created"] };
  const hook: string = (await call("POST /api/v1/webhooks", body)).body.id;
  await person("ada");
  await world.settle();
  const [delivery] = (await call(`GET /api/v1/webhooks/${hook}/deliveries`)).body.items;
  const redeliver = (id: string) => call(`POST /api/v1/webhooks/${hook}/deliveries/${id}/redeliver`);
  return { ...found, hook, delivery, redeliver };
}

it("a redelivery or a replay by an endpoint that is switched off is refused with 409 (WHK-10, AMB-124)", async () => {
  const { world, call, hook, delivery, redeliver } = await hooked();
  await call(`PATCH /api/v1/webhooks/${hook}`, { active: false });
  const range = { from: timestamp(world.clock.now() - 1_000), to: timestamp(world.clock.now()) };

  const refused = { status: 409, body: { message: "This endpoint is switched off." } };
  expect(await redeliver(delivery.id)).toMatchObject(refused);
  expect(await call(`POST /api/v1/webhooks/${hook}/replay`, range)).toMatchObject(refused);
});

it("a redelivery of a delivery that there is not is refused with 404 (WHK-10)", async () => {
  const { redeliver } = await hooked();

  expect((await redeliver(UNKNOWN)).status).toBe(404);
});

const history = { from: "2026-11-19T00:00:00Z", to: "2026-11-20T00:00:00Z" };

it.each([
  ["sample", { sample: 50 }],
  ["version", { version: 1 }],
  ["to", { from: history.from }],
  ["from", { to: history.to }],
  ["subscriber_id", { ...history, subscriber_id: UNKNOWN }],
  ["events", { ...history, events: [{ event_name: "paid", occurred_at: history.from }] }],
  ["start_at", { ...history, start_at: history.from }],
  ["sample", { ...history, sample: { attributes: {} } }],
])("a simulation names the field %s of %j, which belongs to the other kind (RDA-13, F3)", async (field, body) => {
  const { call, create } = await setting();
  const id = await create(graphOf({ end: "exit" }));

  const answer = await call(`POST /api/v1/journeys/${id}/simulate`, body);

  expect(answer.status).toBe(422);
  expect(Object.keys(answer.body.fields)).toEqual([field]);
});

it("of conversion definitions a workspace has 100, and each may be replaced (CNV-4)", async () => {
  const { call } = await setting();
  const define = (n: number, window_seconds = 3_600) =>
    call("POST /api/v1/insights/config", { event_name: `event-${n}`, window_seconds });
  for (let n = 0; n < 100; n++) expect((await define(n)).status).toBe(204);

  expect((await define(100)).body).toMatchObject({ code: "QUOTA_EXCEEDED" });

  expect((await define(7, 60)).status).toBe(204);
});

it.each([
  ["has no column of addresses", "name\nAda\n", "no column of addresses"],
  ["has more than 10,000 rows", `email\n${"ada@example.com\n".repeat(10_001)}`, "more than 10000 rows"],
])("a file of suppressions that %s is refused whole with 400 (AMB-128)", async (_, csv, reason) => {
  const { call } = await setting();

  const answer = await call("POST /api/v1/suppressions/import", { csv });

  expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(reason) } });
  expect((await call("GET /api/v1/suppressions")).body.items).toEqual([]);
});
