// Experiences for tests: creation, transitions and reads.
import type { Answer, Tenant, TestWorld } from "./world.ts";

export const READY = {
  name: "Spring sale",
  format: "banner",
  content: { title: "Sale", body: "20% off" },
  audience: { type: "all" },
};

const path = (id = "") => `/api/v1/in-app/experiences${id && `/${id}`}`;

export const createExperience = async (tenant: Tenant, body: unknown): Promise<Answer> =>
  tenant.call(`POST ${path()}`, body);

export const readExperience = async (tenant: Tenant, id: string): Promise<Answer> => tenant.call(`GET ${path(id)}`);

export const patchExperience = async (tenant: Tenant, id: string, body: unknown): Promise<Answer> =>
  tenant.call(`PATCH ${path(id)}`, body);

export const listExperiences = async (tenant: Tenant, query = ""): Promise<Answer> =>
  tenant.call(`GET ${path()}${query}`);

export const act = async (world: TestWorld, tenant: Tenant, id: string, action: string, body?: unknown) =>
  world.call(`POST ${path(id)}/${action}`, { as: await tenant.dashboard(), ...(body !== undefined && { body }) });

/** Creates a draft that is ready to be published, with the given changes. @returns its id. */
export async function draft(tenant: Tenant, changes: object = {}): Promise<string> {
  const { status, body } = await createExperience(tenant, { ...READY, ...changes });
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
export const jobOf = async (tenant: Tenant, id: string) => (await tenant.call(`GET /api/v1/notifications/${id}`)).body;
/** All sends of an experience. */
export const jobsOf = async (tenant: Tenant, id: string) =>
  (await tenant.call(`GET /api/v1/notifications?source_type=experience&source_id=${id}`)).body.items;
