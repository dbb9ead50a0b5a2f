// Imports by the SDK: what its caller says of a file is what the service is told.
import { expect, it } from "vitest";
import { createClient } from "../../sdk/src/client.ts";
import { BASE_URL, fetchOf } from "../support/embedded-fetch.ts";
import { importing } from "../support/imports.ts";
import { worlds } from "../support/worlds.ts";

const setting = importing(worlds());

it("an import by the SDK takes what its caller says that columns mean (AMB-133, GEN-16)", async () => {
  const { world, tenant, list, job } = await setting();
  const { authorization = "" } = await tenant.dashboard();
  const accessToken = authorization.slice("Bearer ".length);
  const client = createClient({ baseUrl: BASE_URL, accessToken, fetch: fetchOf(world) });
  const file = new Blob(["external_id,Tier\nada,gold\n"]);

  const { import_job_id } = await client.importCsv(list, file, { mapping: { Tier: "attribute:level" } });
  await world.settle();

  expect((await job(import_job_id)).columns).toMatchObject([{}, { header: "Tier", meaning: "attribute:level" }]);
});
