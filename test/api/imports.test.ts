// CSV imports: what is rejected, the outcome of each row, consent, crashes, and the rejected rows (IMP, D-CSV, F13).

import { describe, expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { heldAddresses } from "../../shared/store/subscribers/addresses.ts";
import { importing, people } from "../support/imports.ts";
import { type FilePart, multipartBody } from "../support/multipart.ts";
import { operate } from "../support/people.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = importing({ withTenant });

describe("requests", () => {
  it("an import is answered with 202 and a pending job (IMP-5, IMP-1)", async () => {
    const { post, list } = await setting();
    const answer = await post({ listId: list }, { filename: "a.csv", content: people(1) });

    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ import_job_id: expect.any(String), status: "pending" });
  });

  it("each bad request by its own status (IMP-6, IMP-7, AMB-34, GEN-6, GEN-11)", async () => {
    const { world, as, post, list, listOf } = await setting();
    const file = { filename: "a.csv", content: people(1) };
    const statusOf = async (fields: Record<string, string>, part?: FilePart) => (await post(fields, part)).status;
    expect(await statusOf({}, file)).toBe(400);
    expect(await statusOf({ listId: "not-a-uuid" }, file)).toBe(400);
    expect(await statusOf({ listId: list })).toBe(400);
    expect(await statusOf({ listId: list }, { ...file, filename: "a.pdf", type: "application/pdf" })).toBe(400);
    expect(await statusOf({ listId: UNKNOWN }, file)).toBe(404);
    expect(await statusOf({ listId: await listOf(await world.tenant()) }, file)).toBe(404);
    for (const source of ["mailchimp", "klaviyo", "platform_c"])
      expect(await statusOf({ listId: list, source }, file)).toBe(422);
    for (const source of ["csv", "platform_a", "platform_b"])
      expect(await statusOf({ listId: list, source }, file)).toBe(202);
    expect(
      await statusOf({ listId: list }, { filename: "a.CSV", type: "application/octet-stream", content: "email\n" }),
    ).toBe(202);
    expect(
      await statusOf({ listId: list }, { filename: "people", type: "text/csv; charset=utf-8", content: "email\n" }),
    ).toBe(202);
    const json = await world.call("POST /api/v1/lists/import", { as: await as(), body: { listId: list } });
    expect(json.status).toBe(400);
  });

  it.each<[string, string | undefined, Record<string, string>, Partial<FilePart> | undefined]>([
    ["an empty listId", "listId", { listId: "" }, {}],
    ["a listId that is too long for any id", "listId", { listId: "x".repeat(200) }, {}],
    ["a file that is sent as text", "file", { file: "email\na@example.com" }, undefined],
    ["a file under another name", "file", {}, { name: "csv" }],
  ])("%s is 400 naming it (IMP-6, AMB-34)", async (_, field, fields, part) => {
    const { post, list } = await setting();
    const file = part && { filename: "a.csv", content: people(1), ...part };
    const { status, body } = await post({ listId: list, ...fields }, file);

    expect(status).toBe(400);
    expect(body.code).toBe("BAD_REQUEST");
    expect(Object.keys(body.fields ?? {})).toEqual([field]);
  });

  it("a byte more than 50 MB is FILE_TOO_LARGE (IMP-7, LIM-6, AMB-83)", async () => {
    const { post, list } = await setting();
    const content = Buffer.alloc(52_428_801, "a");
    const answer = await post({ listId: list }, { filename: "a.csv", content });

    expect(answer).toMatchObject({ status: 413, body: { code: "FILE_TOO_LARGE" } });
  });
});

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

  it("invalid rows are reported with line and reason, the others are imported (IMP-3, AMB-49, F13)", async () => {
    const { world, run, members } = await setting();
    const done = await run(
      'external_id,email,=note\nu1,u1@x.co,fine\nu2,not-an-email,"=cmd, ""x"""\n\nu3,u3@x.co\n,,\nu4,u4@x.co,ok\n',
    );
    expect(done).toMatchObject({ status: "completed", processed_rows: 5, total_rows: 5, failed_rows: 3 });
    expect((await members()).map(({ external_id }) => external_id).sort()).toEqual(["u1", "u4"]);
    const link = new URL(done.rejected_rows_url).pathname;
    const follow = async () => {
      const { status, headers } = await world.call(`GET ${link}`);
      return status === 302 ? new URL(String(headers.location)) : status;
    };
    const url = (await follow()) as URL;
    const headers = { host: url.host };
    const file = await world.call(`GET ${url.pathname}${url.search}`, { headers });
    expect(file.status).toBe(200);
    expect(file.body.split("\r\n")).toEqual([
      "line,reason,external_id,email,'=note",
      `3,has a bad email address,u2,not-an-email,"'=cmd, ""x"""`,
      '5,"has 2 cells, the header 3",u3,u3@x.co',
      "6,has neither an external_id nor an email,,,",
      "",
    ]);
    expect((await world.call(`GET ${link.slice(0, -1)}`)).status).toBe(404);
    await world.advance(5 * 60_000 + 1_000);
    expect((await world.call(`GET ${url.pathname}${url.search}`, { headers })).status).toBe(403);
    expect(await follow()).toBeInstanceOf(URL);
    await world.advance(DAY);
    expect(await follow()).toBe(404);
  });

  it("a file that cannot be read fails with the reason (IMP-4, AMB-49)", async () => {
    const { run } = await setting();
    const cases: [string | Buffer, RegExp][] = [
      ["", /empty/],
      ["name,age\nx,1\n", /neither/],
      ['email\n"never closed\n', /CSV/],
      [Buffer.from("PK\u0003\u0004\u0014\u0000\u0006\u0000\u0000\u0000\u0021\u0000!\u0000"), /no text/],
      [Buffer.from("email\na\u0000b@x.co\n"), /no text/],
      [`email,${Array.from({ length: 101 }, (_, i) => `c${i}`)}\n`, /100/],
    ];
    for (const [content, why] of cases) {
      const done = await run(content);
      expect(done.status, String(content).slice(0, 20)).toBe("failed");
      expect(done.error_message).toMatch(why);
    }
    const told = await run(Buffer.from("external_id\nZo\xeb\n", "latin1"), { encoding: "utf-8" });

    expect(told.status).toBe("failed");
    expect(told.error_message).toBe("the file is not UTF-8 text");
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
    await operate(world, tenant, { plan: "free" });
    await run(people(1_000));
    await world.advance(60_000);
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
  it("a separate upload and a repeat of every message change nothing (IMP-2)", async () => {
    const { world, as, list, job, post, members } = await setting();
    const form = (await world.call("POST /api/v1/lists/import/uploads", { as: await as() })).body;
    const upload = multipartBody(form.fields, { filename: "big.csv", content: people(120) });
    const { pathname } = new URL(form.url);
    expect((await world.call(`POST ${pathname}`, upload)).status).toBeLessThan(300);
    const missing = await post({ listId: list, upload_id: UNKNOWN });
    expect(missing).toMatchObject({ status: 400, body: { fields: { upload_id: expect.any(String) } } });
    const started = await post({ listId: list, upload_id: form.upload_id });
    expect(started.status).toBe(202);
    await world.settle();
    const done = await job(form.upload_id);
    expect(done).toMatchObject({ status: "completed", processed_rows: 120 });
    await world.advance(DAY);
    expect(await job(form.upload_id)).toEqual(done);
    expect(await members()).toHaveLength(120);
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
    const { world, post, list, job, members } = await setting();
    const { body } = await post({ listId: list }, { filename: "a.csv", content: people(250) });
    for (const times of [20, 35, 50]) {
      await world.call("POST /_local/faults", { body: { channel: "aws:dynamodb", times } });
      await world.advance(10 * 60_000);
    }
    await world.call("DELETE /_local/faults");
    await world.advance(60 * 60_000);

    expect(await job(body.import_job_id)).toMatchObject({ status: "completed", processed_rows: 250, failed_rows: 0 });
    expect(await members()).toHaveLength(250);
  });
});

