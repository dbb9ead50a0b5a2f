// Images as the dashboard uploads, lists and removes them.
import { formOf } from "./pictures.ts";
import type { Answer, Tenant, TestWorld } from "./world.ts";

export type AssetForm = Parameters<typeof formOf>[0];

export async function upload(world: TestWorld, tenant: Tenant, parts: AssetForm): Promise<Answer> {
  const { body: raw, headers } = formOf(parts);
  return world.call("POST /api/v1/in-app/assets", { as: await tenant.dashboard(), raw, headers });
}

export const list = async (tenant: Tenant) => tenant.call("GET /api/v1/in-app/assets");

export const remove = async (tenant: Tenant, id: string) => tenant.call(`DELETE /api/v1/in-app/assets/${id}`);

export const storedBytes = async (tenant: Tenant): Promise<number> =>
  (await tenant.call("GET /api/v1/billing")).body.usage.asset_bytes;

export const objects = async (world: TestWorld): Promise<string[]> => {
  const { Contents } = await world.s3.operate("ListObjectsV2", { Bucket: world.env.ASSETS_BUCKET });
  return (Contents as { key: string }[]).map(({ key }) => key);
};

export function ask(world: TestWorld, url: string, method = "GET", headers: Record<string, string> = {}) {
  const path = url.replace(String(world.env.BASE_URL), "");
  return world.gateway.handle({ method, path, headers, body: Buffer.alloc(0), sourceIp: "203.0.113.7" });
}
