// Sends with a brake, while a provider refuses everything for a while: they halt, and are resumed or canceled.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { isTerminal } from "../../../shared/rules/job-states.ts";
import { insist, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";
import { refusedPhones } from "./pushes.ts";

const BUSY_MS = 12 * MINUTE;
const MENDED_MS = 16 * MINUTE;

export const brakes: Scenario = {
  name: "brakes",
  start: async (world) => {
    const { random, ledger } = world;
    const { tenant, ios } = await refusedPhones(world, random.between(90, 150), MENDED_MS);
    for (let n = random.between(1, 2); n > 0; n--)
      world.act(random.between(0, BUSY_MS), async () => {
        const hasCanary = random.chance(0.3);
        const { jobs } = await send(world, tenant, {
          keyed: true,
          channels: [ios],
          safety: {
            max_error_rate: random.pick([0.2, 0.3]),
            ...(hasCanary && { canary_percent: random.between(20, 50), canary_wait_minutes: random.between(1, 4) }),
          },
        });
        for (const job of jobs) {
          ledger.braked.add(job);
          if (hasCanary) ledger.putOff.add(job);
          await tend(world, tenant, job);
        }
      });
  },
};

/** The owner looks at a send until it has ended. */
async function tend(world: SimWorld, tenant: Tenant, job: string): Promise<void> {
  const { random, kernel, ledger } = world;
  const params = { id: job };
  for (;;) {
    await kernel.sleep(random.between(20 * SECOND, 2 * MINUTE));
    const { body } = await insist(world, tenant, "dashboard", "GET /api/v1/notifications/{id}", { params });
    if (isTerminal(body.status)) return;
    if (!body.halted) continue;
    if (random.chance(0.5)) ledger.refusing.delete(tenant.id);
    if (random.chance(0.3)) {
      ledger.cancelsAsked.add(job);
      await insist(world, tenant, "dashboard", "POST /api/v1/notifications/{id}/cancel", { params });
    } else await insist(world, tenant, "dashboard", "POST /api/v1/notifications/{id}/resume", { params, body: {} });
  }
}
