import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { hook, log, receiving, type Setting, upsert } from "../support/hooks.ts";
import { operate } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const setting = receiving(worlds());

describe("retries", () => {
  it("a 5xx is attempted four times, after 1, 2 and 4 seconds, with every attempt in the log (ARC-4, WHK-8, WHK-10, LIM-5)", async () => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer((_, n) => 499 + n);
    await upsert(here);
    await here.world.advance(HOUR);
    const times = here.outside.received.map(({ at }) => at);
    expect(times.map((at, i) => (at - times[Math.max(0, i - 1)]!) / SECOND)).toEqual([0, 1, 2, 4]);
    expect(new Set(here.outside.received.map(({ headers }) => headers["x-service-delivery"])).size).toBe(1);
    expect(new Set(here.outside.received.map(({ body }) => body)).size).toBe(1);
    const { items } = await log(here, id);
    expect(items).toMatchObject([
      {
        event_type: "subscriber.created",
        outcome: "failed",
        attempt_count: 4,
        last_status_code: 503,
        attempts: [500, 501, 502, 503].map((status_code, i) => ({ n: i + 1, status_code })),
        payload: JSON.parse(here.outside.received[0]!.body),
      },
    ]);
  });

  it("a receiver that recovers gets the delivery once (WHK-7, WHK-8)", async () => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer((_, n) => (n === 1 ? "hang up" : 204));
    await upsert(here);
    await here.world.advance(HOUR);

    expect(here.outside.received).toHaveLength(2);
    expect((await log(here, id)).items).toMatchObject([
      {
        outcome: "delivered",
        attempt_count: 2,
        last_status_code: 204,
        attempts: [{ status_code: null }, { status_code: 204 }],
      },
    ]);
  });

  it("an attempt without an answer in 10 seconds counts as a network error (WHK-7, AMB-32)", async () => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer((_, n) => (n === 1 ? "silence" : 200));
    await upsert(here);
    await here.world.advance(HOUR);
    const [first, second] = here.outside.received.map(({ at }) => at);

    expect((second! - first!) / SECOND).toBe(11);
    expect((await log(here, id)).items[0].attempts[0]).toMatchObject({ status_code: null, duration_ms: 10_000 });
  });

  it.each([400, 404, 410, 429, 301, 302, 307])("a %i is final (WHK-9, AMB-32)", async (status) => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer(() => status);
    await upsert(here);
    await here.world.advance(HOUR);

    expect(here.outside.received).toHaveLength(1);
    expect((await log(here, id)).items).toMatchObject([
      { outcome: "failed", attempt_count: 1, last_status_code: status },
    ]);
  });
});

it("a delivery is not tried again while its workspace is suspended (AMB-86)", async () => {
  const here = await setting();
  await hook(here, ["subscriber.created"]);
  here.outside.answer(() => 503);
  await upsert(here, { external_id: "ada" });
  await here.world.settle();
  await operate(here.world, here.tenant, { status: "suspended" });

  await here.world.advance(MINUTE);

  expect(here.outside.received).toHaveLength(1);
});

describe("consecutive failures", () => {
  const failures = async ({ tenant }: Setting, id: string) => (await tenant.call(`GET /api/v1/webhooks/${id}`)).body;

  it("a webhook counts consecutive failed deliveries; a success resets the count (WHK-11, AMB-103)", async () => {
    const here = await setting();
    const { id } = await hook(here, ["subscriber.created"]);
    here.outside.answer(() => 400);
    for (const n of [1, 2, 3]) await upsert(here, { external_id: `u${n}` });
    await here.world.settle();
    expect(await failures(here, id)).toMatchObject({ consecutive_failures: 3, active: true, disabled_at: null });
    here.outside.answer(() => 200);
    await upsert(here, { external_id: "u4" });
    await here.world.settle();
    expect(await failures(here, id)).toMatchObject({ consecutive_failures: 0 });
  });

  it("a webhook that is enabled again has a day anew (AMB-103)", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    const { id } = await hook(here, ["subscriber.created"]);
    const fail = async (name: string) => {
      for (let n = 0; n < 20; n++) await upsert(here, { external_id: `${name}${n}` });
      await world.settle();
    };
    outside.answer(() => 400);
    await fail("first");
    await world.advance(DAY);
    await fail("second");
    expect(await failures(here, id)).toMatchObject({ active: false });

    await tenant.call(`PATCH /api/v1/webhooks/${id}`, { active: true });
    await fail("third");

    expect(await failures(here, id)).toMatchObject({ active: true, consecutive_failures: 20 });
  });

  it("a success ends the day of failures: 20 within minutes after it disable nothing (AMB-103)", async () => {
    const here = await setting();
    const { world, outside } = here;
    const { id } = await hook(here, ["subscriber.created"]);
    for (const [name, status, count, later] of [
      ["first", 400, 1, DAY],
      ["well", 200, 1, MINUTE],
      ["second", 400, 20, MINUTE],
    ] as const) {
      outside.answer(() => status);
      for (let n = 0; n < count; n++) await upsert(here, { external_id: `${name}${n}` });
      await world.settle();
      await world.advance(later);
    }

    expect(await failures(here, id)).toMatchObject({ active: true, consecutive_failures: 20 });
  });

  it("20 consecutive failures over a day disable it, with an annotation (AMB-103, D-ANNAUTO)", async () => {
    const here = await setting();
    const { world, tenant, outside } = here;
    const { id } = await hook(here, ["subscriber.created"]);
    outside.answer(() => 400);
    for (let n = 0; n < 25; n++) await upsert(here, { external_id: `u${n}` });
    await world.settle();
    expect(await failures(here, id)).toMatchObject({ consecutive_failures: 25, active: true });
    await world.advance(DAY);
    await upsert(here, { external_id: "last" });
    await world.settle();
    expect(await failures(here, id)).toMatchObject({ active: false, disabled_at: expect.any(String) });
    const calls = outside.received.length;
    await upsert(here, { external_id: "after" });
    await world.settle();
    expect(outside.received).toHaveLength(calls);
    const body = { active: true };
    await tenant.call(`PATCH /api/v1/webhooks/${id}`, body);
    expect(await failures(here, id)).toMatchObject({ active: true, disabled_at: null, consecutive_failures: 0 });
  });

  it("a worker that stops between the last failure and the end of its endpoint leaves both to the next (AMB-103, D-ANNAUTO)", async () => {
    const ending = requests({ operation: "TransactWriteItems", naming: "disabled_at" });
    ending.next(() => {
      throw new Error("The worker stopped.");
    });
    const here = await setting({ hooks: ending.hooks });
    const { world, outside } = here;
    const { id } = await hook(here, ["subscriber.created"]);
    outside.answer(() => 400);
    for (let n = 0; n < 20; n++) await upsert(here, { external_id: `u${n}` });
    await world.settle();
    await world.advance(DAY);
    await upsert(here, { external_id: "last" });
    await world.settle();
    await world.advance(HOUR);

    expect(ending.isAwaited()).toBe(false);
    expect(await failures(here, id)).toMatchObject({ active: false, disabled_at: expect.any(String) });
  });
});
