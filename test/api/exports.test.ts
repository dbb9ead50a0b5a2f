// Exports as CSV files (RDA-16): what they hold, their links, erasure, crashes.
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { multipartBody } from "../support/multipart.ts";
import { addPeople, send, wholeTable } from "../support/people.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting(options: Parameters<typeof withTenant>[0] = {}) {
  const { world, tenant } = await withTenant(options);
  const { call } = tenant;
  const upsert = async (body: object, of = tenant): Promise<string> => await of.upsert(body);
  const begin = async (body: object): Promise<string> => {
    const made = await call("POST /api/v1/exports", body);
    expect(made).toMatchObject({ status: 202, body: { id: expect.any(String) } });
    return made.body.id;
  };
  const get = async (id: string) => (await call(`GET /api/v1/exports/${id}`)).body;
  const file = async (id: string): Promise<string[]> => {
    const { url } = await get(id);
    return (await download(world, url)).split("\r\n").slice(0, -1);
  };
  /** Makes an export at once. @returns its lines */
  const made = async (body: object): Promise<string[]> => {
    const id = await begin(body);
    await world.settle();
    return file(id);
  };
  return { world, tenant, call, upsert, begin, get, file, made };
}

/** Follows the link of an export to its object. */
async function download(world: TestWorld, url: string): Promise<string> {
  const answer = await world.call(`GET ${new URL(url).pathname}`);
  expect(answer.status).toBe(302);
  const Key = decodeURIComponent(new URL(String(answer.headers.location)).pathname.split("/").slice(2).join("/"));
  const { Body } = await world.s3.operate("GetObject", { Bucket: world.env.IMPORTS_BUCKET, Key });
  return String(Buffer.from(Body as Uint8Array));
}

const ADA = {
  external_id: "ada",
  email: "ada@example.com",
  attributes: {
    first_name: "Ada",
    phone: "+4915112345678",
    note: 'says "=1+1", twice',
    formula: "=cmd()",
    vip: true,
    "=x": "y",
    toString: "z",
  },
  consent: { channel: "email", status: "opted_in", consented_at: "2026-11-01T00:00:00Z" },
};

it("subscribers as a file that imports again as it is, without formulas (RDA-16)", async () => {
  const { world, tenant, call, upsert, made, begin, get } = await setting();
  await upsert(ADA);
  await upsert({ external_id: "bob" });
  await world.settle();
  const lines = await made({ kind: "subscribers" });
  expect(lines[0]).toBe(
    "external_id,email,phone,first_name,last_name,timezone,locale,consent_status,consent_at,'=x,formula,note,toString,vip",
  );
  expect(lines.slice(1).sort()).toEqual([
    'ada,ada@example.com,+4915112345678,Ada,,,,opted_in,2026-11-01T00:00:00.000Z,y,\'=cmd(),"says ""=1+1"", twice",z,true',
    "bob,,,,,,,,,,,,,",
  ]);
  const other = await world.tenant();
  const list = (await other.call("POST /api/v1/lists", { name: "All" })).body.id;
  const content = `${lines.join("\r\n")}\r\n`;
  const request = multipartBody({ listId: list }, { filename: "people.csv", content });
  const imported = await world.call("POST /api/v1/lists/import", { as: await other.dashboard(), ...request });
  await world.settle();
  const { body } = await other.call(`GET /api/v1/lists/import/${imported.body.import_job_id}`);
  expect(body).toMatchObject({ status: "completed", processed_rows: 2, failed_rows: 0 });
  const found = (await other.call("GET /api/v1/subscribers?external_id=ada")).body.items[0];
  expect(JSON.parse(found.attributes)).toMatchObject({ first_name: "Ada", phone: "+4915112345678", vip: true });

  const id = await begin({ kind: "subscribers" });
  expect(await get(id)).toMatchObject({ status: "pending", rows: null, url: null, expires_at: null });
  await world.settle();
  expect(await get(id)).toMatchObject({ status: "completed", rows: 2, error: null });
  const first = (await call("GET /api/v1/exports?limit=1")).body;
  const second = (await call(`GET /api/v1/exports?limit=1&cursor=${first.next_cursor}`)).body;
  expect([...first.items, ...second.items].map((one) => [one.status, one.id === id]).sort()).toEqual([
    ["completed", false],
    ["completed", true],
  ]);
  const { url } = await get(id);
  await world.advance(25 * HOUR);
  expect((await world.call(`GET ${new URL(url).pathname}`)).status).toBe(404);
  expect((await get(id)).url).not.toBe(url);
  await world.advance(2 * DAY);
  expect(await get(id)).toMatchObject({ status: "expired", url: null, expires_at: null });
  const viewer = await tenant.dashboard("viewer");
  expect((await world.call("POST /api/v1/exports", { as: viewer, body: { kind: "subscribers" } })).status).toBe(403);
});

