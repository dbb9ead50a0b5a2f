// Conditions on events of people who have done thousands of other things since.
import { expect, it } from "vitest";
import { HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { ingest, someEvents } from "../support/events.ts";
import { membersOf, segmentOf, upsert } from "../support/segments.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const bought = { event: { name: "buy" } };
const looked = { event: { name: "view", frequency: { min: 3 } } };

it.each([
  ["what somebody did", bought],
  ["what somebody did, beside a condition on those events", { group: { op: "and", nodes: [looked, bought] } }],
])("a rule finds %s before ten thousand other events (RUL-5, SEG-14)", async (_, rule) => {
  const { world, tenant } = await withTenant({ plan: "enterprise" });
  const subscriber_id = await upsert(world, tenant, "ada");
  const occurred_at = timestamp(world.clock.now() - HOUR);
  await ingest(world, tenant, { event_name: "buy", subscriber_id, occurred_at });
  const views = someEvents(1_000, () => ({ event_name: "view", anonymous_id: undefined, subscriber_id }));
  for (let n = 0; n < 11; n++) expect((await ingest(world, tenant, { events: views })).status).toBe(202);
  await world.settle();

  const [computed, followed] = [
    await segmentOf(world, tenant, rule, { is_dynamic: false }),
    await segmentOf(world, tenant, rule),
  ];

  expect(await membersOf(tenant, computed)).toEqual(["ada"]);
  expect(await membersOf(tenant, followed)).toEqual(["ada"]);
});
