// A workspace with topics, and people who choose among them.
import type { worlds } from "./worlds.ts";

export const choosing =
  ({ withTenant }: Pick<ReturnType<typeof worlds>, "withTenant">) =>
  async (topics: object[] = [{ key: "news", name: "News" }], options: Parameters<typeof withTenant>[0] = {}) => {
    const { world, tenant } = await withTenant(options);
    const { call } = tenant;
    for (const topic of topics) await call("POST /api/v1/topics", topic);
    const person = async (external_id: string, more: object = {}): Promise<string> =>
      await tenant.upsert({ external_id, ...more });
    const choose = (external_id: string, chosen: object) =>
      world.call("PUT /v1/preferences", { as: tenant.sdk, body: { external_id, topics: chosen } });
    const { channels } = (await call("GET /api/v1/channels")).body;
    const inApp: string = channels.find(({ type }: { type: string }) => type === "in_app").id;
    return { world, tenant, call, person, choose, inApp };
  };
