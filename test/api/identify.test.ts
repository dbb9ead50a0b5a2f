// Anonymous visitors who are identified later (IDN).
import { describe, expect, it } from "vitest";
import { SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { eventsOf } from "../../shared/store/events/history.ts";
import { exportAll, identify, ingest, someEvents } from "../support/events.ts";
import { addPeople, quickStore } from "../support/people.ts";
import { START, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

describe("linking", () => {
  it("an anonymous id too long for its key is 422 naming it, not 500 (IDN-1, EVT-3)", async () => {
    const { world, tenant } = await withTenant();
    const [ada] = await addPeople(world, tenant, 1);
    const body = { anonymous_id: "👋".repeat(256), subscriber_id: ada };
    const answer = await world.call("POST /v1/events/identify", { as: tenant.sdk, body });

    expect(answer.status).toBe(422);
    expect(answer.body.fields).toEqual({ anonymous_id: expect.any(String) });
  });

  it("events before and after count for the subscriber, and a repeat changes nothing (IDN-1, IDN-2, IDN-3)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    await ingest(world, tenant, { events: someEvents(30, () => ({ anonymous_id: "laptop" })) }, "sdk");
    await ingest(world, tenant, { events: someEvents(3, () => ({ anonymous_id: "phone" })) }, "sdk");
    await world.advance(SECOND);
    const first = await identify(world, tenant, "laptop", ada);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ linked: true, backfilled: 30 });
    expect((await identify(world, tenant, "laptop", ada)).body).toEqual({ linked: true, backfilled: 0 });
    expect((await identify(world, tenant, "phone", ada)).body).toEqual({ linked: true, backfilled: 3 });
    expect((await identify(world, tenant, "new", ada)).body).toEqual({ linked: true, backfilled: 0 });
    expect((await identify(world, tenant, "other", bob)).body).toEqual({ linked: true, backfilled: 0 });
    await ingest(world, tenant, { events: someEvents(2, () => ({ anonymous_id: "new" })) }, "sdk");
    await ingest(world, tenant, { event_name: "seen", anonymous_id: "other" }, "sdk");
    await world.advance(SECOND);
    const exported = await exportAll(world, tenant);
    expect(exported.filter(({ subscriber_id }) => subscriber_id === ada)).toHaveLength(35);
    expect(exported.filter(({ subscriber_id }) => subscriber_id === bob)).toHaveLength(1);
    expect(exported.find(({ anonymous_id }) => anonymous_id === "phone")).toMatchObject({ subscriber_id: ada });
  });

  it("the first link wins (AMB-26)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    await ingest(world, tenant, { event_name: "seen", anonymous_id: "tablet" });
    await world.advance(SECOND);
    expect((await identify(world, tenant, "tablet", ada)).body).toEqual({ linked: true, backfilled: 1 });
    expect((await identify(world, tenant, "tablet", bob)).body).toEqual({ linked: false, backfilled: 0 });
    expect((await exportAll(world, tenant))[0]).toMatchObject({ subscriber_id: ada, anonymous_id: "tablet" });
    const race = await Promise.all([ada, bob].map((id) => identify(world, tenant, "contested", id)));
    expect(race.map(({ body }) => body.linked).sort()).toEqual([false, true]);
  });

  it("an unknown, erased or foreign subscriber is 422 naming it, and links nothing (AMB-26)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const [erased, living] = (await addPeople(world, tenant, 2)) as [string, string];
    const [foreign] = (await addPeople(world, other, 1)) as [string];
    await tenant.call(`DELETE /api/v1/subscribers/${erased}`);
    for (const id of [erased, foreign, UNKNOWN]) {
      const { status, body } = await identify(world, tenant, "laptop", id);
      expect(status).toBe(422);
      expect(body.fields).toEqual({ subscriber_id: "names no subscriber" });
    }

    expect((await identify(world, tenant, "laptop", living)).body).toEqual({ linked: true, backfilled: 0 });
  });

  it("an anonymous id spelt like a subscriber's id is not that subscriber", async () => {
    const { world, tenant } = await withTenant();
    const [ada] = (await addPeople(world, tenant, 1)) as [string];
    await ingest(world, tenant, { event_name: "forged", anonymous_id: ada }, "sdk");
    await world.advance(SECOND);

    expect(await eventsOf(quickStore(world, tenant), ada, { event_name: "forged" })).toEqual([]);
    expect((await exportAll(world, tenant))[0]).toMatchObject({ subscriber_id: null, anonymous_id: ada });
  });

  it.each([["a long one", { anonymous_id: "x".repeat(257), subscriber_id: UNKNOWN }, "anonymous_id"]])(
    "%s is 422 (IDN-1)",
    async (_, body, field) => {
      const { world, tenant } = await withTenant();
      const answer = await world.call("POST /v1/events/identify", { as: tenant.server, body });

      expect(answer.status).toBe(422);
      expect(Object.keys(answer.body.fields)).toEqual([field]);
    },
  );
});

describe("history", () => {
  it("the events of a person are filtered by name, under any identity, in order, within a range (IDN-2)", async () => {
    const { world, tenant } = await withTenant();
    const [ada] = (await addPeople(world, tenant, 1)) as [string];
    await identify(world, tenant, "laptop", ada);
    await identify(world, tenant, "phone", ada);
    const at = (n: number) => timestamp(START - n * SECOND);
    const actors = [
      { subscriber_id: ada },
      { anonymous_id: "laptop" },
      { anonymous_id: "phone" },
      { anonymous_id: "x" },
    ];
    const events = Array.from({ length: 40 }, (_, n) => ({
      event_name: n % 5 === 4 ? "bought#2026" : "bought",
      ...actors[n % 4],
      occurred_at: at(n),
      properties: { n },
    }));
    await ingest(world, tenant, { events });
    await world.advance(SECOND);
    const store = quickStore(world, tenant);
    const numbers = async (range: object) =>
      (await eventsOf(store, ada, { event_name: "bought", ...range })).map(({ properties }) => Number(properties.n));
    const all = events.map((_, n) => n).filter((n) => n % 5 !== 4 && n % 4 !== 3);

    expect(await numbers({})).toEqual(all.toReversed());
    expect(await numbers({ from: at(20), to: at(10) })).toEqual(all.filter((n) => n > 10 && n <= 20).reverse());
    expect(await numbers({ limit: 3 })).toEqual(all.slice(0, 3).reverse());
    expect(await eventsOf(store, ada, { event_name: "bought#2026" })).toHaveLength(6);
    expect(await eventsOf(store, ada, { event_name: "boug" })).toEqual([]);
  });
});
