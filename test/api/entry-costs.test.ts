// What calls cost that read something for each day, send, message or entry that there is: docs/access.md says how much more.
import { expect, it } from "vitest";
import { eachOf, recordedCosts } from "../../docs/generate/costs.ts";
import { DAY, timestamp } from "../../shared/kernel/clock.ts";
import { absent } from "../../shared/store/conditions.ts";
import { AssetItem } from "../../shared/store/experiences/asset-items.ts";
import { DayTotals } from "../../shared/store/insights/items.ts";
import { putItem } from "../../shared/store/item.ts";
import { TouchItem } from "../../shared/store/sends/ledger/ledger-items.ts";
import { CONVERSION_SHARDS } from "../../shared/store/shards.ts";
import { statusWrite } from "../../shared/store/status-index.ts";
import { at, withCampaigns } from "../support/campaigns.ts";
import { graphOf } from "../support/journeys.ts";
import { quickStore } from "../support/people.ts";
import { spent, unitsOf } from "../support/spending.ts";
import { whySetting } from "../support/why.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

/** Rows of the ledger of a person, later than those that there are. */
async function sentLater(world: TestWorld, tenant: Tenant, subscriber: string, count: number): Promise<void> {
  const store = quickStore(world, tenant);
  const row = { job: world.ids.uuid(), place: "0-1#0", state: "sent", channel: "email" } as const;
  for (let n = 1; n <= count; n++) {
    const at = timestamp(world.clock.now() + n);
    await store.put(TouchItem, { subscriber, at, job: world.ids.uuid(), target: "email" }, row);
  }
}

/** A day of a journey in which everything happened that is counted. */
const fullDay = Object.fromEntries(
  [
    "revenue",
    "converters",
    "last_n",
    "last_revenue",
    "sent",
    "delivered",
    "bounced",
    "complained",
    "unsubscribed",
    "failed",
    "uncertain",
    "opened",
    "opened_human",
    "clicked",
    "clicked_human",
    ...["service", "provider"].map((of) => `cost|${of}`),
    ...[1, 2, 3].flatMap((n) => [`revenue_of|2026-11-0${n}`, `converters_of|2026-11-0${n}`]),
  ].map((name) => [name, 1_234_567]),
);

it.each([
  ["GET /api/v1/insights/summary", "?group_by=journey", 0.3],
  ["GET /api/v1/insights/funnel", "?source_type=journey&source_id=ID", 0.3],
  ["GET /api/v1/insights/series", "?source_type=journey&source_id=ID", 0.3],
])("%s costs for each day of each journey what docs/access.md says (D2, ISG-3)", async (route, query, each) => {
  const { world, tenant } = await withTenant();
  const store = quickStore(world, tenant);
  const [journeys, days] = [20, 25];
  const ids = Array.from({ length: journeys }, () => store.ids.uuid());
  for (const id of ids)
    for (let n = 0; n < days; n++) {
      const day = timestamp(world.clock.now() - n * DAY).slice(0, 10);
      for (const shard of CONVERSION_SHARDS) await store.put(DayTotals, { group: "journey", day, id, shard }, fullDay);
    }
  const path = `${route.split(" ")[1]}${query.replace("ID", ids[0]!)}`;
  const { status, units, own } = await unitsOf({ world, tenant, route, path });

  expect(status).toBe(200);
  expect(units).toBeLessThanOrEqual(own + journeys * days * each);
  expect(eachOf(route)?.of).toContain("each");
});

const SENDS = 50;

it.each([
  ["GET /api/v1/campaigns", "?results=true", 9],
  ["GET /api/v1/campaigns/:id", "", 2],
  ["GET /api/v1/campaigns/:id/report", "", 10],
  ["GET /api/v1/insights/funnel", "?source_type=campaign&source_id=ID", 10],
  ["GET /api/v1/insights/series", "?source_type=campaign&source_id=ID", 10],
])("%s%s costs for each message of a campaign what docs/access.md says (D2)", async (route, query, each) => {
  const world = await fresh();
  const { tenant, several, release } = await withCampaigns(world);
  const { id } = await several(...Array.from({ length: SENDS }, () => undefined));
  expect((await release(id)).status).toBe(200);
  await world.settle();
  const path = `${route.split(" ")[1]}${query}`.replace(/:id|ID/, id);
  const { status, units, own } = await unitsOf({ world, tenant, route, path });

  expect(status).toBe(200);
  expect(units).toBeGreaterThan(SENDS);
  expect(units).toBeLessThanOrEqual(own + SENDS * each);
});

it("what moves a campaign costs for each of its messages what docs/access.md says (D2)", async () => {
  const world = await fresh();
  const { tenant, several } = await withCampaigns(world);
  const { id } = await several(...Array.from({ length: SENDS }, () => at(DAY)));
  const moves = [
    ["POST", "/release"],
    ["PATCH", "", { action: "pause" }],
    ["PATCH", "", { action: "resume" }],
    ["PATCH", "", { action: "archive" }],
    ["DELETE", ""],
  ] as const;
  for (const [method, path, body] of moves) {
    const as = await tenant.dashboard();
    let status = 0;
    const { wcu, rcu } = await spent(world, async () => {
      status = (await world.call(`${method} /api/v1/campaigns/${id}${path}`, { as, ...(body && { body }) })).status;
    });
    await world.settle();
    const route = `${method} /api/v1/campaigns/:id${path}`;
    const own = recordedCosts()?.routes[route]?.dashboard?.units ?? 0;

    expect(status).toBeLessThan(300);
    expect([route, wcu + rcu <= own + SENDS * eachOf(route)!.units]).toEqual([route, true]);
  }
});

