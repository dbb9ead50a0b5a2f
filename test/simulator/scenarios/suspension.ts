// A workspace is suspended and reactivated while its timers run: held sends go out afterwards, once.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { cancel, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 15 * MINUTE;

export const suspension: Scenario = {
  name: "suspension",
  start: async (world) => {
    const { random, kernel } = world;
    const tenant = await world.tenant();
    const other = await world.tenant();
    const people = await populate(world, tenant, random.between(2, 8));
    const others = await populate(world, other, 2);
    for (let n = random.between(4, 9); n > 0; n--)
      world.act(random.between(0, BUSY_MS), async () => {
        const isLater = random.chance(0.8);
        const scheduledAt = kernel.now() + random.between(SECOND, 6 * MINUTE);
        const record = await send(world, tenant, {
          ...(isLater && { scheduledAt }),
          ...(random.chance(0.5) && { ids: random.some(people, 3).map(({ id }) => id) }),
          keyed: random.chance(0.7),
        });
        const [job] = record.jobs;
        if (job && isLater && random.chance(0.2))
          world.act(random.between(0, 8 * MINUTE), () => cancel(world, tenant, job));
      });
    for (let n = random.between(1, 3); n > 0; n--)
      world.act(random.between(0, BUSY_MS), async () => {
        await send(world, other, { ids: [random.pick(others).id], keyed: true });
      });
    for (let n = random.between(1, 2); n > 0; n--)
      world.act(random.between(0, BUSY_MS), () => suspendFor(world, tenant, random.between(MINUTE, 10 * MINUTE)));
    suspendAtTimers(world, tenant);
  },
};

export async function suspendFor(world: SimWorld, tenant: Tenant, ms: number): Promise<void> {
  const { ledger, kernel } = world;
  if (ledger.suspended.has(tenant.id)) return;
  ledger.everSuspended.add(tenant.id);
  ledger.suspended.set(tenant.id, kernel.now());
  await world.operate(tenant, { status: "suspended" });
  await kernel.sleep(ms);
  ledger.suspended.delete(tenant.id);
  await world.operate(tenant, { status: "active" });
}

/** Trace point: the workspace is suspended exactly when a job is about to be fired. */
function suspendAtTimers(world: SimWorld, tenant: Tenant): void {
  const { random } = world;
  let left = random.between(0, 2);
  world.onStart((queue, messages) => {
    const fires = messages.some(({ body }) => body.kind === "fire" && body.tenant === tenant.id);
    if (queue !== "fan-out" || !fires || left === 0 || !random.chance(0.5)) return;
    left--;
    world.act(random.between(0, 80), () => suspendFor(world, tenant, random.between(10 * SECOND, 4 * MINUTE)));
  });
}
