// What a page of a list costs whose filter leaves nearly all out: docs/access.md says how much more for each that it passes by.
import { expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { eachOf, recordedCosts } from "../../docs/generate/costs.ts";
import { timestamp } from "../../shared/kernel/clock.ts";
import { AUDIT_SHARDS, AuditRow } from "../../shared/store/audit/items.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { jobIdOf } from "../../shared/store/sends/jobs/job-ids.ts";
import { JobItem } from "../../shared/store/sends/jobs/job-items.ts";
import { DeliveryItem } from "../../shared/store/webhooks/delivery-items.ts";
import { addEntries } from "../support/audit.ts";
import { delayed, journeySetting } from "../support/journeys.ts";
import { addPeople, quickStore, send } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const MAC = "0123456789abcdef".repeat(4);

/** What is put at once. */
const BATCH = 100;

async function inBatches(count: number, put: (n: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += BATCH)
    await Promise.all(Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => put(from + i)));
}

interface Page {
  world: TestWorld;
  tenant: Tenant;
  route: string;
  path: string;
  /** So many are passed by at most. */
  most: number;
}

/** Asks for a page. @returns its entries, whether another follows, and its units beyond what the page of costs says */
async function pageOf({ world, tenant, route, path, most }: Page) {
  const as = await tenant.dashboard();
  // The first call of an environment also reads keys and secrets.
  await world.call(`GET ${path}`, { as });
  let answer: Awaited<ReturnType<TestWorld["call"]>> | undefined;
  const { wcu, rcu } = await spent(world, async () => {
    answer = await world.call(`GET ${path}`, { as });
  });
  const said = (recordedCosts()?.routes[route]?.dashboard?.units ?? 0) + most * eachOf(route)!.units;
  const { items, next_cursor } = answer?.body ?? {};
  return { items, isMore: next_cursor !== "", beyond: Math.max(0, wcu + rcu - said) };
}

const nothingFound = { items: [], isMore: true, beyond: 0 };

it("a page of the audit trail whose filter passes thousands of entries by ends early, and costs what docs/access.md says (D2, RDA-23)", async () => {
  const { world, tenant } = await withTenant();
  const store = quickStore(world, tenant);
  const at = timestamp(world.clock.now());
  await inBatches(2_000, (n) => {
    const [shard, seq] = [n % AUDIT_SHARDS, Math.floor(n / AUDIT_SHARDS) + 1];
    const outcomes = toJson({ [seq - 1]: { status: 201, created: store.ids.uuid(), mac: MAC } });
    const actor = { actor_type: "user", actor: tenant.owner, role: "owner", ip: "203.0.113.7" } as const;
    const call = { action: "lists.create", target: store.ids.uuid(), request_id: store.ids.uuid() };
    return store.put(AuditRow, { shard, seq }, { seq, at, ...actor, ...call, outcomes, prev: MAC, mac: MAC });
  });
  const route = "GET /api/v1/audit";

  expect(await pageOf({ world, tenant, route, path: "/api/v1/audit?action=billing", most: 1_000 })).toEqual(
    nothingFound,
  );
});

it("the verification of the audit trail costs for each entry what docs/access.md says (D2, RDA-23)", async () => {
  const { world, tenant } = await withTenant();
  const as = await tenant.dashboard();
  const call = { action: "lists.update", actor_type: "user", actor: tenant.owner, role: "owner" } as const;
  const entry = { ...call, ip: "203.0.113.7", target: tenant.id, request_id: tenant.id };
  const count = 400;
  await addEntries(
    world,
    tenant,
    Array.from({ length: count }, () => entry),
  );
  const route = "POST /api/v1/audit/verify";
  await world.call(route, { as, body: {} });
  let verified = 0;
  const { rcu } = await spent(world, async () => {
    verified = (await world.call(route, { as, body: {} })).body.verified;
  });

  expect(verified).toBe(count);
  expect(rcu).toBeLessThanOrEqual(verified * eachOf(route)!.units);
});

