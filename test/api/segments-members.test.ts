// Segments (SEG-11, SEG-12): static computation, members, names.
import { describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { Fill, SegmentItem } from "../../shared/store/segments/items.ts";
import { ingest } from "../support/events.ts";
import { addPeople, quickStore, send } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { did, getSegment, membersOf, pro, segmentOf, upsert } from "../support/segments.ts";
import { START, type Tenant, type TestWorld, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();

describe("static segments", () => {
  /** A static segment of 300 of 320 people, after one of them has left it by the rule, and another would belong to it. */
  async function outdated() {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 320, (n) => ({ attributes: { n } }));
    const id = await segmentOf(world, tenant, { attribute: { n: { $lt: 300 } } }, { is_dynamic: false });
    await upsert(world, tenant, "p0", { n: 1_000 });
    await upsert(world, tenant, "late", { n: 1 });
    return { world, tenant, id };
  }

  it("a static segment keeps the members of its creation through changes of people (AMB-17)", async () => {
    const { tenant, id } = await outdated();

    const members = await membersOf(tenant, id);

    expect(members).toHaveLength(300);
    expect(members).toContain("p0");
    expect((await getSegment(tenant, id)).count).toBe(300);
  });

  it("a recomputation gives a static segment the members of now (AMB-17)", async () => {
    const { world, tenant, id } = await outdated();

    await tenant.call(`POST /api/v1/segments/${id}/recompute`);
    await world.settle();

    const members = await membersOf(tenant, id);

    expect(members).toHaveLength(300);
    expect(members).not.toContain("p0");
    expect(members).toContain("late");
  });

  /** Two hours after p0 bought for 5, 15 and 25 and p1 for 5. */
  const bought = shared(async (own) => {
    const { world, tenant, ids } = await own.withPeople(3);
    const [p0, p1, p2] = ids as [string, string, string];
    for (const total of [5, 15, 25]) await did(world, tenant, p0, { event_name: "buy", properties: { total } });
    await did(world, tenant, p1, { event_name: "buy", properties: { total: 5 } });
    await did(world, tenant, p2, { event_name: "sell" });
    await world.advance(2 * 60 * MINUTE);
    return { world, tenant };
  });

  it.each<[what: string, event: object, members: string[]]>([
    ["ever", {}, ["p0", "p1"]],
    ["at least twice", { frequency: { min: 2 } }, ["p0"]],
    ["never", { frequency: { max: 0 } }, ["p2"]],
    ["exactly twice for more than 10", { where: { total: { $gt: 10 } }, frequency: { min: 2, max: 2 } }, ["p0"]],
    ["within an hour", { within: "1h" }, []],
    ["within a day", { within: "1d" }, ["p0", "p1"]],
  ])("a static segment of those who bought %s counts events of the past (RUL-5, RUL-8)", async (_, event, members) => {
    const { world, tenant } = await bought();

    const id = await segmentOf(world, tenant, { event: { name: "buy", ...event } }, { is_dynamic: false });

    expect(await membersOf(tenant, id)).toEqual(members);
  });

  /** As if all messages of the first computation were lost. */
  async function forget(world: TestWorld, tenant: Tenant, id: string) {
    const store = quickStore(world, tenant);
    await store.remove(Fill, { segment: id, part: "*" });
    await store.change(SegmentItem, { id }, { set: { parts_done: 0, computed: 0 } });
  }

  it("a computation of a segment whose messages were lost is begun again by the watchdog (AMB-123)", async () => {
    const { world, tenant } = await withTenant();
    await upsert(world, tenant, "ada", { plan: "pro" });
    const id = await segmentOf(world, tenant, pro, { is_dynamic: false });
    await forget(world, tenant, id);
    expect(await getSegment(tenant, id)).toMatchObject({ needs_recompute: true });

    await world.advance(16 * MINUTE);

    expect(await getSegment(tenant, id)).toMatchObject({ needs_recompute: false, count: 1 });
    expect(await getSegment(tenant, id)).not.toHaveProperty("last_error");
  });

  it("a segment whose computation is late says so until it ends (AMB-123)", async () => {
    const reading = requests({ of: "recompute-segment", operation: "Query" });
    const { world, tenant } = await withTenant({ hooks: reading.hooks });
    const id = await segmentOf(world, tenant, pro, { is_dynamic: false });
    await forget(world, tenant, id);

    reading.fail(awsFailure("ThrottlingException", "Slow down."));
    await world.advance(16 * MINUTE);
    expect(await getSegment(tenant, id)).toMatchObject({
      needs_recompute: true,
      last_error: { code: "RECOMPUTE_LATE", at: expect.any(String) },
    });

    reading.pass();
    await world.advance(16 * MINUTE);
    expect(await getSegment(tenant, id)).toMatchObject({ needs_recompute: false });
    expect(await getSegment(tenant, id)).not.toHaveProperty("last_error");
  });
});

describe("members", () => {
  it("the members of a segment are listed in pages of 100 with when they entered (AMB-72, LIM-8)", async () => {
    const { world, tenant } = await withPeople(120, {}, { plan: "pro" });
    const id = await segmentOf(world, tenant, pro);

    const { items } = (await tenant.call(`GET /api/v1/segments/${id}/members`)).body;

    expect(items).toHaveLength(100);
    expect(items[0]).toEqual({
      subscriber_id: expect.any(String),
      external_id: expect.any(String),
      name: null,
      entered_at: new Date(START).toISOString(),
    });
    expect(await membersOf(tenant, id)).toHaveLength(120);
  });

  /** A segment of those who pay and bought something this week, as Ada did, and Bob did not. */
  const explained = shared(async (own) => {
    const { world, tenant } = await own.withTenant();
    const ada = await upsert(world, tenant, "ada", { plan: "pro" });
    const bob = await upsert(world, tenant, "bob", { plan: "free" });
    await did(world, tenant, ada, { event_name: "buy" });
    const rule = { group: { op: "and", nodes: [pro, { event: { name: "buy", within: "7d" } }] } };
    const id = await segmentOf(world, tenant, rule);
    const explain = async (who: string) => (await tenant.call(`GET /api/v1/segments/${id}/members/${who}`)).body;
    return { ada, bob, explain };
  });
  it.each([
    ["a member", "ada", true, "pro", 1],
    ["who is no member", "bob", false, "free", 0],
  ] as const)(
    "%s of a segment is explained by each of its clauses (D-SEG, F2)",
    async (_, who, matched, plan, times) => {
      const { explain, ...people } = await explained();

      expect(await explain(people[who])).toEqual({
        member: matched,
        reasons: [
          { path: "group.nodes[0].attribute.plan", expected: { $eq: "pro" }, matched, actual: plan },
          { path: "group.nodes[1].event", expected: expect.objectContaining({ name: "buy" }), matched, actual: times },
        ],
      });
    },
  );

  it("who does not exist is not explained: 404 (D-SEG)", async () => {
    const { explain } = await explained();

    expect((await explain(UNKNOWN)).code).toBe("NOT_FOUND");
  });

  it.each([3, 1_050])(
    "a send to a segment of %i reaches its members, and is answered with their number (NTF-5, docs/decisions/0021#audience-size)",
    async (size) => {
      const { world, tenant } = await withTenant();
      await addPeople(world, tenant, size + 20, (n) => ({ attributes: { n } }));
      const segment_id = await segmentOf(world, tenant, { attribute: { n: { $lt: size } } }, { is_dynamic: false });

      const { answer, job } = await send(world, tenant, { target: { type: "segment", segment_id } });

      expect(answer.sent).toBe(size);
      expect(job).toMatchObject({ status: "completed", counts: { delivered: size } });
    },
  );
});

describe("names", () => {
  it("attribute keys of segments are those that subscribers have or had, in order (SEG-11)", async () => {
    const { world, tenant } = await withTenant();
    const keysOf = async () => (await tenant.call("GET /api/v1/segments/attribute-keys")).body;
    expect(await keysOf()).toEqual({ keys: [] });

    await upsert(world, tenant, "ada", { plan: "pro", age: 3 });
    await upsert(world, tenant, "bob", { city: "Ulm" });

    expect(await keysOf()).toEqual({ keys: ["age", "city", "plan"] });
  });

  it("event names of segments are those that were ingested (SEG-12)", async () => {
    const { world, tenant } = await withTenant();
    await ingest(world, tenant, { event_name: "signed_up", anonymous_id: "a" });
    await ingest(world, tenant, { event_name: "bought", anonymous_id: "a" });

    const { body } = await tenant.call("GET /api/v1/segments/event-names");

    expect(body).toEqual({ names: ["bought", "signed_up"] });
  });
});
