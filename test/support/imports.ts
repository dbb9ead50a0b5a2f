// Files of imports in tests.
import { multipartBody } from "./multipart.ts";
import type { Tenant, TestWorld } from "./world.ts";

/** Uploads a file that no import has taken yet. @returns the id of the upload. */
export async function uploadFile(world: TestWorld, tenant: Tenant, content: string): Promise<string> {
  const { body: form } = await world.call("POST /api/v1/lists/import/uploads", { as: await tenant.dashboard() });
  await world.call(`POST ${new URL(form.url).pathname}`, multipartBody(form.fields, { filename: "a.csv", content }));
  return form.upload_id;
}
