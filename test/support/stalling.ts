// A journey whose workers stand still while time passes, for tests of the time of its runs.
import { expect } from "vitest";
import { journeySetting } from "./journeys.ts";
import { START, type TestWorld } from "./world.ts";

export const wait = (event_name: string, on_event: string, more: object = {}) => ({
  wait_for_event: { event_name, within: "1h", on_event, on_timeout: "late", ...more },
});
export const ends = { done: "exit", late: "exit" } as const;

export async function stallingSetting(world: TestWorld) {
  const all = await journeySetting(world);
  const ada = await all.person("ada");
  /** Takes events of one request; nothing handles them yet. */
  const accept = async (...events: object[]) => {
    const body = { events: events.map((event) => ({ external_id: "ada", ...event })) };
    const answer = await all.world.call("POST /v1/events", { as: all.tenant.server, body });
    expect(answer.status).toBe(202);
  };
  /** The time passes, and no worker looks. */
  const stall = (ms: number) => all.world.clock.jumpTo(START + ms);
  const outcomes = async (id: string) => {
    const { steps } = await all.stats(id);
    const named = Object.entries<{ outcomes: object }>(steps).map(([step, one]) => [step, one.outcomes] as const);
    return Object.fromEntries(named.filter(([_, one]) => Object.keys(one).length > 0));
  };
  return { ...all, ada, accept, stall, outcomes };
}
