// Sends by the chat app with a template, while its provider changes its verdict and recipients opt out by a message.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { insist, populate, send } from "../actors.ts";
import { type ChatAppBook, decide, openChatApp, write } from "../chat-app-book.ts";
import type { Scenario } from "../invariant.ts";
import type { SimWorld } from "../world.ts";
import { equip } from "./pushes.ts";

const BUSY_MS = 14 * MINUTE;
const UPSERT = "POST /api/v1/subscribers/upsert";

export const chatApp: Scenario = {
  name: "chat app",
  start: async (world) => {
    const { random, kernel } = world;
    const tenant = await world.tenant();
    const book = await openChatApp(world, tenant, random.chance(0.8));
    const ios = await tenant.addChannel("ios");
    const people = await populate(world, tenant, random.between(2, 10));
    for (const [n, { id, external_id }] of people.entries()) {
      if (random.chance(0.4)) await equip(world, tenant, id);
      // Some share a phone.
      const phone = `+4915123450${random.chance(0.2) ? 0 : n}`;
      if (random.chance(0.9))
        world.act(random.between(0, 5 * SECOND), async () => {
          await insist(world, tenant, "sdk", UPSERT, { body: { external_id, attributes: { phone } } });
          book.phones.set(id, phone);
        });
    }
    const sometime = () => random.between(2 * MINUTE, BUSY_MS);
    for (let n = random.between(0, 4); n > 0; n--) world.act(sometime(), () => decide(world, book));
    for (let n = random.between(0, 4); n > 0; n--)
      world.act(sometime(), async () => {
        const phones = [...book.phones.values()];
        if (phones.length > 0) await write(world, book, random.pick(phones), random.chance(0.6) ? "STOP" : "Thanks!");
      });
    for (let n = random.between(2, 5); n > 0; n--)
      world.act(sometime(), async () => {
        await send(world, tenant, {
          chatAppTemplate: book.template,
          channels: random.chance(0.6) ? [book.channel] : [book.channel, ios],
          keyed: random.chance(0.7),
          small: false,
          smart: random.chance(0.2),
          ...(random.chance(0.4) && { ids: random.some(people, random.between(1, people.length)).map(({ id }) => id) }),
          ...(random.chance(0.3) && { scheduledAt: kernel.now() + random.between(SECOND, 4 * MINUTE) }),
          ...(random.chance(0.2) && { splitShare: random.between(1, 99) }),
        });
      });
    decideAtDelivery(world, book);
  },
};

/** Trace point: the provider decides exactly when a job is delivered. */
function decideAtDelivery(world: SimWorld, book: ChatAppBook): void {
  const { random } = world;
  let left = random.between(0, 2);
  world.onStart((queue) => {
    if (queue !== "deliver" || left === 0 || random.chance(0.5)) return;
    left--;
    world.act(random.between(0, 100), () => decide(world, book));
  });
}
