// Files whose header stands below a line of names for several columns each, as merged cells of a spreadsheet leave it.
import { expect, it } from "vitest";
import { importing } from "../support/imports.ts";
import { worlds } from "../support/worlds.ts";

const setting = importing(worlds());

it.each([
  "Contact,,Consent,\nexternal_id,email,Unsubscribed,On\nx1,x1@example.com,yes,\nx2,x2@example.com,no,\n",
  "Report of May;;;\nStammdaten;;Werbung;\nKundennr;E-Mail;Abgemeldet;\nx1;x1@example.com;ja;\nx2;x2@example.com;nein;\n",
])("%j: names of several columns each are no header, and no row (AMB-133, AMB-132)", async (text) => {
  const { run, members, consents } = await setting();

  const done = await run(text);

  expect([done.status, done.total_rows, done.failed_rows]).toEqual(["completed", 2, 0]);
  expect((await members()).map(({ external_id }) => external_id).sort()).toEqual(["x1", "x2"]);
  expect([await consents("x1"), await consents("x2")]).toMatchObject([[{ status: "opted_out" }], []]);
});

it.each([
  ["Kontakte;;Ort\nt1@example.com;;Bonn\nt2@example.com;;Ulm\n", {}],
  ["Box,,Tier\nt1@example.com,,gold\nt2@example.com,,\n", { mapping: JSON.stringify({ Box: "email" }) }],
])("%j: the names of a file without an id are its header, though one is empty (AMB-133)", async (text, options) => {
  const { run, members } = await setting();

  const done = await run(text, options);

  expect([done.status, done.total_rows, done.failed_rows]).toEqual(["completed", 2, 0]);
  expect(await members()).toHaveLength(2);
});
