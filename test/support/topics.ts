// A workspace with topics, and people who choose among them.
import { consentsOf } from "./mails.ts";
import type { Tenant } from "./world.ts";
import type { worlds } from "./worlds.ts";

export const NEWS = { key: "news", name: "News" };
export const DEALS = { key: "deals", name: "Deals", default: "out" };

export const choosing =
  ({ withTenant }: Pick<ReturnType<typeof worlds>, "withTenant">) =>
  async (topics: object[] = [NEWS], options: Parameters<typeof withTenant>[0] = {}) => {
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

interface Choice {
  channel: string;
  status: string;
  source: string;
}

/** The choices of a subscriber as they are kept, newest first: topic, status and where it was made. */
export const choicesOf = async (tenant: Tenant, id: string): Promise<string[]> =>
  (await consentsOf(tenant, id)).items.map(({ channel, status, source }: Choice) => `${channel} ${status} ${source}`);
