// Sends to lists and segments whose members are many, come and go, while the sends are planned.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { erase, insist, populate, send, TIERS } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Members, Person } from "../ledger.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 13 * MINUTE;
/** Past the pages and batches of 25 and of 100. */
const LARGE = { from: 101, to: 230 };

export const targets: Scenario = {
  name: "targets",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    const isLarge = random.chance(0.12);
    const people = await populate(
      world,
      tenant,
      isLarge ? random.between(LARGE.from, LARGE.to) : random.between(3, 12),
    );
    const groups: SendInput["target"][] = [];
    world.act(random.between(0, MINUTE), async () => {
      groups.push({ type: "list", list_id: await fillList(world, tenant, people) });
    });
    world.act(random.between(0, MINUTE), async () => {
      groups.push({ type: "segment", segment_id: await makeSegment(world, tenant, people) });
    });
    for (let n = isLarge ? 2 : random.between(3, 6); n > 0; n--)
      world.act(random.between(MINUTE, BUSY_MS), async () => {
        if (groups.length === 0) return;
        await sendTo(world, tenant, random.pick(groups));
      });
    for (let n = random.between(0, 1); n > 0; n--)
      world.act(random.between(0, BUSY_MS), () => erase(world, tenant, random.pick(people)));
  },
};

type SendInput = Parameters<typeof send>[2];

const sendTo = (world: SimWorld, tenant: Tenant, target: SendInput["target"]) => {
  const { random, kernel } = world;
  return send(world, tenant, {
    keyed: random.chance(0.6),
    small: false,
    ...(target && { target }),
    ...(random.chance(0.3) && { scheduledAt: kernel.now() + random.between(SECOND, 5 * MINUTE) }),
    ...(random.chance(0.3) && { holdout: random.between(1, 60) }),
    ...(random.chance(0.3) && { splitShare: random.between(1, 99) }),
    ...(random.chance(0.15) && { tier: random.pick(TIERS) }),
  });
};

const membersOf = ({ ledger }: SimWorld, id: string): Members => {
  const members = ledger.members.get(id) ?? { sure: new Map(), maybe: new Set() };
  ledger.members.set(id, members);
  return members;
};

/** A list that many are put into, and some taken out of later. */
async function fillList(world: SimWorld, tenant: Tenant, people: readonly Person[]): Promise<string> {
  const { random, kernel, profile } = world;
  const { body } = await insist(world, tenant, "dashboard", "POST /api/v1/lists", { body: { name: "people" } });
  const id: string = body.id;
  world.name(id, "list-1");
  const members = membersOf(world, id);
  // No request is larger than what the table takes in a few seconds.
  const change = async (way: "" | "/remove", changed: readonly Person[]) => {
    const subscriber_ids = changed.map((person) => person.id);
    for (const one of subscriber_ids)
      if (way === "") members.maybe.add(one);
      else members.sure.delete(one);
    for (const some of chunksOf(subscriber_ids, profile.writeUnits || subscriber_ids.length))
      await insist(world, tenant, "dashboard", `POST /api/v1/lists/{id}/subscribers${way}`, {
        params: { id },
        body: { subscriber_ids: some },
      });
    if (way === "")
      for (const one of subscriber_ids) members.sure.set(one, { from: kernel.now(), to: Number.POSITIVE_INFINITY });
  };
  const [first, ...others] = people;
  await change("", [first!, ...others.filter(() => random.chance(0.8))]);
  if (random.chance(0.4)) {
    const some = random.some(others.length > 0 ? others : people, random.between(1, 5));
    world.act(random.between(0, BUSY_MS), () => change("/remove", some));
  } else if (random.chance(0.6)) {
    // Most of them are in it already.
    const some = random.some(people, random.between(1, people.length));
    world.act(random.between(0, 2 * MINUTE), () => change("", some));
  }
  return id;
}

/** A segment whose members do not change any more once it is computed. */
async function makeSegment(world: SimWorld, tenant: Tenant, people: readonly Person[]): Promise<string> {
  const { random, kernel } = world;
  const tier = random.pick(TIERS);
  const body = { name: `${tier} ones`, is_dynamic: random.chance(0.6), rule: { attribute: { tier: { $eq: tier } } } };
  const { body: made } = await insist(world, tenant, "dashboard", "POST /api/v1/segments", { body });
  const id: string = made.id;
  world.name(id, "segment-1");
  const members = membersOf(world, id);
  const chosen = people.filter((person) => person.tier === tier).map((person) => person.id);
  for (const one of chosen) members.maybe.add(one);
  world.act(SECOND, async () => {
    for (;;) {
      const { body: shown } = await insist(world, tenant, "dashboard", "GET /api/v1/segments/{id}", { params: { id } });
      if (shown.needs_recompute === false) break;
      await kernel.sleep(10 * SECOND);
    }
    for (const one of chosen) members.sure.set(one, { from: kernel.now(), to: Number.POSITIVE_INFINITY });
  });
  return id;
}
