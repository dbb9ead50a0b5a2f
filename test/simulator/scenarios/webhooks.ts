// Webhook endpoints that fail, fall silent and are away, while deliveries are sent again and replayed.
import { MINUTE, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { webhookEvents } from "../../../shared/rules/webhook-events.ts";
import { actsWithin, erase, insist, join, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Hook, Person } from "../ledger.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 14 * MINUTE;
const ROUTE = "/api/v1/webhooks/{id}";

export const webhooks: Scenario = {
  name: "webhooks",
  start: async (world) => {
    const { random, ledger } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, random.between(2, 4));
    const hooks: Hook[] = [];
    for (let n = random.between(1, 2); n > 0; n--) {
      const url = `https://receiver-${n}.example/`;
      const events = random.chance(0.7) ? webhookEvents : random.some(webhookEvents, 2);
      const id = await tenant.addWebhook(url, events);
      const hook: Hook = { tenant: tenant.id, id, url, events, reopenings: [] };
      world.name(id, `endpoint-${n}`);
      ledger.hooks.set(id, hook);
      hooks.push(hook);
    }
    const sometime = actsWithin(world, BUSY_MS);
    const sendSome = () =>
      send(world, tenant, {
        ids: random.some(people, random.between(1, people.length)).map(({ id }) => id),
        keyed: true,
      });
    sometime(random.between(2, 4), sendSome);
    // At the same moment, so that deliveries are numbered together.
    if (random.chance(0.5)) {
      const at = random.between(0, BUSY_MS);
      for (let n = random.between(2, 5); n > 0; n--)
        world.act(at + random.between(0, 200), async () => void people.push(await join(world, tenant)));
    }
    sometime(random.between(1, 3), async () => void people.push(await join(world, tenant)));
    sometime(random.between(1, 5), () => tap(world, tenant, people));
    if (random.chance(0.3)) sometime(1, () => erase(world, tenant, random.pick(people)));
    for (const hook of hooks) {
      if (random.chance(0.4))
        sometime(1, async () => {
          world.receivers.away.set(hook.url, world.kernel.now() + random.between(5 * SECOND, 3 * MINUTE));
        });
      sometime(random.between(0, 1), () => trySample(world, tenant, hook));
      sometime(random.between(0, 2), () => redeliver(world, tenant, hook), 2 * BUSY_MS);
      sometime(random.between(0, 2), () => replay(world, tenant, hook), 2 * BUSY_MS);
    }
  },
};

/** A reader taps a message that was sent to somebody. */
async function tap(world: SimWorld, tenant: Tenant, people: readonly Person[]): Promise<void> {
  const { random, ledger, kernel } = world;
  const jobs = [...ledger.byJob.keys()];
  if (jobs.length === 0) return;
  const body = {
    job_id: random.pick(jobs),
    subscriber_id: random.pick(people).id,
    interaction: random.pick(["tapped", "inapp_click"]),
    platform: "ios",
    occurred_at: timestamp(kernel.now()),
  };
  await insist(world, tenant, "sdk", "POST /api/v1/notifications/interactions", { body });
}

async function trySample(world: SimWorld, tenant: Tenant, { id, events }: Hook): Promise<void> {
  const request = { params: { id }, body: { event: world.random.pick(events) } };
  await world.call(tenant, "dashboard", `POST ${ROUTE}/test`, request);
}

/** A delivery is sent again. Without an answer it may have been. */
async function redeliver(world: SimWorld, tenant: Tenant, { id, reopenings }: Hook): Promise<void> {
  const { random, kernel } = world;
  const { body } = await world.call(tenant, "dashboard", `GET ${ROUTE}/deliveries`, { params: { id } });
  if (!body?.items?.length) return;
  const delivery: string = random.pick(body.items as { id: string }[]).id;
  const params = { id, deliveryId: delivery };
  const { status } = await world.call(tenant, "dashboard", `POST ${ROUTE}/deliveries/{deliveryId}/redeliver`, {
    params,
  });
  if (status === 202 || status === 0 || status >= 500) reopenings.push({ delivery, at: kernel.now() });
}

async function replay(world: SimWorld, tenant: Tenant, { id, reopenings }: Hook): Promise<void> {
  const { random, kernel, start } = world;
  const at = kernel.now();
  const body = {
    from: timestamp(start - MINUTE),
    to: timestamp(at),
    ...(random.chance(0.5) && { outcome: random.pick(["delivered", "failed"]) }),
  };
  const { status } = await world.call(tenant, "dashboard", `POST ${ROUTE}/replay`, { params: { id }, body });
  if (status === 202 || status === 0 || status >= 500) reopenings.push({ at: kernel.now() });
}
