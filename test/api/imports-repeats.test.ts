// Rows of a file that name the same person (D-CSV, D-CONSENT, AMB-132).
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { importing } from "../support/imports.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = importing({ withTenant });

describe("several rows of one person", () => {
  it("a value that a later row leaves empty stays (D-CSV)", async () => {
    const { run, attributes } = await setting();
    await run("external_id,email,tags,tier\nf,ada@example.com,x,\nf,,,silver\n");

    expect(await attributes("f")).toEqual({ tags: ["x"], tier: "silver" });
  });

  it("an address that a later row leaves empty stays (D-CSV)", async () => {
    const { tenant, run } = await setting();
    await run("external_id,email,tier\nf,ada@example.com,\nf,,silver\n");

    const { items } = (await tenant.call("GET /api/v1/subscribers?external_id=f")).body;
    expect(items).toMatchObject([{ email: "ada@example.com", attributes: '{"tier":"silver"}' }]);
  });

  it("an opt-out of an earlier row holds over a later opt-in (AMB-132)", async () => {
    const { run, consents } = await setting();
    const done = await run(
      "external_id,consent_status,consent_at\nf,unsubscribed,2025-01-01T00:00:00Z\nf,subscribed,2025-02-01T00:00:00Z\n",
    );

    expect(done.consent_summary).toMatchObject({ opted_out: 1, opted_in: 0, unchanged: 1 });
    expect(await consents("f")).toMatchObject([{ status: "opted_out", consented_at: "2025-01-01T00:00:00.000Z" }]);
  });

  it("an address that an earlier row suppresses opts nobody in (AMB-129)", async () => {
    const { run, consents } = await setting();
    const header = "Email,External ID,Email Marketing Consent,Email Marketing Consent Timestamp,Email Suppressions";
    await run(`${header}\na@x.co,f,,,HARD_BOUNCE\na@x.co,g,SUBSCRIBED,2025-01-01T00:00:00Z,\n`, {
      source: "platform_a",
    });

    expect((await consents("g")).map(({ status }: { status: string }) => status)).toEqual(["suppressed"]);
  });

  it("what each says of consent stands in the history, the last row first (D-CONSENT)", async () => {
    const { run, consents } = await setting();
    await run(
      "external_id,consent_status,consent_at\nf,yes,2025-01-01T00:00:00Z\nf,yes,2025-02-01T00:00:00Z\nf,no,2025-03-01T00:00:00Z\n",
    );

    expect((await consents("f")).map(({ consented_at }: { consented_at: string }) => consented_at.slice(0, 7))).toEqual(
      ["2025-03", "2025-02", "2025-01"],
    );
  });
});

it("the same file again is no second statement in the history (IMP-12, D-CONSENT)", async () => {
  const { run, consents } = await setting();
  const file = "external_id,consent_status,consent_at\nf,yes,2025-01-01T00:00:00Z\ng,no,\nh,pending,\n";
  const first = await run(file);
  const before = await consents("f");
  const second = await run(file);

  expect([first.consent_summary.opted_in, second.consent_summary.opted_in]).toEqual([1, 1]);
  expect(await consents("f")).toEqual(before);
  expect(await consents("g")).toHaveLength(1);
});

it("an opt-out in a row whose person gets another address by a later row holds for the address (AMB-130, AMB-132)", async () => {
  const { run, consents } = await setting();
  const header = "Customer ID,Email,Unsubscribed";
  await run(`${header}\nfirm,ada@x.example,yes\nfirm,bob@x.example,\n`);
  await run(`${header}\nother,ada@x.example,\n`);

  expect(await consents("other")).toMatchObject([{ channel: "email", status: "opted_out", source: "address" }]);
});

it("who shares an address with somebody who opts out in the row before is opted in: that is of the person (AMB-130, AMB-132)", async () => {
  const { run, consents } = await setting();
  await run("external_id,email,consent_status,consent_at\nf,a@x.example,no,\ng,a@x.example,yes,2025-01-01\n");

  expect(await consents("g")).toMatchObject([{ status: "opted_in" }]);
});

