// Segments (SEG-10 to SEG-12, D-PREVIEW): static computation, members, previews, names.
import { describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { toJson } from "../../shared/store/json-text.ts";
import type { Value } from "../../shared/store/model.ts";
import { Fill, SegmentItem } from "../../shared/store/segments/items.ts";
import { MAX_EXACT } from "../../shared/store/segments/preview.ts";
import { Profile, SubscriberCount } from "../../shared/store/subscribers/items.ts";
import { ingest } from "../support/events.ts";
import { addPeople, quickStore, send } from "../support/people.ts";
import { ask, did, membersOf, segmentOf, upsert } from "../support/segments.ts";
import { spentByCall } from "../support/spending.ts";
import { START, type Tenant, type TestWorld, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const pro = { attribute: { plan: { $eq: "pro" } } };

const get = async (world: TestWorld, tenant: Tenant, id: string) =>
  (await ask(world, tenant, `GET /api/v1/segments/${id}`)).body;
const preview = (world: TestWorld, tenant: Tenant, rule: unknown) =>
  ask(world, tenant, "POST /api/v1/segments/preview", rule);

describe("static segments", () => {
  it("are computed on create, keep their members through changes, and follow a recomputation (AMB-17)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 320, (n) => ({ attributes: { n } }));
    const id = await segmentOf(world, tenant, { attribute: { n: { $lt: 300 } } }, { is_dynamic: false });
    expect(await membersOf(world, tenant, id)).toHaveLength(300);
    await upsert(world, tenant, "p0", { n: 1_000 });
    await upsert(world, tenant, "late", { n: 1 });
    expect((await get(world, tenant, id)).count).toBe(300);
    await ask(world, tenant, `POST /api/v1/segments/${id}/recompute`);
    await world.settle();
    const members = await membersOf(world, tenant, id);
    expect([members.length, members.includes("p0"), members.includes("late")]).toEqual([300, false, true]);
  });

  it("to RUL-8 count events of the past (RUL-5)", async () => {
    const { world, tenant } = await withTenant();
    const [a, b, c] = (await addPeople(world, tenant, 3)) as [string, string, string];
    for (const total of [5, 15, 25]) await did(world, tenant, a, { event_name: "buy", properties: { total } });
    await did(world, tenant, b, { event_name: "buy", properties: { total: 5 } });
    await did(world, tenant, c, { event_name: "sell" });
    const chosen = async (event: object) =>
      membersOf(
        world,
        tenant,
        await segmentOf(world, tenant, { event: { name: "buy", ...event } }, { is_dynamic: false }),
      );
    expect(await chosen({})).toEqual(["p0", "p1"]);
    expect(await chosen({ frequency: { min: 2 } })).toEqual(["p0"]);
    expect(await chosen({ frequency: { max: 0 } })).toEqual(["p2"]);
    expect(await chosen({ where: { total: { $gt: 10 } }, frequency: { min: 2, max: 2 } })).toEqual(["p0"]);
    await world.advance(2 * 60 * MINUTE);
    expect(await chosen({ within: "1h" })).toEqual([]);
    expect(await chosen({ within: "1d" })).toEqual(["p0", "p1"]);
  });

  it("a lost message of a computation is sent again by the watchdog", async () => {
    const { world, tenant } = await withTenant();
    await upsert(world, tenant, "ada", { plan: "pro" });
    const id = await segmentOf(world, tenant, pro, { is_dynamic: false });
    // As if all messages of the first computation were lost.
    const store = quickStore(world, tenant);
    await store.remove(Fill, { segment: id, part: "*" });
    await store.change(SegmentItem, { id }, { set: { parts_done: 0, computed: 0 } });
    expect(await get(world, tenant, id)).toMatchObject({ needs_recompute: true });
    await world.advance(16 * MINUTE);
    expect(await get(world, tenant, id)).toMatchObject({ needs_recompute: false, count: 1 });
    expect(await get(world, tenant, id)).not.toHaveProperty("last_error");
  });

  it("a computation that is late says so until it ends (AMB-123)", async () => {
    let isStuck = false;
    const hooks = (name: string) => ({
      before: (_: string, operation: string) => {
        if (isStuck && name === "recompute-segment" && operation === "Query")
          throw awsFailure("ThrottlingException", "Slow down.");
      },
    });
    const { world, tenant } = await withTenant({ hooks });
    const id = await segmentOf(world, tenant, pro, { is_dynamic: false });
    const store = quickStore(world, tenant);
    await store.remove(Fill, { segment: id, part: "*" });
    await store.change(SegmentItem, { id }, { set: { parts_done: 0, computed: 0 } });
    isStuck = true;
    await world.advance(16 * MINUTE);
    expect(await get(world, tenant, id)).toMatchObject({
      needs_recompute: true,
      last_error: { code: "RECOMPUTE_LATE", at: expect.any(String) },
    });
    isStuck = false;
    await world.advance(16 * MINUTE);
    expect(await get(world, tenant, id)).toMatchObject({ needs_recompute: false });
    expect(await get(world, tenant, id)).not.toHaveProperty("last_error");
  });
});

describe("members", () => {
  it("are listed in pages of 100 with when they entered (AMB-72, LIM-8)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 120, () => ({ attributes: { plan: "pro" } }));
    const id = await segmentOf(world, tenant, pro);
    const { body } = await ask(world, tenant, `GET /api/v1/segments/${id}/members`);
    expect([body.items.length, body.items[0]]).toEqual([
      100,
      {
        subscriber_id: expect.any(String),
        external_id: expect.any(String),
        name: null,
        entered_at: new Date(START).toISOString(),
      },
    ]);
    expect(await membersOf(world, tenant, id)).toHaveLength(120);
    expect((await ask(world, tenant, `GET /api/v1/segments/${UNKNOWN}/members`)).status).toBe(404);
  });

  it("a member is explained clause by clause; unknown subscribers are 404 (D-SEG, F2)", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada", { plan: "pro" });
    const bob = await upsert(world, tenant, "bob", { plan: "free" });
    await did(world, tenant, ada, { event_name: "buy" });
    const rule = { group: { op: "and", nodes: [pro, { event: { name: "buy", within: "7d" } }] } };
    const id = await segmentOf(world, tenant, rule);
    const explain = async (who: string) => (await ask(world, tenant, `GET /api/v1/segments/${id}/members/${who}`)).body;
    const clause = { path: "group.nodes[0].attribute.plan", expected: { $eq: "pro" } };
    const event = { path: "group.nodes[1].event", expected: expect.objectContaining({ name: "buy" }) };
    expect(await explain(ada)).toEqual({
      member: true,
      reasons: [
        { ...clause, matched: true, actual: "pro" },
        { ...event, matched: true, actual: 1 },
      ],
    });
    expect(await explain(bob)).toEqual({
      member: false,
      reasons: [
        { ...clause, matched: false, actual: "free" },
        { ...event, matched: false, actual: 0 },
      ],
    });
    expect((await explain(UNKNOWN)).code).toBe("NOT_FOUND");
  });

  it("docs/decisions/0021#audience-size a send to a segment reaches its members; `sent` is their number, beyond 1,000 by the count (NTF-5)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 1_100, (n) => ({ attributes: { n } }));
    for (const size of [3, 1_050]) {
      const id = await segmentOf(world, tenant, { attribute: { n: { $lt: size } } }, { is_dynamic: false });
      const { answer, job } = await send(world, tenant, { target: { type: "segment", segment_id: id } });
      expect([answer.sent, job.status, job.counts.delivered]).toEqual([size, "completed", size]);
    }
  });

  it("a send to an unknown segment is 422 naming it (AMB-93)", async () => {
    const { world, tenant } = await withTenant();
    const body = { target: { type: "segment", segment_id: UNKNOWN }, title: "t", body: "b" };
    const refused = await ask(world, tenant, "POST /api/v1/notifications", body);
    expect([refused.status, Object.keys(refused.body.fields)]).toEqual([422, ["target.segment_id"]]);
  });
});

