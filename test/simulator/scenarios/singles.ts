// Many sends to one subscriber each, by push and in-app: bursts that workers receive together, erasures and suspensions
// between a claim and its end, beyond the settlement of a quarter-hour, while providers reject, hang and lose replies.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { erase, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import { keysOf } from "../requests.ts";
import type { Tenant } from "../tenants.ts";
import { delayClaims } from "../trace-points.ts";
import type { SimWorld } from "../world.ts";
import { equip } from "./pushes.ts";
import { suspendFor } from "./suspension.ts";

/** More than a quarter-hour, so that what was taken ahead in one ends in the next. */
const BUSY_MS = 20 * MINUTE;

export const singles: Scenario = {
  name: "singles",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    await tenant.addChannel("ios");
    const people = await populate(world, tenant, random.between(3, 12));
    for (const { id } of people) for (let n = random.between(0, 3); n > 0; n--) await equip(world, tenant, id);
    const sometime = () => random.between(0, BUSY_MS);
    if (random.chance(0.3)) delayClaims(world);
    for (let n = random.between(2, 5); n > 0; n--) burst(world, tenant, people, sometime());
    // A suspended workspace erases nobody.
    if (random.chance(0.3)) {
      const at = sometime();
      const isLong = random.chance(0.5);
      if (random.chance(0.5)) suspendAtReads(world, tenant, people);
      if (isLong) burst(world, tenant, people, at);
      world.act(at + random.between(0, 4 * SECOND), () =>
        suspendFor(world, tenant, isLong ? random.between(20, 40) * MINUTE : random.between(10 * SECOND, 4 * MINUTE)),
      );
    } else
      for (let n = random.between(0, 3); n > 0; n--)
        world.act(sometime(), () => erase(world, tenant, random.pick(people)));
  },
};

/** Sends that are made within a few seconds. */
function burst(world: SimWorld, tenant: Tenant, people: readonly Person[], at: number): void {
  const { random } = world;
  for (let n = random.between(1, 8); n > 0; n--)
    world.act(at + random.between(0, 3 * SECOND), async () => {
      await send(world, tenant, {
        small: true,
        ids: [random.pick(people).id],
        keyed: random.chance(0.7),
        personal: random.chance(0.3),
        ...(random.chance(0.2) && { holdout: random.between(1, 60) }),
        ...(random.chance(0.3) && { splitShare: random.between(1, 99) }),
      });
    });
}

/** Trace point: the workspace is suspended while a worker waits half a minute for what it reads of a recipient. */
function suspendAtReads(world: SimWorld, tenant: Tenant, people: readonly Person[]): void {
  const { random } = world;
  let left = 1;
  world.onRequest(({ name }, _, operation, input) => {
    if (name !== "deliver" || operation !== "BatchGetItem" || left === 0) return undefined;
    const read = keysOf(operation, input).some(({ sk }) => people.some(({ id }) => sk.startsWith(id)));
    if (!read || !random.chance(0.3)) return undefined;
    left--;
    world.act(0, () => suspendFor(world, tenant, random.between(MINUTE, 4 * MINUTE)));
    return random.between(24 * SECOND, 40 * SECOND);
  });
}
