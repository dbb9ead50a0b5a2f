// Many timers in a few minutes, near and far, on the minute and beside it, while streams stop and schedules are lost.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { cancel, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 12 * MINUTE;

export const timersScenario: Scenario = {
  name: "timers",
  start: async (world) => {
    const { random, kernel, profile } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, 2);
    const hot = Array.from({ length: random.between(1, 3) }, () => someMinute(world));
    for (let n = random.between(6, 16); n > 0; n--)
      world.act(random.between(0, BUSY_MS), async () => {
        const at = timeOf(world, hot);
        const scheduledAt = Math.max(at, kernel.now() + random.between(500, 4 * SECOND));
        const record = await send(world, tenant, {
          scheduledAt,
          ids: [random.pick(people).id],
          keyed: random.chance(0.5),
        });
        const [job] = record.jobs;
        const around = scheduledAt - kernel.now() + random.between(-SECOND, SECOND);
        if (job && random.chance(0.15)) world.act(around, () => cancel(world, tenant, job));
      });
    if (profile.name !== "calm" && random.chance(0.4))
      world.act(random.between(0, BUSY_MS), async () => world.records.stop(random.between(MINUTE, 6 * MINUTE)));
  },
};

/** A minute that many timers fall into. */
const someMinute = ({ kernel, random }: SimWorld) =>
  Math.ceil((kernel.now() + random.between(2, 22) * MINUTE) / MINUTE) * MINUTE;

function timeOf({ kernel, random }: SimWorld, hot: readonly number[]): number {
  const draw = random.next();
  if (draw < 0.5) return random.pick(hot) + random.between(0, MINUTE - 1);
  if (draw < 0.65) return random.pick(hot) + random.pick([-1, 0, 1]);
  if (draw < 0.85) return kernel.now() + random.between(SECOND, 4 * MINUTE);
  return kernel.now() + random.between(10 * MINUTE, 45 * MINUTE);
}
