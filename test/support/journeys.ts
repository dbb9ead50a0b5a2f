// A workspace with journeys in it: short ways to author, run and read them.
import { expect } from "vitest";
import type { PlanName } from "../../shared/rules/plans.ts";
import { countsOf, readCounts } from "../../shared/store/journeys/counts.ts";
import { recountRuns } from "./recounts.ts";
import { START, type TestWorld } from "./world.ts";

type Node = Record<string, unknown>;

/** Steps by their ids, each with its id and type filled in from its config; `start` is the first. */
export function graphOf(steps: Record<string, Node | "exit">, exit_conditions?: object[]) {
  const entries = Object.entries(steps).map(([id, node]) => {
    const config = node === "exit" ? {} : node;
    return [id, { id, type: Object.keys(config)[0] ?? "exit", ...config }] as const;
  });
  const start = entries[0]?.[0];
  return { start, steps: Object.fromEntries(entries), ...(exit_conditions && { exit_conditions }) };
}

export const branch = (condition: object, yes: string, no?: string) => ({
  // biome-ignore lint/suspicious/noThenProperty: the contract names it so
  branch: { condition, then: yes, ...(no !== undefined && { else: no }) },
});

export async function journeySetting(world: TestWorld, plan: PlanName = "enterprise") {
  const tenant = await world.tenant({ plan });
  const { call } = tenant;
  const channel: string = (await call("GET /api/v1/channels")).body.channels[0].id;
  const send = (title: string, next?: string) => ({
    send: { channel_ids: [channel], content: { title, body: "b" }, ...(next !== undefined && { next }) },
  });
  const onEvent = (event_name = "signed_up") => ({ type: "event", event_name });
  const definition = (steps: object, more: object = {}) => ({ name: "Welcome", trigger: onEvent(), steps, ...more });
  const create = async (steps: object, more: object = {}): Promise<string> => {
    const made = await call("POST /api/v1/journeys", definition(steps, more));
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.body.id;
  };
  const activate = async (id: string) => {
    const answer = await call(`POST /api/v1/journeys/${id}/activate`);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  };
  const active = async (steps: object, more: object = {}): Promise<string> => {
    const id = await create(steps, more);
    await activate(id);
    return id;
  };
  const person = async (external_id: string, attributes: object = {}): Promise<string> =>
    await tenant.upsert({ external_id, attributes });
  const track = async (external_id: string, event_name: string, more: object = {}) => {
    const answer = await world.call("POST /v1/events", {
      as: tenant.server,
      body: { events: [{ event_name, external_id, ...more }] },
    });
    if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
    await world.settle();
  };
  const stats = async (id: string) => (await call(`GET /api/v1/journeys/${id}/stats`)).body;
  const runs = async (id: string, query = "") => (await call(`GET /api/v1/journeys/${id}/runs${query}`)).body.items;
  const inbox = async (subscriber: string): Promise<string[]> => {
    const { messages } = (
      await world.call(`GET /v1/in-app/messages?subscriber_id=${subscriber}&limit=200`, { as: tenant.sdk })
    ).body;
    return messages.map(({ content }: { content: { title: string } }) => content.title).reverse();
  };
  const at = (ms: number) => new Date(START + ms).toISOString();
  return {
    world,
    tenant,
    call,
    channel,
    send,
    onEvent,
    definition,
    create,
    activate,
    active,
    person,
    track,
    stats,
    runs,
    inbox,
    at,
  };
}

/** The same, with a reader of a journey's numbers that checks them against its runs. */
export async function countedSetting(world: TestWorld) {
  const all = await journeySetting(world);
  const { store } = all.tenant;
  const recounted = async (id: string) => {
    const [counted] = await countsOf(store, [id]);
    expect(counted).toEqual(readCounts(await recountRuns(store, id)));
    return counted!;
  };
  return { ...all, recounted };
}

export const delayed = (duration: string) => graphOf({ pause: { delay: { duration, next: "end" } }, end: "exit" });

/** Makes steps that send by a channel. */
export const senderBy = (channel: string) => (title: string, next: string) => ({
  send: { channel_ids: [channel], content: { title, body: "b" }, next },
});
export const attribute = (name: string, value: unknown) => ({ attribute: { [name]: { $eq: value } } });

/** A journey that greets, waits for an hour and ends. @param send of a setting */
export const greetingGraph = (send: Awaited<ReturnType<typeof journeySetting>>["send"]) => ({
  start: "hello",
  steps: {
    hello: { id: "hello", type: "send", ...send("Hello", "pause") },
    pause: { id: "pause", type: "delay", delay: { duration: "1h", next: "end" } },
    end: { id: "end", type: "exit" },
  },
});
