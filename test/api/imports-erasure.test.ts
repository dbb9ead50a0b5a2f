// Files of imports keep no personal data that is not needed any more, and an erasure visits those that are left (SUB-9).
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { uploadFile } from "../support/imports.ts";
import { multipartBody } from "../support/multipart.ts";
import { wholeTable } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import type { Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PHONE = "+4915112345678";
const ADA = { external_id: "ada-7f3a", email: "Ada.7f3a@example.com", attributes: { phone: PHONE } };
const TRACES = ["ada-7f3a", "ada.7f3a@example.com", "4915112345678", "Lovelace"];
const LONG = "7f3a-".repeat(60);
const HEADER = "external_id,email,phone,last_name\n";

async function setting(options: Parameters<typeof withTenant>[0] = {}) {
  const { world, tenant } = await withTenant(options);
  const { call } = tenant;
  const list = (await call("POST /api/v1/lists", { name: "Customers" })).body.id as string;
  const send = async (form: Record<string, string>, content?: string) => {
    const file = content === undefined ? undefined : { filename: "people.csv", content };
    const request = multipartBody({ listId: list, ...form }, file);
    return (await world.call("POST /api/v1/lists/import", { as: await tenant.dashboard(), ...request })).body;
  };
  const job = async (id: string) => (await call(`GET /api/v1/lists/import/${id}`)).body;
  const start = async (content: string): Promise<string> => (await send({}, content)).import_job_id;
  const run = async (content: string) => {
    const id = await start(content);
    await world.settle();
    return job(id);
  };
  const upload = (content: string): Promise<string> => uploadFile(world, tenant, content);
  const files = async (): Promise<Record<string, string>> => {
    const Bucket = world.env.IMPORTS_BUCKET;
    const { Contents } = await world.s3.operate("ListObjectsV2", { Bucket });
    const found: Record<string, string> = {};
    for (const { key } of Contents as { key: string }[]) {
      const { Body } = await world.s3.operate("GetObject", { Bucket, Key: key });
      found[key] = String(Buffer.from(Body as Uint8Array));
    }
    return found;
  };
  const traces = async () => {
    const stored = JSON.stringify([await wholeTable(world), await files()]).toLowerCase();
    return TRACES.filter((trace) => stored.includes(trace.toLowerCase()));
  };
  const upsert = async (body: object, of: Tenant = tenant): Promise<string> => await of.upsert(body);
  const erase = async (id: string) => expect((await call(`DELETE /api/v1/subscribers/${id}`)).status).toBe(204);
  return { world, tenant, call, send, job, start, run, upload, files, traces, upsert, erase };
}

it.each([
  ["completed", `${HEADER}bob,bob@example.com,,\n`],
  ["failed", "name\nAda Lovelace\n"],
])("the uploaded file of an import is deleted once it is %s (SUB-9, IMP-2)", async (status, content) => {
  const { run, files } = await setting();

  expect(await run(content)).toMatchObject({ status });
  expect(await files()).toEqual({});
});

it("the uploaded file is deleted although the first attempt fails (SUB-9, IMP-2)", async () => {
  const { world, start, job, files } = await setting();
  const id = await start(`${HEADER}bob,bob@example.com,,\n`);
  // The read of the file and its deletion, as often as the client tries.
  await world.call("POST /_local/faults", { body: { channel: "aws:s3", times: 9 } });
  await world.advance(30 * MINUTE);

  expect(await job(id)).toMatchObject({ status: "completed", processed_rows: 1 });
  expect(await files()).toEqual({});
});

it.each([
  ["external_id", "ada-7f3a,not-an-address,,Lovelace"],
  ["external_id, as a data frame writes it,", "73901552846.0,not-an-address,,Lovelace", "73901552846"],
  ["external_id, of which a part is kept,", `${LONG},not-an-address,,Lovelace`, LONG],
  ["e-mail address", "other,ADA.7f3a@EXAMPLE.com,,Lovelace,more"],
  ["e-mail address behind a name and another", "other,o@example.com; Ada <Ada.7f3a@example.com>,,Lovelace,more"],
  ["phone number", `other,bad-address,+49 (151) 123-45678,Lovelace`],
  ["phone number within its country", "other,bad-address,030 1234567 / 0151-12345678,Lovelace"],
])("rejected rows with the %s of an erased subscriber are deleted with their file (SUB-9, IMP-3)", async (...given) => {
  const { world, run, job, files, traces, upsert, erase } = await setting();
  const [, row, external_id = ADA.external_id] = given;
  const id = await upsert({ ...ADA, external_id });
  const named = await run(`${HEADER}${row}\nbob,bad-address,,\n`);
  const other = await run(`${HEADER}carl,bad-address,,\n`);
  expect(Object.keys(await files())).toHaveLength(2);
  await erase(id);
  await world.settle();
  expect(await traces()).toEqual([]);
  const { rejected_rows_url: url, rejected_sample: _sample, ...left } = named;
  const columns = named.columns.map(({ sample: _, ...column }: { sample?: string }) => column);
  expect(typeof url).toBe("string");
  expect(await job(named.import_job_id)).toMatchObject({ ...left, columns, rejected_sample: [] });
  expect(await job(named.import_job_id)).not.toHaveProperty("rejected_rows_url");
  expect(await job(other.import_job_id)).toHaveProperty("rejected_rows_url");
  const [kept, ...more] = Object.values(await files());
  expect(kept).toEqual(expect.stringContaining("carl,bad-address"));
  expect(more).toEqual([]);
});

it("rows with a warning that name an erased subscriber are deleted with their file, where none was rejected (SUB-9, F14)", async () => {
  const { world, run, job, files, traces, call, upsert, erase } = await setting();
  const id = await upsert(ADA);
  const warned = await run(`${HEADER}ada-7f3a,,4.91511E+11,Lovelace\n`);
  expect(warned).toMatchObject({ failed_rows: 0, warnings_url: expect.any(String) });

  await erase(id);
  await world.settle();

  expect(await traces()).toEqual([]);
  expect(await files()).toEqual({});
  expect((await call(`GET /api/v1/erasures/${id}`)).body.removed).toContainEqual({
    store: "import_files",
    count: expect.any(Number),
  });
  expect(await job(warned.import_job_id)).not.toHaveProperty("warnings_url");
});

it("what a file says of where a suppression comes from is nowhere once its person is erased (AMB-128, SUB-9)", async () => {
  const { world, run, traces, call, upsert, erase } = await setting();
  const id = await upsert(ADA);
  const columns = "external_id,email,consent_status,consent_source";
  await run(`${columns}\nada-7f3a,Ada.7f3a@example.com,bounced,Lovelace on the phone\n`);
  expect(await traces()).toContain("Lovelace");

  await erase(id);
  await world.settle();

  expect(await traces()).toEqual([]);
  expect((await call("GET /api/v1/suppressions")).body.items).toMatchObject([{ reason: "imported", source: "import" }]);
});

it("that a suppression comes from a file of addresses stays known once somebody with the address is erased (AMB-128, SUB-9)", async () => {
  const { world, call, upsert, erase } = await setting();
  const id = await upsert(ADA);
  await call("POST /api/v1/suppressions/import", { csv: `email,note\n${ADA.email},Lovelace\n` });
  await erase(id);
  await world.settle();

  const { items } = (await call("GET /api/v1/suppressions")).body;
  expect(items).toMatchObject([{ reason: "imported", source: "file", address: null, note: null }]);
});

it("an erasure leaves the files of other workspaces (SUB-9, GEN-8)", async () => {
  const { world, run, upload, files, upsert } = await setting();
  await run(`${HEADER}ada-7f3a,bad-address,,Lovelace\n`);
  await upload(`${HEADER}ada-7f3a,,,\n`);
  const before = await files();
  const other = await world.tenant();
  const id = await upsert(ADA, other);
  expect((await other.call(`DELETE /api/v1/subscribers/${id}`)).status).toBe(204);
  await world.settle();
  expect(await files()).toEqual(before);
  expect(Object.keys(before)).toHaveLength(2);
});

it("an uploaded file that names the subscriber and that no import has taken is deleted, another stays (SUB-9)", async () => {
  const { world, upload, files, traces, upsert, erase, send } = await setting();
  const id = await upsert(ADA);
  const named = await upload(`${HEADER}bob,bob@example.com,,\nx,ada.7f3a@example.com,,Lovelace\n`);
  const other = await upload(`${HEADER}carl,carl@example.com,,\n`);
  await erase(id);
  await world.settle();

  expect(await traces()).toEqual([]);
  expect(Object.keys(await files())).toEqual([expect.stringContaining(other)]);
  expect(await send({ upload_id: named })).toMatchObject({ code: "BAD_REQUEST" });
});

it("an uploaded file that nobody can read is deleted with the next erasure, as it may name anybody (SUB-9)", async () => {
  const { world, upload, files, upsert, erase } = await setting();
  const id = await upsert(ADA);
  await upload(`${HEADER}"bob,bob@example.com,,\n`);
  await erase(id);
  await world.settle();

  expect(await files()).toEqual({});
});

it("the erasure waits for an import that was under way, and visits it after its end (SUB-9, F14)", async () => {
  const reading = requests({ of: "import-rows", service: "s3" });
  const { world, call, start, job, traces, upsert, erase } = await setting({ hooks: reading.hooks });
  const state = async (id: string) => (await call(`GET /api/v1/erasures/${id}`)).body.state;
  const id = await upsert(ADA);
  const import_job_id = await start(`${HEADER}ada-7f3a,not-an-address,${PHONE},Lovelace\nbob,bob@example.com,,\n`);
  reading.fail();
  await erase(id);
  await world.advance(5 * MINUTE);
  expect(await job(import_job_id)).toMatchObject({ status: "pending" });
  expect(await state(id)).toBe("running");

  reading.pass();
  await world.advance(60 * MINUTE);

  expect(await job(import_job_id)).toMatchObject({ status: "completed", failed_rows: 1 });
  expect(await traces()).toEqual([]);
  expect(await state(id)).toBe("completed");
});

it("who was erased while an import was under way does not come back by its rows, and the address stays out (SUB-9, AMB-130)", async () => {
  const reading = requests({ of: "import-rows", service: "s3" });
  const { world, call, start, job, traces, upsert, erase } = await setting({ hooks: reading.hooks });
  const id = await upsert(ADA);
  const moved = "ada-7f3a,lovelace@new.example,,,yes";
  const rows = `ada-7f3a,,,Lovelace,\n${moved}\n,ada.7f3a@example.com,,Lovelace,yes\nbob,bob@example.com,,,\n`;
  const byAddress = await upsert({ external_id: "ada.7f3a@example.com", email: "ada.7f3a@example.com" });
  const import_job_id = await start(`external_id,email,phone,last_name,unsubscribed\n${rows}`);
  reading.fail();
  for (const one of [id, byAddress]) await erase(one);
  await world.advance(5 * MINUTE);

  reading.pass();
  await world.advance(60 * MINUTE);

  expect(await job(import_job_id)).toMatchObject({
    status: "completed",
    failed_rows: 3,
    rejected_sample: [2, 3, 4].map((line) => ({
      line,
      reason: "names somebody who was erased after the import began",
    })),
  });
  expect(await traces()).toEqual([]);
  const { items } = (await call("GET /api/v1/subscribers")).body;
  expect(items.map(({ external_id }: { external_id: string }) => external_id)).toEqual(["bob"]);

  const eve = await upsert({ external_id: "eve", email: "ada.7f3a@example.com" });
  expect((await call(`GET /api/v1/subscribers/${eve}/consents`)).body.items).toMatchObject([{ status: "opted_out" }]);
});

it("the erasure waits for no import that began after it, also behind one that it waits for (SUB-9, F14)", async () => {
  const reading = requests({ of: "import-rows", service: "s3" });
  const { world, call, start, job, upsert, erase } = await setting({ hooks: reading.hooks });
  const blocked = new Set<string>();
  reading.each((input) => {
    if ([...blocked].some((id) => JSON.stringify(input).includes(id))) throw new Error("The file cannot be read.");
  });
  const begin = async () => {
    const id = await start(`${HEADER}bob,bob@example.com,,\n`);
    blocked.add(id);
    return id;
  };
  const id = await upsert(ADA);
  const before = await begin();
  await erase(id);
  await world.advance(MINUTE);
  const after = await begin();
  await world.advance(3 * MINUTE);
  blocked.delete(before);
  await world.advance(30 * MINUTE);

  expect([await job(before), await job(after)]).toMatchObject([{ status: "completed" }, { status: "pending" }]);
  expect((await call(`GET /api/v1/erasures/${id}`)).body.state).toBe("completed");
});

it("an erasure leaves nothing of what a rejected row refuses of somebody who came after it (SUB-9, AMB-132)", async () => {
  const { world, run, upsert, erase } = await setting();
  await run("external_id,email,unsubscribed\nada-7f3a,not an address,true\n");
  const id = await upsert(ADA);
  const waiting = async () => JSON.stringify(await wholeTable(world)).split(`W#${id}`).length - 1;
  const before = await waiting();

  await erase(id);
  await world.settle();

  expect([before, await waiting()]).toEqual([1, 0]);
});

it("an erasure leaves nothing of what a rejected row refuses of somebody who was erased before it, and came again (SUB-9, AMB-132)", async () => {
  const { world, run, upsert, erase } = await setting();
  const first = await upsert(ADA);
  await erase(first);
  await world.settle();
  await world.advance(MINUTE);
  await run("external_id,email,unsubscribed\nada-7f3a,not an address,true\n");
  const waiting = async () => JSON.stringify(await wholeTable(world)).split(`W#${first}`).length - 1;
  const before = await waiting();

  await erase(await upsert(ADA));
  await world.settle();

  expect([before, await waiting()]).toEqual([1, 0]);
});

it("an erasure leaves nothing of a further address that a row opted out (SUB-9, AMB-132)", async () => {
  const { world, run, erase, upsert, traces } = await setting();
  await run("email 1,email 2,mobile,unsubscribed,sms opt out\nada-7f3a@x.example,Ada.7f3a@example.com,,yes,\n");
  await erase(await upsert({ external_id: "ada-7f3a@x.example" }));
  await world.advance(MINUTE * 20);

  expect(await traces()).toEqual([]);
});
