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

it.each([
  [
    "columns of its own",
    "email,first_name\na@example.com,Ann\n\nemail,first_name,UNSUB_TIME\nb@example.com,Bob,2024-01-05\n",
    4,
  ],
  [
    "a title above it",
    "email,first_name\na@example.com,Ann\n\nUnsubscribed contacts\nemail,first_name\nb@example.com,Bob\n",
    5,
  ],
])(
  "a file with a second part, with %s, is refused before its first row, since it may say who opted out (AMB-132)",
  async (_, text, line) => {
    const { run, members } = await setting();

    const { status, error_message } = await run(text);

    expect([status, error_message]).toEqual([
      "failed",
      `line ${line} names columns again: import what is below it as a file of its own`,
    ]);
    expect(await members()).toEqual([]);
  },
);

it("a header that stands again between rows, as in files that were joined, is a rejected row (AMB-133)", async () => {
  const { run } = await setting();

  const done = await run("email,first_name\na@example.com,Ann\nemail,first_name\nb@example.com,Bob\n");

  expect([done.status, done.total_rows, done.failed_rows]).toEqual(["completed", 3, 1]);
});

it("words for ways to reach somebody are no header (AMB-133)", async () => {
  const { run } = await setting();

  const done = await run("external_id,email,contact_by,then_by\nx1,,Phone,Email\nx2,,Email,Phone\n");

  expect([done.status, done.failed_rows]).toEqual(["completed", 0]);
});

it.each([
  ["lines of JSON", '{"email":"ada@example.com","unsubscribed":true}\n{"email":"bob@example.com"}\n'],
  ["a list", '[{"email":"ada@example.com"}]'],
  ["a list of several lines", '[\n  {\n    "email": "ada@example.com"\n  }\n]\n'],
])("a file that is JSON (%s) is refused as such, and no row of it is taken (IMP-6)", async (_, content) => {
  const { run, members } = await setting();
  const { status, error_message } = await run(content);

  expect([status, error_message, await members()]).toEqual(["failed", "the file is JSON, and not CSV", []]);
});

it.each(["", "dry_run"])(
  "lines of separators alone are no rows, and are counted nowhere: %s (AMB-133)",
  async (option) => {
    const { run } = await setting();
    const lines = [
      ",,",
      "email,first_name,unsubscribed",
      ",,",
      "a@example.com,Ann,yes",
      ' , ,"\u00a0"',
      ",not an address,",
      ",,",
      "",
    ];

    const done = await run(lines.join("\n"), option ? { [option]: "true" } : {});

    expect(done).toMatchObject({ status: "completed", total_rows: 2, processed_rows: 2, failed_rows: 1 });
    expect(done.rejected_sample).toEqual([{ line: 6, reason: "has neither an external_id nor an email" }]);
  },
);

it.each(["Total", "Summe", "TOTAL:", "Grand total"])(
  "%s in the column of the id, with sums beside it, is nobody (AMB-133)",
  async (word) => {
    const { run, members } = await setting();

    const done = await run(`Customer ID,E-mail,Orders\nC1,a@example.com,3\n${word},,3\n`);

    expect(done.rejected_sample).toEqual([{ line: 3, reason: "is a line of totals" }]);
    expect(await members()).toHaveLength(1);
  },
);
