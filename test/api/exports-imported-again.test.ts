// Our own files read again: what they say is known.
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { exporting } from "../support/exports.ts";
import { mailing } from "../support/mails.ts";
import { multipartBody } from "../support/multipart.ts";
import { worlds } from "../support/worlds.ts";

const exporter = exporting(worlds());
const BOUNCES = "bounce@simulator.amazonses.com";

/** A workspace in which the address of a subscriber came back. */
async function bounced() {
  const { world, tenant, call, begin, linesOf } = await exporter();
  const { mail } = await mailing(world, tenant, BOUNCES);
  await mail();
  await world.advance(MINUTE);
  const fileOf = async (kind: string) => {
    const id = await begin({ kind });
    await world.settle();
    return (await linesOf(id)).join("\r\n");
  };
  const reason = async () =>
    (await call("GET /api/v1/suppressions")).body.items.map((item: { reason: string }) => item.reason);
  return { world, tenant, call, fileOf, reason };
}

it("an export of suppressions that is imported again leaves a bounce to its owner (AMB-129)", async () => {
  const { world, call, fileOf, reason } = await bounced();
  const csv = await fileOf("suppressions");
  await world.advance(MINUTE);

  const { body } = await call("POST /api/v1/suppressions/import", { csv });

  expect(body).toMatchObject({ suppressed: 0, unchanged: 1, rejected: 0 });
  expect(await reason()).toEqual(["bounce"]);
});

it("a file of others that says of an address that bounced that it is suppressed is for an operator to lift (AMB-129)", async () => {
  const { call, reason } = await bounced();

  await call("POST /api/v1/suppressions/import", { csv: `email,created_at\n${BOUNCES},2025-01-01\n` });

  expect(await reason()).toEqual(["imported"]);
});

it.each([["false"], ["true"]])(
  "an export of subscribers that is imported again, in a rehearsal %s, leaves a bounce to its owner (AMB-129)",
  async (dry_run) => {
    const { world, tenant, call, fileOf, reason } = await bounced();
    const content = await fileOf("subscribers");
    await world.advance(MINUTE);
    const { id: listId } = (await call("POST /api/v1/lists", { name: "Again" })).body;

    const file = multipartBody({ listId, dry_run }, { filename: "a.csv", content });
    const made = await world.call("POST /api/v1/lists/import", { as: await tenant.dashboard(), ...file });
    await world.settle();

    const { body } = await call(`GET /api/v1/lists/import/${made.body.import_job_id}`);
    expect(body).toMatchObject({ failed_rows: 0, consent_summary: { unchanged: 1, suppressed: 0 } });
    expect(await reason()).toEqual(["bounce"]);
  },
);
