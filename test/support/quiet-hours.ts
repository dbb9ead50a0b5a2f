// A workspace with quiet hours, and the subscribers that are reached in it.
import { HOUR } from "../../shared/kernel/clock.ts";
import type { UploadPath } from "./channels.ts";
import { send } from "./people.ts";
import { addPhone, openChannels, outboxOf } from "./reached.ts";
import type { TestWorld } from "./world.ts";
import type { worlds } from "./worlds.ts";

/** It is noon in UTC, a Friday: quiet in Tokyo (21:00) and New York (07:00), not in London. */
export const QUIET = { start: "20:00", end: "08:00", timezone_mode: "subscriber" };
export const TOKYO_MORNING = 11 * HOUR;
export const NEW_YORK_MORNING = HOUR;

export async function quietSetting(
  withTenant: ReturnType<typeof worlds>["withTenant"],
  { quiet = QUIET as object | null, channels = ["ios-push"] as readonly UploadPath[] } = {},
) {
  const { world, tenant } = await withTenant();
  const ids = await openChannels(world, tenant, ...channels);
  const { call } = tenant;
  const configure = async (settings: object) => {
    const answer = await call("PATCH /api/v1/workspace", settings);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  };
  await configure({ quiet_hours: quiet });
  const person = async (external_id: string, timezone?: string, more: object = {}): Promise<string> => {
    const body = { external_id, ...(timezone && { timezone }), ...more };
    const id = await tenant.upsert(body);
    await addPhone(world, tenant, id, "ios", { token: `phone of ${id}` });
    return id;
  };
  const job = async (id: string) => (await call(`GET /api/v1/notifications/${id}`)).body;
  const explain = async (id: string, who: string) =>
    (await call(`GET /api/v1/notifications/${id}/recipients/${who}`)).body;
  const push = (body: object) => send(world, tenant, { target: { type: "all" }, channel_ids: [ids.ios], ...body });
  return { world, tenant, ids, call, configure, person, job, explain, push };
}

export const reached = async (world: TestWorld) => (await outboxOf(world)).map(({ subscriber_id }) => subscriber_id);
export const dueRows = async (world: TestWorld, kind: string) => {
  const page = await world.dynamodb.operate("Scan", { TableName: world.env.TABLE_NAME });
  return (page.Items as { pk: { S: string }; kind?: { S: string } }[]).filter((row) => row.kind?.S === kind);
};
