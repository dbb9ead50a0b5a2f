// The brake of a send (F21): it stops itself before many have got what goes wrong, and goes on or ends when it is told to.
import { expect, it } from "vitest";
import type { Hooks, Wire } from "../../local/aws/index.ts";
import type { Fault } from "../../local/faults.ts";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { isCanary } from "../../shared/rules/brake.ts";
import { mailing } from "../support/mails.ts";
import { cancel, jobOf, post } from "../support/notify.ts";
import { addDevice, addPeople } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A provider that fails as `outcomeOf` says. Every call is remembered. */
async function pushing(people: number, hooks?: (functionName: string) => Hooks) {
  const provider = {
    calls: [] as string[],
    outcomeOf: (_: string): Fault["outcome"] | undefined => undefined,
  };
  const { world, tenant } = await withTenant({
    ...(hooks && { hooks }),
    providerFaults: {
      take: (channel, subscriber = "") => {
        if (channel !== "ios") return undefined;
        provider.calls.push(subscriber);
        const outcome = provider.outcomeOf(subscriber);
        return outcome && { channel, outcome };
      },
    },
  });
  await openChannels(world, tenant, "ios-push");
  const ids = await addPeople(world, tenant, people);
  for (const id of ids) await addDevice(world, tenant, id, id);
  await world.settle();
  const call = async (route: string, body: object = {}) => tenant.call(route, body);
  const begin = async (more: object = {}) => {
    const { body } = await post(world, tenant, { target: { type: "all" }, ...more });
    await world.settle();
    return String(body.id);
  };
  return { world, tenant, ids, provider, begin, call };
}

/** Three of ten, and not about 30 %: a chance would make the figures unsure now and then. */
function refusingThirty(ids: readonly string[]) {
  const refused = new Set(ids.filter((_, n) => n % 10 < 3));
  return (subscriber: string) => (refused.has(subscriber) ? ("permanent" as const) : undefined);
}

it("a provider that refuses 30 % stops a send by default after a few hundred messages, and a resumed one reaches the rest once (F21)", async () => {
  const { world, tenant, ids, provider, begin, call } = await pushing(1_200);
  await call("POST /api/v1/webhooks", { target_url: "https://example.com/in", events: ["notification.halted"] });
  provider.outcomeOf = refusingThirty(ids);
  const job = await begin();
  await world.advance(DAY);
  // Four chunks, as docs/decisions/0052 says.
  expect(provider.calls.length).toBeLessThanOrEqual(800);
  const record = await jobOf(tenant, job);
  expect(record).toMatchObject({
    status: "processing",
    safety: { max_error_rate: 0.2, max_bounce_rate: 0.05, max_complaint_rate: 0.003 },
    halted: { reason: "error_rate", limit: 0.2 },
    counts: { total: 1_200 },
  });
  expect(record.halted.rate).toBeGreaterThan(0.2);
  const left = ids.find((id) => !provider.calls.includes(id));
  const explained = await tenant.call(`GET /api/v1/notifications/${job}/recipients/${left}`);
  expect(explained.body).toMatchObject({ decision: "pending", reason: "halted" });
  const from = "2026-11-01T00:00:00Z";
  const to = "2026-12-31T00:00:00Z";
  const notes = await tenant.call(`GET /api/v1/annotations?from=${from}&to=${to}&kinds=blast_halted`);
  expect(notes.body.annotations).toMatchObject([{ ref_id: job }]);
  const { body: hooks } = await tenant.call("GET /api/v1/webhooks");
  const log = await tenant.call(`GET /api/v1/webhooks/${hooks.items[0].id}/deliveries`);
  expect(log.body.items).toMatchObject([{ event_type: "notification.halted" }]);

  provider.outcomeOf = () => undefined;
  expect((await call(`POST /api/v1/notifications/${job}/resume`)).status).toBe(200);
  // At the same moment it would be a repeat of the same request.
  await world.advance(1);
  expect((await call(`POST /api/v1/notifications/${job}/resume`)).status).toBe(409);
  await world.advance(DAY);
  expect(provider.calls.toSorted()).toEqual(ids.toSorted());
  const done = await jobOf(tenant, job);
  expect(done).toMatchObject({ status: "completed", counts: { sent: 1_200 } });
  expect(done.halted).toBeUndefined();
});

