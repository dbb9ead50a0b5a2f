// Dynamic segments (SEG-14, AMB-71): membership follows attributes, events, identities and time, whatever the order.
import { describe, expect, it } from "vitest";
import type { Message } from "../../shared/contract/messages.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { compileRule } from "../../shared/rules/segment-evaluation.ts";
import { segmentQueue } from "../../shared/runtime/resources.ts";
import { SegmentMembership } from "../../shared/store/lists/items.ts";
import { changeMembers } from "../../shared/store/lists/memberships.ts";
import { reevaluate } from "../../shared/store/segments/reevaluation.ts";
import { identify, ingest } from "../support/events.ts";
import { addPeople, quickDeps, quickStore, wholeTable } from "../support/people.ts";
import { recountMembers } from "../support/recounts.ts";
import { did, membersOf, pro, segmentOf, upsert } from "../support/segments.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const bought = (more: object = {}) => ({ event: { name: "buy", ...more } });
const buy = { event_name: "buy" };

/** Makes the segment worker evaluate a subscriber again, as a late or repeated message would. */
const again = async (world: TestWorld, tenant: Tenant, message: Partial<Message<"segment">>) => {
  await segmentQueue
    .open(quickDeps(world))(tenant.id)
    .send([{ tenant: tenant.id, subscribers: [], visitors: [], ...message }]);
  await world.settle();
};

