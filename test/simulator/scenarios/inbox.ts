// Readers at work during repeated deliveries: acknowledged reads and dismissals are permanent.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { change, erase, populate, send, visitInbox } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import { FAULTS_END_MS } from "../profiles.ts";

const BUSY_MS = 15 * MINUTE;
/** By then whatever was delivered late has come. */
const LAST_VISIT_MS = FAULTS_END_MS + 12 * MINUTE;

export const inbox: Scenario = {
  name: "inbox",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, random.between(2, 6));
    const visit = () => visitInbox(world, tenant, random.pick(people));
    for (let n = random.between(3, 7); n > 0; n--)
      world.act(random.between(0, BUSY_MS), async () => {
        const ids = random.some(people, random.between(1, people.length)).map(({ id }) => id);
        await send(world, tenant, { keyed: true, personal: random.chance(0.5), ...(random.chance(0.6) && { ids }) });
      });
    for (let n = random.between(6, 14); n > 0; n--) world.act(random.between(0, FAULTS_END_MS), visit);
    for (let n = random.between(0, 6); n > 0; n--)
      world.act(random.between(0, FAULTS_END_MS), () => change(world, tenant, random.pick(people)));
    if (random.chance(0.2)) world.act(random.between(0, BUSY_MS), () => erase(world, tenant, random.pick(people)));
    // Trace point: the inbox is read exactly while messages are delivered.
    let left = 8;
    world.onStart((queue) => {
      if (queue !== "deliver" || left === 0) return;
      left--;
      world.act(random.between(0, 5 * SECOND), visit);
    });
    for (const person of people) world.act(LAST_VISIT_MS, () => visitInbox(world, tenant, person));
  },
};
