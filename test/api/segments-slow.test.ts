// A worker that computes a segment and is slow, while the segment's rule changes (SEG-14).
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import type { Store } from "../../shared/store/context.ts";
import { fillPart } from "../../shared/store/segments/fill.ts";
import { openTimers } from "../../shared/store/timers.ts";
import { quickDeps } from "../support/people.ts";
import { membersOf, segmentOf, upsert } from "../support/segments.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("a computation whose write comes after a newer one has ended changes nothing, also where its worker stops then (SEG-14)", async () => {
  const { world, tenant } = await withTenant();
  await upsert(world, tenant, "ada", { plan: "free" });
  const segment = await segmentOf(world, tenant, { attribute: { plan: { $eq: "free" } } });
  const timers = openTimers(quickDeps(world))(tenant.id);
  const compute = (store: Store, run: number, part: string) =>
    fillPart(store, timers, { segment, run, part }, () => false);
  const change = (rule: object) => tenant.call(`PATCH /api/v1/segments/${segment}`, { name: "Paying", rule });
  const slow: Store = {
    ...tenant.store,
    transact: async (writes) => {
      await change({ attribute: { plan: { $ne: "pro" } } });
      for (const part of ["*", "again:*"]) await compute(tenant.store, 3, part);
      await tenant.store.transact(writes).catch(() => undefined);
      throw new Error("The worker stopped.");
    },
  };
  await change({ attribute: { plan: { $eq: "pro" } } });
  await expect(compute(slow, 2, "*")).rejects.toThrow("The worker stopped.");
  await world.advance(10 * MINUTE);
  expect(await membersOf(tenant, segment)).toEqual(["ada"]);
});
