// Sending in tests: the request itself, refusals, and time-travel to a scheduled send.
import type { Answer, Tenant, TestWorld } from "./world.ts";

export const post = async (world: TestWorld, tenant: Tenant, body: object, headers = {}): Promise<Answer> =>
  world.call("POST /api/v1/notifications", {
    as: await tenant.dashboard(),
    body: { title: "Hello", body: "World", ...body },
    headers,
  });

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back
export const jobOf = async (tenant: Tenant, id: string): Promise<any> =>
  (await tenant.call(`GET /api/v1/notifications/${id}`)).body;

/** The explanation of one recipient. */
export const explain = async (tenant: Tenant, job: string, subscriber: string): Promise<Answer> =>
  tenant.call(`GET /api/v1/notifications/${job}/recipients/${subscriber}`);

export const cancel = async (tenant: Tenant, id: string): Promise<Answer> =>
  tenant.call(`POST /api/v1/notifications/${id}/cancel`);

/** The time `ms` after now, as a request says it. */
export const inMs = (world: TestWorld, ms: number): string => new Date(world.clock.now() + ms).toISOString();