it("members of a list and a segment, recipients of a send, events and reports (RDA-16)", async () => {
  const { world, tenant, call, upsert, made } = await setting();
  const ada = await upsert(ADA);
  const bob = await upsert({ external_id: "bob" });
  const list = (await call("POST /api/v1/lists", { name: "Some" })).body.id;
  await call(`POST /api/v1/lists/${list}/subscribers`, { subscriber_ids: [ada] });
  const rule = { attribute: { vip: { $eq: true } } };
  const segment = (await call("POST /api/v1/segments", { name: "VIP", rule })).body.id;
  const sent = (await send(world, tenant, { subscriberIds: [ada, bob] })).answer.id;
  const event = { event_name: "bought", subscriber_id: ada, properties: { cents: 5 } };
  await world.call("POST /v1/events", { as: tenant.server, body: event });
  await world.settle();
  await world.advance(MINUTE);
  const first = (lines: string[]) => lines.slice(1).map((line) => line.split(",")[0]);
  expect(first(await made({ kind: "list", filter: { list_id: list } }))).toEqual(["ada"]);
  expect(first(await made({ kind: "segment", filter: { segment_id: segment } }))).toEqual(["ada"]);
  const recipients = await made({ kind: "recipients", filter: { notification_id: sent } });
  expect(recipients.slice(1).map((line) => line.split(",").slice(0, 3))).toEqual(
    expect.arrayContaining([
      [ada, "ada", "delivered"],
      [bob, "bob", "delivered"],
    ]),
  );
  const events = await made({ kind: "events" });
  expect(events).toHaveLength(2);
  expect(events[1]).toContain(`bought,${ada}`);
  expect(await made({ kind: "events", filter: { start: timestamp(world.clock.now()) } })).toHaveLength(1);
  const channel = (await call("GET /api/v1/channels")).body.channels[0].id;
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [channel] }];
  const campaign = (await call("POST /api/v1/campaigns", { name: "Spring", messages })).body.id;
  await call(`POST /api/v1/campaigns/${campaign}/release`);
  await world.settle();
  await world.advance(MINUTE);
  const [, report] = await made({ kind: "report" });
  expect(report).toMatch(new RegExp(`^${campaign},Spring,completed,marketing,.*,2,2,0,0,0,0,0,0,0$`));
});

it("refuses what is not there, foreign ids, and a fourth export at a time (RDA-16)", async () => {
  const { world, call, begin } = await setting();
  const unknown = "00000000-0000-4000-8000-000000000000";
  const foreign = (
    await world.call("POST /api/v1/lists", { as: await (await world.tenant()).dashboard(), body: { name: "x" } })
  ).body.id;
  for (const [body, field] of [
    [{ kind: "people" }, "kind"],
    [{ kind: "subscribers", filter: {} }, "filter"],
    [{ kind: "list" }, "filter"],
    [{ kind: "list", filter: { list_id: unknown } }, "filter.list_id"],
    [{ kind: "list", filter: { list_id: foreign } }, "filter.list_id"],
    [{ kind: "segment", filter: { segment_id: unknown } }, "filter.segment_id"],
    [{ kind: "recipients", filter: { notification_id: unknown } }, "filter.notification_id"],
    [{ kind: "events", filter: { start: "soon" } }, "filter.start"],
    [{ kind: "report", filter: { start: "2031-01-01T00:00:00Z" } }, "filter.start"],
  ] as const) {
    const { status, body: refusal } = await call("POST /api/v1/exports", body);
    expect([status, Object.keys(refusal.fields)], JSON.stringify(body)).toEqual([422, [field]]);
  }
  expect((await call(`GET /api/v1/exports/${unknown}`)).status).toBe(404);
  for (let n = 0; n < 3; n++) await begin({ kind: "report" });
  expect((await call("POST /api/v1/exports", { kind: "report" })).body).toMatchObject({ code: "QUOTA_EXCEEDED" });
});

it("an erasure deletes the files that were made before it, and ends what is being made (RDA-16, SUB-9)", async () => {
  const { world, call, upsert, begin, get } = await setting();
  const ada = await upsert(ADA);
  await upsert({ external_id: "bob" });
  await world.settle();
  const done = await begin({ kind: "subscribers" });
  const report = await begin({ kind: "report" });
  await world.settle();
  const open = await begin({ kind: "subscribers" });
  expect((await call(`DELETE /api/v1/subscribers/${ada}`)).status).toBe(204);
  await world.settle();
  await world.advance(5 * MINUTE);
  expect(await get(done)).toMatchObject({ status: "expired", url: null, error: expect.stringContaining("erased") });
  expect(["failed", "expired"]).toContain((await get(open)).status);
  expect((await get(report)).status).toBe("completed");
  const Bucket = world.env.IMPORTS_BUCKET;
  const { Contents } = await world.s3.operate("ListObjectsV2", { Bucket });
  expect((Contents as { key: string }[]).map(({ key }) => key.split("/")[2])).toEqual([`${report}.csv`]);
  expect(JSON.stringify(await wholeTable(world))).not.toContain("ada@example.com");
});

it("a large file is made in parts, by several messages and after a crash, with each row once (ARC-15, RDA-16)", async () => {
  let [pages, crashes] = [0, 0];
  const found = await setting({
    hooks: (name) => ({
      before: (service, operation) => {
        if (name !== "import-rows") return;
        // A page takes five seconds: the worker's time is over after eight of them.
        if (service === "dynamodb" && operation === "Query")
          found.world.clock.jumpTo(found.world.clock.now() + 5 * SECOND);
        if (service === "dynamodb" && operation === "Query") pages++;
        if (operation === "CompleteMultipartUpload" && crashes++ === 0) throw new Error("The worker stopped.");
      },
    }),
  });
  const { world, tenant, begin, get, file } = found;
  const COUNT = 2_400;
  await addPeople(world, tenant, COUNT, () => ({ attributes: { note: "x".repeat(4_000) } }));
  const id = await begin({ kind: "subscribers" });
  await world.settle();
  await world.advance(30 * MINUTE);
  expect(await get(id)).toMatchObject({ status: "completed", rows: COUNT });
  const ids = (await file(id)).slice(1).map((line) => line.split(",")[0]);
  expect([ids.length, new Set(ids).size]).toEqual([COUNT, COUNT]);
  expect(pages).toBeGreaterThan(8);
  expect(crashes).toBe(2);
  const { Contents } = await world.s3.operate("ListObjectsV2", { Bucket: world.env.IMPORTS_BUCKET });
  expect((Contents as { key: string }[]).map(({ key }) => key.split("/")[2])).toEqual([`${id}.csv`]);
}, 60_000);
