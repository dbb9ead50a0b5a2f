// The timers of dynamic segments, for the ends of windows (AMB-71).
import { expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { dynamicSegments } from "../../shared/store/segments/active.ts";
import { SegmentCheck } from "../../shared/store/segments/items.ts";
import { reevaluate, type Subject } from "../../shared/store/segments/reevaluation.ts";
import { openTimers } from "../../shared/store/timers.ts";
import { quickDeps } from "../support/people.ts";
import { did, segmentOf, upsert } from "../support/segments.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("a worker whose clock is set back after its timer fired sets the next timer (AMB-71)", async () => {
  const { world, tenant } = await withTenant();
  const ada = await upsert(world, tenant, "ada");
  for (const within of ["30m", "1h"]) await segmentOf(world, tenant, { event: { name: "buy", within } });
  await did(world, tenant, ada, { event_name: "buy" });
  const timer = async () => (await tenant.store.get(SegmentCheck, { subscriber: ada }))?.at ?? 0;
  const first = await timer();
  await world.advance(first - world.clock.now() - 2 * SECOND);
  const deps = quickDeps(world);
  const rules = async () => (await dynamicSegments.open(deps)(tenant.id).of(tenant.id)).rules;
  const timers = openTimers(deps)(tenant.id);
  const evaluate = (subject: Subject) => reevaluate(tenant.store, timers, { now: rules }, [subject]);
  await evaluate({ subscriber: ada });
  expect(await timer()).toBe(first);
  await evaluate({ subscriber: ada, firedAt: first });
  expect(await timer()).toBe(first + 30 * MINUTE);
});
