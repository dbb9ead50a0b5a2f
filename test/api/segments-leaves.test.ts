// Static segments, whose members are packed in leaves (docs/decisions/0057).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { secrets } from "../../shared/store/capabilities.ts";
import { MemberCount, MemberLeaf } from "../../shared/store/lists/items.ts";
import { leafShard } from "../../shared/store/lists/leaves.ts";
import { minuteOf } from "../../shared/store/platform-items.ts";
import { Fill } from "../../shared/store/segments/items.ts";
import { subscriberId } from "../../shared/store/subscribers/subscribers.ts";
import { delayed, journeySetting } from "../support/journeys.ts";
import { addPeople, quickDeps, wholeTable } from "../support/people.ts";
import { membersOf, pro, segmentOf, upsert } from "../support/segments.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant, fresh } = worlds();
const SHARD = "7";

/** External ids whose subscribers are all in one shard. */
async function namesInShard(world: TestWorld, tenant: Tenant, count: number): Promise<string[]> {
  const root = await secrets
    .open(quickDeps(world))("" as TenantId)
    .root();
  const names: string[] = [];
  for (let n = 0; names.length < count; n++)
    if (subscriberId(root, tenant.id, `p${n}`, 0).startsWith(SHARD)) names.push(`p${n}`);
  return names;
}

async function recompute(world: TestWorld, tenant: Tenant, id: string): Promise<void> {
  await tenant.call(`POST /api/v1/segments/${id}/recompute`);
  await world.settle();
}

it("members beyond a leaf are in several, which page, count, grow and shrink; a lost counter is repaired (SEG-1, AMB-72)", async () => {
  const { world, tenant } = await withTenant();
  const names = await namesInShard(world, tenant, 130);
  await addPeople(world, tenant, names.length, (n) => ({
    external_id: names[n]!,
    attributes: { n, plan: n < 90 ? "pro" : "free" },
  }));
  const id = await segmentOf(world, tenant, pro, { is_dynamic: false });
  const leaves = () => tenant.store.queryAll(MemberLeaf, { segment: id, shard: SHARD });
  expect(await membersOf(tenant, id)).toEqual(names.slice(0, 90).sort());
  expect((await leaves()).length).toBe(2);
  const lows = (await leaves()).map(({ sk }) => sk);
  await world.advance(MINUTE);
  await tenant.call(`PATCH /api/v1/segments/${id}`, { name: "more", rule: { attribute: { n: { $gte: 20 } } } });
  await recompute(world, tenant, id);
  expect(await membersOf(tenant, id)).toEqual(names.slice(20).sort());
  expect((await leaves()).map(({ sk }) => sk)).toEqual(expect.arrayContaining(lows));
  const { body } = await tenant.call(`GET /api/v1/segments/${id}/members`);
  const minutes = body.items.map(({ entered_at }: { entered_at: string }) => minuteOf(Date.parse(entered_at)));
  expect(new Set(minutes).size).toBe(2);
  await tenant.store.change(MemberCount, { kind: "segment", id, shard: SHARD }, { add: { n: 4, changes: 1 } });
  await world.advance(DAY);
  expect(await membersOf(tenant, id)).toHaveLength(110);
  await tenant.call(`DELETE /api/v1/segments/${id}`);
  await world.settle();
  expect(await leaves()).toEqual([]);
});

it.each([true, false])(
  "how far its computation was goes with a deleted segment, once late writers have ended, dynamic %s (SEG-9)",
  async (is_dynamic) => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 3, () => ({ attributes: { plan: "pro" } }));
    const id = await segmentOf(world, tenant, pro, { is_dynamic });
    const fills = () => tenant.store.queryAll(Fill, { segment: id });
    expect(await fills()).not.toEqual([]);

    await tenant.call(`DELETE /api/v1/segments/${id}`);
    await world.advance(HOUR);

    expect(await fills()).toEqual([]);
  },
);