it("a page of campaigns with the results of more than a thousand sends is refused before they are read (D2, CMP-14)", async () => {
  const world = await fresh();
  const { tenant, several, release } = await withCampaigns(world);
  for (let n = 0; n < 21; n++) {
    const { id } = await several(...Array.from({ length: SENDS }, () => undefined));
    expect((await release(id)).status).toBe(200);
  }
  const route = "GET /api/v1/campaigns";
  const asked = (size: number) => ({ world, tenant, route, path: `/api/v1/campaigns?results=true&page_size=${size}` });
  const refused = await unitsOf(asked(21));

  expect(refused.status).toBe(422);
  expect(refused.units).toBeLessThan(300);
  expect((await unitsOf(asked(20))).status).toBe(200);
});

async function withJourney(others: number) {
  const setting = await whySetting(await fresh());
  const { call, channel, active, track, upsert, tenant, world } = setting;
  const ids = Array.from({ length: 10 }, (_, n) => `m${n}`);
  const steps = graphOf({
    ...Object.fromEntries(
      ids.map((id, n) => {
        const content = { title: id, body: "b".repeat(3_900) };
        return [id, { send: { channel_ids: [channel], content, next: ids[n + 1] ?? "end" } }];
      }),
    ),
    end: "exit",
  });
  const journey = await active(steps);
  const trigger = { type: "event", event_name: "go" };
  for (let n = 0; n < others; n++) await call("POST /api/v1/journeys", { name: `Journey ${n}`, trigger, steps });
  const ada = await upsert("ada");
  await track("ada", "signed_up");
  return { world, tenant, call, journey, ada };
}

it("the explanation of a journey by its name costs for each message what docs/access.md says, and reads no other journey (D2, AMB-147)", async () => {
  const [others, later] = [60, 2_000];
  const { world, tenant, ada } = await withJourney(others);
  await sentLater(world, tenant, ada, later);
  const route = "GET /api/v1/why";
  const path = "/api/v1/why?person=ada&journey=Welcome";
  const { status, units, own } = await unitsOf({ world, tenant, route, path });

  expect(status).toBe(200);
  expect(units).toBeLessThanOrEqual(own + 10 * eachOf(route)!.units + others / 60 + later / 10);
});

it("the explanation of a send costs for each later message of the person what docs/access.md says (D2)", async () => {
  const later = 2_000;
  const { world, tenant, call, ada } = await withJourney(0);
  const { body } = await call("GET /api/v1/notifications");
  await sentLater(world, tenant, ada, later);
  const route = "GET /api/v1/notifications/:id/recipients/:subscriberId";
  const path = `/api/v1/notifications/${body.items.at(-1).id}/recipients/${ada}`;
  const { status, units, own } = await unitsOf({ world, tenant, route, path });

  expect(status).toBe(200);
  expect(units).toBeLessThanOrEqual(own + later * eachOf(route)!.units);
});

it("a page of the audit trail names large campaigns, journeys and templates without reading them (D2, RDA-23)", async () => {
  const world = await fresh();
  const { tenant, call, channel_ids } = await withCampaigns(world);
  const body = "b".repeat(3_900);
  const messages = Array.from({ length: 50 }, (_, n) => ({ content: { title: `m${n}`, body }, channel_ids }));
  const content = { title: "Hello", body, by_channel: { email: { subject: "s", html: "h".repeat(90_000) } } };
  for (let n = 0; n < 20; n++) {
    await call("POST /api/v1/campaigns", { name: `c${n}`, messages });
    await call("POST /api/v1/templates", { name: `t${n}`, content });
  }
  const path = "/api/v1/audit?limit=100";
  const { status, units } = await unitsOf({ world, tenant, route: "GET /api/v1/audit", path });

  expect(status).toBe(200);
  expect(units).toBeLessThan(150);
});

it("a page of images costs for each that it shows, and for those that there are, what docs/access.md says (D2, AST-3)", async () => {
  const { world, tenant } = await withTenant();
  const store = quickStore(world, tenant);
  const [all, shown] = [400, 100];
  const rest = { content_type: "image/png", size_bytes: 1, created_at: timestamp(world.clock.now()) } as const;
  for (let n = 0; n < all; n++) {
    const id = store.ids.uuidAt(world.clock.now() + n);
    const row = { ...rest, id, filename: `${n}`.padEnd(200, "x"), name: store.ids.uuid(), status: "stored" } as const;
    await store.transact([putItem(AssetItem, { id }, row, absent()), statusWrite(AssetItem, id, "stored")]);
  }
  const route = "GET /api/v1/in-app/assets";
  const { status, units, own } = await unitsOf({
    world,
    tenant,
    route,
    path: `/api/v1/in-app/assets?page_size=${shown}`,
  });

  expect(status).toBe(200);
  expect(units).toBeLessThanOrEqual(own + shown * eachOf(route)!.units + all / 60);
});
