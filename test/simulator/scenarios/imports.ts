// CSV files of a few rows or several batches, read while their readers fall, lists are deleted and subscribers erased.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { multipartBody } from "../../support/multipart.ts";
import { erase, insist, populate, REUSED } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 12 * MINUTE;
/** Past the batches of 25 and 100 rows. */
const LARGE = { from: 95, to: 215 };

export const imports: Scenario = {
  name: "imports",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, random.between(2, 5));
    const isLarge = random.chance(0.3);
    for (let n = isLarge ? 1 : random.between(1, 3); n > 0; n--)
      world.act(random.between(0, BUSY_MS), () => importFile(world, tenant, people, isLarge));
    for (let n = random.between(0, 1); n > 0; n--)
      world.act(random.between(0, BUSY_MS), () => erase(world, tenant, random.pick(people)));
  },
};

async function importFile(world: SimWorld, tenant: Tenant, people: readonly Person[], isLarge: boolean): Promise<void> {
  const { random, ledger } = world;
  const number = random.bytes(3).toString("hex");
  const name = `imported ${number}`;
  const { body } = await insist(world, tenant, "dashboard", "POST /api/v1/lists", { body: { name } });
  const list: string = body.id;
  const size = isLarge ? random.between(LARGE.from, LARGE.to) : random.between(1, 12);
  const lines = [`external_id,email,wish_${number}`];
  for (let n = 1; n <= size; n++) {
    const value = `v${n}`;
    if (random.chance(0.06)) {
      lines.push(`bad-${n},no address,${value}`);
      continue;
    }
    const known = random.chance(0.15) ? random.pick(people) : undefined;
    // A file may bring back erased people, and their texts with them.
    if (known) known.canary = REUSED;
    const external_id = known?.external_id ?? `row-${number}-${random.chance(0.1) ? 1 : n}`;
    lines.push(`${external_id},,${value}`);
  }
  const fields = { listId: list, dry_run: String(random.chance(0.15)) };
  const { raw, headers } = multipartBody(fields, { filename: "people.csv", content: lines.join("\r\n") });
  const answer = await world.call(tenant, "dashboard", "POST /api/v1/lists/import", { raw, headers });
  if (answer.status !== 202) return;
  const id: string = answer.body.import_job_id;
  world.name(id, `import-${number}`);
  ledger.imports.push({ tenant: tenant.id, id, list });
  if (random.chance(0.15))
    world.act(random.between(0, MINUTE), async () => {
      ledger.stopped.set(list, world.kernel.now());
      await insist(world, tenant, "dashboard", "DELETE /api/v1/lists/{id}", { params: { id: list } });
    });
}
