// Sends by every channel, all at once or one class after the other, while providers refuse and mails come back.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { toJson } from "../../../shared/store/json-text.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { change, erase, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import { withReceipts } from "../receipts.ts";
import { equip } from "./pushes.ts";

const BUSY_MS = 14 * MINUTE;
const TYPES = ["ios", "android", "web_push", "email", "sms"] as const;
const PLATFORMS = ["ios", "android", "web"] as const;

export const channels: Scenario = {
  name: "channels",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    const own: string[] = [];
    for (const type of random.some(TYPES, random.between(2, TYPES.length))) own.push(await tenant.addChannel(type));
    const people = await populate(world, tenant, random.between(2, 14));
    for (const [n, { id }] of people.entries()) {
      for (const platform of PLATFORMS) if (random.chance(0.4)) await equip(world, tenant, id, platform);
      const phone = random.pick([undefined, `+49151234${1000 + n}`, `+49151234${1000 + n}`, "no number"]);
      if (phone) await tenant.store.change(Profile, { id }, { set: { "a:phone": toJson(phone) } });
    }
    withReceipts(world, tenant);
    const sometime = () => random.between(0, BUSY_MS);
    for (let n = random.between(2, 4); n > 0; n--)
      world.act(sometime(), async () => {
        await send(world, tenant, {
          keyed: random.chance(0.6),
          smart: random.chance(0.6),
          ...(random.chance(0.3) && { channels: random.some(own, random.between(1, own.length)) }),
          ...(random.chance(0.3) && { category: "transactional" as const }),
          ...(random.chance(0.4) && { ids: random.some(people, random.between(1, people.length)).map(({ id }) => id) }),
          ...(random.chance(0.2) && { splitShare: random.between(1, 99) }),
          mustComplete: false,
        });
      });
    for (let n = random.between(0, 2); n > 0; n--)
      world.act(sometime(), () => change(world, tenant, random.pick(people)));
    if (random.chance(0.3)) world.act(sometime(), () => erase(world, tenant, random.pick(people)));
  },
};
