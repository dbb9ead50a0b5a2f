// Journeys that segments or events start, with conditions that end their runs, while they are paused, get new versions
// and go on, and while what ends a run happens as it begins or moves. Waiting runs are moved to the newest version, and a
// draft is simulated on what happened.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { graphOf, senderBy } from "../../support/journeys.ts";
import { erase, insist, populate } from "../actors.ts";
import { placeOf } from "../entities.ts";
import type { Scenario } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import { channelOf } from "../marketers.ts";
import { keysOf } from "../requests.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";
import { simulateDraft } from "./simulations.ts";

const BUSY_MS = 16 * MINUTE;
const JOURNEY = "/api/v1/journeys/{id}";
const LEFT = { event: { name: "leave" } };
const GONE = { attribute: { mood: { $eq: "gone" } } };

/** What ends the runs of every version of a journey. */
const exitsOf = ({ random }: SimWorld) => random.pick([[LEFT], [LEFT], [LEFT, GONE], [GONE]]);

function stepsOf({ random }: SimWorld, channel: string, exits: object[]) {
  const send = senderBy(channel);
  const isPauseFirst = random.chance(0.6);
  const pause = { delay: { duration: random.pick(["2m", "9h", "9h"]), next: isPauseFirst ? "wait" : "end" } };
  const within = random.pick(["3m", "9h"]);
  const wait = { wait_for_event: { event_name: "pay", within, on_event: isPauseFirst ? "end" : "pause" } };
  const first = random.pick([{ hello: send("Hello", isPauseFirst ? "pause" : "wait") }, {}]);
  return graphOf({ ...first, ...(isPauseFirst ? { pause, wait } : { wait, pause }), end: "exit" }, exits);
}

async function triggerOf(world: SimWorld, tenant: Tenant): Promise<object> {
  const { random } = world;
  if (random.chance(0.4)) return { type: "event", event_name: "start" };
  const body = { name: "pros", is_dynamic: true, rule: { attribute: { plan: { $eq: "pro" } } } };
  const made = await insist(world, tenant, "dashboard", "POST /api/v1/segments", { body });
  return { type: random.pick(["segment_entered", "segment_exited"]), segment_id: made.body.id };
}

export const versions: Scenario = {
  name: "versions",
  start: async (world) => {
    const { random, kernel } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, random.between(3, 6));
    const lasting = people.slice(1);
    const exits = exitsOf(world);
    world.act(0, async () => {
      const channel = await channelOf(world, tenant, "in_app");
      const definition = {
        name: "versions",
        trigger: await triggerOf(world, tenant),
        entry_rules: { allow_reentry: random.chance(0.6) },
        steps: stepsOf(world, channel, exits),
      };
      const made = await insist(world, tenant, "dashboard", "POST /api/v1/journeys", { body: definition });
      const params = { id: String(made.body.id) };
      const act = (way: string) => insist(world, tenant, "dashboard", `POST ${JOURNEY}/${way}`, { params, body: {} });
      const migrate = async (to: number) => {
        await kernel.sleep(random.between(0, 2 * MINUTE));
        const body = { from: random.between(1, to - 1), to };
        await insist(world, tenant, "dashboard", `POST ${JOURNEY}/migrations`, { params, body });
      };
      await act("activate");
      for (let n = random.between(0, 2); n > 0; n--)
        world.act(random.between(MINUTE, BUSY_MS), async () => {
          await act("pause");
          const body = { ...definition, steps: stepsOf(world, channel, exits) };
          if (random.chance(0.7)) await insist(world, tenant, "dashboard", `PUT ${JOURNEY}`, { params, body });
          await kernel.sleep(random.between(0, 2 * MINUTE));
          const { version } = (await act("activate")).body;
          if (version > 1 && random.chance(0.8)) await migrate(version);
        });
    });
    let events = 0;
    const happens = (event_name: string, { id }: Person) =>
      insist(world, tenant, "sdk", "POST /v1/events", {
        body: { event_name, idempotency_key: `event ${++events}`, subscriber_id: id },
      });
    const becomes = ({ external_id }: Person, attributes: object) =>
      insist(world, tenant, "sdk", "POST /api/v1/subscribers/upsert", { body: { external_id, attributes } });
    const starts = (person: Person) =>
      random.chance(0.5) ? happens("start", person) : becomes(person, { plan: random.pick(["pro", "free"]) });
    const ends = (person: Person) =>
      random.pick(exits) === LEFT ? happens("leave", person) : becomes(person, { mood: "gone" });
    const ended = endAmongMoves(world, lasting, ends);
    for (let n = random.between(6, 14); n > 0; n--)
      world.act(random.between(0, BUSY_MS), async () => {
        const person = random.pick(lasting);
        if (ended.has(person)) return;
        const first = random.chance(0.7) ? starts(person) : happens("pay", person);
        // What ends a run comes while the run begins or moves.
        const second = async () => {
          await kernel.sleep(random.between(0, 600));
          await ends(person);
        };
        await Promise.all(random.chance(0.5) ? [first, second()] : [first]);
      });
    if (random.chance(0.3)) world.act(random.between(0, BUSY_MS), () => erase(world, tenant, people[0]!));
    if (random.chance(0.5)) world.act(0, () => simulateDraft(world, tenant, BUSY_MS));
  },
};

/**
 * Trace point: what ends a run happens while a write that begins or moves it is under way. Nothing happens to those
 * people afterwards, which would end the run anyway.
 * @returns those people
 */
function endAmongMoves(
  world: SimWorld,
  people: readonly Person[],
  ends: (person: Person) => Promise<unknown>,
): ReadonlySet<Person> {
  const { random, kernel, fleet, profile } = world;
  const ended = new Set<Person>();
  const max = random.between(0, people.length);
  world.onRequest((process, _, operation, input) => {
    if (
      process.name !== "step-journey" ||
      operation !== "TransactWriteItems" ||
      ended.size === max ||
      !random.chance(0.5)
    )
      return undefined;
    const moved = new Set(keysOf(operation, input).flatMap(({ pk }) => placeOf(pk)?.id ?? []));
    const person = people.find(({ id }) => moved.has(id));
    if (!person || ended.has(person)) return undefined;
    ended.add(person);
    world.act(0, async () => void (await ends(person)));
    const heldUpMs = random.between(SECOND, 4 * SECOND);
    if (profile.crash > 0 && random.chance(0.3))
      kernel.after(heldUpMs + 1, () => fleet.crash(process, "after a run moved"));
    return heldUpMs;
  });
  return ended;
}
