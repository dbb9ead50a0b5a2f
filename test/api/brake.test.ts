// The brake of a send (F21): it stops itself before many have got what goes wrong, and goes on or ends on command.
import { expect, it } from "vitest";
import type { Hooks } from "../../local/aws/index.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { isCanary } from "../../shared/rules/brake.ts";
import { mailing } from "../support/mails.ts";
import { cancel, inMs, jobOf, post } from "../support/notify.ts";
import { addPeople } from "../support/people.ts";
import { pushProvider, withPhones } from "../support/push-provider.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** So many people with a phone each. */
async function pushing(people: number, hooks?: (functionName: string) => Hooks) {
  const { provider, providerFaults } = pushProvider();
  const { world, tenant } = await withTenant({ ...(hooks && { hooks }), providerFaults });
  const { ids } = await withPhones(world, tenant, people);
  const { call } = tenant;
  const begin = async (more: object = {}) => {
    const { body } = await post(world, tenant, { target: { type: "all" }, ...more });
    await world.settle();
    return String(body.id);
  };
  const resume = (job: string, body: object = {}) => call(`POST /api/v1/notifications/${job}/resume`, body);
  return { world, tenant, ids, provider, begin, call, resume };
}

/** A send that stopped itself, because every message was refused. */
async function haltedSend(people = 150) {
  const here = await pushing(people);
  here.provider.outcomeOf = () => "permanent";
  const job = await here.begin({ safety: { max_error_rate: 0.2 } });
  await here.world.advance(MINUTE);
  expect((await jobOf(here.tenant, job)).halted).toMatchObject({ limit: 0.2, rate: 1 });
  return { ...here, job };
}

/** Three of ten, and not about 30%: a chance would make the figures unsure now and then. */
function refusingThirty(ids: readonly string[]) {
  const refused = new Set(ids.filter((_, n) => n % 10 < 3));
  return (subscriber: string) => (refused.has(subscriber) ? ("permanent" as const) : undefined);
}

it("a provider that refuses 30% stops a large send by default after a few hundred messages (F21)", async () => {
  const { world, tenant, ids, provider, begin } = await pushing(1_200);
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
});

it("a recipient whom a halted send has not reached is explained as pending (F21)", async () => {
  const { tenant, ids, provider, job } = await haltedSend();
  const left = ids.find((id) => !provider.calls.includes(id));

  const { body } = await tenant.call(`GET /api/v1/notifications/${job}/recipients/${left}`);

  expect(body).toMatchObject({ decision: "pending", reason: "halted" });
});

it("a halted send is annotated (F21)", async () => {
  const { tenant, job } = await haltedSend();

  const query = "from=2026-11-01T00:00:00Z&to=2026-12-31T00:00:00Z&kinds=blast_halted";
  const { body } = await tenant.call(`GET /api/v1/annotations?${query}`);

  expect(body.annotations).toMatchObject([{ ref_id: job }]);
});

it("a halted send is told to webhooks (F21)", async () => {
  const { world, provider, begin, call } = await pushing(150);
  const hook = { target_url: "https://example.com/in", events: ["notification.halted"] };
  const { id } = (await call("POST /api/v1/webhooks", hook)).body;
  provider.outcomeOf = () => "permanent";

  await begin({ safety: { max_error_rate: 0.2 } });
  await world.advance(MINUTE);

  const { items } = (await call(`GET /api/v1/webhooks/${id}/deliveries`)).body;
  expect(items).toMatchObject([{ event_type: "notification.halted" }]);
});

it("a halted send that is resumed reaches the rest, and each recipient once (F21)", async () => {
  const { world, tenant, ids, provider, job, resume } = await haltedSend();
  provider.outcomeOf = () => undefined;

  expect((await resume(job)).status).toBe(200);
  await world.advance(DAY);

  expect(provider.calls.toSorted()).toEqual(ids.toSorted());
  const done = await jobOf(tenant, job);
  expect(done).toMatchObject({ status: "completed", counts: { sent: 150 } });
  expect(done.halted).toBeUndefined();
});

