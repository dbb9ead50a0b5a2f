// Lists for tests: created, filled and read through the API.
import type { Answer, Tenant, TestWorld } from "./world.ts";

export const ask = async (world: TestWorld, tenant: Tenant, route: string, body?: unknown): Promise<Answer> =>
  world.call(route, { as: await tenant.dashboard(), ...(body !== undefined && { body }) });
export const create = (world: TestWorld, tenant: Tenant, body: unknown) =>
  ask(world, tenant, "POST /api/v1/lists", body);
export const named = async (world: TestWorld, tenant: Tenant, name: string): Promise<string> =>
  (await create(world, tenant, { name })).body.id;
export const add = (world: TestWorld, tenant: Tenant, id: string, subscriber_ids: string[]) =>
  ask(world, tenant, `POST /api/v1/lists/${id}/subscribers`, { subscriber_ids });
export const drop = (world: TestWorld, tenant: Tenant, id: string, subscriber_ids: string[]) =>
  ask(world, tenant, `POST /api/v1/lists/${id}/subscribers/remove`, { subscriber_ids });
export const get = (world: TestWorld, tenant: Tenant, id: string) => ask(world, tenant, `GET /api/v1/lists/${id}`);
