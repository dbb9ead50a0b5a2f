// Channels with a rate, or with a provider that takes only so many a second, and several sends to everybody at once.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { ChannelItem } from "../../../shared/store/channels/items.ts";
import { populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import { equip } from "./pushes.ts";

const BUSY_MS = 4 * MINUTE;
/** One of `populate`, if it has one there, and one of ours. */
export const MAX_PHONES = 2;

export const pacing: Scenario = {
  name: "pacing",
  start: async (world) => {
    const { random, ledger } = world;
    const tenant = await world.tenant();
    const channel = await tenant.addChannel("ios");
    const people = await populate(world, tenant, random.between(8, 30));
    for (const { id } of people) await equip(world, tenant, id);
    const phones = people.length + people.filter(({ platform }) => platform === "ios").length;
    const perSecond = random.between(1, 3);
    if (random.chance(0.6)) {
      await tenant.store.change(ChannelItem, { id: channel }, { set: { rate_per_second: perSecond } });
      ledger.rates.set(tenant.id, { perSecond, chunk: phones });
    } else ledger.limits.set(tenant.id, perSecond);
    const at = random.between(0, BUSY_MS);
    for (let n = random.between(2, 4); n > 0; n--)
      world.act(at + random.between(0, random.pick([SECOND, BUSY_MS])), async () => {
        await send(world, tenant, {
          keyed: true,
          channels: [channel],
          ...(random.chance(0.3) && { category: "transactional" as const }),
          ...(random.chance(0.2) && { ids: [random.pick(people).id] }),
        });
      });
  },
};
