// Calls of a workspace whose subscribers opt out.
import { consentsOf } from "./mails.ts";
import type { Tenant } from "./world.ts";

export const client = (tenant: Tenant) => ({
  call: async (route: string, body?: object) => tenant.call(route, body),
  upsert: async (external_id: string, more: object): Promise<string> => await tenant.upsert({ external_id, ...more }),
  statusesOf: async (id: string): Promise<string[]> =>
    (await consentsOf(tenant, id)).items.map(({ status }: { status: string }) => status),
});