describe("canceling", () => {
  it("an import ends after the batch in progress: its rows stay and are counted, the file is deleted (RDA-21)", async () => {
    let cancel = async () => {};
    const { world, post, job, list, members, as } = await setting({
      hooks: (name) => ({
        before: async (service, operation) => {
          if (name === "import-rows" && service === "dynamodb" && operation === "TransactWriteItems") await cancel();
        },
      }),
    });
    const { body } = await post({ listId: list }, { filename: "people.csv", content: people(350) });
    const route = `POST /api/v1/lists/import/${body.import_job_id}/cancel`;
    cancel = async () => {
      cancel = async () => {};
      expect(await world.call(route, { as: await as() })).toMatchObject({ status: 200, body: { status: "canceled" } });
    };
    await world.settle();
    const ended = await job(body.import_job_id);
    expect(ended.status).toBe("canceled");
    expect(ended.processed_rows).toBe(100);
    expect(ended.failed_rows).toBe(0);
    expect(await members()).toHaveLength(100);
    const again = await world.call(route, { as: await as() });
    expect(again.status).toBe(409);
    expect(again.body.message).toBe("The import is canceled and can no longer be canceled.");
    const unknown = `POST /api/v1/lists/import/${UNKNOWN}/cancel`;
    expect((await world.call(unknown, { as: await as() })).status).toBe(404);
  });
});
