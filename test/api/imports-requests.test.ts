// Requests for imports: what is accepted, and what is refused before a row is read (IMP-5 to IMP-7).
import { expect, it } from "vitest";
import { importing, people, uploadFile } from "../support/imports.ts";
import { type FilePart, multipartBody } from "../support/multipart.ts";
import { type Headers, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const setting = importing(worlds());

/** A workspace with a list into which refused imports are tried. */
const trying = shared(async (own) => {
  const found = await importing(own)();
  const foreign = await found.listOf(await found.world.tenant());
  return { ...found, foreign };
});
const file = { filename: "a.csv", content: people(1) };

it("an import is answered with 202 and a pending job (IMP-5, IMP-1)", async () => {
  const { post, list } = await setting();
  const answer = await post({ listId: list }, { filename: "a.csv", content: people(1) });

  expect(answer.status).toBe(202);
  expect(answer.body).toEqual({ import_job_id: expect.any(String), status: "pending" });
});

it.each<[what: string, status: number, fields: Record<string, string>, file?: FilePart]>([
  ["into a list whose id is none", 400, { listId: "not-a-uuid" }, file],
  ["without a file", 400, {}],
  ["of a PDF", 400, {}, { ...file, filename: "a.pdf", type: "application/pdf" }],
  ["into a list that there is not", 404, { listId: UNKNOWN }, file],
  ["from mailchimp", 422, { source: "mailchimp" }, file],
  ["from klaviyo", 422, { source: "klaviyo" }, file],
  ["from platform_c", 422, { source: "platform_c" }, file],
])("an import %s is refused with %i (IMP-6, IMP-7, AMB-34, GEN-6)", async (_, status, fields, part) => {
  const { post, list } = await trying();

  expect((await post({ listId: list, ...fields }, part)).status).toBe(status);
});

it.each([
  ["the same", 202, {}],
  ["a dry run", 409, { dry_run: "true" }],
  ["one with a mapping", 409, { mapping: '{"email": "ignore"}' }],
  ["one in another time zone", 409, { time_zone: "Asia/Tokyo" }],
])(
  "an upload that is imported already, and is asked for again as %s, is answered with %i (IMP-5)",
  async (_, status, more) => {
    const { world, tenant, post, list } = await setting();
    const upload_id = await uploadFile(world, tenant, people(1));
    const fields = { listId: list, upload_id, time_zone: "Europe/Berlin" };
    expect((await post(fields)).status).toBe(202);

    expect((await post({ ...fields, ...more })).status).toBe(status);
  },
);

it("an upload that is imported to its end, and is asked for again, is answered as before (IMP-5)", async () => {
  const { world, tenant, post, list } = await setting();
  const fields = { listId: list, upload_id: await uploadFile(world, tenant, people(1)) };
  const first = await post(fields);
  await world.settle();

  const again = await post(fields);
  expect([again.status, again.body]).toEqual([202, first.body]);
});

it("the form of an upload is for one file of one workspace: no other key, field or workspace takes it (IMP-2, ARC-1)", async () => {
  const { world, as, list, post } = await setting();
  const formOf = async (headers: Headers) =>
    (await world.call("POST /api/v1/lists/import/uploads", { as: headers })).body;
  const other = await formOf(await (await world.tenant()).dashboard());
  const form = await formOf(await as());
  const { pathname } = new URL(form.url);
  const upload = async (fields: object) =>
    (await world.call(`POST ${pathname}`, multipartBody({ ...form.fields, ...fields }, file))).status;

  expect(await upload({ key: other.fields.key })).toBe(403);
  expect(await upload({ "x-amz-meta-name": "a" })).toBe(403);
  expect(await upload({ acl: "public-read" })).toBe(403);
  await world.call(`POST ${pathname}`, multipartBody(other.fields, file));
  expect((await post({ listId: list, upload_id: other.upload_id })).status).toBe(400);
});

it("an import takes every option at once (AMB-133)", async () => {
  const { world, tenant, post, list, job } = await setting();
  const upload_id = await uploadFile(world, tenant, people(1));
  const { status, body } = await post({
    listId: list,
    source: "csv",
    upload_id,
    dry_run: "true",
    mapping: '{"email": "email"}',
    time_zone: "Europe/Berlin",
    date_format: "dd/mm/yyyy",
    phone_region: "DE",
    encoding: "utf-8",
    start_journeys: "false",
    consent_at: "2026-01-15",
    consent_source: "Checkout",
  });
  await world.settle();

  expect(status).toBe(202);
  expect(await job(body.import_job_id)).toMatchObject({ status: "completed", processed_rows: 1 });
});

it.each([
  ["2026-11-21", 202],
  ["2026-11-22", 422],
])(
  "a consent of %s is answered with %i where it is the 21st by the clock of the workspace (AMB-133)",
  async (...given) => {
    const [consent_at, status] = given;
    const { tenant, post, list } = await setting();
    await tenant.call("PATCH /api/v1/workspace", { timezone: "Pacific/Kiritimati" });

    expect((await post({ listId: list, consent_at }, file)).status).toBe(status);
  },
);

it("an import takes a mapping of a thousand columns (AMB-133)", async () => {
  const { world, post, list, job } = await setting();
  const names = Array.from({ length: 999 }, (_, i) => `A column of the old system with number ${i}`);
  const mapping = JSON.stringify({ "*": "ignore", ...Object.fromEntries(names.map((name) => [name, "ignore"])) });
  const content = `email,${names.join()}\nada@x.example,${names.map(() => "").join()}\n`;
  const { status, body } = await post({ listId: list, mapping }, { filename: "a.csv", content });
  await world.settle();

  expect(status).toBe(202);
  expect(await job(body.import_job_id)).toMatchObject({ status: "completed", processed_rows: 1, failed_rows: 0 });
});

it("an import into no list is refused with 400 (IMP-6)", async () => {
  const { post } = await trying();

  expect((await post({}, file)).status).toBe(400);
});

it("an import into another workspace's list is refused with 404 (IMP-6)", async () => {
  const { post, foreign } = await trying();

  expect((await post({ listId: foreign }, file)).status).toBe(404);
});

it.each(["csv", "platform_a", "platform_b"])("an import from %s is accepted (GEN-6)", async (source) => {
  const { post, list } = await trying();

  expect((await post({ listId: list, source }, file)).status).toBe(202);
});

it.each([
  ["by its name", { filename: "a.CSV", type: "application/octet-stream", content: "email\n" }],
  ["by its type", { filename: "people", type: "text/csv; charset=utf-8", content: "email\n" }],
])("a file is known as CSV %s (IMP-7)", async (_, part) => {
  const { post, list } = await trying();

  expect((await post({ listId: list }, part)).status).toBe(202);
});

it.each<[string, string | undefined, Record<string, string>, Partial<FilePart> | undefined]>([
  ["an empty listId", "listId", { listId: "" }, {}],
  ["a listId that is too long for any id", "listId", { listId: "x".repeat(200) }, {}],
  ["a file that is sent as text", "file", { file: "email\na@example.com" }, undefined],
  ["a file under another name", "file", {}, { name: "csv" }],
])("an import with %s is refused with 400, naming it (IMP-6, AMB-34)", async (_, field, fields, part) => {
  const { post, list } = await trying();

  const { status, body } = await post({ listId: list, ...fields }, part && { ...file, ...part });

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

it("an import names its list and its upload in whatever case (IMP-5)", async () => {
  const { world, tenant, post, list } = await setting();
  const upload_id = await uploadFile(world, tenant, people(1));

  expect((await post({ listId: list.toUpperCase(), upload_id: upload_id.toUpperCase() })).body).toEqual({
    import_job_id: upload_id,
    status: "pending",
  });
});