/** A webhook with deliveries of this outcome in its log, whose bodies have so many characters. */
async function withLog(count: number, { outcome, note }: { outcome: "delivered" | "failed"; note: number }) {
  const { world, tenant } = await withTenant();
  const store = quickStore(world, tenant);
  const hook = { target_url: "https://example.com/hook", events: ["subscriber.created"] };
  const { id: webhook } = (await tenant.call("POST /api/v1/webhooks", hook)).body;
  const event_type = "subscriber.created" as const;
  const named = { id: webhook, event_type, tenant_id: tenant.id, timestamp: timestamp(world.clock.now()) };
  const body = toJson({ ...named, data: { note: "x".repeat(note) } });
  await inBatches(count, (sequence) => {
    const id = store.ids.uuidAt(world.clock.now());
    const state = { outcome, attempt_count: 1, earlier: 0, sequence, expires: 10_000_000_000 } as const;
    return store.put(DeliveryItem, { webhook, id }, { react: "delivery", id, webhook, event_type, body, ...state });
  });
  return { world, tenant, webhook };
}

it.each([
  ["sends again", "failed", 1],
  ["passes by", "delivered", 1 / 6],
] as const)(
  "a replay costs what docs/access.md says for each delivery that it %s (D2, F11)",
  async (_, outcome, share) => {
    const { world, tenant, webhook } = await withLog(1_000, { outcome, note: 300 });
    const as = await tenant.dashboard();
    const [from, to] = [-1_000, 1_000].map((ms) => timestamp(world.clock.now() + ms));
    const asked = { from, to, outcome: "failed" };
    const { wcu, rcu } = await spent(world, async () => {
      const { body } = await world.call(`POST /api/v1/webhooks/${webhook}/replay`, { as, body: asked });
      expect(body.queued).toBe(outcome === "failed" ? 1_000 : 0);
    });
    const route = "POST /api/v1/webhooks/:id/replay";
    const own = recordedCosts()?.routes[route]?.dashboard?.units ?? 0;

    expect(wcu + rcu).toBeLessThanOrEqual(own + 1_000 * share * eachOf(route)!.units);
  },
);

it.each([
  ["hundreds of small deliveries", 1_000, 4_000],
  ["large deliveries", 60, 60_000],
])(
  "a page of a webhook's log whose filter passes %s by ends early, and costs what docs/access.md says (D2, WHK-10)",
  async (_, count, note) => {
    const { world, tenant, webhook } = await withLog(count, { outcome: "delivered", note });
    const route = "GET /api/v1/webhooks/:id/deliveries";
    const path = `/api/v1/webhooks/${webhook}/deliveries?outcome=failed`;

    expect(await pageOf({ world, tenant, route, path, most: 512 })).toEqual(nothingFound);
  },
);

async function withSends(count: number) {
  const { world, tenant } = await withTenant();
  const store = quickStore(world, tenant);
  const { job } = await send(world, tenant, { target: { type: "all" } });
  const { pk: _, sk: __, ...row } = (await store.get(JobItem, { job: job.id }))!;
  await inBatches(count, (n) => {
    const id = jobIdOf("api", world.clock.now() - n, store.ids.bytes(10));
    return store.put(JobItem, { job: id }, { ...row, id });
  });
  return { world, tenant };
}

it("a page of sends whose filter passes thousands by ends early, and costs what docs/access.md says (D2)", async () => {
  const { world, tenant } = await withSends(2_200);
  const route = "GET /api/v1/notifications";

  expect(await pageOf({ world, tenant, route, path: "/api/v1/notifications?status=failed", most: 2_000 })).toEqual(
    nothingFound,
  );
});

it("a page of recipients whose filter passes hundreds by ends early, and costs what docs/access.md says (D2)", async () => {
  const { world, tenant } = await withTenant();
  await fill(world, tenant, 400);
  const { job } = await send(world, tenant, { target: { type: "all" } });
  const route = "GET /api/v1/notifications/:id/recipients";
  const path = `/api/v1/notifications/${job.id}/recipients?channel=email`;

  expect(await pageOf({ world, tenant, route, path, most: 300 })).toEqual(nothingFound);
});

