// Workers share the process with everything else: a long import lets the event loop turn.
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { multipartBody } from "../support/multipart.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const ROWS = 300;

test("while a file is imported, workers make few calls in a turn of the event loop (IMP-2)", async () => {
  let calls = 0;
  let [total, most] = [0, 0];
  const hooks = (name: string) => ({ before: () => void (name === "import-rows" && calls++) });
  const { world, tenant } = await withTenant({ ticking: true, hooks });
  const as = await tenant.dashboard();
  const list = (await world.call("POST /api/v1/lists", { as, body: { name: "All" } })).body.id;
  const content = `external_id,consent_status\n${Array.from({ length: ROWS }, (_, i) => `u${i},no\n`).join("")}`;
  const form = multipartBody({ listId: list }, { filename: "people.csv", content });
  const { body } = await world.call("POST /api/v1/lists/import", { as, ...form });
  const job = async () => (await world.call(`GET /api/v1/lists/import/${body.import_job_id}`, { as })).body;
  world.time.start();
  let found = await job();
  while (["pending", "processing"].includes(found.status)) {
    for (let turns = 0; turns < 50; turns++) {
      await nextTurn();
      [total, most, calls] = [total + calls, Math.max(most, calls), 0];
    }
    found = await job();
  }
  expect([found.status, found.processed_rows]).toEqual(["completed", ROWS]);
  expect(total).toBeGreaterThan(ROWS);
  expect(most).toBeLessThanOrEqual(16);
});
