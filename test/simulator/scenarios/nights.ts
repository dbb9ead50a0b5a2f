// A workspace with quiet hours that end under faults, and with a cap that several concurrent sends reach.
import { HOUR, MINUTE } from "../../../shared/kernel/clock.ts";
import { toJson } from "../../../shared/store/json-text.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { erase, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Tenant } from "../tenants.ts";
import { crashAfter } from "../trace-points.ts";
import type { SimWorld } from "../world.ts";
import { equip } from "./pushes.ts";
import { suspendFor } from "./suspension.ts";

const BUSY_MS = 12 * MINUTE;
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
/** An hour behind UTC, so that its people are quiet an hour longer. */
const LATER = "Etc/GMT+1";

export const nights: Scenario = {
  name: "nights",
  start: async (world) => {
    const { random, kernel } = world;
    const tenant = await world.tenant();
    await tenant.addChannel("ios");
    await setManners(world, tenant);
    const people = await populate(world, tenant, random.between(3, 15));
    for (const { id } of people) {
      for (let n = random.between(1, 2); n > 0; n--) await equip(world, tenant, id);
      if (random.chance(0.2)) await settleIn(world, tenant, id);
    }
    const sometime = () => random.between(0, BUSY_MS);
    // Those who are counted against a cap are so in the transaction that claims their group.
    crashAfter(world, "deliver", (_, keys) => keys.some(({ sk }) => sk.startsWith("F#")));
    for (let n = random.between(2, 5); n > 0; n--)
      world.act(sometime(), async () => {
        await send(world, tenant, {
          keyed: random.chance(0.6),
          personal: random.chance(0.4),
          ...(random.chance(0.5) && { ids: random.some(people, random.between(1, people.length)).map(({ id }) => id) }),
          ...(random.chance(0.2) && { scheduledAt: kernel.now() + random.between(MINUTE, 5 * MINUTE) }),
          ...(random.chance(0.2) && { holdout: random.between(1, 60) }),
        });
      });
    // A suspended workspace erases no subscriber.
    const isSuspended = random.chance(0.2);
    if (isSuspended) world.act(sometime(), () => suspendFor(world, tenant, random.between(MINUTE, 30 * MINUTE)));
    for (let n = isSuspended ? 0 : random.between(0, 2); n > 0; n--)
      world.act(sometime(), () => erase(world, tenant, random.pick(people)));
  },
};

/** Quiet hours that have begun and end soon, or in an hour; a cap of a few messages. */
async function setManners({ random, kernel, ledger }: SimWorld, tenant: Tenant): Promise<void> {
  const time = (ms: number) => new Date(kernel.now() + ms).toISOString().slice(11, 16);
  const hours = { start: time(-HOUR), end: time(random.between(2, 70) * MINUTE), days: EVERY_DAY };
  const quiet = random.chance(0.8) ? hours : undefined;
  const cap = random.chance(0.7) ? random.between(1, 3) : undefined;
  ledger.manners.set(tenant.id, { quiet, cap });
  await tenant.configure({
    quiet_hours: quiet && { ...quiet, timezone_mode: "subscriber" },
    frequency_caps: cap === undefined ? [] : [{ category: "marketing", max: cap, per: "day" }],
  });
}

async function settleIn({ ledger }: SimWorld, { store }: Tenant, id: string): Promise<void> {
  await store.change(Profile, { id }, { set: { "a:timezone": toJson(LATER) } });
  ledger.zones.set(id, LATER);
}
