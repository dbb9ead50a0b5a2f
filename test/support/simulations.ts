// Journeys simulated on the events of the past.
import { expect } from "vitest";
import { timestamp } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "./journeys.ts";
import { START, type TestWorld } from "./world.ts";

export const ENDS_AT_ONCE = graphOf({ end: "exit" });

/** A workspace with journeys, and ways to simulate them on all its events. */
export async function simulating(world: TestWorld) {
  const rest = await journeySetting(world);
  const now = () => timestamp(world.clock.now());
  const begin = async (id: string, body: object = {}) =>
    rest.call(`POST /api/v1/journeys/${id}/simulate`, { from: timestamp(START), to: now(), ...body });
  const get = (id: string, simulation: string) => rest.call(`GET /api/v1/journeys/${id}/simulations/${simulation}`);
  /** Begins a simulation and waits for its end. */
  const simulate = async (id: string, body: object = {}) => {
    const begun = await begin(id, body);
    if (begun.status !== 200) return begun;
    await world.settle();
    return get(id, begun.body.id);
  };
  /** Events of nobody in particular, which fill pages. */
  const fill = async (n: number) => {
    for (let left = n; left > 0; left -= 1_000) {
      const events = Array.from({ length: Math.min(left, 1_000) }, (_, i) => ({
        event_name: "seen",
        anonymous_id: `visitor-${i % 7}`,
      }));
      expect((await world.call("POST /v1/events", { as: rest.tenant.server, body: { events } })).status).toBe(202);
    }
    await world.settle();
  };
  return { ...rest, begin, get, simulate, fill };
}

/** A step of a walk or a run, and its outcome. */
export interface TakenStep {
  step: string;
  outcome: string;
}

export const takenBy = (steps: readonly TakenStep[]): string[] =>
  steps.map(({ step, outcome }) => `${step} ${outcome}`).sort();
