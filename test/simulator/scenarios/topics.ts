// Sends by topic, while subscribers choose what they want to hear about.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { erase, insist, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import { keysOf } from "../requests.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";
import { equip } from "./pushes.ts";

const BUSY_MS = 14 * MINUTE;
const TOPICS = { news: "in", deals: "out" } as const;
const KEYS = Object.keys(TOPICS) as (keyof typeof TOPICS)[];

export const topics: Scenario = {
  name: "topics",
  start: async (world) => {
    const { random, kernel } = world;
    const tenant = await world.tenant();
    await tenant.addChannel("ios");
    const people = await populate(world, tenant, random.between(2, 12));
    for (const { id } of people) if (random.chance(0.5)) await equip(world, tenant, id);
    for (const [key, byDefault] of Object.entries(TOPICS)) {
      world.ledger.topics.set(key, { isInByDefault: byDefault === "in", choices: new Map() });
      world.act(random.between(0, 10 * SECOND), async () => {
        await insist(world, tenant, "dashboard", "POST /api/v1/topics", {
          body: { key, name: key, default: byDefault },
        });
      });
    }
    const sometime = () => random.between(MINUTE, BUSY_MS);
    for (let n = random.between(3, 12); n > 0; n--)
      world.act(sometime(), () => choose(world, tenant, random.pick(people)));
    for (let n = random.between(2, 5); n > 0; n--)
      world.act(sometime(), async () => {
        await send(world, tenant, {
          topic: random.pick(KEYS),
          keyed: random.chance(0.7),
          personal: random.chance(0.3),
          small: false,
          ...(random.chance(0.3) && { category: "transactional" as const }),
          ...(random.chance(0.4) && { ids: random.some(people, random.between(1, people.length)).map(({ id }) => id) }),
          ...(random.chance(0.3) && { scheduledAt: kernel.now() + random.between(SECOND, 4 * MINUTE) }),
          ...(random.chance(0.2) && { holdout: random.between(1, 60) }),
        });
      });
    chooseAtDelivery(world, tenant, people);
    if (random.chance(0.4)) chooseBeforeDelivery(world, tenant, people);
    if (random.chance(0.3)) delayChoices(world, tenant);
    if (random.chance(0.3)) world.act(sometime(), () => erase(world, tenant, random.pick(people)));
  },
};

/** A subscriber makes one choice after the other. */
async function choose(world: SimWorld, tenant: Tenant, person: Person): Promise<void> {
  const { random, ledger, kernel } = world;
  const key = random.pick(KEYS);
  const { choices } = ledger.topics.get(key)!;
  const made = choices.get(person.id) ?? [];
  choices.set(person.id, made);
  if (made.at(-1)?.doneAt === Number.POSITIVE_INFINITY) return;
  const choice = { isIn: random.chance(0.4), from: kernel.now(), doneAt: Number.POSITIVE_INFINITY };
  made.push(choice);
  const body = { subscriber_id: person.id, topics: { [key]: choice.isIn ? "opted_in" : "opted_out" } };
  await insist(world, tenant, "sdk", "PUT /v1/preferences", { body });
  choice.doneAt = kernel.now();
}

/** Trace point: a choice is made exactly when a job is planned or delivered. */
function chooseAtDelivery(world: SimWorld, tenant: Tenant, people: readonly Person[]): void {
  const { random } = world;
  let left = random.between(0, 3);
  world.onStart((queue) => {
    if ((queue !== "deliver" && queue !== "fan-out") || left === 0 || random.chance(0.5)) return;
    left--;
    world.act(random.between(0, 100), () => choose(world, tenant, random.pick(people)));
  });
}

/** Trace point: a worker dies before it delivers what was planned, and choices are made until another one does. */
function chooseBeforeDelivery(world: SimWorld, tenant: Tenant, people: readonly Person[]): void {
  const { random, kernel, fleet, profile } = world;
  if (profile.crash === 0) return;
  let left = random.between(1, 3);
  world.onRequest((process, _, operation) => {
    if (process.name !== "deliver" || !process.alive || operation !== "BatchGetItem" || left === 0) return undefined;
    if (random.chance(0.3)) return undefined;
    left--;
    kernel.after(1, () => fleet.crash(process, "before it delivered"));
    for (const person of people) world.act(random.between(SECOND, MINUTE), () => choose(world, tenant, person));
    return undefined;
  });
}

/** Trace point: the write of a choice is on its way, without its process, while its subscriber makes other ones. */
function delayChoices(world: SimWorld, tenant: Tenant): void {
  const { random, kernel, fleet, profile, ledger } = world;
  if (profile.crash === 0) return;
  let left = random.between(1, 3);
  world.onRequest((process, _, operation, input) => {
    if (process.name !== "api-preferences" || !process.alive || operation !== "TransactWriteItems" || left === 0)
      return undefined;
    const person = keysOf(operation, input).flatMap(({ sk }) => ledger.people.get(sk) ?? [])[0];
    if (!person) return undefined;
    left--;
    kernel.after(1, () => fleet.crash(process, "the write of a choice is on its way"));
    for (const ms of [4, 8, 12]) world.act(ms * SECOND, () => choose(world, tenant, person));
    return random.between(15 * SECOND, 30 * SECOND);
  });
}