it("a resumed send that still goes wrong halts again, and a canceled one ends with what it did (F21)", async () => {
  const { world, tenant, provider, begin, call } = await pushing(1_100);
  provider.outcomeOf = () => "transient";
  const job = await begin();
  await world.advance(MINUTE);
  const first = provider.calls.length;
  expect(first).toBeLessThan(400);
  await call(`POST /api/v1/notifications/${job}/resume`, { safety: { max_error_rate: 0.9 } });
  await world.advance(MINUTE);
  const second = await jobOf(tenant, job);
  expect(second).toMatchObject({ status: "processing", halted: { limit: 0.9, rate: 1 } });
  expect(provider.calls.length).toBeGreaterThan(first);
  const tried = provider.calls.length;
  expect(tried).toBeLessThan(600);
  expect(await cancel(tenant, job)).toMatchObject({ status: 200, body: { status: "canceled" } });
  expect((await call(`POST /api/v1/notifications/${job}/resume`)).status).toBe(409);
  await world.advance(DAY);
  expect(provider.calls).toHaveLength(tried);
  expect(await jobOf(tenant, job)).toMatchObject({ status: "canceled", halted: { reason: "error_rate" } });
});

it("a worker that is at work while its send halts and is resumed halts it again (F21)", async () => {
  let resume: ((job: string) => Promise<unknown>) | undefined;
  const { world, tenant, provider, begin, call } = await pushing(150, (name) => ({
    after: async (_, operation, input: Wire) => {
      if (name !== "deliver" || operation !== "TransactWriteItems" || !JSON.stringify(input).includes("blast_halted"))
        return;
      const now = resume;
      resume = undefined;
      await now?.(
        (input as { TransactItems: [{ Update: { Key: { sk: { S: string } } } }] }).TransactItems[0].Update.Key.sk.S,
      );
    },
  }));
  provider.outcomeOf = () => "permanent";
  resume = (job) => call(`POST /api/v1/notifications/${job}/resume`);
  const job = await begin({ safety: { max_error_rate: 0.2 } });
  await world.advance(MINUTE);
  expect(resume).toBeUndefined();
  expect(await jobOf(tenant, job)).toMatchObject({ status: "processing", halted: { rate: 1 } });
  // Of two chunks a group before the halt, a group that shows the worker that it was resumed, and one that halts the send again.
  expect(provider.calls.length).toBeLessThanOrEqual(60);
});

it("the canary gets a send first, and the others after its wait (F21)", async () => {
  const { world, tenant, ids, provider, begin } = await pushing(250);
  const job = await begin({ safety: { canary_percent: 20, canary_wait_minutes: 20 } });
  const canary = ids.filter((id) => isCanary(job, id, 20));
  await world.advance(19 * MINUTE);
  expect(provider.calls.toSorted()).toEqual(canary.toSorted());
  await world.advance(5 * MINUTE);
  expect(provider.calls.toSorted()).toEqual(ids.toSorted());
  expect(await jobOf(tenant, job)).toMatchObject({ status: "completed", counts: { delivered: 250 } });
});

it("the bounces of the canary stop the others (F21)", async () => {
  const { world, tenant } = await withTenant();
  await mailing(world, tenant);
  await addPeople(world, tenant, 200, (n) => ({
    email: n % 5 === 0 ? "bounce@simulator.amazonses.com" : `p${n}@example.com`,
  }));
  const { body } = await post(world, tenant, {
    target: { type: "all" },
    safety: { canary_percent: 40, canary_wait_minutes: 10 },
  });
  await world.advance(DAY);
  expect(await jobOf(tenant, body.id)).toMatchObject({
    status: "processing",
    halted: { reason: "bounce_rate", limit: 0.05 },
  });
});

it("a small send has no brake of its own accord, and safety: null switches it off for a large one (F21)", async () => {
  const { world, tenant, ids, provider, begin, call } = await pushing(1_100);
  provider.outcomeOf = refusingThirty(ids);
  const off = await begin({ safety: null });
  await world.advance(MINUTE);
  expect(await jobOf(tenant, off)).toMatchObject({ status: "completed", safety: null });
  await call("PATCH /api/v1/workspace", { safety: { min_audience: 5_000, max_error_rate: 0.1 } });
  const small = await begin();
  await world.advance(MINUTE);
  expect(await jobOf(tenant, small)).toMatchObject({ status: "completed", safety: null });
  const refused = await call("POST /api/v1/notifications", {
    target: { type: "all" },
    title: "t",
    body: "b",
    safety: { max_error_rate: 20 },
  });
  expect(refused).toMatchObject({ status: 422, body: { fields: { "safety.max_error_rate": expect.any(String) } } });
});
