// Lists for tests: created, filled and read through the API.
import { wholeTable } from "./people.ts";
import type { Tenant, TestWorld } from "./world.ts";

export const create = (tenant: Tenant, body: unknown) => tenant.call("POST /api/v1/lists", body);
export const named = async (tenant: Tenant, name: string): Promise<string> => (await create(tenant, { name })).body.id;
export const add = (tenant: Tenant, id: string, subscriber_ids: string[]) =>
  tenant.call(`POST /api/v1/lists/${id}/subscribers`, { subscriber_ids });
export const drop = (tenant: Tenant, id: string, subscriber_ids: string[]) =>
  tenant.call(`POST /api/v1/lists/${id}/subscribers/remove`, { subscriber_ids });
export const get = (tenant: Tenant, id: string) => tenant.call(`GET /api/v1/lists/${id}`);

/** The keys of all rows of all workspaces. */
export const keysOfTable = async (world: TestWorld): Promise<{ pk: string; sk: string }[]> =>
  (await wholeTable(world)).map(({ pk, sk }) => ({ pk: String(pk.S), sk: String(sk.S) }));
