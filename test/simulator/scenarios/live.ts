// Readers with a live stream that disconnects and resumes: together with the list they get every message.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { erase, populate, send } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Listener, Person } from "../ledger.ts";
import { FAULTS_END_MS } from "../profiles.ts";
import { keysOf } from "../requests.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 14 * MINUTE;
const LIST = "GET /v1/in-app/messages";
/** By then nearly everything that was late has come. */
const LAST_MS = FAULTS_END_MS + 10 * MINUTE;

export const live: Scenario = {
  name: "live",
  start: async (world) => {
    const { random, kernel } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, random.between(1, 3));
    for (let n = random.between(4, 9); n > 0; n--)
      world.act(random.between(0, BUSY_MS), async () => {
        const scheduledAt = kernel.now() + random.between(SECOND, 3 * MINUTE);
        await send(world, tenant, {
          ...(random.chance(0.5) && { ids: random.some(people, 3).map(({ id }) => id) }),
          ...(random.chance(0.3) && { scheduledAt }),
          keyed: true,
        });
      });
    for (const person of people)
      world.act(random.between(0, 6 * MINUTE), () => follow(world, tenant, person, random.between(2, 6)));
    // Trace point: a message is written while others, whose ids are newer, are read.
    world.onRequest(({ name }, _, operation, input) => {
      const isMessage =
        operation === "BatchWriteItem" && keysOf(operation, input).some(({ sk }) => sk.startsWith("I#"));
      return name === "deliver" && isMessage && random.chance(0.3)
        ? random.between(2 * SECOND, 25 * SECOND)
        : undefined;
    });
    if (random.chance(0.15)) world.act(random.between(0, BUSY_MS), () => erase(world, tenant, random.pick(people)));
  },
};

/** Opens the stream again and again, each time from the last message it has, and lists the inbox beside it. */
async function follow(world: SimWorld, tenant: Tenant, person: Person, streams: number): Promise<void> {
  const { kernel, random, ledger, start } = world;
  const now = kernel.now();
  const listener: Listener = { person: person.id, from: now, lastFrom: now, until: now, has: new Set() };
  ledger.listeners.push(listener);
  let lastEventId: string | undefined;

  const listen = async (ms: number, isPatient = false): Promise<boolean> => {
    const begun = kernel.now();
    const fresh = lastEventId === undefined;
    const heard = world.listen(tenant, person.id, { ms, lastEventId, isPatient });
    if (fresh && !(await list())) {
      await heard;
      return false;
    }
    const { status, positions } = await heard;
    if (status !== 200) return false;
    for (const position of positions) listener.has.add(position.slice(0, 36));
    lastEventId = positions.at(-1) ?? lastEventId;
    listener.lastFrom = begun;
    listener.until = kernel.now();
    return true;
  };
  /** What was there before a stream began is in the list: asked when the stream is open. */
  const list = async (): Promise<boolean> => {
    await kernel.sleep(5 * SECOND);
    const query = { subscriber_id: person.id, limit: "200" };
    const { status, body } = await world.call(tenant, "sdk", LIST, { query });
    if (status !== 200) return false;
    for (const { id } of body.messages as { id: string }[]) listener.has.add(id);
    return true;
  };

  const isGone = () => person.erasingSince !== undefined;
  for (let n = 0; n < streams && !isGone(); n++) {
    await listen(random.between(5 * SECOND, 40 * SECOND));
    await kernel.sleep(random.between(0, random.chance(0.3) ? 4 * MINUTE : 10 * SECOND));
  }
  await kernel.sleep(Math.max(0, start + LAST_MS - kernel.now()));
  while (!isGone() && !(await listen(12 * SECOND, true))) await kernel.sleep(random.between(SECOND, 10 * SECOND));
}
