// A workspace with a receiver of webhooks outside of it.
import type { Hooks } from "../../local/aws/index.ts";
import { type Receiver, receiver } from "./receiver.ts";
import type { Tenant, TestWorld } from "./world.ts";
import type { worlds } from "./worlds.ts";

export interface Setting {
  world: TestWorld;
  tenant: Tenant;
  outside: Receiver;
}

export const receiving =
  ({ fresh }: ReturnType<typeof worlds>) =>
  async (hooks?: Hooks): Promise<Setting> => {
    let now = () => 0;
    const outside = receiver(() => now());
    const world = await fresh({ network: outside.network, ...(hooks && { hooks: () => hooks }) });
    now = () => world.clock.now();
    return { world, tenant: await world.tenant(), outside };
  };

export const hook = async ({ world, tenant }: Setting, events: string[], target_url = "https://hooks.example.com/in") =>
  (await world.call("POST /v1/hooks", { as: tenant.server, body: { target_url, events } })).body;

export const upsert = async ({ world, tenant }: Setting, body: object = { external_id: "u1" }) =>
  (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;

export const log = async ({ tenant }: Setting, id: string, query = "") =>
  (await tenant.call(`GET /api/v1/webhooks/${id}/deliveries${query}`)).body;
