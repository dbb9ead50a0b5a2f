// What an explanation and a numbered page cost by what they show: docs/access.md says how much more for each.
import { expect, it } from "vitest";
import { eachOf } from "../../docs/generate/costs.ts";
import { DAY, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { HourCount } from "../../shared/store/insights/items.ts";
import { TouchItem } from "../../shared/store/sends/ledger/ledger-items.ts";
import { SHARDS } from "../../shared/store/shards.ts";
import { withCampaigns } from "../support/campaigns.ts";
import { addPeople, quickStore } from "../support/people.ts";
import { unitsOf } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

/** A profile of nearly 16 KB. */
const attributes = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`a${n}`, "x".repeat(240)]));

it("the explanation of a campaign costs for each of its messages what docs/access.md says, and reads what the person was sent once (D2, F2)", async () => {
  const world = await fresh();
  const { tenant, several, release } = await withCampaigns(world);
  const subscriber = await tenant.upsert({ external_id: "u1", attributes });
  const [messages, later] = [50, 2_000];
  const { id } = await several(...Array.from({ length: messages }, () => undefined));
  expect((await release(id)).status).toBe(200);
  await world.settle();
  const store = quickStore(world, tenant);
  const row = { job: world.ids.uuid(), place: "0-1#0", state: "sent", channel: "email" } as const;
  for (let n = 0; n < later; n++) {
    const at = timestamp(world.clock.now() + n);
    await store.put(TouchItem, { subscriber, at, job: world.ids.uuid(), target: "email" }, row);
  }
  const route = "GET /api/v1/why";
  const path = `/api/v1/why?person=u1&campaign=${id}`;
  const { status, units, own } = await unitsOf({ world, tenant, route, path });

  expect(status).toBe(200);
  expect(units).toBeLessThanOrEqual(own + messages * eachOf(route)!.units + later / 10);
});

it.each([
  { of: "2 MB", size: 10, expected: 200, most: 20 },
  { of: "12 MB, which is refused", size: 60, expected: 422, most: 80 },
  { of: "12 MB that a name finds, which is refused", size: 60, filter: "&q=page", expected: 422, most: 80 },
])(
  "a numbered page of $of costs for each 100 KB that an answer may have what docs/access.md says (D2, TPL-4)",
  async ({ size, filter = "", expected, most }) => {
    const world = await fresh();
    const { tenant, call, channel_ids } = await withCampaigns(world);
    const messages = Array.from({ length: 50 }, (_, n) => ({
      content: { title: `m${n}`, body: "b".repeat(3_900) },
      channel_ids,
    }));
    for (let n = 0; n < size; n++) {
      if (filter !== "")
        for (const name of ["a", "b", "c"])
          await call("POST /api/v1/campaigns", { name, messages: messages.slice(0, 1) });
      await call("POST /api/v1/campaigns", { name: `page ${n}`, messages });
    }
    const route = "GET /api/v1/campaigns";
    const path = `/api/v1/campaigns?page_size=${size}${filter}`;
    const { status, units, own } = await unitsOf({ world, tenant, route, path });

    expect(status).toBe(expected);
    expect(units).toBeLessThanOrEqual(own + most * eachOf(route)!.units);
  },
);

it("a page of lists costs for each list that a name finds, and for those that there are, what docs/access.md says (D2, D-LIST)", async () => {
  const { world, tenant } = await withTenant();
  const [all, shown] = [400, 100];
  for (let n = 0; n < all; n++) await tenant.call("POST /api/v1/lists", { name: `People of number ${n}` });
  const route = "GET /api/v1/lists";
  const { units } = await unitsOf({ world, tenant, route, path: "/api/v1/lists?page_size=100&name=9" });
  const found = Array.from({ length: all }, (_, n) => String(n)).filter((text) => text.includes("9")).length;

  expect(units).toBeLessThanOrEqual(Math.min(found, shown) * eachOf(route)!.units + all / 60);
});

it.each([
  ["POST /api/v1/segments/preview", (a: string) => ({ attribute: { a0: { $eq: a } } })],
  ["POST /api/v1/segments/:id/compare", (a: string) => ({ rule: { attribute: { a0: { $eq: a } } } })],
  ["GET /api/v1/segments/:id/members", undefined],
  ["GET /api/v1/lists/:id/subscribers", undefined],
  ["GET /api/v1/subscribers", undefined],
])("%s costs for each person with a profile of 16 KB what docs/access.md says (D2)", async (route, bodyOf) => {
  const { world, tenant } = await withTenant();
  const people = 100;
  const ids = await addPeople(world, tenant, people, () => ({ attributes }));
  const made = route.includes("lists")
    ? await tenant.call("POST /api/v1/lists", { name: "Everybody" })
    : await tenant.call("POST /api/v1/segments", { name: "Everybody", rule: { attribute: { a0: { $exists: true } } } });
  if (route.includes("lists"))
    await tenant.call(`POST /api/v1/lists/${made.body.id}/subscribers`, { subscriber_ids: ids });
  await world.advance(10 * MINUTE);
  const path = route.replace(":id", made.body.id);
  const { status, units, own } = await unitsOf({ world, tenant, route, path, body: bodyOf?.("x".repeat(240)) });

  expect(status).toBe(200);
  // Of a list of people the units are for those that it passes by.
  const each = route === "GET /api/v1/subscribers" ? 2 : eachOf(route)!.units;
  expect(units).toBeGreaterThan(people);
  expect(units).toBeLessThanOrEqual(own + people * each);
});

it("a series costs for each of its days what docs/access.md says (D2, RDA-10)", async () => {
  const { world, tenant } = await withTenant();
  const store = quickStore(world, tenant);
  const days = 20;
  const hours = Array.from({ length: 24 }, (_, n) => String(n).padStart(2, "0"));
  const figures = ["delivered", "failed", "bounced", "complained", "unsubscribed", "opened", "opened_human", "clicked"];
  const types = ["ios", "android", "web_push", "email", "sms", "chat_app", "in_app"];
  const counters = [
    ...hours.flatMap((hour) => [`delivered:${hour}`, `opened:${hour}`]),
    ...["k|marketing", "k|transactional", ...types.map((type) => `c|${type}`)].flatMap((of) =>
      figures.map((figure) => `${of}|${figure}`),
    ),
  ];
  const row = Object.fromEntries(counters.map((name) => [name, 123_456]));
  for (let n = 0; n < days; n++)
    for (const shard of SHARDS)
      await store.put(HourCount, { shard, day: timestamp(world.clock.now() - n * DAY).slice(0, 10) }, row);
  const route = "GET /api/v1/insights/series";
  const { status, units, own } = await unitsOf({
    world,
    tenant,
    route,
    path: "/api/v1/insights/series?group_by=channel",
  });

  expect(status).toBe(200);
  expect(units).toBeGreaterThan(days);
  expect(units).toBeLessThanOrEqual(own + days * eachOf(route)!.units);
});