describe("follows", () => {
  it("a dynamic segment has whose attributes match its rule, as they change, and new subscribers too (SEG-14)", async () => {
    const { world, tenant } = await withTenant();
    await upsert(world, tenant, "before", { plan: "pro" });
    const id = await segmentOf(world, tenant, pro);
    expect(await membersOf(tenant, id)).toEqual(["before"]);
    await upsert(world, tenant, "new", { plan: "pro" });
    await upsert(world, tenant, "other", { plan: "free" });
    expect(await membersOf(tenant, id)).toEqual(["before", "new"]);
    await upsert(world, tenant, "before", { plan: null });
    await upsert(world, tenant, "other", { plan: "pro" });
    expect(await membersOf(tenant, id)).toEqual(["new", "other"]);
    await upsert(world, tenant, "before", { plan: "pro" });
    expect(await membersOf(tenant, id)).toEqual(["before", "new", "other"]);
  });

  it("a dynamic segment follows the e-mail address of a person (SEG-14)", async () => {
    const { world, tenant } = await withTenant();
    const id = await segmentOf(world, tenant, { attribute: { email: { $eq: "ada@example.com" } } });
    const call = async (email: string) => {
      await tenant.upsert({ external_id: "ada", email });
      await world.settle();
      return membersOf(tenant, id);
    };

    expect(await call("old@example.com")).toEqual([]);
    expect(await call("ada@example.com")).toEqual(["ada"]);
    expect(await call("new@example.com")).toEqual([]);
  });

  it("two changes of a person that come at once count in the segments of both (SEG-14)", async () => {
    const { world, tenant } = await withTenant();
    const rules = [pro, { attribute: { city: { $eq: "Rome" } } }];
    const [byPlan, byCity] = [await segmentOf(world, tenant, rules[0]!), await segmentOf(world, tenant, rules[1]!)];
    await upsert(world, tenant, "ada");

    await tenant.upsert({ external_id: "ada", attributes: { plan: "pro" } });
    await tenant.upsert({ external_id: "ada", attributes: { city: "Rome" } });
    await world.settle();

    expect(await membersOf(tenant, byPlan)).toEqual(["ada"]);
    expect(await membersOf(tenant, byCity)).toEqual(["ada"]);
  });

  it("an event that lies behind many others decides as one that is the newest (SEG-14)", async () => {
    const { world, tenant } = await withTenant();
    await upsert(world, tenant, "ada", { plan: "free" });
    const send = (event_name: string) =>
      world.call("POST /v1/events", { as: tenant.server, body: { events: [{ event_name, external_id: "ada" }] } });
    await send("buy");
    for (let n = 0; n < 50; n++) {
      await world.advance(SECOND);
      await send("view");
    }
    const id = await segmentOf(world, tenant, { group: { op: "and", nodes: [pro, bought()] } });
    await upsert(world, tenant, "ada", { plan: "pro" });

    expect(await membersOf(tenant, id)).toEqual(["ada"]);
  });

  it("a count of events that begins behind many others is complete with the newest one (SEG-14)", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada");
    const id = await segmentOf(world, tenant, bought({ frequency: { min: 2 } }));
    await did(world, tenant, ada, buy);
    for (let n = 0; n < 50; n++) {
      await world.advance(SECOND);
      await did(world, tenant, ada, { event_name: "view" });
    }
    expect(await membersOf(tenant, id)).toEqual([]);
    await did(world, tenant, ada, buy);
    expect(await membersOf(tenant, id)).toEqual(["ada"]);
  });

  it("a worker whose rules have changed since writes nothing by the old ones (SEG-14, JND-10)", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada");
    const segment = await segmentOf(world, tenant, bought({ frequency: { min: 5 } }));
    const rulesOf = (rule: object) => new Map([[segment, compileRule(rule)]]);
    const now = rulesOf(bought({ frequency: { min: 5 } }));
    const rules = { first: rulesOf(bought({ frequency: { max: 0 } })), now: async () => now };
    await reevaluate(quickStore(world, tenant), undefined, rules, [{ subscriber: ada }]);

    expect(await tenant.store.get(SegmentMembership, { subscriber: ada, segment })).toBeUndefined();
  });

  it("a late message about an erased subscriber writes nothing for a rule of events alone (SUB-9)", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada");
    await segmentOf(world, tenant, bought({ within: "1h", frequency: { max: 0 } }));
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.settle();
    await again(world, tenant, { subscribers: [{ id: ada }] });

    expect((await wholeTable(world)).filter(({ pk }) => pk.S.endsWith(`#U#${ada}`))).toEqual([]);
  });

  it("what a new subscriber does not have counts as well (RUL-4)", async () => {
    const { world, tenant } = await withTenant();
    const id = await segmentOf(world, tenant, { attribute: { plan: { $exists: false } } });
    await upsert(world, tenant, "ada");
    expect(await membersOf(tenant, id)).toEqual(["ada"]);
    await upsert(world, tenant, "ada", { plan: "x" });
    expect(await membersOf(tenant, id)).toEqual([]);
  });

  it("dynamic segments follow events, with their counts and properties, by either tier (SEG-14, RUL-5, RUL-8)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    const once = await segmentOf(world, tenant, bought());
    const often = await segmentOf(world, tenant, bought({ frequency: { min: 2 }, where: { total: { $gt: 10 } } }));
    const never = await segmentOf(world, tenant, bought({ frequency: { max: 0 } }));
    const all = async () => [
      await membersOf(tenant, once),
      await membersOf(tenant, often),
      await membersOf(tenant, never),
    ];
    expect(await all()).toEqual([[], [], ["p0", "p1"]]);
    await did(world, tenant, ada, { ...buy, properties: { total: 5 } });
    expect(await all()).toEqual([["p0"], [], ["p1"]]);
    for (const total of [11, 12]) await did(world, tenant, ada, { ...buy, properties: { total } });
    expect((await ingest(world, tenant, { subscriber_id: bob, ...buy }, "sdk")).status).toBe(202);
    await world.settle();
    expect(await all()).toEqual([["p0", "p1"], ["p0"], []]);
  });

  it("an anonymous id's events count from the moment it is linked, and those to come (SEG-14)", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada");
    const id = await segmentOf(world, tenant, bought({ frequency: { min: 2 } }));
    await ingest(world, tenant, { anonymous_id: "device", ...buy });
    await did(world, tenant, ada, buy);
    expect(await membersOf(tenant, id)).toEqual([]);
    await identify(world, tenant, "device", ada);
    await world.settle();
    expect(await membersOf(tenant, id)).toEqual(["ada"]);
    const more = await segmentOf(world, tenant, bought({ frequency: { min: 3 } }));
    await ingest(world, tenant, { anonymous_id: "device", ...buy });
    await world.settle();
    expect(await membersOf(tenant, more)).toEqual(["ada"]);
  });

  it("a subscriber without events leaves within 5 minutes of the end of the window, and not before (AMB-71)", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada");
    const recent = await segmentOf(world, tenant, bought({ within: "2h" }));
    const lapsed = await segmentOf(world, tenant, bought({ within: "2h", frequency: { max: 0 } }));
    const both = async () => [await membersOf(tenant, recent), await membersOf(tenant, lapsed)];
    await did(world, tenant, ada, buy);
    expect(await both()).toEqual([["ada"], []]);
    await world.advance(HOUR);
    await did(world, tenant, ada, buy);
    await world.advance(2 * HOUR - SECOND);
    expect(await both()).toEqual([["ada"], []]);
    await world.advance(5 * MINUTE);
    expect(await both()).toEqual([[], ["ada"]]);
  });

  it("windows of different lengths end one after the other, also those found by the first computation (AMB-71)", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada");
    await did(world, tenant, ada, buy);
    const ids: string[] = [];
    for (const within of ["1d", "30m", "3h"]) ids.push(await segmentOf(world, tenant, bought({ within })));
    const counts = async () => Promise.all(ids.map(async (id) => (await membersOf(tenant, id)).length));
    expect(await counts()).toEqual([1, 1, 1]);
    await world.advance(35 * MINUTE);
    expect(await counts()).toEqual([1, 0, 1]);
    await world.advance(3 * HOUR);
    expect(await counts()).toEqual([1, 0, 0]);
    await world.advance(DAY);
    expect(await counts()).toEqual([0, 0, 0]);
  });

  it("a changed rule is recomputed and followed from then on (SEG-3, AMB-17)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2, (n) => ({ attributes: { plan: n ? "pro" : "free" } }))) as [
      string,
      string,
    ];
    const id = await segmentOf(world, tenant, pro, { name: "S" });
    expect(await membersOf(tenant, id)).toEqual(["p1"]);
    const changed = await tenant.call(`PATCH /api/v1/segments/${id}`, { name: "S", rule: bought() });
    expect(changed.body.needs_recompute).toBe(true);
    await world.settle();
    expect(await membersOf(tenant, id)).toEqual([]);
    expect((await tenant.call(`GET /api/v1/segments/${id}`)).body.needs_recompute).toBe(false);
    await did(world, tenant, ada, buy);
    await did(world, tenant, bob, { event_name: "sell" });
    expect(await membersOf(tenant, id)).toEqual(["p0"]);
  });
});