it("who enters or leaves a static segment when it is computed again starts journeys, also where a leaf is split (JND-10)", async () => {
  const world = await fresh();
  const { tenant, active, runs } = await journeySetting(world);
  const names = await namesInShard(world, tenant, 60);
  const ids = await addPeople(world, tenant, 60, (n) => ({
    external_id: names[n]!,
    attributes: { plan: n < 40 ? "pro" : "free" },
  }));
  const segment_id = await segmentOf(world, tenant, pro, { is_dynamic: false });
  const entered = await active(delayed("1h"), { trigger: { type: "segment_entered", segment_id } });
  const exited = await active(delayed("1h"), { trigger: { type: "segment_exited", segment_id } });
  for (const n of [0, 1]) await upsert(world, tenant, names[n]!, { plan: "free" });
  await addPeople(world, tenant, 20, (n) => ({ external_id: names[40 + n]!, attributes: { plan: "pro" } }));
  await world.advance(MINUTE);
  await recompute(world, tenant, segment_id);
  await recompute(world, tenant, segment_id);
  const who = async (journey: string) =>
    (await runs(journey)).map(({ subscriber_id }: { subscriber_id: string }) => subscriber_id).sort();

  expect(await who(entered)).toEqual(ids.slice(40).sort());
  expect(await who(exited)).toEqual(ids.slice(0, 2).sort());
});

it("a membership in a static segment is shown with its subscriber, explained, and erased with it (RDA-20, RDA-5, F2, SUB-9)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await upsert(world, tenant, "ada", { plan: "pro" });
  await upsert(world, tenant, "bob", { plan: "pro" });
  const id = await segmentOf(world, tenant, pro, { is_dynamic: false, name: "Paying" });
  const entered_at = new Date(world.clock.now()).toISOString();
  const read = async (path: string) => (await tenant.call(`GET /api/v1/${path}`)).body;
  expect((await read(`subscribers/${ada}`)).segments).toEqual([{ id, name: "Paying", entered_at }]);
  const { items } = await read(`subscribers/${ada}/timeline?kinds=segment`);
  expect(items).toMatchObject([{ kind: "segment", state: "entered", title: "Paying", ref: id, at: entered_at }]);
  expect(await read(`segments/${id}/members/${ada}`)).toMatchObject({ member: true });
  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.settle();
  expect(await membersOf(tenant, id)).toEqual(["bob"]);
});

it("a shard of members is read whole by pages of every size, also where a page ends with a leaf (SEG-1, AMB-72)", async () => {
  const { world, tenant } = await withTenant();
  const names = await namesInShard(world, tenant, 90);
  const ids = await addPeople(world, tenant, names.length, (n) => ({
    external_id: names[n]!,
    attributes: { plan: "pro" },
  }));
  const id = await segmentOf(world, tenant, pro, { is_dynamic: false });
  const readBy = async (limit: number) => {
    const found: string[] = [];
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const page = await leafShard(tenant.store, id, { shard: SHARD, after, limit });
      found.push(...(page?.members ?? []).map(({ subscriber }) => subscriber));
      after = page?.next;
    }
    return found;
  };

  for (const limit of [1, 7, 20, 30, 40, 44, 45, 46, 50, 60, 89, 90, 91])
    expect(await readBy(limit)).toEqual(ids.toSorted());
});

it("the erasure of somebody who left a segment leaves its number of members (SEG-1, SUB-9)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await upsert(world, tenant, "ada", { plan: "pro" });
  await upsert(world, tenant, "bob", { plan: "pro" });
  const id = await segmentOf(world, tenant, pro, { is_dynamic: true });
  await upsert(world, tenant, "ada", { plan: "free" });
  await world.settle();

  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.settle();

  expect(await membersOf(tenant, id)).toEqual(["bob"]);
});

it("nothing of a static segment names an erased subscriber that left it by historical events (SUB-9, AMB-134)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await upsert(world, tenant, "ada");
  const atMostOnce = { event: { name: "bought", frequency: { max: 1 } } };
  const id = await segmentOf(world, tenant, atMostOnce, { is_dynamic: false });
  const events = Array.from({ length: 2 }, () => ({ event_name: "bought", external_id: "ada" }));
  await world.call("POST /v1/events", { as: tenant.server, body: { historical: true, events } });
  await recompute(world, tenant, id);
  expect(await membersOf(tenant, id)).toEqual([]);
  expect((await tenant.call(`DELETE /api/v1/subscribers/${ada}`)).status).toBe(204);
  await world.advance(HOUR);

  const leaves = (await wholeTable(world)).filter(({ pk }) => pk.S.includes("leaves#"));
  expect(leaves.length).toBeGreaterThan(0);
  expect(JSON.stringify(leaves)).not.toContain(ada);
});
