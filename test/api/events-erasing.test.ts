// Exports during erasures: the register of those that are under way hides what is not rewritten yet (EXP-11).
import { expect, it } from "vitest";
import { DAY, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import type { Store } from "../../shared/store/context.ts";
import { putItem } from "../../shared/store/item.ts";
import { ErasingActor } from "../../shared/store/subscribers/erasing-items.ts";

import { exportAll, identify, ingest } from "../support/events.ts";
import { addPeople, quickStore } from "../support/people.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const erase = async (tenant: Tenant, id: string) => tenant.call(`DELETE /api/v1/subscribers/${id}`);

async function actorsOf(world: TestWorld, tenant: Tenant) {
  const rows = await exportAll(world, tenant, { to: timestamp(START + 2 * DAY) });
  return Object.fromEntries(
    rows.map(({ event_name, subscriber_id, anonymous_id }) => [event_name, [subscriber_id, anonymous_id]]),
  );
}

/** As many erasures of others, all under way. */
const crowd = (store: Store, n: number) =>
  store.writeAll(Array.from({ length: n }, (_, i) => putItem(ErasingActor, { actor: `Sother ${i}` }, {})));

it.each([
  ["few", 0],
  ["more than are read at once", 300],
])(
  "events in flight of an erased subscriber and its anonymous ids are hidden before they are rewritten, beside %s (EXP-11, SUB-16)",
  async (_, others) => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    await crowd(quickStore(world, tenant), others);
    await ingest(world, tenant, { event_name: "first", anonymous_id: "shared" });
    await identify(world, tenant, "shared", ada);
    await ingest(world, tenant, { event_name: "second", subscriber_id: ada });
    await ingest(world, tenant, { event_name: "his", subscriber_id: bob });
    await erase(tenant, ada);
    const hidden = { first: [null, null], second: [null, null], his: [bob, null] };
    expect(await actorsOf(world, tenant)).toEqual(hidden);
    await world.settle();
    await ingest(world, tenant, { event_name: "late", anonymous_id: "shared" });
    expect(await actorsOf(world, tenant)).toEqual({ ...hidden, late: [null, null] });
    await world.advance(90 * SECOND);
    await ingest(world, tenant, { event_name: "next", anonymous_id: "shared" });
    await world.advance(5 * MINUTE);
    expect(await actorsOf(world, tenant)).toEqual({ ...hidden, late: [null, null], next: [null, "shared"] });
  },
);
