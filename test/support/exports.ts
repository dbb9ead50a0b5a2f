// Exports for tests: begun, followed to their files, and read.
import { expect } from "vitest";
import type { TestWorld } from "./world.ts";
import type { worlds } from "./worlds.ts";

type Makers = Pick<ReturnType<typeof worlds>, "withTenant">;

/** The file that a link of an export or an import leads to. */
export async function download(world: TestWorld, url: string): Promise<string> {
  const { status, headers } = await world.call(`GET ${new URL(url).pathname}`);
  expect(status).toBe(302);
  const Key = decodeURIComponent(new URL(String(headers.location)).pathname.split("/").slice(2).join("/"));
  const { Body } = await world.s3.operate("GetObject", { Bucket: world.env.IMPORTS_BUCKET, Key });
  return String(Buffer.from(Body as Uint8Array));
}

/** A workspace, and what is done with its exports. */
export const exporting =
  ({ withTenant }: Makers) =>
  async (options: Parameters<Makers["withTenant"]>[0] = {}) => {
    const { world, tenant } = await withTenant(options);
    const { call, upsert } = tenant;
    const begin = async (body: object): Promise<string> => {
      const made = await call("POST /api/v1/exports", body);
      expect(made).toMatchObject({ status: 202, body: { id: expect.any(String) } });
      return made.body.id;
    };
    const get = async (id: string) => (await call(`GET /api/v1/exports/${id}`)).body;
    const follow = (url: string) => world.call(`GET ${new URL(url).pathname}`);
    const objectNames = async () => {
      const { Contents } = await world.s3.operate("ListObjectsV2", { Bucket: world.env.IMPORTS_BUCKET });
      return (Contents as { key: string }[]).map(({ key }) => key.split("/")[2]);
    };
    /** The lines of a finished file, as its link leads to it. */
    const linesOf = async (id: string): Promise<string[]> => {
      const content = await download(world, (await get(id)).url);
      return content.split("\r\n").slice(0, -1);
    };
    /** Makes an export at once. @returns its lines without the header */
    const rowsOf = async (body: object): Promise<string[]> => {
      const id = await begin(body);
      await world.settle();
      return (await linesOf(id)).slice(1);
    };
    return { world, tenant, call, upsert, begin, get, follow, objectNames, linesOf, rowsOf };
  };