describe("preview", () => {
  it("the body is the rule, in either form; the count is exact and ids are a sample of at most 10 (SEG-10, D-PREVIEW)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 40, (n) => ({ attributes: { n } }));
    const few = await preview(world, tenant, { attribute: { n: { $lt: 4 } } });
    expect([few.status, few.body]).toEqual([
      200,
      { estimated_count: 4, sample_subscriber_ids: people.slice(0, 4).sort(), exact: true },
    ]);
    const many = (await preview(world, tenant, { attribute: { key: "n", operator: "gte", value: 10 } })).body;
    expect([many.estimated_count, many.exact, many.sample_subscriber_ids.length]).toEqual([30, true, 10]);
    await did(world, tenant, people[7]!, { event_name: "buy" });
    const event = (await preview(world, tenant, { event: { name: "buy" } })).body;
    expect(event).toEqual({ estimated_count: 1, sample_subscriber_ids: [people[7]], exact: true });
  });

  it("a rule of events is exact, also by anonymous ids and events sent alone, and costs no query for each subscriber (SEG-10, D-PREVIEW)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 60);
    const events = ids
      .slice(0, 20)
      .map((subscriber_id) => ({ event_name: "buy", subscriber_id, anonymous_id: undefined }));
    await ingest(world, tenant, { events });
    await ingest(world, tenant, { event_name: "buy", anonymous_id: "visitor" });
    const link = { anonymous_id: "visitor", subscriber_id: ids[30] };
    await world.call("POST /v1/events/identify", { as: tenant.sdk, body: link });
    await did(world, tenant, ids[0]!, { event_name: "buy" });
    await did(world, tenant, ids[40]!, { event_name: "sell" });
    const count = async (event: object) =>
      (await preview(world, tenant, { event: { name: "buy", ...event } })).body.estimated_count;
    expect([await count({}), await count({ within: "1h" })]).toEqual([21, 21]);
    expect([await count({ frequency: { min: 2 } }), await count({ frequency: { max: 0 } })]).toEqual([1, 39]);
    const route = "POST /api/v1/segments/preview";
    const body = { event: { name: "buy" } };
    const { requests } = await spentByCall(world, {
      as: await tenant.dashboard(),
      route,
      body,
      refused: { route, body: {} },
    });
    expect(requests).toBeLessThanOrEqual(40);
  });

  it.each([{}, { rule: pro }, { attribute: { plan: { $regex: "p" } } }])("%j is 422 (SEG-10)", async (rule) => {
    const { world, tenant } = await withTenant();
    const { status, body } = await preview(world, tenant, rule);
    expect([status, body.code]).toEqual([422, "VALIDATION_ERROR"]);
  });

  it("beyond 10,000 a range of ids is extrapolated; either way at most 450 RCU and 20 requests (D-PREVIEW)", async () => {
    const { world, tenant } = await withTenant();
    const store = quickStore(world, tenant);
    const at = new Date(START).toISOString();
    const add = async (from: number, to: number) => {
      const rows = Array.from({ length: to - from }, (_, i) => {
        const n = from + i;
        const id = world.ids.uuid();
        return putItem(
          Profile,
          { id },
          {
            id,
            external_id: `customer-${n}`,
            email: `customer-${n}@example.com`,
            "a:n": toJson<Value>(n % 4),
            "a:first_name": toJson<Value>("Somebody"),
            "a:city": toJson<Value>("Somewhere"),
            created_at: at,
            updated_at: at,
          },
        );
      });
      await store.writeAll(rows);
      await store.change(SubscriberCount, { shard: "0" }, { set: { n: to, changes: 1 } });
    };
    const route = "POST /api/v1/segments/preview";
    const rule = { attribute: { n: { $eq: 1 } } };
    const measure = async () =>
      spentByCall(world, { as: await tenant.dashboard(), route, body: rule, refused: { route, body: {} } });
    await add(0, MAX_EXACT);
    expect((await preview(world, tenant, rule)).body).toMatchObject({ estimated_count: MAX_EXACT / 4, exact: true });
    const exact = await measure();
    await add(MAX_EXACT, 1.2 * MAX_EXACT);
    const { body } = await preview(world, tenant, rule);
    expect(body.exact).toBe(false);
    expect(Math.abs(body.estimated_count - (1.2 * MAX_EXACT) / 4)).toBeLessThan(0.03 * MAX_EXACT);
    const sampled = await measure();
    for (const { rcu, requests } of [exact, sampled]) {
      expect(rcu).toBeLessThanOrEqual(450);
      expect(requests).toBeLessThanOrEqual(20);
    }
  });
});

describe("names", () => {
  it("attribute keys are those that subscribers have or had, in order (SEG-11)", async () => {
    const { world, tenant } = await withTenant();
    const keysOf = async () => (await ask(world, tenant, "GET /api/v1/segments/attribute-keys")).body;
    expect(await keysOf()).toEqual({ keys: [] });
    await upsert(world, tenant, "ada", { plan: "pro", age: 3 });
    await upsert(world, tenant, "bob", { city: "Ulm" });
    expect(await keysOf()).toEqual({ keys: ["age", "city", "plan"] });
  });

  it("event names are those that were ingested (SEG-12)", async () => {
    const { world, tenant } = await withTenant();
    await ingest(world, tenant, { event_name: "signed_up", anonymous_id: "a" });
    await ingest(world, tenant, { event_name: "bought", anonymous_id: "a" });
    const { body } = await ask(world, tenant, "GET /api/v1/segments/event-names");
    expect(body).toEqual({ names: ["bought", "signed_up"] });
  });
});
