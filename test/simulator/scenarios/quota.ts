// Sends near the quota: each fits or is rejected as a whole, and usage never exceeds the quota.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";

const BUSY_MS = 15 * MINUTE;

export const quota: Scenario = {
  name: "quota",
  start: async (world) => {
    const { random, kernel } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, random.between(3, 9));
    const cap = random.between(5, 40);
    await world.operate(tenant, { monthly_send_cap: cap });
    world.ledger.caps.set(tenant.id, cap);
    const sendSome = async () => {
      const scheduledAt = kernel.now() + random.between(SECOND, 4 * MINUTE);
      await send(world, tenant, {
        ...(random.chance(0.3) && { scheduledAt }),
        ...(random.chance(0.7) && { ids: random.some(people, random.between(1, 6)).map(({ id }) => id) }),
        ...(random.chance(0.2) && { holdout: random.between(10, 60) }),
        keyed: random.chance(0.7),
        repeats: random.chance(0.3) ? 1 : 0,
        mustComplete: false,
      });
    };
    for (let n = random.between(3, 8); n > 0; n--) {
      const at = random.between(0, BUSY_MS);
      // Several at once: only as many as fit.
      for (let copies = random.between(1, 3); copies > 0; copies--) world.act(at + random.between(0, 50), sendSome);
    }
  },
};
