// A sandbox of a test: its calls, the moves of its clock, and a journey over 30 days in it.
import { expect } from "vitest";
import { graphOf, senderBy } from "./journeys.ts";
import type { Headers, Tenant, TestWorld } from "./world.ts";

export function callsOf(world: TestWorld, tenant: Tenant) {
  const call = async (route: string, body?: object, as?: Headers) => {
    const answer = await world.call(route, { as: as ?? (await tenant.dashboard()), ...(body && { body }) });
    if (answer.status >= 300) throw new Error(`${route}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  /** Moves the clock, and runs what the move queues. */
  const move = async (body: object) => {
    const begun = await call("POST /v1/test/clock", body);
    await world.settle();
    const seen = await call("GET /v1/test/clock");
    expect(seen.move).toMatchObject({ id: begun.move.id, status: "completed" });
    return seen;
  };
  const outbox = async () => (await call("GET /v1/test/outbox")).items;
  const person = async (external_id: string, more: object = {}): Promise<string> =>
    (await call("POST /api/v1/subscribers/upsert", { external_id, ...more }, tenant.sdk)).id;
  const inbox = async (subscriber: string): Promise<string[]> => {
    const { messages } = await call(`GET /v1/in-app/messages?subscriber_id=${subscriber}`, undefined, tenant.sdk);
    return messages.map(({ content }: { content: { title: string } }) => content.title).reverse();
  };
  const inApp = async () => (await call("GET /api/v1/channels")).channels[0].id as string;
  return { tenant, call, move, outbox, person, inbox, inApp };
}
export type Calls = ReturnType<typeof callsOf>;

export const sandboxIn = async (world: TestWorld): Promise<Calls> =>
  callsOf(world, await world.tenant({ kind: "sandbox" }));

/** A journey over 30 days, and a subscriber in it. */
export async function month({ call, person, inApp, tenant }: Calls, world: TestWorld) {
  const channel = await inApp();
  const send = senderBy(channel);
  const steps = graphOf({
    a: send("Day 1", "b"),
    b: { delay: { duration: "7d", next: "c" } },
    c: send("Day 8", "d"),
    d: { delay: { duration: "22d", next: "e" } },
    e: send("Day 30", "f"),
    f: "exit",
  });
  const event_name = "signed_up";
  const trigger = { type: "event", event_name };
  const { id } = await call("POST /api/v1/journeys", { name: "Month", trigger, steps });
  await call(`POST /api/v1/journeys/${id}/activate`);
  const subscriber = await person("ada");
  await call("POST /v1/events", { event_name, subscriber_id: subscriber }, tenant.sdk);
  await world.settle();
  return { id, subscriber };
}
