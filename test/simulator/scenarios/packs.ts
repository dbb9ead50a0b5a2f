// Journeys that many people enter together, by batches of events that repeat people, while some are erased and the
// workspace is suspended or near its quota.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { graphOf } from "../../support/journeys.ts";
import { erase, insist, populate } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";
import { equip } from "./pushes.ts";
import { suspendFor } from "./suspension.ts";

const BUSY_MS = 12 * MINUTE;
const CANCEL = "POST /api/v1/journeys/{id}/runs/{runId}/cancel";

export const packs: Scenario = {
  name: "packs",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    const hasPush = random.chance(0.4);
    if (hasPush) await tenant.addChannel("ios");
    const people = await populate(world, tenant, random.between(4, 16));
    if (hasPush) for (const { id } of people) if (random.chance(0.5)) await equip(world, tenant, id);
    if (random.chance(0.2)) {
      const cap = random.between(3, 30);
      await world.operate(tenant, { monthly_send_cap: cap });
      world.ledger.caps.set(tenant.id, cap);
    }
    world.act(0, async () => {
      const { body: listed } = await insist(world, tenant, "dashboard", "GET /api/v1/channels", {});
      const channel_ids = listed.channels.map(({ id }: { id: string }) => id);
      const send = (body: string, next?: string) => ({
        send: { channel_ids, content: { title: "Hello", body }, ...(next !== undefined && { next }) },
      });
      const rest = (next: string) => ({ delay: { duration: random.pick(["1m", "3m"]), next } });
      const definition = {
        name: "packs",
        trigger: { type: "event", event_name: "start" },
        entry_rules: { allow_reentry: random.chance(0.7) },
        steps: graphOf({
          // Runs that begin with a rest send nothing then.
          ...(random.chance(0.4) && { wake: rest("hello") }),
          hello: send(random.pick(["Hello", "Hello {{ event.n }}"]), "pause"),
          pause: rest("bye"),
          bye: send("Bye", random.pick(["again", "rest"])),
          again: send("Again", "rest"),
          rest: rest("end"),
          end: "exit",
        }),
      };
      const { body: made } = await insist(world, tenant, "dashboard", "POST /api/v1/journeys", { body: definition });
      const params = { id: String(made.id) };
      await insist(world, tenant, "dashboard", "POST /api/v1/journeys/{id}/activate", { params, body: {} });
      cancelAmongOthers(world, tenant, params.id);
      let batches = 0;
      const enter = () => {
        const batch = ++batches;
        const some = Array.from({ length: random.between(2, 24) }, () => random.pick(people.slice(1)).id);
        const events = some.map((subscriber_id, n) => ({
          event_name: "start",
          subscriber_id,
          properties: { n },
          idempotency_key: `${batch} ${n}`,
        }));
        return insist(world, tenant, "sdk", "POST /v1/events", { body: { events } });
      };
      for (let n = random.between(2, 5); n > 0; n--)
        world.act(random.between(0, BUSY_MS), async () => {
          await Promise.all(random.chance(0.4) ? [enter(), enter()] : [enter()]);
        });
      if (random.chance(0.4))
        world.act(random.between(0, BUSY_MS), async () => {
          const gone = random.some(people.slice(1), random.between(1, 2));
          await Promise.all(gone.map((person) => erase(world, tenant, person)));
        });
      else if (random.chance(0.3))
        world.act(random.between(0, BUSY_MS), () => suspendFor(world, tenant, random.between(MINUTE, 6 * MINUTE)));
      if (random.chance(0.2))
        world.act(random.between(0, BUSY_MS), async () => {
          for (const way of ["pause", "archive"])
            await insist(world, tenant, "dashboard", `POST /api/v1/journeys/{id}/${way}`, { params, body: {} });
        });
    });
  },
};

/** Trace point: a run is canceled exactly when it is about to move with others. */
function cancelAmongOthers(world: SimWorld, tenant: Tenant, id: string): void {
  const { random } = world;
  let left = random.between(0, 3);
  world.onStart((queue, messages) => {
    const runs = messages.flatMap(({ body }) => (Array.isArray(body.runs) ? body.runs : []));
    if (queue !== "step-journey" || runs.length < 2 || left === 0 || !random.chance(0.5)) return;
    left--;
    const runId = String(random.pick(runs).run);
    world.act(random.between(0, 80), async () => {
      await insist(world, tenant, "dashboard", CANCEL, { params: { id, runId }, body: {} });
    });
  });
}
