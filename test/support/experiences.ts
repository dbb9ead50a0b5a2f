// Experiences for tests: creation, transitions and reads.
import type { Answer, Tenant, TestWorld } from "./world.ts";

export const READY = {
  name: "Spring sale",
  format: "banner",
  content: { title: "Sale", body: "20 % off" },
  audience: { type: "all" },
};

const path = (id = "") => `/api/v1/in-app/experiences${id && `/${id}`}`;

export const createExperience = async (world: TestWorld, tenant: Tenant, body: unknown): Promise<Answer> =>
  world.call(`POST ${path()}`, { as: await tenant.dashboard(), body });

export const readExperience = async (world: TestWorld, tenant: Tenant, id: string): Promise<Answer> =>
  world.call(`GET ${path(id)}`, { as: await tenant.dashboard() });

export const patchExperience = async (world: TestWorld, tenant: Tenant, id: string, body: unknown): Promise<Answer> =>
  world.call(`PATCH ${path(id)}`, { as: await tenant.dashboard(), body });

export const listExperiences = async (world: TestWorld, tenant: Tenant, query = ""): Promise<Answer> =>
  world.call(`GET ${path()}${query}`, { as: await tenant.dashboard() });

export const act = async (world: TestWorld, tenant: Tenant, id: string, action: string, body?: unknown) =>
  world.call(`POST ${path(id)}/${action}`, { as: await tenant.dashboard(), ...(body !== undefined && { body }) });

/** Creates a draft that is ready to be published, with the given changes. @returns its id. */
export async function draft(world: TestWorld, tenant: Tenant, changes: object = {}): Promise<string> {
  const { status, body } = await createExperience(world, tenant, { ...READY, ...changes });
  if (status !== 201) throw new Error(`The draft was refused: ${JSON.stringify(body)}`);
  return body.id;
}

/** Takes these actions, which must all succeed. @returns the body of the last answer. */
export async function take(world: TestWorld, tenant: Tenant, id: string, ...actions: string[]) {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any JSON
  let last: any;
  for (const action of actions) {
    const { status, body } = await act(world, tenant, id, action);
    if (status !== 200) throw new Error(`${action} was refused: ${JSON.stringify(body)}`);
    last = body;
  }
  await world.settle();
  return last;
}

/** The send of an experience, by its own id. */
export const jobOf = async (world: TestWorld, tenant: Tenant, id: string) =>
  (await world.call(`GET /api/v1/notifications/${id}`, { as: await tenant.dashboard() })).body;
/** All sends of an experience. */
export const jobsOf = async (world: TestWorld, tenant: Tenant, id: string) =>
  (
    await world.call(`GET /api/v1/notifications?source_type=experience&source_id=${id}`, {
      as: await tenant.dashboard(),
    })
  ).body.items;
