// CSV imports: the outcome of each row, consent, crashes, and the rejected rows (IMP, D-CSV, F13).
import { describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { DAY } from "../../shared/kernel/clock.ts";
import { heldAddresses } from "../../shared/store/subscribers/addresses.ts";
import { importing, people } from "../support/imports.ts";
import { multipartBody } from "../support/multipart.ts";
import { operate } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { type Answer, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = importing({ withTenant });

/** A workspace with a list into which files that fail are imported. */
const trying = shared((own) => importing(own)());

describe("rows", () => {
  it("rows become subscribers and members, counted (IMP-2, IMP-13, AMB-107)", async () => {
    const { run, members, world, tenant } = await setting();
    const done = await run(people(250));
    expect(done).toMatchObject({ status: "completed", processed_rows: 250, total_rows: 250, failed_rows: 0 });
    expect(done.error_message).toBeUndefined();
    expect(await members()).toHaveLength(250);
    const listed = await world.call("GET /v1/subscribers?limit=1000", { as: tenant.server });
    expect(listed.body.items).toHaveLength(250);
  });

  /** An import of two good and three bad rows, and the link to its rejected rows. */
  async function rejecting() {
    const found = await setting();
    const done = await found.run(
      'external_id,email,=note\nu1,u1@x.co,fine\nu2,not-an-email,"=cmd, ""x"""\n\nu3,u3@x.co\n,,nobody\nu4,u4@x.co,ok\n',
    );
    const link = new URL(done.rejected_rows_url).pathname;
    const follow = async (path = link) => {
      const { status, headers } = await found.world.call(`GET ${path}`);
      return { status, url: status === 302 ? new URL(String(headers.location)) : undefined };
    };
    const download = (url: URL) =>
      found.world.call(`GET ${url.pathname}${url.search}`, { headers: { host: url.host } });
    return { ...found, done, link, follow, download };
  }

  it("invalid rows are left out, and the others are imported (IMP-3, AMB-49)", async () => {
    const { done, members } = await rejecting();

    expect(done).toMatchObject({ status: "completed", processed_rows: 5, total_rows: 5, failed_rows: 3 });
    expect((await members()).map(({ external_id }) => external_id).sort()).toEqual(["u1", "u4"]);
  });

  it("invalid rows are reported with line and reason in a file, in which no cell is a formula (IMP-3, F13)", async () => {
    const { follow, download } = await rejecting();

    const file = await download((await follow()).url!);

    expect(file.status).toBe(200);
    expect(file.body.split("\r\n")).toEqual([
      "line,reason,external_id,email,'=note",
      `3,has a bad email address,u2,not-an-email,"'=cmd, ""x"""`,
      '5,"has 2 cells, the header 3",u3,u3@x.co',
      "6,has neither an external_id nor an email,,,nobody",
      "",
    ]);
  });

  it("invalid rows behind the first few hundred are reported with their line too (IMP-3, F13)", async () => {
    const { run } = await trying();
    const rows = Array.from({ length: 250 }, (_, n) => `p${n},${n === 120 || n === 249 ? "no address" : `p${n}@x.co`}`);
    const done = await run(["external_id,email", ...rows].join("\n"));

    expect(done.rejected_sample).toMatchObject([{ line: 122 }, { line: 251 }]);
  });

  it("the link to rejected rows leads to an address of five minutes, again and again for a day (F13)", async () => {
    const { world, follow, download } = await rejecting();
    const { url } = await follow();

    await world.advance(5 * 60_000 + 1_000);
    expect((await download(url!)).status).toBe(403);
    expect((await follow()).status).toBe(302);

    await world.advance(DAY);
    expect((await follow()).status).toBe(404);
  });

  it("a link to rejected rows that was changed is 404 (F13)", async () => {
    const { link, follow } = await rejecting();

    expect((await follow(link.slice(0, -1))).status).toBe(404);
  });

  it.each<[what: string, reason: RegExp, content: string | Buffer]>([
    ["is empty", /empty/, ""],
    ["names nobody", /neither/, "name,age\nx,1\n"],
    ["has answers as its emails", /neither an external_id nor an email address/, "email\nyes\nno\n"],
    ["has a quote that does not end", /CSV/, 'email\n"never closed\n'],
    ["is an archive", /no text/, Buffer.from("PK\u0003\u0004\u0014\u0000\u0006\u0000\u0000\u0000\u0021\u0000!\u0000")],
    ["has a null character", /no text/, Buffer.from("email\na\u0000b@x.co\n")],
    ["has 102 columns", /100/, `email,${Array.from({ length: 101 }, (_, i) => `c${i}`)}\n`],
  ])("an import fails whose file %s, and says why (IMP-4, AMB-49)", async (_, reason, content) => {
    const { run } = await trying();

    expect(await run(content)).toMatchObject({ status: "failed", error_message: expect.stringMatching(reason) });
  });

  it("an import fails whose file is not in the encoding that was named (IMP-4)", async () => {
    const { run } = await trying();

    expect(await run(Buffer.from("external_id\nZo\xeb\n", "latin1"), { encoding: "utf-8" })).toMatchObject({
      status: "failed",
      error_message: "the file is not UTF-8 text",
    });
  });

  it("a file may have a BOM, other delimiters, CRLF, quoted line breaks; of repeats the last value wins (D-CSV)", async () => {
    const { run, members, attributes } = await setting();
    await run('\uFEFFemail;first_name;note\r\nA@x.co;Ada;"two\r\nlines"\r\nb@x.co;Bob;\r\na@x.co;Anna;last\r\n');
    const found = await members();

    expect(found.map(({ external_id }) => external_id).sort()).toEqual(["a@x.co", "b@x.co"]);
    expect(await attributes("a@x.co")).toEqual({ first_name: "Anna", note: "last" });
  });

  it("a list that is deleted meanwhile makes the job fail (IMP-4, AMB-49)", async () => {
    const { world, as, post, job, list } = await setting();
    const { body } = await post({ listId: list }, { filename: "a.csv", content: people(3) });
    await world.call(`DELETE /api/v1/lists/${list}`, { as: await as() });
    await world.settle();

    expect(await job(body.import_job_id)).toMatchObject({
      status: "failed",
      error_message: expect.stringContaining("list"),
    });
  });

  it("rows beyond the plan's subscribers fail with the reason quota (AMB-88, AMB-40)", async () => {
    const { world, tenant, run, job } = await setting();
    await operate(world, tenant, { plan: "free" });
    const { import_job_id } = await run(people(1_010));
    await world.advance(60_000);
    const done = await job(import_job_id);
    expect(done).toMatchObject({ status: "completed", processed_rows: 1_010, failed_rows: 10 });
    // With no room left, the rest of a file is read at once, and known subscribers are still imported.
    const before = world.sqs.meter().sent;
    expect(await run(people(900, 500))).toMatchObject({ processed_rows: 900, failed_rows: 400 });
    expect(world.sqs.meter().sent - before).toBeLessThan(5);
  });

  it("a row beyond the plan's subscribers still says whom to leave alone (AMB-130, AMB-132)", async () => {
    const { world, tenant, run } = await setting();
    await run("external_id,email\nu1,a@x.co\nu2,b@x.co\n");
    await fill(world, tenant, 1_010);
    await operate(world, tenant, { plan: "free" });
    const done = await run(`email,consent_status\na@x.co,no\nb@x.co,bounced\n`);
    expect(done).toMatchObject({ failed_rows: 2 });
    const held = await heldAddresses(tenant.store, ["a@x.co", "b@x.co"]);
    expect([...held]).toEqual(["a@x.co", "b@x.co"]);
  });

  it("a dry run counts everything and writes nothing (F13)", async () => {
    const { run, members, world, tenant } = await setting();
    const content = "email,consent_status,consent_at\na@x.co,yes,2025-01-01T00:00:00Z\nb@x.co,no,\nbad,,\n";
    const done = await run(content, { dry_run: "true" });

    expect(done).toMatchObject({ status: "completed", dry_run: true, processed_rows: 3, failed_rows: 1 });
    expect(done.consent_summary).toMatchObject({ opted_in: 1, opted_out: 1 });
    expect(await members()).toEqual([]);
    expect((await world.call("GET /v1/subscribers", { as: tenant.server })).body.items).toEqual([]);
  });

  it("the end of an import is annotated, that of a dry run is not (F13, D-ANNAUTO)", async () => {
    const { run, tenant } = await setting();

    await run("email\na@x.co\nbad\n", { dry_run: "true" });
    await run("email\na@x.co\nbad\n");

    const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#annotation` });
    expect(items.map(({ text }) => text)).toEqual(["An import ended: 1 of 2 rows were taken."]);
  });
});

describe("consent", () => {
  it("a consent in a file is recorded with its evidence, and never reverts an opt-out (IMP-12)", async () => {
    const { tenant, run, consents } = await setting();
    const out = { external_id: "left", consent: { status: "opted_out" } };
    await tenant.upsert(out);
    const at = "2025-03-01T09:30:00Z";
    const content = `external_id,consent_status,consent_at,consent_source\nleft,yes,${at},form\nnew,yes,${at},form\n`;
    const done = await run(content);

    expect(done.consent_summary).toMatchObject({ opted_in: 1, unchanged: 1 });
    expect(await consents("left")).toMatchObject([{ status: "opted_out" }]);
    expect(await consents("new")).toMatchObject([
      {
        status: "opted_in",
        express: true,
        consented_at: "2025-03-01T09:30:00.000Z",
        source: "form",
        evidence: { import_job_id: done.import_job_id },
      },
    ]);
  });
});

describe("interruptions", () => {
  it("a file that was uploaded by itself is imported, and a repeat of every message changes nothing (IMP-2)", async () => {
    const { world, as, list, job, post, members } = await setting();
    const form = (await world.call("POST /api/v1/lists/import/uploads", { as: await as() })).body;
    const upload = multipartBody(form.fields, { filename: "big.csv", content: people(120) });
    const { pathname } = new URL(form.url);
    expect((await world.call(`POST ${pathname}`, upload)).status).toBeLessThan(300);
    expect((await post({ listId: list, upload_id: form.upload_id })).status).toBe(202);
    await world.settle();
    const done = await job(form.upload_id);
    await world.advance(DAY);

    expect(done).toMatchObject({ status: "completed", processed_rows: 120 });
    expect(await job(form.upload_id)).toEqual(done);
    expect(await members()).toHaveLength(120);
  });

  it("an upload that there is not is refused by its field (IMP-2)", async () => {
    const { list, post } = await setting();

    expect(await post({ listId: list, upload_id: UNKNOWN })).toMatchObject({
      status: 400,
      body: { fields: { upload_id: expect.any(String) } },
    });
  });

  it("the form of an upload is valid for 15 minutes of service time (IMP-2, ARC-1)", async () => {
    const { world, as } = await setting();
    await world.advance(3 * DAY);
    const send = async (afterMs: number) => {
      const form = (await world.call("POST /api/v1/lists/import/uploads", { as: await as() })).body;
      await world.advance(afterMs);
      const upload = multipartBody(form.fields, { filename: "a.csv", content: people(1) });
      return (await world.call(`POST ${new URL(form.url).pathname}`, upload)).status;
    };

    expect(await send(0)).toBe(204);
    expect(await send(15 * 60_000)).toBe(204);
    expect(await send(15 * 60_000 + 1_000)).toBe(403);
  });

  it("with a reader that crashes again and again, every row is counted once (IMP-2)", async () => {
    const { post, list, job, members, cutOff } = await setting();
    const { body } = await post({ listId: list }, { filename: "a.csv", content: people(250) });
    await cutOff();

    expect(await job(body.import_job_id)).toMatchObject({ status: "completed", processed_rows: 250, failed_rows: 0 });
    expect(await members()).toHaveLength(250);
  });
});

describe("canceling", () => {
  /** An import of 350 people, canceled while its first batch is written. */
  const canceledImport = async () => {
    const batch = requests({ of: "import-rows", operation: "TransactWriteItems" });
    const { world, post, job, list, members, as } = await setting({ hooks: batch.hooks });
    const { body } = await post({ listId: list }, { filename: "people.csv", content: people(350) });
    const cancel = async (id = body.import_job_id) =>
      world.call(`POST /api/v1/lists/import/${id}/cancel`, { as: await as() });
    const first: { answer?: Answer } = {};
    batch.next(async () => {
      first.answer = await cancel();
    });
    await world.settle();
    return { first: first.answer, cancel, ended: await job(body.import_job_id), members };
  };

  it("a canceled import ends after the batch in progress: its rows stay and are counted (RDA-21)", async () => {
    const { first, ended, members } = await canceledImport();

    expect(first).toMatchObject({ status: 200, body: { status: "canceled" } });
    expect(ended).toMatchObject({ status: "canceled", processed_rows: 100, failed_rows: 0 });
    expect(await members()).toHaveLength(100);
  });

  it("an import is canceled once (RDA-21)", async () => {
    const { cancel } = await canceledImport();

    expect(await cancel()).toMatchObject({
      status: 409,
      body: { message: "The import is canceled and can no longer be canceled." },
    });
  });

  it("an import that there is not is not canceled (RDA-21)", async () => {
    const { cancel } = await canceledImport();

    expect((await cancel(UNKNOWN)).status).toBe(404);
  });
});
