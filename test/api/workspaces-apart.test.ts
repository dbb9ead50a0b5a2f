// What an environment remembers of one workspace says nothing of another (GEN-8): the same environments serve them all.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { audienceSize } from "../../shared/store/capabilities.ts";
import { AnnotationItem } from "../../shared/store/insights/annotation-items.ts";
import { namesOf } from "../../shared/store/subscribers/names.ts";
import { usageOf } from "../../shared/store/workspaces/usage.ts";
import { setUsage } from "../../shared/store/workspaces/usage-correction.ts";
import { auditOf } from "../support/audit.ts";
import { exportAll, ingest, someEvents } from "../support/events.ts";
import { delayed, journeySetting } from "../support/journeys.ts";
import { jobOf, post } from "../support/notify.ts";
import { addPeople, quickDeps, quickStore } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { did, membersOf, segmentOf } from "../support/segments.ts";
import type { Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function setting(options: Parameters<typeof fresh>[0] = {}) {
  const world = await fresh(options);
  const { plan } = options;
  const [one, other] = [await world.tenant({ ...(plan && { plan }) }), await world.tenant({ ...(plan && { plan }) })];
  const sendTo = async (tenant: Tenant, id: string): Promise<string> =>
    (await post(world, tenant, { subscriberIds: [id] })).body.id;
  return { world, one, other, both: [one, other], sendTo };
}

describe("of two workspaces in one environment", () => {
  it("a dynamic segment of each follows its own events, also where both come in one batch (GEN-8, SEG-14)", async () => {
    const { world, both } = await setting();
    const made = [];
    for (const [n, tenant] of both.entries()) {
      const segment = await segmentOf(world, tenant, { event: { name: `bought ${n}` } });
      made.push({ tenant, segment, person: await tenant.upsert({ external_id: `p${n}` }) });
    }
    await world.settle();
    for (const [n, { tenant, person }] of made.entries())
      await ingest(world, tenant, { subscriber_id: person, event_name: `bought ${n}` });
    await world.settle();

    for (const [n, { tenant, segment }] of made.entries()) expect(await membersOf(tenant, segment)).toEqual([`p${n}`]);
  });

  it("a new segment of one follows a batch in which the other, which has an older state, comes first (GEN-8, SEG-14)", async () => {
    const { world, one, other } = await setting();
    const [first, second] = [await one.upsert({ external_id: "a" }), await other.upsert({ external_id: "b" })];
    await segmentOf(world, one, { event: { name: "left" } });
    await segmentOf(world, other, { event: { name: "left" } });
    await did(world, other, second, { event_name: "left" });
    const segment = await segmentOf(world, other, { event: { name: "bought" } });
    await ingest(world, one, { subscriber_id: first, event_name: "left" });
    await ingest(world, other, { subscriber_id: second, event_name: "bought" });
    await world.settle();

    expect(await membersOf(other, segment)).toEqual(["b"]);
  });

  it("a segment of the second follows an event of its own after one of the first (GEN-8, SEG-14)", async () => {
    const { world, one, other } = await setting();
    const segment = await segmentOf(world, other, { event: { name: "bought" } });
    await segmentOf(world, one, { event: { name: "left" } });
    const [first, second] = [await one.upsert({ external_id: "a" }), await other.upsert({ external_id: "b" })];
    await did(world, one, first, { event_name: "left" });
    await did(world, other, second, { event_name: "bought" });

    expect(await membersOf(other, segment)).toEqual(["b"]);
  });

  it("delays of many in journeys of each that end in one minute are all over then (GEN-8, JND-4)", async () => {
    const world = await fresh();
    const lives = [];
    for (const here of [await journeySetting(world), await journeySetting(world)]) {
      const id = await here.active(delayed("1h"));
      await addPeople(world, here.tenant, 20);
      lives.push({ here, id });
    }
    // One after another, so that each has a timer of its own.
    for (let n = 0; n < 20; n++) for (const { here } of lives) await here.track(`p${n}`, "signed_up");
    await world.advance(HOUR + MINUTE);

    for (const { here, id } of lives) expect((await here.stats(id)).runs).toMatchObject({ active: 0, completed: 20 });
  });

  it("sends of each whose messages were lost are found by the watch of their own quarter-hour (GEN-8, D-NTF)", async () => {
    const delivering = requests({ of: "deliver" });
    const { world, both, sendTo } = await setting({ hooks: delivering.hooks });
    delivering.fail();
    const jobs = [];
    for (const tenant of both) {
      const [id = ""] = await addPeople(world, tenant, 1);
      jobs.push({ tenant, job: await sendTo(tenant, id) });
    }
    await world.settle();
    await world.advance(4 * HOUR);
    delivering.pass();
    await world.advance(HOUR);

    for (const { tenant, job } of jobs) expect(await jobOf(tenant, job)).toMatchObject({ status: "completed" });
  });

  it("the few sends of one are listed beside the many of the other (GEN-8, NTF-17)", async () => {
    const { world, one, other, sendTo } = await setting();
    const [busy = ""] = await addPeople(world, one, 1);
    const [quiet = ""] = await addPeople(world, other, 1);
    for (let n = 0; n < 22; n++) await sendTo(one, busy);
    const job = await sendTo(other, quiet);
    await world.settle();

    expect((await other.call("GET /api/v1/notifications")).body.items).toMatchObject([{ id: job }]);
  });

  it("what the sends of one take ahead from its quota is not used up by the other (GEN-8, D-BILL)", async () => {
    const { world, one, other, sendTo } = await setting();
    const [busy = ""] = await addPeople(world, one, 1);
    const [quiet = ""] = await addPeople(world, other, 1);
    for (let n = 0; n < 62; n++) await sendTo(one, busy);
    await sendTo(other, quiet);
    await world.settle();

    expect((await usageOf(quickStore(world, other))).sends).toBe(1);
  });

  it("events of each warn where its quota nears its end, in the same minute (GEN-8, F25)", async () => {
    const { world, both } = await setting({ plan: "free" });
    for (const tenant of both) {
      await setUsage(quickStore(world, tenant), { events: 79_999 });
      await ingest(world, tenant, { events: someEvents(1) });
    }

    for (const tenant of both) expect(await quickStore(world, tenant).queryAll(AnnotationItem, {})).toHaveLength(1);
  });

  it("names of events and attributes that one has already are learned for the other (GEN-8, EVT-2)", async () => {
    const { world, both } = await setting();
    for (const tenant of both) {
      await tenant.upsert({ external_id: "ada", attributes: { plan: "pro" } });
      await ingest(world, tenant, { events: someEvents(1) });
    }
    await world.settle();

    for (const tenant of both)
      for (const [kind, name] of [
        ["attributes", "plan"],
        ["events", "seen"],
      ] as const)
        expect(await namesOf(quickStore(world, tenant), kind)).toEqual([name]);
  });

  it("events of each are exported, of the same day (GEN-8, EXP-7)", async () => {
    const { world, both } = await setting();
    for (const tenant of both)
      for (let n = 0; n < 40; n++)
        await ingest(world, tenant, { events: someEvents(1, () => ({ idempotency_key: `key-${n}` })) });
    await world.advance(SECOND);

    for (const tenant of both) expect(await exportAll(world, tenant)).toHaveLength(40);
  });

  it("the counts of each are compared in the night after a change (GEN-8, AMB-40)", async () => {
    const { world, both } = await setting();
    for (const tenant of both) await tenant.upsert({ external_id: "ada" });
    await world.settle();
    await world.advance(DAY);

    const compared = world.logs.filter(({ message }) => message === "counters were recounted");
    expect(new Set(compared.map(({ tenant }) => tenant))).toEqual(new Set(both.map(({ id }) => id)));
  });

  it("the subscribers of one do not count against the plan of the other (GEN-8, ERR-15)", async () => {
    const { world, one, other } = await setting();
    await addPeople(world, other, 3);
    const sizeOf = audienceSize.open(quickDeps(world));

    expect(await sizeOf(one.id).capOf(3)).toMatchObject({ mayCreate: true, used: 0 });
    expect(await sizeOf(other.id).capOf(3)).toMatchObject({ mayCreate: false, used: 3 });
  });

  it("the audit trail of each is a chain of its own, also of changes in turn (GEN-8, RDA-23)", async () => {
    const { world, both } = await setting();
    const trails = both.map((tenant) => auditOf(world, tenant));
    for (const name of ["a", "b", "c"]) for (const { call } of trails) await call("POST /api/v1/lists", { name });

    for (const { verify } of trails)
      expect(await verify()).toEqual({ valid: true, verified: 3, broken: null, next_cursor: "" });
  });
});
