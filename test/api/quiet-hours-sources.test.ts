// Quiet hours of automatic sends (D-QUIET): campaigns, journeys, fallbacks and retries.
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { QUIET, quietSetting, reached, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { ledgerOf } from "../support/reached.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = (options = {}) => quietSetting(withTenant, options);

it("a paused campaign's waiting messages wait on, and go out when it is resumed (D-QUIET, AMB-14)", async () => {
  const { world, ids, person, call, job } = await setting();
  const ben = await person("ben", "Asia/Tokyo");
  const message = { content: { title: "t", body: "b" }, channel_ids: [ids.ios] };
  const body = { name: "News", messages: [message], target: { type: "all" } };
  const { id } = (await call("POST /api/v1/campaigns", body)).body;
  const released = (await call(`POST /api/v1/campaigns/${id}/release`)).body;
  await world.settle();
  const [{ job_id }] = released.messages;
  expect(await job(job_id)).toMatchObject({ status: "processing", deferred: 1 });
  await call(`PATCH /api/v1/campaigns/${id}`, { action: "pause" });
  await world.advance(TOKYO_MORNING + 5 * HOUR);
  expect(await reached(world)).toEqual([]);
  await call(`PATCH /api/v1/campaigns/${id}`, { action: "resume" });
  await world.settle();
  expect(await reached(world)).toEqual([ben]);
  expect(await job(job_id)).toMatchObject({ status: "completed", deferred: 0 });
  await world.settle();
  expect((await call(`GET /api/v1/campaigns/${id}`)).body.status).toBe("completed");
});

it("an archived campaign sends nothing of what waited, nor a restored one until it is resumed (D-QUIET, AMB-54)", async () => {
  const { world, ids, person, call, job } = await setting();
  const ben = await person("ben", "Asia/Tokyo");
  const message = { content: { title: "t", body: "b" }, channel_ids: [ids.ios] };
  const { id } = (await call("POST /api/v1/campaigns", { name: "n", messages: [message], target: { type: "all" } }))
    .body;
  const [{ job_id }] = (await call(`POST /api/v1/campaigns/${id}/release`)).body.messages;
  await world.settle();
  expect((await call(`PATCH /api/v1/campaigns/${id}`, { action: "archive" })).status).toBe(200);
  await world.advance(TOKYO_MORNING + HOUR);
  expect(await reached(world)).toEqual([]);
  expect(await job(job_id)).toMatchObject({ status: "processing", deferred: 1 });
  for (const action of ["unarchive", "pause"]) {
    expect((await call(`PATCH /api/v1/campaigns/${id}`, { action })).status).toBe(200);
    await world.settle();
    expect(await reached(world)).toEqual([]);
  }
  expect((await call(`PATCH /api/v1/campaigns/${id}`, { action: "resume" })).status).toBe(200);
  await world.settle();
  expect(await reached(world)).toEqual([ben]);
});

async function journey(call: Awaited<ReturnType<typeof setting>>["call"], channel: string) {
  const steps = {
    start: "hello",
    steps: {
      hello: { id: "hello", type: "send", send: { channel_ids: [channel], content: { title: "t", body: "b" } } },
    },
  };
  const trigger = { type: "event", event_name: "signed_up" };
  const { id } = (await call("POST /api/v1/journeys", { name: "Welcome", trigger, steps })).body;
  expect((await call(`POST /api/v1/journeys/${id}/activate`)).status).toBe(200);
  return id as string;
}

const track = (world: TestWorld, tenant: Tenant, external_id: string) =>
  world.call("POST /v1/events", {
    as: tenant.server,
    body: { events: [{ event_name: "signed_up", external_id }] },
  });

it("a journey's send waits as well: not while the journey is paused, not at all once it is archived (D-QUIET)", async () => {
  const { world, tenant, ids, person, call } = await setting();
  const [ben, cleo] = [await person("ben", "Asia/Tokyo"), await person("cleo", "Asia/Tokyo")];
  const id = await journey(call, ids.ios!);
  await track(world, tenant, "ben");
  await world.settle();
  expect((await call(`POST /api/v1/journeys/${id}/pause`)).status).toBe(200);
  await world.advance(TOKYO_MORNING + 2 * HOUR);
  expect(await reached(world)).toEqual([]);
  await call(`POST /api/v1/journeys/${id}/activate`);
  await world.advance(HOUR);
  expect(await reached(world)).toEqual([ben]);
  await world.advance(14 * HOUR);
  await track(world, tenant, "cleo");
  await world.settle();
  await call(`POST /api/v1/journeys/${id}/pause`);
  await call(`POST /api/v1/journeys/${id}/archive`);
  await world.advance(24 * HOUR);
  expect(await reached(world)).toEqual([ben]);
  const [row] = await ledgerOf(tenant, cleo);
  expect(row).toMatchObject({ state: "skipped", reason: "canceled" });
  const { body } = await call(`GET /api/v1/notifications/${row!.job}/recipients/${cleo}`);
  expect(body).toMatchObject({ decision: "skipped", state: "skipped", reason: "canceled" });
});

it("a smart send's choice waits too, and what fails after the night falls back (D-QUIET, SMA-6)", async () => {
  const { world, person, push, job } = await setting();
  await person("ben", "Asia/Tokyo");
  const { job: sent } = await push({ channel_arbitration_mode: "smart" });
  expect(sent).toMatchObject({ status: "processing", deferred: 1 });
  await world.advance(TOKYO_MORNING + MINUTE);
  expect(await job(sent.id)).toMatchObject({ status: "completed", delivered_by_channel: { ios: 1 } });
});

it("a retry that falls into the night waits for the morning (D-QUIET)", async () => {
  const { world, person, push, job } = await setting({ quiet: { ...QUIET, start: "12:03", end: "13:30" } });
  const ada = await person("ada", "UTC");
  await world.call("POST /_local/faults", { body: { channel: "ios", outcome: "transient", times: 2 } });
  const { job: sent } = await push({});
  await world.advance(2 * MINUTE);
  expect(await job(sent.id)).toMatchObject({ status: "processing", deferred: 0 });
  await world.advance(10 * MINUTE);
  expect(await job(sent.id)).toMatchObject({ status: "processing", deferred: 1 });
  expect(await reached(world)).toEqual([]);
  await world.advance(80 * MINUTE);
  expect(await reached(world)).toEqual([ada]);
  expect(await job(sent.id)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
});

it("everybody in each range of a campaign gets its message when quiet hours end (D-QUIET)", async () => {
  // No quarter of an hour, at which the send is watched.
  const { world, ids, person, call } = await setting({ quiet: { ...QUIET, end: "08:07" } });
  const people: string[] = [];
  for (let n = 0; n < 12; n++) people.push(await person(`p${n}`, "Asia/Tokyo"));
  const message = { content: { title: "t", body: "b" }, channel_ids: [ids.ios] };
  const body = { name: "News", messages: [message], target: { type: "all" } };
  const { id } = (await call("POST /api/v1/campaigns", body)).body;
  await call(`POST /api/v1/campaigns/${id}/release`);

  await world.advance(TOKYO_MORNING + 8 * MINUTE);

  expect((await reached(world)).sort()).toEqual(people.toSorted());
});