it("a send that is resumed at the moment of its halt goes on at once (F21)", async () => {
  const { world, provider, begin, resume } = await pushing(150);
  provider.outcomeOf = () => "permanent";
  const job = await begin({ safety: { max_error_rate: 0.2 } });
  provider.outcomeOf = () => undefined;

  await resume(job);
  await world.advance(SECOND);

  expect(provider.calls).toHaveLength(150);
});

it("a send that was resumed cannot be resumed again: 409 (F21)", async () => {
  const { world, provider, job, resume } = await haltedSend();
  provider.outcomeOf = () => undefined;
  await resume(job);
  // At the same moment it would be a repeat of the same request.
  await world.advance(1);

  expect((await resume(job)).status).toBe(409);
});

it("a resumed send that still goes wrong halts again, by the limit of its resume (F21)", async () => {
  const { world, tenant, provider, job, resume } = await haltedSend(500);
  const before = provider.calls.length;

  await resume(job, { safety: { max_error_rate: 0.9 } });
  await world.advance(MINUTE);

  expect(await jobOf(tenant, job)).toMatchObject({ status: "processing", halted: { limit: 0.9, rate: 1 } });
  expect(provider.calls.length).toBeGreaterThan(before);
  expect(provider.calls.length).toBeLessThan(500);
});

it("a resume changes the limits that it names, and no other (F21)", async () => {
  const { provider, begin, resume } = await pushing(150);
  provider.outcomeOf = () => "permanent";
  const job = await begin({ safety: { max_error_rate: 0.2, max_bounce_rate: 0.03 } });

  const { body } = await resume(job, { safety: { max_error_rate: 0.9 } });

  expect(body.safety).toMatchObject({ max_error_rate: 0.9, max_bounce_rate: 0.03 });
});

it.each([
  ["a second", SECOND],
  ["an hour", HOUR],
])("a send that is resumed %s after its halt is not slowed down by what was before (F21)", async (_, later) => {
  const { world, ids, provider, begin, resume } = await pushing(1_200);
  provider.outcomeOf = () => "permanent";
  const job = await begin({ safety: { max_error_rate: 0.01 } });
  provider.outcomeOf = () => undefined;

  await world.advance(later);
  await resume(job);
  await world.advance(15 * SECOND);

  expect(new Set(provider.calls).size).toBe(ids.length);
});

it("while errors are above their limit without being sure, one chunk begins after the other (F21)", async () => {
  const { world, tenant, provider, begin } = await pushing(1_200);
  // Two of nine in the first chunk of each range, then all.
  provider.outcomeOf = () => {
    const n = provider.calls.length - 1;
    return n >= 400 || n % 9 === 0 || n % 9 === 4 ? "permanent" : undefined;
  };

  const job = await begin({ safety: { max_error_rate: 0.2 } });
  await world.advance(MINUTE);

  expect((await jobOf(tenant, job)).halted).toMatchObject({ reason: "error_rate" });
  expect(provider.calls).toHaveLength(410);
});

it("a halted send that is canceled ends with what it did, and cannot be resumed (F21)", async () => {
  const { world, tenant, provider, job, resume } = await haltedSend();
  const before = provider.calls.length;

  expect(await cancel(tenant, job)).toMatchObject({ status: 200, body: { status: "canceled" } });

  expect((await resume(job)).status).toBe(409);
  await world.advance(DAY);
  expect(provider.calls).toHaveLength(before);
  expect(await jobOf(tenant, job)).toMatchObject({ status: "canceled", halted: { reason: "error_rate" } });
});

