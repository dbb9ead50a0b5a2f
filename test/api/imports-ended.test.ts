// How imports end: of rows of many cells, with the reason of a failure, and what is left of one that ended before its last
// row (F13, IMP-4, RDA-21).
import { describe, expect, it } from "vitest";
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

it("the reason of a failed import quotes nothing of its file (IMP-4, SUB-9)", async () => {
  const { run } = await setting();
  const { status, error_message, last_error } = await run(`external_id,email,phone,last_name\nada-7f3a,"Lovelace,,\n`);

  expect(status).toBe("failed");
  expect(error_message).toEqual(expect.stringContaining("line 2"));
  expect(error_message).not.toContain("Lovelace");
  expect(last_error).toEqual({ code: "IMPORT_FAILED", message: error_message, at: expect.any(String) });
});

describe("rows of many cells", () => {
  /** So many rows without an id, each with these cells. */
  const file = (rows: number, cells: readonly string[]) => {
    const header = ["external_id", ...cells.map((_, i) => `c${i}`)].join(",");
    return [header, ...Array(rows).fill(["", ...cells].join(",")), ""].join("\n");
  };

  it.each([
    { columns: 300, rows: 150, cell: "x".repeat(20) },
    { columns: 900, rows: 3, cell: "語".repeat(60) },
  ])(
    "of which $rows are rejected are kept, and the import ends: $columns columns (IMP-4)",
    async ({ columns, rows, cell }) => {
      const { run } = await setting();

      const job = await run(file(rows, Array(columns).fill(cell)), { mapping: JSON.stringify({ "*": "ignore" }) });

      expect(job).toMatchObject({ status: "completed", failed_rows: rows, rejected_rows_url: expect.any(String) });
      expect(job.rejected_sample[0].reason).toContain("neither an external_id nor an email");
    },
  );

  it.each(["first", "second"])(
    "of which the %s has 150,000 cells more than the header are rejected, and the import ends (IMP-4)",
    async (place) => {
      const { run } = await setting();
      const rows = [`ada${",x".repeat(150_000)}`, "bob,x"];

      const job = await run(["external_id,city", ...(place === "first" ? rows : rows.reverse()), ""].join("\n"));

      expect(job).toMatchObject({ status: "completed", processed_rows: 2, failed_rows: 1 });
    },
  );
});
