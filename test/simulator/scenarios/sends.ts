// Sends of every kind while subscribers are created, changed and erased, and cancellations race the timers.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { SubscriberCount } from "../../../shared/store/subscribers/items.ts";
import { cancel, change, erase, join, PLATFORMS, populate, type SendInput, send, TIERS } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

/** Most of what clients do falls into the time of faults. */
const BUSY_MS = 18 * MINUTE;
/** So many subscribers are taken for a large audience, however many there are. */
const PRETENDED = 1_200;

export const sends: Scenario = {
  name: "sends",
  start: async (world) => {
    const { random } = world;
    for (let n = random.between(1, 2); n > 0; n--) {
      const tenant = await world.tenant();
      const isLarge = random.chance(0.02);
      const people = await populate(world, tenant, isLarge ? 1_050 : random.between(3, 40));
      const pretends = !isLarge && random.chance(0.15);
      if (pretends) await pretend(world, tenant);
      const small = !isLarge && !pretends;
      await live(world, tenant, people, small);
    }
  },
};

/** The soft count of subscribers is far off: everybody is reached anyway, through the ranges of large audiences. */
const pretend = async ({ ledger }: SimWorld, { id, store }: Tenant) => {
  ledger.pretended.add(id);
  await store.change(SubscriberCount, { shard: "0" }, { add: { n: PRETENDED, changes: 1 } });
};

async function live(world: SimWorld, tenant: Tenant, people: Person[], small: boolean): Promise<void> {
  const { random } = world;
  const sometime = () => random.between(0, BUSY_MS);
  const someone = () => random.pick(people);
  const scheduledToAll = { left: small ? 1 : 2 };
  for (let n = random.between(2, 6); n > 0; n--)
    world.act(sometime(), () => sendSomething(world, tenant, people, { small, scheduledToAll }));
  for (let n = random.between(0, 3); n > 0; n--)
    world.act(sometime(), async () => void people.push(await join(world, tenant)));
  for (let n = random.between(0, 4); n > 0; n--) world.act(sometime(), () => change(world, tenant, someone()));
  for (let n = random.between(0, 2); n > 0; n--) world.act(sometime(), () => erase(world, tenant, someone()));
  if (random.chance(0.3)) await withTemplate(world, tenant, people);
  raceTimers(world, tenant);
  if (random.chance(0.4)) raceDeliveries(world, tenant, random.between(1, 3));
}

async function sendSomething(
  world: SimWorld,
  tenant: Tenant,
  people: Person[],
  { small, scheduledToAll }: { small: boolean; scheduledToAll: { left: number } },
): Promise<void> {
  const { random, kernel } = world;
  const toSome = random.chance(0.6) || (!small && scheduledToAll.left-- <= 0);
  const isLater = random.chance(0.5) && (toSome || scheduledToAll.left-- > 0);
  const input: SendInput = {
    small: small || toSome,
    keyed: random.chance(0.6),
    repeats: random.chance(0.3) ? random.between(1, 2) : 0,
    personal: random.chance(0.4),
    ...(toSome && { ids: someIds(world, people) }),
    ...(isLater && {
      scheduledAt: kernel.now() + random.between(SECOND, random.chance(0.5) ? 3 * MINUTE : 20 * MINUTE),
    }),
    ...(random.chance(0.3) && { holdout: random.between(1, 60) }),
    ...(random.chance(0.3) && { splitShare: random.between(1, 99) }),
    ...(random.chance(0.25) && { tier: random.pick(TIERS) }),
    ...(random.chance(0.15) && { platform: random.pick(PLATFORMS) }),
  };
  const record = await send(world, tenant, input);
  if (!isLater || !random.chance(0.4)) return;
  const [job] = record.jobs;
  const left = input.scheduledAt! - kernel.now();
  if (job !== undefined) world.act(random.between(0, left + 5 * SECOND), () => cancel(world, tenant, job));
}

/** Known ids, some of them twice, and some unknown ones. */
function someIds({ random }: SimWorld, people: Person[]): string[] {
  const ids = random.some(people, random.between(1, 12)).map(({ id }) => id);
  if (random.chance(0.3)) ids.push(ids[0]!);
  if (random.chance(0.3)) ids.push(`nobody-${random.between(1, 9)}`);
  return ids;
}

/** A template that may be gone when its time has come. */
async function withTemplate(world: SimWorld, tenant: Tenant, people: Person[]): Promise<void> {
  const { random, kernel } = world;
  world.act(random.between(0, BUSY_MS / 2), async () => {
    const body = { name: "Greeting", content: { title: "Hi", body: "Hello {{ subscriber.name }}" } };
    const made = await world.call(tenant, "dashboard", "POST /api/v1/templates", { body });
    const templateId: string | undefined = made.body?.id;
    if (made.status !== 201 || templateId === undefined) return;
    const scheduledAt = kernel.now() + random.between(10 * SECOND, 5 * MINUTE);
    await send(world, tenant, {
      templateId,
      scheduledAt,
      ids: someIds(world, people),
      keyed: true,
      mustComplete: false,
    });
    if (random.chance(0.5)) return;
    const params = { id: templateId };
    world.act(random.between(0, scheduledAt - kernel.now() + SECOND), async () => {
      await world.call(tenant, "dashboard", "DELETE /api/v1/templates/{id}", { params });
    });
  });
}

/** Trace point: a cancellation sets out exactly when the job is about to be fired, dispatched or planned. */
function raceTimers(world: SimWorld, tenant: Tenant): void {
  const { random } = world;
  world.onStart((queue, messages) => {
    if (queue !== "fan-out") return;
    for (const { body } of messages)
      if (body.kind !== "watch" && body.tenant === tenant.id && random.chance(0.3))
        world.act(random.between(0, body.kind === "fire" ? 60 : 200), () => cancel(world, tenant, String(body.job)));
  });
}

/** Trace point: a subscriber is erased exactly when a job is dispatched or delivered, and may come back at once. */
function raceDeliveries(world: SimWorld, tenant: Tenant, max: number): void {
  const { random, ledger } = world;
  let left = max;
  world.onStart((queue, messages) => {
    const isOurs = messages.some(({ body }) => body.tenant === tenant.id && body.kind !== "watch");
    if ((queue !== "deliver" && queue !== "fan-out") || left === 0 || !isOurs) return;
    left--;
    const own = [...ledger.people.values()].filter((person) => person.tenant === tenant.id);
    const person = random.pick(own);
    world.act(random.between(0, 100), () => erase(world, tenant, person));
    if (random.chance(0.3)) world.act(random.between(0, 200), () => change(world, tenant, person));
  });
}
