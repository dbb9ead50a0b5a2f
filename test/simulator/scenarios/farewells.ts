// A workspace is deleted while its sends are under way; 30 days later it is purged, unless it was restored in time.
import { DAY, MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import { keysOf } from "../requests.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";
import { equip } from "./pushes.ts";

const BUSY_MS = 10 * MINUTE;
/** A request of a function arrives before its time is up, which is 29 seconds for the API. */
const LATE_MS = { from: 5 * SECOND, to: 29 * SECOND };
/** The 30 days until the purge are minutes here, so what is late for it is later than a function could be. */
const PURGED_AFTER_MS = { from: 2 * SECOND, to: 4 * MINUTE };

export const farewells: Scenario = {
  name: "farewells",
  start: async (world) => {
    const { random, kernel, ledger } = world;
    const [leaving, staying] = [await world.tenant(), await world.tenant()];
    await leaving.addChannel("ios");
    // Where caps count, inbox messages are written after their claim.
    if (random.chance(0.5))
      await leaving.configure({ frequency_caps: [{ category: "marketing", max: 50, per: "day" }] });
    const people = await populate(world, leaving, random.between(2, 8));
    for (const { id } of people) if (random.chance(0.6)) await equip(world, leaving, id);
    const others = await populate(world, staying, 2);
    for (let n = random.between(2, 6); n > 0; n--)
      world.act(random.between(0, BUSY_MS), () => use(world, leaving, people));
    for (let n = random.between(1, 2); n > 0; n--)
      world.act(random.between(0, BUSY_MS), async () => {
        await send(world, staying, { ids: others.map(({ id }) => id), keyed: true });
      });
    const deletedAt = random.between(2 * MINUTE, BUSY_MS);
    const isRestored = random.chance(0.35);
    world.act(deletedAt - random.between(0, LATE_MS.from), () => use(world, leaving, people));
    lateWrites(world, leaving, isRestored ? Number.POSITIVE_INFINITY : kernel.now() + deletedAt - LATE_MS.to);
    world.act(deletedAt, async () => {
      ledger.everSuspended.add(leaving.id);
      await world.operate(leaving, { status: "deleted" });
      ledger.deleted.set(leaving.id, kernel.now());
    });
    const purgedAt = deletedAt + random.between(PURGED_AFTER_MS.from, PURGED_AFTER_MS.to);
    if (isRestored)
      world.act(purgedAt - SECOND, async () => {
        await world.operate(leaving, { status: "active" });
        ledger.deleted.delete(leaving.id);
      });
    // Its timer has fired, perhaps several times; what was restored is not purged.
    world.act(purgedAt, async () => {
      await leaving.deletedAgo(30 * DAY);
      for (let n = random.between(1, 3); n > 0; n--) await world.queues.send("purge", { tenant: leaving.id });
    });
    // The hourly timer finds a purge that was interrupted.
    for (const hours of [1, 2])
      world.act(purgedAt + hours * 60 * MINUTE, () => world.queues.send("purge", { tenant: leaving.id }));
  },
};

/** Something that leaves rows: a send at once or later, an event, a segment. */
async function use(world: SimWorld, tenant: Tenant, people: readonly Person[]): Promise<void> {
  const { random, kernel } = world;
  const { id } = random.pick(people);
  const content = { title: "Hi", body: "Hello {{ subscriber.name }}" };
  const scheduled_at = new Date(kernel.now() + random.between(MINUTE, 20 * MINUTE)).toISOString();
  const body = random.pick<object>([
    { subscriberIds: [id], ...content },
    { target: { type: "all" }, ...content },
    { target: { type: "all" }, ...content, scheduled_at },
  ]);
  if (random.chance(0.7)) await world.call(tenant, "dashboard", "POST /api/v1/notifications", { body });
  else await world.call(tenant, "sdk", "POST /v1/events", { body: { event_name: "seen", subscriber_id: id } });
}

/**
 * Trace point: a write is on its way while the workspace is deleted.
 * @param purgeable since when a write may arrive after a pass of the purge
 */
function lateWrites(world: SimWorld, { id }: Tenant, purgeable: number): void {
  const { random, ledger, kernel } = world;
  const left = { early: random.between(0, 2), last: random.between(0, 3) };
  world.onRequest(({ name }, service, operation, input) => {
    const when = kernel.now() < purgeable ? "early" : "last";
    if (name === "purge" || service !== "dynamodb" || !/Write|Update|Put/.test(operation) || left[when] === 0)
      return undefined;
    const isChosen = random.chance(when === "early" ? 0.1 : 0.3);
    if (!isChosen || !keysOf(operation, input).some(({ pk }) => pk.startsWith(`T#${id}#`))) return undefined;
    if (ledger.deleted.has(id)) return undefined;
    left[when]--;
    return random.between(LATE_MS.from, when === "early" ? LATE_MS.to : PURGED_AFTER_MS.to);
  });
}
