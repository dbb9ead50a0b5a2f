// Anonymous visitors who are identified later (IDN).
import { describe, expect, it } from "vitest";
import { SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { eventsOf } from "../../shared/store/events/history.ts";
import { exportAll, identify, ingest, someEvents } from "../support/events.ts";
import { addPeople, quickStore } from "../support/people.ts";
import { membersOf, segmentOf } from "../support/segments.ts";
import { START, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

describe("linking", () => {
  it("an anonymous id of more bytes than a key holds is refused with 422 (IDN-1, EVT-3)", async () => {
    const { world, tenant } = await withTenant();
    const [ada] = await addPeople(world, tenant, 1);
    const body = { anonymous_id: "👋".repeat(256), subscriber_id: ada };

    const answer = await world.call("POST /v1/events/identify", { as: tenant.sdk, body });

    expect(answer.status).toBe(422);
    expect(answer.body.fields).toEqual({ anonymous_id: expect.any(String) });
  });

  it("an anonymous id with characters that no queue takes is followed, and so is what comes after it (IDN-2, SEG-14)", async () => {
    const { world, tenant } = await withTenant({ plan: "enterprise" });
    const [looked, bought] = [
      await segmentOf(world, tenant, { event: { name: "look" } }),
      await segmentOf(world, tenant, { event: { name: "buy" } }),
    ];
    const [subscriber_id = ""] = await addPeople(world, tenant, 1);
    const anonymous_id = "laptop\ufffe\uffff";
    await identify(world, tenant, anonymous_id, subscriber_id);
    await world.settle();
    await ingest(world, tenant, { event_name: "look", anonymous_id }, "sdk");
    await ingest(world, tenant, { event_name: "buy", subscriber_id }, "sdk");
    await world.settle();

    expect(await membersOf(tenant, looked)).toHaveLength(1);
    expect(await membersOf(tenant, bought)).toHaveLength(1);
  });

  /** Two subscribers, and a laptop with 30 events of nobody. */
  async function withLaptop() {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    await ingest(world, tenant, { events: someEvents(30, () => ({ anonymous_id: "laptop" })) }, "sdk");
    await world.advance(SECOND);
    const link = async (anonymous: string, subscriber: string) => {
      const { status, body } = await identify(world, tenant, anonymous, subscriber);
      expect(status).toBe(200);
      return body;
    };
    const eventsOfPerson = async (id: string) => {
      await world.advance(SECOND);
      return (await exportAll(world, tenant)).filter(({ subscriber_id }) => subscriber_id === id);
    };
    return { world, tenant, ada, bob, link, eventsOfPerson };
  }

  it("events before a link become the subscriber's (IDN-1, IDN-2)", async () => {
    const { ada, link, eventsOfPerson } = await withLaptop();

    expect(await link("laptop", ada)).toEqual({ linked: true, backfilled: 30 });

    const found = await eventsOfPerson(ada);
    expect(found).toHaveLength(30);
    expect(found[0]).toMatchObject({ anonymous_id: "laptop", subscriber_id: ada });
  });

  it("events after a link are the subscriber's (IDN-2)", async () => {
    const { world, tenant, ada, link, eventsOfPerson } = await withLaptop();
    expect(await link("new", ada)).toEqual({ linked: true, backfilled: 0 });

    await ingest(world, tenant, { events: someEvents(2, () => ({ anonymous_id: "new" })) }, "sdk");

    expect(await eventsOfPerson(ada)).toHaveLength(2);
  });

  it("a link that is made again changes nothing (IDN-3)", async () => {
    const { ada, link, eventsOfPerson } = await withLaptop();
    await link("laptop", ada);

    expect(await link("laptop", ada)).toEqual({ linked: true, backfilled: 0 });

    expect(await eventsOfPerson(ada)).toHaveLength(30);
  });

  it("a subscriber may have many anonymous ids, and each has one subscriber (IDN-1)", async () => {
    const { world, tenant, ada, bob, link, eventsOfPerson } = await withLaptop();
    await link("laptop", ada);
    await ingest(world, tenant, { events: someEvents(3, () => ({ anonymous_id: "phone" })) }, "sdk");
    await world.advance(SECOND);

    expect(await link("phone", ada)).toEqual({ linked: true, backfilled: 3 });
    await link("other", bob);
    await ingest(world, tenant, { event_name: "seen", anonymous_id: "other" }, "sdk");

    expect(await eventsOfPerson(ada)).toHaveLength(33);
    expect(await eventsOfPerson(bob)).toHaveLength(1);
  });

  it("the first link of an anonymous id wins (AMB-26)", async () => {
    const { ada, bob, link } = await withLaptop();

    expect(await link("laptop", ada)).toEqual({ linked: true, backfilled: 30 });

    expect(await link("laptop", bob)).toEqual({ linked: false, backfilled: 0 });
  });

  it("of two links of an anonymous id at once one wins (AMB-26)", async () => {
    const { ada, bob, link } = await withLaptop();

    const race = await Promise.all([ada, bob].map((id) => link("laptop", id)));

    expect(race.map(({ linked }) => linked).sort()).toEqual([false, true]);
  });

  it("a subscriber has at most 200 anonymous ids: another one is nobody's, and those that are there stay (AMB-26)", async () => {
    const { world, tenant } = await withTenant();
    const [ada = ""] = await addPeople(world, tenant, 1);
    const link = async (n: number) => (await identify(world, tenant, `laptop-${n}`, ada)).body.linked;
    for (let n = 0; n < 200; n++) await link(n);

    expect([await link(199), await link(200), await link(0)]).toEqual([true, false, true]);
  });

  it("a link to an unknown or erased subscriber is refused with 422, and links nothing (AMB-26)", async () => {
    const { world, tenant } = await withTenant();
    const [erased, living] = (await addPeople(world, tenant, 2)) as [string, string];
    await tenant.call(`DELETE /api/v1/subscribers/${erased}`);
    for (const id of [erased, UNKNOWN]) {
      const { status, body } = await identify(world, tenant, "laptop", id);
      expect(status).toBe(422);
      expect(body.fields).toEqual({ subscriber_id: "names no subscriber" });
    }

    expect((await identify(world, tenant, "laptop", living)).body).toEqual({ linked: true, backfilled: 0 });
  });

  it("an anonymous id spelt like a subscriber's id is not that subscriber (IDN-1)", async () => {
    const { world, tenant } = await withTenant();
    const [ada] = (await addPeople(world, tenant, 1)) as [string];
    await ingest(world, tenant, { event_name: "forged", anonymous_id: ada }, "sdk");
    await world.advance(SECOND);

    expect(await eventsOf(quickStore(world, tenant), ada, { event_name: "forged" })).toEqual([]);
    expect((await exportAll(world, tenant))[0]).toMatchObject({ subscriber_id: null, anonymous_id: ada });
  });
});

describe("history", () => {
  const at = (n: number) => timestamp(START - n * SECOND);

  /** 40 events, the newest first, each with its number: of Ada under three ids, and every fourth of somebody else. */
  const bought = shared(async (own) => {
    const { world, tenant } = await own.withTenant();
    const [ada] = (await addPeople(world, tenant, 1)) as [string];
    for (const anonymous of ["laptop", "phone"]) await identify(world, tenant, anonymous, ada);
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
    const numbersOf = async (query: { event_name: string }) =>
      (await eventsOf(store, ada, query)).map(({ properties }) => Number(properties.n));
    const oldestFirst = events.map((_, n) => n).reverse();
    return { numbersOf, all: oldestFirst.filter((n) => n % 5 !== 4 && n % 4 !== 3) };
  });

  it("the events of a person are found under any identity, the oldest first (IDN-2)", async () => {
    const { numbersOf, all } = await bought();

    expect(await numbersOf({ event_name: "bought" })).toEqual(all);
  });

  it.each([
    ["in a range", { from: at(20), to: at(10) }, (all: number[]) => all.filter((n) => n > 10 && n <= 20)],
    ["up to a number", { limit: 3 }, (all: number[]) => all.slice(-3)],
  ])("the events of a person are found %s (IDN-2)", async (_, range, expected) => {
    const { numbersOf, all } = await bought();

    expect(await numbersOf({ event_name: "bought", ...range })).toEqual(expected(all));
  });

  it("the events of a person are found by their whole name (IDN-2)", async () => {
    const { numbersOf } = await bought();

    expect(await numbersOf({ event_name: "bought#2026" })).toHaveLength(6);
    expect(await numbersOf({ event_name: "boug" })).toEqual([]);
  });
});
