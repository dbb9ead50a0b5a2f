// Delays of many runs that end together, while runs are canceled, ended by events and erased, and the journey is paused,
// exactly when they move.
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { branch, graphOf } from "../../support/journeys.ts";
import { erase, insist, populate } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import { keysOf } from "../requests.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 8 * MINUTE;
const EVENTS_AT_ONCE = 20;
const JOURNEY = "/api/v1/journeys/{id}";

export const delays: Scenario = {
  name: "delays",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    // So many wait at once in one that is archived that they fill more than a page of a shard.
    const isArchived = random.chance(0.5);
    const people = await populate(world, tenant, isArchived ? random.between(40, 60) : random.between(10, 18));
    world.act(0, async () => {
      const delay = (next: string, duration = "1m") => ({ delay: { duration, next } });
      const definition = {
        name: "delays",
        trigger: { type: "event", event_name: "start" },
        entry_rules: { allow_reentry: random.chance(0.7) },
        steps: graphOf(
          {
            one: delay("which"),
            which: branch(
              { attribute: { plan: { $eq: "pro" } } },
              "two",
              isArchived ? "two" : random.pick(["two", "end"]),
            ),
            two: delay("end", isArchived ? "9h" : "1m"),
            end: "exit",
          },
          [{ event: { name: "leave" } }],
        ),
      };
      const { body: made } = await insist(world, tenant, "dashboard", "POST /api/v1/journeys", { body: definition });
      const params = { id: String(made.id) };
      await insist(world, tenant, "dashboard", `POST ${JOURNEY}/activate`, { params, body: {} });
      if (isArchived)
        world.act(random.between(4 * MINUTE, 2 * BUSY_MS), async () => {
          for (const way of ["pause", "archive"])
            await insist(world, tenant, "dashboard", `POST ${JOURNEY}/${way}`, { params, body: {} });
        });
      meetWrites(world, tenant, params.id);
      meetMoves(world, tenant, params.id, () => erase(world, tenant, people[0]!));
      let batches = 0;
      const enter = () => {
        const batch = ++batches;
        const events = people.map(({ id }, n) => ({
          event_name: "start",
          subscriber_id: id,
          idempotency_key: `${batch} ${n}`,
        }));
        return Promise.all(
          chunksOf(events, EVENTS_AT_ONCE).map((some) =>
            insist(world, tenant, "sdk", "POST /v1/events", { body: { events: some } }),
          ),
        );
      };
      for (let n = random.between(1, 3); n > 0; n--)
        world.act(random.between(0, BUSY_MS), async () => void (await enter()));
    });
  },
};

/** Trace point: while runs move together, one of them is moved by another worker too. */
function meetMoves(world: SimWorld, tenant: Tenant, id: string, eraseOne: () => Promise<unknown>): void {
  const { random } = world;
  const params = { id };
  let left = random.between(1, 5);
  const dashboard = (route: string, more: object = {}) =>
    insist(world, tenant, "dashboard", route, { params: { ...params, ...more }, body: {} });
  world.onStart((queue, messages) => {
    const runs = messages.flatMap(({ body }) => (Array.isArray(body.runs) ? body.runs : []));
    if (queue !== "step-journey" || runs.length < 5 || left === 0 || !random.chance(0.7)) return;
    left--;
    const { run, subscriber } = random.pick(runs);
    const leave = { events: [{ event_name: "leave", subscriber_id: String(subscriber) }] };
    const dice = random.between(0, 9);
    // Later ones meet what a worker that crashed has left.
    world.act(random.between(0, random.pick([250, 250, 4 * MINUTE])), async () => {
      if (dice < 4) await dashboard(`POST ${JOURNEY}/runs/{runId}/cancel`, { runId: String(run) });
      else if (dice < 7) await insist(world, tenant, "sdk", "POST /v1/events", { body: leave });
      else if (dice < 8) await eraseOne();
      else await dashboard(`POST ${JOURNEY}/pause`);
      if (dice > 7)
        world.act(random.between(0, 3 * MINUTE), async () => void (await dashboard(`POST ${JOURNEY}/activate`)));
    });
  });
}

/** Trace point: the write that moves a run takes long, and meanwhile the run is canceled or ended, or its time comes. */
function meetWrites(world: SimWorld, tenant: Tenant, id: string): void {
  const { random } = world;
  let left = random.between(0, 3);
  world.onRequest(({ name }, _, operation, input) => {
    if (name !== "step-journey" || operation !== "UpdateItem" || left === 0 || !random.chance(0.2)) return undefined;
    const [{ pk, sk } = { pk: "", sk: "" }] = keysOf(operation, input);
    const subscriber = pk.split("#U#")[1];
    if (subscriber === undefined || !sk.startsWith("J#")) return undefined;
    left--;
    const params = { id, runId: sk.split("#").at(-1)! };
    const leave = { events: [{ event_name: "leave", subscriber_id: subscriber }] };
    if (random.chance(0.5))
      world.act(random.between(SECOND, 3 * SECOND), async () => {
        if (random.chance(0.5))
          await insist(world, tenant, "dashboard", `POST ${JOURNEY}/runs/{runId}/cancel`, { params, body: {} });
        else await insist(world, tenant, "sdk", "POST /v1/events", { body: leave });
      });
    return random.pick([random.between(4 * SECOND, 20 * SECOND), random.between(45 * SECOND, 57 * SECOND)]);
  });
}