it("a worker that is at work while its send halts and is resumed halts it again (F21)", async () => {
  const halt = requests({ of: "deliver", operation: "TransactWriteItems", naming: "blast_halted", moment: "after" });
  const { world, tenant, provider, begin, resume } = await pushing(150, halt.hooks);
  provider.outcomeOf = () => "permanent";
  halt.next((input) => {
    const { TransactItems } = input as { TransactItems: [{ Update: { Key: { sk: { S: string } } } }] };
    return resume(TransactItems[0].Update.Key.sk.S);
  });

  const job = await begin({ safety: { max_error_rate: 0.2 } });
  await world.advance(MINUTE);

  expect(halt.isAwaited()).toBe(false);
  expect(await jobOf(tenant, job)).toMatchObject({ status: "processing", halted: { rate: 1 } });
  // Of two chunks a group before the halt, one that shows the worker the resume, and one that halts the send again.
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

it("nobody follows the canary while a part of the audience is still planned (F21)", async () => {
  const planning = requests({ of: "fan-out", operation: "GetItem", naming: "all/8-f" });
  const { world, ids, provider, begin } = await pushing(250, planning.hooks);
  planning.fail();
  const safety = { canary_percent: 20, canary_wait_minutes: 1 };
  // Workers plan what is sent later, however few get it.
  const job = await begin({ safety, scheduled_at: inMs(world, MINUTE) });
  const canary = new Set(ids.filter((id) => isCanary(job, id, 20)));

  await world.advance(10 * MINUTE);
  expect(provider.calls.length).toBeGreaterThan(0);
  expect(provider.calls.filter((id) => !canary.has(id))).toEqual([]);

  planning.pass();
  await world.advance(DAY);
  expect(provider.calls.toSorted()).toEqual(ids.toSorted());
});

it("a send that is resumed after its canary halted it goes to everyone at once (F21)", async () => {
  const { world, ids, provider, begin, resume } = await pushing(250);
  provider.outcomeOf = () => "permanent";
  const safety = { max_error_rate: 0.2, canary_percent: 40, canary_wait_minutes: 600 };
  const job = await begin({ safety });
  provider.outcomeOf = () => undefined;

  expect((await resume(job)).status).toBe(200);
  await world.advance(20 * MINUTE);

  expect(provider.calls.toSorted()).toEqual(ids.toSorted());
});

it("the bounces of the canary stop the others (F21)", async () => {
  const { world, tenant } = await withTenant();
  await mailing(world, tenant);
  const emailOf = (n: number) => (n % 5 === 0 ? "bounce@simulator.amazonses.com" : `p${n}@example.com`);
  await addPeople(world, tenant, 200, (n) => ({ email: emailOf(n) }));
  const safety = { canary_percent: 40, canary_wait_minutes: 10 };

  const { body } = await post(world, tenant, { target: { type: "all" }, safety });
  await world.advance(DAY);

  const halted = { reason: "bounce_rate", limit: 0.05 };
  expect(await jobOf(tenant, body.id)).toMatchObject({ status: "processing", halted });
});

it.each([
  ["more people than the workspace says", 149, { status: "processing", halted: { limit: 0.1 } }],
  ["no more people than the workspace says", 150, { status: "completed", safety: null }],
])("a send to %s has the brake of the workspace or none (F21)", async (_, min_audience, expected) => {
  const { world, tenant, provider, begin, call } = await pushing(150);
  await call("PATCH /api/v1/workspace", { safety: { min_audience, max_error_rate: 0.1 } });
  provider.outcomeOf = () => "permanent";

  const job = await begin();
  await world.advance(MINUTE);

  expect(await jobOf(tenant, job)).toMatchObject(expected);
});

it("safety: null switches the brake of the workspace off for a send (F21)", async () => {
  const { world, tenant, provider, begin, call } = await pushing(150);
  await call("PATCH /api/v1/workspace", { safety: { min_audience: 100, max_error_rate: 0.1 } });
  provider.outcomeOf = () => "permanent";

  const job = await begin({ safety: null });
  await world.advance(MINUTE);

  expect(await jobOf(tenant, job)).toMatchObject({ safety: null });
  expect(provider.calls).toHaveLength(150);
});