it("a page of runs whose filter passes hundreds by ends early, and costs what docs/access.md says (D2)", async () => {
  const { world } = await withTenant();
  const { active, onEvent, tenant } = await journeySetting(world);
  const journey = await active(delayed("1d"), { trigger: onEvent("go") });
  const ids = await fill(world, tenant, 400);
  const as = await tenant.backend("events:write");
  for (let from = 0; from < ids.length; from += BATCH) {
    const events = ids.slice(from, from + BATCH).map((subscriber_id) => ({ subscriber_id, event_name: "go" }));
    await world.call("POST /v1/events", { as, body: { events } });
  }
  await world.settle();
  const route = "GET /api/v1/journeys/:id/runs";
  const path = `/api/v1/journeys/${journey}/runs?status=completed`;

  expect(await pageOf({ world, tenant, route, path, most: 300 })).toEqual(nothingFound);
});

it("a page of suppressed addresses whose filter passes thousands by ends early, and costs what docs/access.md says (D2)", async () => {
  const { world, tenant } = await withTenant();
  const addresses = Array.from({ length: 2_200 }, (_, n) => `u${n}@example.com`);
  await tenant.call("POST /api/v1/suppressions/import", { csv: `email\n${addresses.join("\n")}` });
  const route = "GET /api/v1/suppressions";

  expect(await pageOf({ world, tenant, route, path: "/api/v1/suppressions?source=other", most: 2_000 })).toEqual(
    nothingFound,
  );
});

it("a page of subscribers that passes hundreds by costs what docs/access.md says; one address is found at once (D2)", async () => {
  const { world, tenant } = await withTenant();
  const nameOf = (n: number) => (n < 300 ? `u${n}` : "shared");
  const emailOf = (n: number) => ({ email: n === 0 ? "first@example.com" : `${nameOf(n)}@example.com` });
  const [first] = await addPeople(world, tenant, 400, emailOf);
  await world.advance(1_000);
  const since = encodeURIComponent(timestamp(world.clock.now()));
  const asked = { world, tenant, route: "GET /api/v1/subscribers" };
  const [all, one] = [`/api/v1/subscribers?updated_since=${since}`, "/api/v1/subscribers?email=FIRST@example.com"];

  expect(await pageOf({ ...asked, path: all, most: 400 })).toEqual({ items: [], isMore: false, beyond: 0 });
  const found = { items: [{ id: first }], isMore: false, beyond: 0 };
  expect(await pageOf({ ...asked, path: one, most: 20 })).toMatchObject(found);
  const shared = "/api/v1/subscribers?email=shared@example.com&limit=1";
  expect(await pageOf({ ...asked, path: shared, most: 120 })).toMatchObject({ isMore: true, beyond: 0 });
});

const ofSubscribers = async () => {
  const { world, tenant } = await withTenant();
  await fill(world, tenant, 300);
  await world.advance(1_000);
  return { world, tenant, path: `/api/v1/subscribers?updated_since=${timestamp(world.clock.now())}` };
};

const ofDeliveries = async () => {
  const { webhook, ...here } = await withLog(300, { outcome: "delivered", note: 100 });
  return { ...here, path: `/api/v1/webhooks/${webhook}/deliveries?outcome=failed` };
};

const ofSends = async () => ({ ...(await withSends(800)), path: "/api/v1/notifications?status=failed" });

it.each([
  ["subscribers", ofSubscribers],
  ["a webhook's deliveries", ofDeliveries],
  ["sends", ofSends],
])("a page of one of %s whose filter passes hundreds by reads many of them at once (D2)", async (_, setting) => {
  const { world, tenant, path } = await setting();
  const as = await tenant.dashboard();
  const { requests } = await spent(world, async () => {
    expect((await world.call(`GET ${path}&limit=1`, { as })).body.items).toEqual([]);
  });

  expect(requests).toBeLessThan(100);
});
