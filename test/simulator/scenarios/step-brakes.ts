// A journey whose send step has a brake, while a provider refuses everything for a while: the step halts, and is resumed or
// canceled.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { graphOf } from "../../support/journeys.ts";
import { insist } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";
import { refusedPhones } from "./pushes.ts";

const BUSY_MS = 12 * MINUTE;
const MENDED_MS = 16 * MINUTE;
const STEP = "hello";

export const stepBrakes: Scenario = {
  name: "step-brakes",
  start: async (world) => {
    const { random, ledger } = world;
    const { tenant, ios, people } = await refusedPhones(world, random.between(50, 90), MENDED_MS);
    world.act(0, async () => {
      const steps = graphOf({
        ...(random.chance(0.5) && { pause: { delay: { duration: "1m", next: STEP } } }),
        [STEP]: {
          send: {
            channel_ids: [ios],
            content: { title: "Hello", body: "b" },
            safety: {
              max_error_rate: 0.2,
              ...(random.chance(0.2) && { canary_percent: random.between(20, 50), canary_wait_minutes: 2 }),
            },
            next: "end",
          },
        },
        end: "exit",
      });
      const body = { name: "careful", trigger: { type: "event", event_name: "start" }, steps };
      const made = await insist(world, tenant, "dashboard", "POST /api/v1/journeys", { body });
      const params = { id: String(made.body.id) };
      ledger.braked.add(params.id);
      await insist(world, tenant, "dashboard", "POST /api/v1/journeys/{id}/activate", { params, body: {} });
      for (const [n, some] of chunksOf(people, random.between(5, 15)).entries())
        world.act(random.between(MINUTE, BUSY_MS), async () => {
          const events = some.map(({ id }) => ({
            event_name: "start",
            subscriber_id: id,
            idempotency_key: `start ${n} ${id}`,
          }));
          await insist(world, tenant, "sdk", "POST /v1/events", { body: { events } });
        });
      await tend(world, tenant, params);
    });
  },
};

/** The owner looks at the step until its runs have ended. */
async function tend(world: SimWorld, tenant: Tenant, params: { id: string }): Promise<void> {
  const { random, kernel, ledger } = world;
  const began = kernel.now();
  for (;;) {
    await kernel.sleep(random.between(20 * SECOND, 2 * MINUTE));
    const { body: stats } = await insist(world, tenant, "dashboard", "GET /api/v1/journeys/{id}/stats", { params });
    if (kernel.now() > began + MENDED_MS && stats.runs.active === 0) return;
    const { body } = await insist(world, tenant, "dashboard", "GET /api/v1/journeys/{id}/brakes", { params });
    if (body.items[0]?.status !== "halted") continue;
    if (random.chance(0.5)) ledger.refusing.delete(tenant.id);
    const step = { version: 1, step: STEP };
    const route = `POST /api/v1/journeys/{id}/brakes/${random.chance(0.15) ? "cancel" : "resume"}`;
    await insist(world, tenant, "dashboard", route, { params, body: step });
  }
}
