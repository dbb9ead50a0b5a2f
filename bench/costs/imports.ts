// What a row of an imported file costs, by how many were imported before it.
import { people } from "../../test/support/imports.ts";
import { multipartBody } from "../../test/support/multipart.ts";
import { type Cost, costOf, inWorld, most, type Row, taken } from "./cost.ts";

/** Rows of each of the files, one after the other into one list. */
const SIZES = [1_000, 10_000, 1_000];

async function imported(): Promise<Cost[]> {
  return inWorld(async (world) => {
    const tenant = await world.tenant({ plan: "enterprise" });
    const as = await tenant.dashboard();
    const listId = taken(await world.call("POST /api/v1/lists", { as, body: { name: "Everybody" } })).body.id as string;
    let before = 0;
    const run = async (rows: number) => {
      const content = people(rows, before);
      const form = multipartBody({ listId }, { filename: "people.csv", content });
      const { import_job_id } = taken(await world.call("POST /api/v1/lists/import", { as, ...form })).body;
      await world.settle();
      const job = taken(await world.call(`GET /api/v1/lists/import/${import_job_id}`, { as })).body;
      if (job.status !== "completed") throw new Error(`The import is ${job.status}.`);
      before += rows;
    };
    await run(100);
    const costs: Cost[] = [];
    for (const rows of SIZES) {
      const size = `${rows} rows, after ${before}`;
      const query = { work: "import of new people", size, per: "row", count: rows, targets: [most("wcu", 7)] };
      costs.push(await costOf(world, query, () => run(rows)));
    }
    return costs;
  });
}

export const importRows: Row[] = [{ name: "import of new people", measure: imported }];
