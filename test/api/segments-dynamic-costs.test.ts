// What dynamic segments cost as people and events change.
import { describe, expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { ingest, someEvents } from "../support/events.ts";
import { addPeople } from "../support/people.ts";
import { did, pro, segmentOf, upsert } from "../support/segments.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const bought = (more: object = {}) => ({ event: { name: "buy", ...more } });
const buy = { event_name: "buy" };

describe("costs", () => {
  it("an event that changes no membership is followed by two reads, however long the history (SEG-14)", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada");
    await segmentOf(world, tenant, bought());
    const follow = async () => {
      expect((await ingest(world, tenant, { subscriber_id: ada, ...buy })).status).toBe(202);
      const { rcu } = await spent(world, () => world.settle());
      return rcu;
    };
    await follow();
    await follow();
    const early = await follow();
    for (let n = 0; n < 100; n++) await follow();

    expect(early).toBe(2);
    expect(await follow()).toBe(2);
  });

  it("events with 10 dynamic segments cost at most 1.5 times as much as with none (SEG-14)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 12, (n) => ({ attributes: { n } }));
    // As AWS prices them: a read unit is a fifth of a write unit.
    const price = ({ wcu, rcu }: { wcu: number; rcu: number }) => wcu + rcu / 5;
    let sent = 0;
    const events = () =>
      someEvents(people.length, (n) => ({
        event_name: "buy",
        anonymous_id: undefined,
        subscriber_id: people[n],
        properties: { n: ++sent },
      }));
    const cost = async () => {
      await world.advance(HOUR);
      return price(
        await spent(world, async () => {
          expect((await ingest(world, tenant, { events: events() })).status).toBe(202);
          await world.settle();
        }),
      );
    };
    await cost();
    const none = await cost();
    const rules = [
      bought(),
      bought({ within: "30d" }),
      bought({ within: "7d", frequency: { min: 3 } }),
      bought({ where: { n: { $gt: 0 } } }),
      bought({ frequency: { max: 0 } }),
      { group: { op: "and", nodes: [bought({ within: "1d" }), { attribute: { n: { $lt: 10 } } }] } },
      pro,
      { attribute: { n: { $gte: 5 } } },
      { event: { name: "sell" } },
      { event: { name: "open", within: "1d" } },
    ];
    for (const rule of rules) await segmentOf(world, tenant, rule);
    for (let warm = 0; warm < 3; warm++) await cost();
    const ten = await cost();

    expect(ten / none).toBeLessThanOrEqual(1.5);
    expect(ten).toBeGreaterThan(none);
  });

  it("a change costs seven write units at most for each membership that it moves, however large the profile, and several at once cost as one (D2)", async () => {
    const { world, tenant } = await withTenant();
    const large = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, `${n}`.padEnd(290, "x")]));
    await upsert(world, tenant, "ada", large);
    const SEGMENTS = 10;
    for (let n = 0; n < SEGMENTS; n++) await segmentOf(world, tenant, pro);
    for (const plans of [["pro"], ["free", "pro", "free", "pro", "free"]]) {
      for (const plan of plans) await tenant.upsert({ external_id: "ada", attributes: { plan } });
      const { wcu } = await spent(world, () => world.settle());
      expect([wcu > SEGMENTS, wcu <= 7 * SEGMENTS]).toEqual([true, true]);
    }
  });

  it("events and attributes that no rule mentions cost no write and at most one read more", async () => {
    const { world, tenant } = await withTenant();
    const ada = await upsert(world, tenant, "ada", { age: 1 });
    const costs = async () => {
      const work = [
        () => did(world, tenant, ada, { event_name: "open" }),
        () => upsert(world, tenant, "ada", { age: world.clock.now() }),
      ];
      const both = [];
      for (const one of work) {
        // The first event in one of the day's 16 partitions notes it, so of 17 tries one writes no note.
        let least = await spent(world, one);
        for (let tries = 1; tries < 17; tries++) {
          const cost = await spent(world, one);
          if (cost.wcu < least.wcu) least = cost;
        }
        both.push(least);
      }
      return both;
    };
    const before = await costs();
    await segmentOf(world, tenant, bought());
    const after = await costs();
    for (const [i, { wcu, requests }] of after.entries()) {
      expect(wcu).toBeLessThanOrEqual(before[i]!.wcu);
      expect(requests - before[i]!.requests).toBeLessThanOrEqual(1);
    }
  });
});
