// Sends by push beside in-app, to subscribers with one phone or several, while providers reject, hang and lose replies.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { DeviceItem } from "../../../shared/store/subscribers/device-items.ts";
import { deviceRow } from "../../support/people.ts";
import { erase, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Tenant } from "../tenants.ts";
import { delayClaims } from "../trace-points.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 15 * MINUTE;

export const pushes: Scenario = {
  name: "pushes",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    await tenant.addChannel("ios");
    const people = await populate(world, tenant, random.between(3, 40));
    for (const { id } of people) for (let n = random.between(0, 2); n > 0; n--) await equip(world, tenant, id);
    const sometime = () => random.between(0, BUSY_MS);
    if (random.chance(0.5)) delayClaims(world);
    for (let n = random.between(1, 3); n > 0; n--)
      world.act(sometime(), async () => {
        const toSome = random.chance(0.5);
        await send(world, tenant, {
          small: true,
          keyed: random.chance(0.6),
          personal: random.chance(0.4),
          ...(toSome && { ids: random.some(people, random.between(1, people.length)).map(({ id }) => id) }),
          ...(random.chance(0.3) && { holdout: random.between(1, 60) }),
          ...(random.chance(0.3) && { splitShare: random.between(1, 99) }),
        });
      });
    for (let n = random.between(0, 2); n > 0; n--)
      world.act(sometime(), () => erase(world, tenant, random.pick(people)));
  },
};

/** People with phones, and a push provider that may refuse everything from the first minute on until it is mended. */
export async function refusedPhones(world: SimWorld, count: number, mendedMs: number) {
  const { random, ledger } = world;
  const tenant = await world.tenant();
  const ios = await tenant.addChannel("ios");
  const people = await populate(world, tenant, count);
  for (const { id } of people) await equip(world, tenant, id);
  if (random.chance(0.8)) world.act(random.between(0, MINUTE), async () => void ledger.refusing.add(tenant.id));
  world.act(mendedMs, async () => void ledger.refusing.delete(tenant.id));
  return { tenant, ios, people };
}

/** A phone from before the story. */
export async function equip(
  { random }: SimWorld,
  { store }: Tenant,
  id: string,
  platform: "ios" | "android" | "web" = "ios",
) {
  const device = store.ids.uuidAt(store.clock.now());
  const token = random.bytes(8).toString("hex");
  const keys = platform === "web" ? { p256dh: token, auth: token } : undefined;
  const row = deviceRow(id, device, { at: store.clock.now(), token, platform, ...(keys && { keys }) });
  await store.put(DeviceItem, { subscriber: id, device }, row);
}
