// Segments and a list while attributes change, events arrive, ids are linked, rules change and subscribers are erased.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { actsWithin, erase, insist, populate } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import { FAULTS_END_MS } from "../profiles.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 15 * MINUTE;
const PLANS = ["free", "pro"];
const NAMES = ["buy", "open"];

function ruleOf({ random }: SimWorld): object {
  const plan = { attribute: { plan: { [random.pick(["$eq", "$ne"])]: random.pick(PLANS) } } };
  const within = random.chance(0.7) && { within: random.pick(["4m", "11m", "1h"]) };
  const frequency = random.chance(0.6) && { frequency: random.pick([{ min: 2 }, { max: 0 }, { min: 1, max: 2 }]) };
  const event = { event: { name: random.pick(NAMES), ...within, ...frequency } };
  const group = { group: { op: random.pick(["and", "or"]), nodes: [plan, event] } };
  return random.pick([plan, event, event, group]);
}

async function becomeWith(world: SimWorld, tenant: Tenant, person: Person, plan: string): Promise<void> {
  if (person.erasingSince !== undefined) return;
  const body = { external_id: person.external_id, attributes: { plan } };
  // A subscriber that is erased meanwhile would be created again. Another scenario tests that.
  if (!world.ledger.people.has(person.id)) return;
  await insist(world, tenant, "sdk", "POST /api/v1/subscribers/upsert", { body });
}

export const segments: Scenario = {
  name: "segments",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, random.between(3, 6));
    const lasting = people.slice(1);
    const made: string[] = [];
    const sometime = actsWithin(world, BUSY_MS);
    const create = async (is_dynamic: boolean) => {
      const body = {
        name: `segment ${made.length} ${random.bytes(4).toString("hex")}`,
        is_dynamic,
        rule: ruleOf(world),
      };
      const answer = await world.call(tenant, "dashboard", "POST /api/v1/segments", { body });
      if (answer.status === 201) made.push(answer.body.id);
    };
    const withOne = async (action: (id: string) => Promise<unknown>) => {
      if (made.length > 0) await action(random.pick(made));
    };
    sometime(random.between(2, 4), () => create(true));
    sometime(1, () => create(false));
    sometime(random.between(4, 10), () => becomeWith(world, tenant, random.pick(lasting), random.pick(PLANS)));
    let events = 0;
    sometime(random.between(5, 15), () => {
      const idempotency_key = `event ${++events}`;
      const who = random.chance(0.3)
        ? { anonymous_id: `device-${random.between(1, 2)}` }
        : { subscriber_id: random.pick(lasting).id };
      const body = { event_name: random.pick(NAMES), idempotency_key, ...who };
      return insist(world, tenant, "sdk", "POST /v1/events", { body });
    });
    sometime(random.between(0, 2), () => {
      const body = { anonymous_id: `device-${random.between(1, 2)}`, subscriber_id: random.pick(lasting).id };
      return insist(world, tenant, "sdk", "POST /v1/events/identify", { body });
    });
    sometime(random.between(0, 2), () =>
      withOne((id) => {
        const body = { name: `renamed ${random.bytes(4).toString("hex")}`, rule: ruleOf(world) };
        return insist(world, tenant, "dashboard", "PATCH /api/v1/segments/{id}", { params: { id }, body });
      }),
    );
    sometime(random.between(0, 2), () =>
      withOne((id) =>
        insist(world, tenant, "dashboard", "POST /api/v1/segments/{id}/recompute", { params: { id }, body: {} }),
      ),
    );
    if (random.chance(0.2))
      sometime(1, () =>
        withOne((id) => insist(world, tenant, "dashboard", "DELETE /api/v1/segments/{id}", { params: { id } })),
      );
    if (random.chance(0.3)) sometime(1, () => erase(world, tenant, people[0]!), FAULTS_END_MS);
    await listOf(world, tenant, people, sometime);
  },
};

/** A list that people are put into and taken out of by several hands at once. */
async function listOf(
  world: SimWorld,
  tenant: Tenant,
  people: readonly Person[],
  sometime: (count: number, action: () => Promise<unknown>) => void,
): Promise<void> {
  const { random } = world;
  let id: string | undefined;
  world.act(0, async () => {
    const { body } = await insist(world, tenant, "dashboard", "POST /api/v1/lists", { body: { name: "people" } });
    id = body.id;
  });
  sometime(random.between(2, 6), async () => {
    if (id === undefined) return;
    const subscriber_ids = random.some(people, random.between(1, people.length)).map((person) => person.id);
    const way = random.chance(0.6) ? "" : "/remove";
    const request = { params: { id }, body: { subscriber_ids } };
    await insist(world, tenant, "dashboard", `POST /api/v1/lists/{id}/subscribers${way}`, request);
  });
}
