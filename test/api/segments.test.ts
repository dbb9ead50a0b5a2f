// Segments (SEG-1 to SEG-9): records, rules, plan caps.
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { MemberCount } from "../../shared/store/lists/items.ts";
import { SegmentItem } from "../../shared/store/segments/items.ts";
import { addPeople, quickStore, wholeTable } from "../support/people.ts";
import { getSegment, membersOf, preview, pro, segmentOf, upsert } from "../support/segments.ts";
import { START, type Tenant, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const flat = { attribute: { key: "plan", value: "pro" } };

const create = (tenant: Tenant, body: unknown) => tenant.call("POST /api/v1/segments", body);

describe("records", () => {
  it("a new segment has exactly its fields, is static by default, and keeps its rule as given (SEG-1, SEG-2, SEG-6)", async () => {
    const { world, tenant } = await withTenant();
    const at = new Date(START).toISOString();
    for (const rule of [pro, flat]) {
      const made = await create(tenant, { name: ` ${JSON.stringify(rule)} `, rule });
      const fields = { id: expect.any(String), name: JSON.stringify(rule), is_dynamic: false, needs_recompute: true };
      expect(made.status).toBe(201);
      expect(made.body).toEqual({ ...fields, count: 0, rule, created_at: at, updated_at: at });
      await world.settle();
      expect(await getSegment(tenant, made.body.id)).toEqual({ ...made.body, needs_recompute: false });
    }
  });

  /** A workspace with the segments A and B. */
  async function named() {
    const { world, tenant } = await withTenant();
    const a = await segmentOf(world, tenant, pro, { name: "A" });
    const b = await segmentOf(world, tenant, pro, { name: "B" });
    return { tenant, a, b };
  }

  it("a segment with a name that is taken is refused with 409 (SEG-7)", async () => {
    const { tenant } = await named();

    expect(await create(tenant, { name: "A", rule: pro })).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  });

  it("a segment is not renamed to a name that is taken: 409 (SEG-7, SEG-8)", async () => {
    const { tenant, a } = await named();

    expect((await tenant.call(`PATCH /api/v1/segments/${a}`, { name: "B", rule: pro })).status).toBe(409);
  });

  it("of four segments of one name at once, one is created (SEG-7)", async () => {
    const { tenant } = await withTenant();

    const race = await Promise.all(
      Array.from({ length: 4 }, () => create(tenant, { name: "C", rule: pro, is_dynamic: true })),
    );

    expect(race.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it("the name of a segment that was deleted is free (SEG-7)", async () => {
    const { tenant, a } = await named();

    expect((await tenant.call(`DELETE /api/v1/segments/${a}`)).status).toBe(204);

    expect((await create(tenant, { name: "A", rule: pro })).status).toBe(201);
  });

  it("the name that a segment gave up is free (SEG-7, SEG-8)", async () => {
    const { tenant, b } = await named();

    expect((await tenant.call(`PATCH /api/v1/segments/${b}`, { name: "D", rule: pro })).status).toBe(200);

    expect((await create(tenant, { name: "B", rule: pro })).status).toBe(201);
  });

  const untouched = shared((own) => own.withTenant());
  it.each([
    ["rule", { name: "a", rule: {} }],
    ["rule.attribute.plan.$like", { name: "a", rule: { attribute: { plan: { $like: "p" } } } }],
    ["rule.group.nodes", { name: "a", rule: { group: { op: "and", nodes: [] } } }],
    ["rule.event.within", { name: "a", rule: { event: { name: "x", within: "0d" } } }],
  ])("a segment is refused with 422 naming %s (SEG-7)", async (field, body) => {
    const { tenant } = await untouched();
    const { status, body: answer } = await create(tenant, body);

    expect(status).toBe(422);
    expect(answer.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(answer.fields)).toEqual([field]);
  });

  it("a rule of 10 levels is accepted; deeper, wider or endless ones are 422, wherever a rule is given (RUL-3)", async () => {
    const { tenant } = await withTenant();
    const nested = (depth: number): object =>
      depth === 1 ? pro : { group: { op: "and", nodes: [nested(depth - 1)] } };
    expect((await create(tenant, { name: "deep", rule: nested(10) })).status).toBe(201);
    expect((await preview(tenant, nested(10))).status).toBe(200);
    const wide = { group: { op: "or", nodes: Array.from({ length: 200 }, () => pro) } };
    for (const rule of [nested(11), nested(400), wide]) {
      expect((await create(tenant, { name: "x", rule })).status).toBe(422);
      expect((await preview(tenant, rule)).status).toBe(422);
    }
  });

  it("a changed rule sets needs_recompute, the same rule in another order does not (SEG-3, SEG-8, AMB-17, AMB-70)", async () => {
    const { world, tenant } = await withTenant();
    await upsert(world, tenant, "ada", { plan: "pro" });
    const rule = { attribute: { plan: { $eq: "pro" }, age: { $exists: false } } };
    const id = await segmentOf(world, tenant, rule, { is_dynamic: false });
    await world.advance(SECOND);
    const patch = (body: object) => tenant.call(`PATCH /api/v1/segments/${id}`, body);
    const same = { attribute: { age: { $exists: false }, plan: { $eq: "pro" } } };
    expect((await patch({ name: "B", rule: same })).body).toMatchObject({
      name: "B",
      needs_recompute: false,
      count: 1,
    });
    const other = await patch({ name: "B", rule: { attribute: { plan: { $eq: "free" } } } });
    expect(other.body).toMatchObject({
      needs_recompute: true,
      count: 1,
      rule: { attribute: { plan: { $eq: "free" } } },
    });
    expect(other.body.updated_at > other.body.created_at).toBe(true);
    await world.settle();
    expect(await getSegment(tenant, id)).toMatchObject({ needs_recompute: true, count: 1 });
    const queued = await tenant.call(`POST /api/v1/segments/${id}/recompute`);
    expect(queued.status).toBe(202);
    expect(queued.body).toEqual({ status: "queued" });
    await world.settle();
    expect(await getSegment(tenant, id)).toMatchObject({ needs_recompute: false, count: 0 });
  });

  it("a change of a segment needs name and rule, and cannot change is_dynamic (SEG-2, SEG-8, AMB-46)", async () => {
    const { world, tenant } = await withTenant();
    const id = await segmentOf(world, tenant, pro, { is_dynamic: false, name: "A" });
    const patch = (body: object, of = id) => tenant.call(`PATCH /api/v1/segments/${of}`, body);
    for (const [field, body] of [
      ["name", { rule: pro }],
      ["rule", { name: "A" }],
      ["is_dynamic", { name: "A", rule: pro, is_dynamic: true }],
    ] as const) {
      const { status, body: answer } = await patch(body);
      expect(status).toBe(422);
      expect(Object.keys(answer.fields)).toEqual([field]);
    }

    expect((await patch({ name: "A", rule: pro, is_dynamic: false })).status).toBe(200);
    const dynamic = await segmentOf(world, tenant, pro, { name: "D" });
    expect((await patch({ name: "D", rule: pro, is_dynamic: false }, dynamic)).status).toBe(422);
    expect((await patch({ name: "A", rule: pro }, UNKNOWN)).status).toBe(404);
  });

  it("a page of segments closes at 4 MB with a cursor, and the rest follows (SEG-5, docs/decisions/0021#page-size)", async () => {
    const { tenant } = await withTenant({ plan: "enterprise" });
    const rule = { attribute: { plan: { $in: Array.from({ length: 190 }, (_, n) => `${n}${"x".repeat(330)}`) } } };
    const count = 75;
    for (let n = 0; n < count; n++) await tenant.call("POST /api/v1/segments", { name: `s${n}`, rule });

    const first = (await tenant.call("GET /api/v1/segments")).body;
    const rest = (await tenant.call(`GET /api/v1/segments?cursor=${encodeURIComponent(first.next_cursor)}`)).body;

    expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(4.2 * 1_048_576);
    expect(rest.next_cursor).toBe("");
    const names = [...first.segments, ...rest.segments].map(({ name }: { name: string }) => name);
    expect(new Set(names).size).toBe(count);
    expect(names).toHaveLength(count);
  });

  it("up to 100 a page, newest first, with counts (SEG-5, LIM-8)", async () => {
    const { world, tenant } = await withTenant();
    const at = new Date(START).toISOString();
    const names = Array.from({ length: 103 }, (_, n) => `S${n}`);
    const rows = names.flatMap((name, n) => {
      const id = world.ids.uuidAt(START - n);
      const entity = { id, name, is_dynamic: false, rule: toJson(pro), created_at: at, updated_at: at };
      const computed = { rule_version: 1, run: 1, run_version: 1, parts: 1, parts_done: 1, computed: 1 };
      const count = (shard: string) => putItem(MemberCount, { kind: "segment", id, shard }, { n, changes: 1 });
      return [putItem(SegmentItem, { id }, { ...entity, ...computed, react: "segment" }), count("0"), count("f")];
    });
    await quickStore(world, tenant).writeAll(rows);
    const first = (await tenant.call("GET /api/v1/segments")).body;
    const second = (await tenant.call(`GET /api/v1/segments?cursor=${first.next_cursor}`)).body;
    expect(first.segments.length).toBe(100);
    expect(second.segments.length).toBe(3);
    expect(second.next_cursor).toBe("");
    const all = [...first.segments, ...second.segments];
    expect(all.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(all.map(({ count }: { count: number }) => count)).toEqual(names.map((_, n) => 2 * n));
  });

  it("the members of a deleted segment lose it, and stay (SEG-9)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 30, () => ({ attributes: { plan: "pro" } }));
    const id = await segmentOf(world, tenant, pro);
    expect(await membersOf(tenant, id)).toHaveLength(30);
    await tenant.call(`DELETE /api/v1/segments/${id}`);
    await world.settle();
    await world.advance(16 * MINUTE);
    const left = (await wholeTable(world)).filter(
      ({ pk, sk }) => !pk.S.startsWith("DUE#") && !pk.S.includes("#FILL#") && (pk.S.includes(id) || sk.S.includes(id)),
    );
    expect(left).toEqual([]);
    expect((await tenant.call(`GET /api/v1/subscribers/${people[0]}`)).status).toBe(200);
  });
});

describe("plan caps", () => {
  it("a plan without dynamic segments has static ones alone (SEG-7, SEG-13)", async () => {
    const world = await fresh();
    const free = await world.tenant({ plan: "free" });
    const refused = await create(free, { name: "a", rule: pro, is_dynamic: true });
    expect(refused.status).toBe(403);
    expect(refused.body.code).toBe("FEATURE_NOT_AVAILABLE");
    expect((await create(free, { name: "a", rule: pro })).status).toBe(201);
  });

  it("a plan's number of dynamic segments holds in a race, and a deletion makes room (SEG-13)", async () => {
    const world = await fresh();
    const starter = await world.tenant({ plan: "starter" });
    const made = await Promise.all(
      Array.from({ length: 7 }, (_, n) => create(starter, { name: `d${n}`, rule: pro, is_dynamic: true })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 403, 403]);
    const { body: bill } = await starter.call("GET /api/v1/billing");
    expect(bill.usage.dynamic_segments).toBe(5);
    const [one] = made.filter(({ status }) => status === 201);
    await starter.call(`DELETE /api/v1/segments/${one!.body.id}`);
    expect((await create(starter, { name: "again", rule: pro, is_dynamic: true })).status).toBe(201);
  });

  it("a rule beyond the plan's look-back or event conditions is 422 naming the limit, on create, change and preview (SEG-7, SEG-13, RUL-6)", async () => {
    const world = await fresh();
    const tenant = await world.tenant({ plan: "free" });
    const event = (more: object = {}) => ({ event: { name: "buy", ...more } });
    const id = await segmentOf(world, tenant, event({ within: "30d" }), { is_dynamic: false });
    for (const [rule, text] of [
      [event({ within: "31d" }), "30 days"],
      [event(), "30 days"],
      [{ event: { name: "buy", count: 2 } }, "30 days"],
      [{ group: { op: "or", nodes: [event({ within: "1d" }), event({ within: "2d" })] } }, "at most 1 event"],
    ] as const)
      for (const refused of [
        await create(tenant, { name: "x", rule }),
        await tenant.call(`PATCH /api/v1/segments/${id}`, { name: "x", rule }),
        await preview(tenant, rule),
      ]) {
        expect(refused.status).toBe(422);
        expect(refused.body.code).toBe("VALIDATION_ERROR");
        expect(refused.body.message).toContain(text);
      }
  });
});
