// Workspaces that do the same at the same moment, in the same batches: their data must not mix.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import type { Tenant } from "../tenants.ts";

const BUSY_MS = 15 * MINUTE;

export const neighbours: Scenario = {
  name: "neighbours",
  start: async (world) => {
    const { random, kernel, start } = world;
    const places: { tenant: Tenant; people: Person[] }[] = [];
    for (let n = random.between(2, 3); n > 0; n--) {
      const tenant = await world.tenant();
      places.push({ tenant, people: await populate(world, tenant, random.between(1, 3)) });
    }
    for (let n = random.between(2, 4); n > 0; n--) {
      const at = random.between(0, BUSY_MS);
      // Everybody's at one second, or at once.
      const isLater = random.chance(0.5);
      const scheduledAt = start + at + random.between(2 * SECOND, 3 * MINUTE);
      for (const { tenant, people } of places)
        world.act(at + random.between(0, 20), async () => {
          const ids = random.some(people, random.between(1, people.length)).map(({ id }) => id);
          const isAhead = isLater && kernel.now() < scheduledAt;
          await send(world, tenant, { ids, keyed: true, personal: true, ...(isAhead && { scheduledAt }) });
        });
    }
  },
};
