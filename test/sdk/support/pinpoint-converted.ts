// What `from-pinpoint` makes of some documents.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cliOf } from "../../support/cli.ts";
import { testWorld } from "../../support/world.ts";

/** What is written for these documents, and what the report names as lost. */
export async function convertedOf(documents: Record<string, string | Buffer>, ...options: string[]) {
  const world = await testWorld();
  const tenant = await world.tenant();
  const cli = await cliOf(world, tenant);
  for (const [name, content] of Object.entries(documents)) cli.write(`pinpoint/${name}`, content);
  const { counts, unmapped } = await cli.json("from-pinpoint", "pinpoint", ...options);
  const read = (file: string) => JSON.parse(readFileSync(join(cli.folder, `engagement/${file}.json`), "utf8"));
  const get = async (route: string) => (await tenant.call(`GET ${route}`)).body;
  return {
    counts: counts as Record<string, number>,
    lost: (unmapped as { field: string }[]).map(({ field }) => field),
    read,
    get,
  };
}
