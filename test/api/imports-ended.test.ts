// What is left of an import that ended before its last row (F13, RDA-21).
import { expect, it } from "vitest";
import { importing } from "../support/imports.ts";
import { requests } from "../support/requests.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const setting = importing(worlds());

/** Every second row is rejected. */
const halfGood = (n: number) =>
  `external_id,email\n${Array.from({ length: n }, (_, i) => `u${i},${i % 2 ? "not an address" : `u${i}@x.example`}\n`).join("")}`;

async function rowsAt(world: TestWorld, link: string): Promise<string[]> {
  const { headers } = await world.call(`GET ${new URL(link).pathname}`);
  const { pathname, search, host } = new URL(String(headers.location));
  const file = await world.call(`GET ${pathname}${search}`, { headers: { host } });
  return String(file.body).trim().split("\r\n").slice(1);
}

/** An import during whose first batch something is called. */
async function interrupted(rows: number, route: (id: string, list: string) => string) {
  const batch = requests({ of: "import-rows", operation: "TransactWriteItems" });
  const { world, tenant, post, list, job } = await setting({ hooks: batch.hooks });
  const { body } = await post({ listId: list }, { filename: "people.csv", content: halfGood(rows) });
  const id = body.import_job_id as string;
  batch.next(async () => void (await tenant.call(route(id, list))));
  await world.settle();
  return { world, ended: await job(id) };
}

it.each([
  ["before its end", 350],
  ["in its last batch", 100],
])("the rejected rows of an import that is canceled %s can be downloaded (F13, RDA-21)", async (_, rows) => {
  const { world, ended } = await interrupted(rows, (id) => `POST /api/v1/lists/import/${id}/cancel`);

  expect(ended).toMatchObject({ status: "canceled", processed_rows: 100, failed_rows: 50 });
  expect(await rowsAt(world, ended.rejected_rows_url)).toHaveLength(50);
});

it("the rejected rows of an import that fails can be downloaded (F13, IMP-4)", async () => {
  const { world, ended } = await interrupted(350, (_, list) => `DELETE /api/v1/lists/${list}`);

  expect(ended).toMatchObject({ status: "failed", processed_rows: 100, failed_rows: 50 });
  expect(await rowsAt(world, ended.rejected_rows_url)).toHaveLength(50);
});
