// Events under faults: sent, sent again, linked, exported during ingestion, and their subscribers erased; some
// workspaces have few events left of their quota.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { erase, populate } from "../actors.ts";
import { bookOf, exportSlowly, leaveOfQuota, link, SEND_EVENTS, sendEvents } from "../event-book.ts";
import type { Scenario } from "../invariant.ts";
import { FAULTS_END_MS } from "../profiles.ts";

/** By then everything has come to rest. */
const LAST_PASS_MS = FAULTS_END_MS + 15 * MINUTE;

export const events: Scenario = {
  name: "events",
  start: async (world) => {
    const { random } = world;
    for (let n = random.between(1, 2); n > 0; n--) {
      const tenant = await world.tenant();
      bookOf(world).tenants.push(tenant);
      const people = await populate(world, tenant, random.between(2, 5));
      if (random.chance(0.4)) await leaveOfQuota(world, tenant, random.between(5, 60));
      const often = (min: number, max: number, action: () => Promise<void>) => {
        for (let times = random.between(min, max); times > 0; times--)
          world.act(random.between(0, FAULTS_END_MS), action);
      };
      often(5, 14, () => sendEvents(world, tenant, people));
      often(1, 6, () => link(world, tenant, random.pick(people)));
      often(0, 2, () => exportSlowly(world, tenant, 20 * SECOND));
      often(0, 2, () => erase(world, tenant, random.pick(people)));
      // Trace point: a subscriber is erased exactly while events are ingested.
      let left = random.between(0, 2);
      world.onArrival((route, { id }) => {
        if (route !== SEND_EVENTS || id !== tenant.id || left === 0 || random.chance(0.6)) return;
        left--;
        world.act(random.between(0, 60), () => erase(world, tenant, random.pick(people)));
      });
      world.act(LAST_PASS_MS, () => exportSlowly(world, tenant, 0));
    }
  },
};