describe("converges", () => {
  it("after many concurrent changes of a subscriber its memberships match its last attributes (SEG-14)", async () => {
    const { world, tenant } = await withTenant();
    const id = await segmentOf(world, tenant, pro);
    const change = (plan: string) =>
      world.call("POST /api/v1/subscribers/upsert", {
        as: tenant.sdk,
        body: { external_id: "ada", attributes: { plan } },
      });
    for (let n = 0; n < 6; n++) {
      await Promise.all(["pro", "free", "pro", n % 2 ? "free" : "pro"].map(change));
      await world.settle();
      const { items } = (await world.call("GET /v1/subscribers", { as: tenant.server })).body;
      const isPro = JSON.parse(items[0].attributes).plan === "pro";
      expect(await membersOf(tenant, id)).toEqual(isPro ? ["ada"] : []);
    }
  });

  it("the count is changed with the rows: entering and leaving twice count once", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 40);
    const id = await segmentOf(world, tenant, pro);
    const store = quickStore(world, tenant);
    const group = { kind: "segment", id } as const;
    await Promise.all([changeMembers(store, group, { enter: people }), changeMembers(store, group, { enter: people })]);
    const { left } = await changeMembers(store, group, { leave: people.slice(0, 15) });
    expect(left.length).toBe(15);
    expect((await changeMembers(store, group, { leave: people.slice(0, 15) })).left).toEqual([]);
    const { count } = (await tenant.call(`GET /api/v1/segments/${id}`)).body;
    expect(count).toBe(25);
    expect(await recountMembers(store, group)).toBe(25);
  });

  it("an erased subscriber leaves its segments, the count follows, and no timer brings it back (SUB-9)", async () => {
    const { world, tenant } = await withTenant();
    const [ada] = (await addPeople(world, tenant, 2)) as [string, string];
    const id = await segmentOf(world, tenant, bought({ within: "1h" }));
    const lapsed = await segmentOf(world, tenant, bought({ within: "1h", frequency: { max: 0 } }));
    await did(world, tenant, ada, buy);
    expect(await membersOf(tenant, id)).toEqual(["p0"]);
    expect(await membersOf(tenant, lapsed)).toEqual(["p1"]);
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.settle();
    expect(await membersOf(tenant, id)).toEqual([]);
    await world.advance(2 * HOUR);
    expect(await membersOf(tenant, id)).toEqual([]);
    expect(await membersOf(tenant, lapsed)).toEqual(["p1"]);
    expect((await wholeTable(world)).filter(({ pk }) => pk.S.endsWith(`#U#${ada}`))).toEqual([]);
  });

  it("entries and exits are rows that start reactions (JND-10)", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada", { plan: "pro" });
    const id = await segmentOf(world, tenant, pro);
    const row = () => tenant.store.get(SegmentMembership, { subscriber: ada, segment: id });
    const entered_at = new Date(world.clock.now()).toISOString();
    expect(await row()).toMatchObject({
      react: "membership",
      segment_id: id,
      subscriber_id: ada,
      member: true,
      entered_at,
    });
    await world.advance(MINUTE);
    await upsert(world, tenant, "ada", { plan: "free" });
    const exited_at = new Date(world.clock.now()).toISOString();
    expect(await row()).toMatchObject({ react: "membership", member: false, exited_at });
  });
});
