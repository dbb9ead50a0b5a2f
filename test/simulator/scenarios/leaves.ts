// Static segments whose members fill more than one leaf, computed again and again while members change and are erased.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { erase, insist, remember } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import { FAULTS_END_MS } from "../profiles.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 15 * MINUTE;
const PLANS = ["free", "pro"];
/** More than a leaf holds. */
const CROWD = { from: 60, to: 110 };

export const leaves: Scenario = {
  name: "leaves",
  start: async (world) => {
    const { random, kernel } = world;
    const tenant = await world.tenant();
    const people = await crowd(world, tenant, random.between(CROWD.from, CROWD.to));
    const ids: string[] = [];
    const again = (id: string) =>
      insist(world, tenant, "dashboard", "POST /api/v1/segments/{id}/recompute", { params: { id }, body: {} });
    for (let n = random.between(1, 2); n > 0; n--)
      world.act(random.between(0, 2 * MINUTE), async () => {
        const body = { name: `static ${random.bytes(4).toString("hex")}`, is_dynamic: false, rule: ruleOf(world) };
        const made = await world.call(tenant, "dashboard", "POST /api/v1/segments", { body });
        if (made.status === 201) ids.push(made.body.id);
      });
    // Every computation has changes of members around it, and now and then another one at its side.
    for (let n = random.between(2, 4); n > 0; n--) {
      const at = random.between(3 * MINUTE, BUSY_MS);
      const near = () => at + random.between(-5 * SECOND, 5 * SECOND);
      for (let times = random.between(1, 2); times > 0; times--)
        world.act(near(), async () => void (ids.length > 0 && (await again(random.pick(ids)))));
      for (const { external_id } of random.some(people.slice(3), random.between(1, 6)))
        world.act(near(), async () => {
          const body = { external_id, attributes: { plan: random.pick(PLANS) } };
          await insist(world, tenant, "sdk", "POST /api/v1/subscribers/upsert", { body });
        });
    }
    for (const person of people.slice(0, 3))
      if (random.chance(0.7))
        world.act(random.chance(0.3) ? FAULTS_END_MS + 3 * MINUTE : random.between(0, BUSY_MS), () =>
          erase(world, tenant, person),
        );
    if (random.chance(0.15))
      world.act(random.between(0, BUSY_MS), async () => {
        const id = ids.pop();
        if (id) await insist(world, tenant, "dashboard", "DELETE /api/v1/segments/{id}", { params: { id } });
      });
    // The last ones, after which the members are known: also of a rule that is changed during a computation.
    world.act(random.between(BUSY_MS + MINUTE, FAULTS_END_MS + MINUTE), async () => {
      for (const id of ids) {
        await again(id);
        await kernel.sleep(random.between(0, 3 * SECOND));
        const body = { name: `changed ${random.bytes(4).toString("hex")}`, rule: ruleOf(world) };
        await insist(world, tenant, "dashboard", "PATCH /api/v1/segments/{id}", { params: { id }, body });
        await again(id);
      }
    });
  },
};

const ruleOf = ({ random }: SimWorld) => ({
  attribute: { plan: { [random.pick(["$eq", "$ne"])]: random.pick(PLANS) } },
});

/** People of one shard. */
async function crowd(world: SimWorld, tenant: Tenant, count: number): Promise<Person[]> {
  const { random, kernel } = world;
  const shard = random.pick([..."0123456789abcdef"]);
  const people: Person[] = [];
  for (let n = 0; people.length < count; n++) {
    const external_id = `crowd-${n}x`;
    if (!tenant.idOf(external_id).startsWith(shard)) continue;
    const attributes = { name: external_id, plan: random.chance(0.8) ? "pro" : "free" };
    const id = await tenant.addSubscriber({ external_id, email: `${external_id}@example.com`, attributes });
    const since = kernel.now();
    people.push(remember(world, { tenant: tenant.id, id, external_id, canary: external_id, since }));
  }
  return people;
}
