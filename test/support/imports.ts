// Files of imports in tests.
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { type FilePart, multipartBody } from "./multipart.ts";
import { entriesOf } from "./pages.ts";
import type { Tenant, TestWorld } from "./world.ts";
import type { worlds } from "./worlds.ts";

/** Uploads a file that no import has taken yet. @returns the id of the upload. */
export async function uploadFile(world: TestWorld, tenant: Tenant, content: string): Promise<string> {
  const { body: form } = await tenant.call("POST /api/v1/lists/import/uploads");
  await world.call(`POST ${new URL(form.url).pathname}`, multipartBody(form.fields, { filename: "a.csv", content }));
  return form.upload_id;
}

/** A workspace with a list, and what a test asks of an import into it. */
export const importing =
  ({ withTenant }: Pick<ReturnType<typeof worlds>, "withTenant">) =>
  async (options: Parameters<typeof withTenant>[0] = {}) => {
    const { world, tenant } = await withTenant(options);
    const as = () => tenant.dashboard();
    const listOf = async (of: Tenant = tenant) =>
      (await of.call("POST /api/v1/lists", { name: world.ids.uuid() })).body.id as string;
    const list = await listOf();
    const post = async (fields: Record<string, string>, file?: FilePart) =>
      world.call("POST /api/v1/lists/import", { as: await as(), ...multipartBody(fields, file) });
    const job = async (id: string) => (await tenant.call(`GET /api/v1/lists/import/${id}`)).body;
    /** Imports a file and waits for its end. */
    const run = async (content: string | Buffer, fields: Record<string, string> = {}) => {
      const { body } = await post({ listId: list, ...fields }, { filename: "people.csv", content });
      await world.settle();
      return job(body.import_job_id);
    };
    const members = () =>
      entriesOf<{ subscriber_id: string; external_id: string }>((page) =>
        tenant.call(`GET /api/v1/lists/${list}/subscribers${page}`),
      );
    const found = async (external_id: string) =>
      (await tenant.call(`GET /api/v1/subscribers?external_id=${external_id}`)).body.items[0];
    const attributes = async (external_id: string) => JSON.parse((await found(external_id)).attributes);
    const consents = async (external_id: string) =>
      (await tenant.call(`GET /api/v1/subscribers/${(await found(external_id)).id}/consents`)).body.items;
    /** What the table refuses for a while, three times, cuts the reader off each time; then it goes on to the end. */
    const cutOff = async () => {
      for (const times of [20, 35, 50]) {
        await world.call("POST /_local/faults", { body: { channel: "aws:dynamodb", times } });
        await world.advance(10 * MINUTE);
      }
      await world.call("DELETE /_local/faults");
      await world.advance(HOUR);
    };
    return { world, tenant, as, list, listOf, post, job, run, members, attributes, consents, cutOff };
  };

/** A file with rows of people. */
export const people = (n: number, from = 0) =>
  `external_id,email\n${Array.from({ length: n }, (_, i) => `u${from + i},u${from + i}@example.com\n`).join("")}`;