it("an address that opted out is opted in by no file that writes it in capitals (AMB-130)", async () => {
  const { run } = await setting();
  await run("email,consent_status\nada@x.example,no\n");
  const done = await run("external_id,email,consent_status,consent_at\neve,ADA@X.Example,yes,2025-01-01\n");

  expect(done.consent_summary).toMatchObject({ opted_in: 0, unchanged: 1 });
});

it("an opt-out in a row without an address is of its person alone, whatever addresses other rows give (AMB-130, AMB-132)", async () => {
  const { run, consents } = await setting();
  const header = "Customer ID,Email,Unsubscribed";
  await run(`${header}\nfirm,ada@x.example,\nfirm,,yes\nfirm,bob@x.example,\n`);
  await run(`${header}\nother,ada@x.example,\n`);

  expect(await consents("firm")).toMatchObject([{ channel: "email", status: "opted_out" }]);
  expect(await consents("other")).toEqual([]);
});

it("an opt-in in a row whose person gets another address by a later row counts where nothing is confirmed (AMB-129, AMB-132)", async () => {
  const { run, consents } = await setting();
  const rows = "firm,ada@x.example,yes,2025-01-01T00:00:00Z\nfirm,bob@x.example,,\n";
  await run(`external_id,email,consent_status,consent_at\n${rows}`);

  expect(await consents("firm")).toMatchObject([{ channel: "email", status: "opted_in" }]);
});

it.each([
  ["of the import", "America/New_York", "2025-01-01T15:00:00.000Z"],
  ["of the workspace, where the import names none", undefined, "2025-01-01T09:00:00.000Z"],
])("a time without a zone is by the clock %s (AMB-137, D-CSV)", async (_, time_zone, consented_at) => {
  const { run, consents, tenant } = await setting();
  await tenant.call("PATCH /api/v1/workspace", { timezone: "Europe/Berlin" });
  const rows = "f,ada@x.example,yes,2025-01-01 10:00:00\n";
  await run(`external_id,email,consent_status,consent_at\n${rows}`, { ...(time_zone && { time_zone }) });

  expect(await consents("f")).toMatchObject([{ status: "opted_in", consented_at }]);
});

it.each([
  ["by the same file", "2025-01-01", "2025-01-01", { suppressed: 1, unchanged: 0 }],
  ["by a file that says another time", "2025-02-01", "2025-01-01", { suppressed: 0, unchanged: 1 }],
  ["by an operator, at the instant of the import", "manual", "", { suppressed: 0, unchanged: 1 }],
])(
  "a row of an address that is suppressed already, %s, counts as what it changed (IMP-12, AMB-128)",
  async (_, before, now, counted) => {
    const { run, tenant } = await setting();
    const csv = (at: string) => `external_id,email,consent_status,consent_at\nada,ada@x.example,bounced,${at}\n`;
    if (before === "manual") await tenant.call("POST /api/v1/suppressions", { address: "ada@x.example" });
    else await run(csv(before));

    for (const dry_run of ["true", "false"])
      expect((await run(csv(now), { dry_run })).consent_summary).toMatchObject(counted);
  },
);

it("a proof of who was erased and came again is of the address that they have, though its row names none (AMB-129, AMB-132)", async () => {
  const { run, consents, tenant, world } = await setting();
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });
  const ada = { external_id: "ada", email: "ada@x.example" };
  await tenant.call(`DELETE /api/v1/subscribers/${await tenant.upsert(ada)}`);
  await tenant.upsert(ada);
  await world.advance(MINUTE);
  await run("external_id,email,consent_status,consent_at\nada,,yes,2025-01-01\nada,ada@x.example,,\n");

  expect(await consents("ada")).toMatchObject([{ status: "opted_in" }]);
});
