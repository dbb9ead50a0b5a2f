// A draft is simulated on what happened while workers stop and others take over; simulations are canceled while a page is
// worked on, and the draft is deleted.
import { MINUTE, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { graphOf } from "../../support/journeys.ts";
import { insist } from "../actors.ts";
import { keysOf } from "../requests.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const JOURNEY = "/api/v1/journeys/{id}";
/** What has happened by then can be read this much later. */
const SETTLED_MS = 5 * MINUTE;
/** More than two pages. */
const MANY_EVENTS = 1_000;
/** The lease of a simulation is 70 seconds. */
const AFTER_LEASE_MS = { from: 71 * SECOND, to: 100 * SECOND };

/** Simulates a draft on the events of a workspace, up to a time. */
export async function simulateDraft(world: SimWorld, tenant: Tenant, untilMs: number): Promise<void> {
  const { random, start } = world;
  const steps = graphOf({
    pause: { delay: { duration: "1m", next: "wait" } },
    wait: { wait_for_event: { event_name: "pay", within: "3m", on_event: "end" } },
    end: "exit",
  });
  const body = { name: "draft", trigger: { type: "event", event_name: "start" }, steps };
  const made = await insist(world, tenant, "dashboard", "POST /api/v1/journeys", { body });
  const params = { id: String(made.body.id) };
  const events = Array.from({ length: MANY_EVENTS }, (_, n) => ({
    event_name: "seen",
    anonymous_id: `visitor-${n % 7}`,
  }));
  if (random.chance(0.5)) await insist(world, tenant, "sdk", "POST /v1/events", { body: { events } });
  const window = { from: timestamp(start - MINUTE), to: timestamp(start + untilMs) };
  for (let n = random.between(2, 3); n > 0; n--)
    world.act(untilMs + SETTLED_MS + random.between(0, 2 * MINUTE), async () => {
      const route = `POST ${JOURNEY}/simulate`;
      const { status, body: begun } = await insist(world, tenant, "dashboard", route, { params, body: window });
      if (status !== 200) return;
      holdUp(world, String(begun.id));
      if (!random.chance(0.4)) return;
      const at = { ...params, simulationId: String(begun.id) };
      cancelAtWork(world, String(begun.id), async () => {
        await insist(world, tenant, "dashboard", `POST ${JOURNEY}/simulations/{simulationId}/cancel`, { params: at });
      });
    });
  // Nothing fails any more: what the others must have counted.
  world.act(untilMs + 40 * MINUTE, async () => {
    await insist(world, tenant, "dashboard", `POST ${JOURNEY}/simulate`, { params, body: window });
    if (random.chance(0.5)) await insist(world, tenant, "dashboard", `DELETE ${JOURNEY}`, { params });
  });
}

const isWrite = (operation: string, input: Parameters<typeof keysOf>[1], id: string) =>
  operation === "UpdateItem" && keysOf(operation, input).some(({ sk }) => sk === id);

/** Trace point: a page is noted when another worker has taken over. */
function holdUp({ random, kernel, fleet, profile, onRequest }: SimWorld, id: string): void {
  let left = random.between(0, 2);
  onRequest((process, _service, operation, input) => {
    if (process.name !== "import-rows" || left === 0 || !isWrite(operation, input, id)) return undefined;
    left--;
    if (profile.crash === 0 || random.chance(0.4)) return random.between(SECOND, 20 * SECOND);
    kernel.after(1, () => fleet.crash(process, "a page of a simulation is on its way"));
    return random.between(AFTER_LEASE_MS.from, AFTER_LEASE_MS.to);
  });
}

/** Trace point: a simulation is canceled while one of its pages is worked on. */
function cancelAtWork(world: SimWorld, id: string, cancel: () => Promise<void>): void {
  let left = world.random.between(1, 3);
  world.onRequest((process, _, operation, input) => {
    if (process.name !== "import-rows" || left === 0 || !isWrite(operation, input, id)) return undefined;
    left--;
    if (left === 0) world.act(0, cancel);
    return undefined;
  });
}
