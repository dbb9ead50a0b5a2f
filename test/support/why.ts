// A workspace in which somebody asks why a person got something, or did not.
import { expect } from "vitest";
import { journeySetting } from "./journeys.ts";
import { openChannels } from "./reached.ts";
import type { Tenant, TestWorld } from "./world.ts";

/** When its first events are. */
export const DAWN = "2026-11-20 12:00 UTC";

/** The answers in words to why a person got something, or did not. */
export const explanationsOf =
  (call: Tenant["call"]) =>
  async (person: string, about: object): Promise<string> =>
    (await call(`GET /api/v1/why?${new URLSearchParams({ person, ...about })}`)).body.in_words;

export async function whySetting(world: TestWorld) {
  const journeys = await journeySetting(world);
  const { tenant, call } = journeys;
  const { email } = await openChannels(world, tenant, "email");
  const upsert = (external_id: string, more: object = {}): Promise<string> =>
    tenant.upsert({ external_id, email: `${external_id}@example.com`, ...more });
  const send = async (title: string, body: object) => {
    const answer = await call("POST /api/v1/notifications", { title, body: "b", channel_ids: [email], ...body });
    expect(answer.status, title).toBe(201);
    await world.settle();
  };
  const words = explanationsOf(call);
  return { ...journeys, email, upsert, send, words };
}
