// Exports as CSV files (RDA-16): what they hold, their links, erasure.
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { exporting } from "../support/exports.ts";
import { multipartBody } from "../support/multipart.ts";
import { send, wholeTable } from "../support/people.ts";
import { UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const setting = exporting(worlds());

const firstCells = (rows: string[]) => rows.map((row) => row.split(",")[0]);

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

it("an export holds attributes of which no name is kept, because others had used up their number (RDA-16, SEG-11)", async () => {
  const { world, upsert, begin, linesOf } = await setting();
  const keysOf = (n: number) => Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key${n}-${i}`, 1]));
  for (let n = 0; n < 10; n++) await upsert({ external_id: `made-up-${n}`, attributes: keysOf(n) });
  await world.settle();
  await upsert({ external_id: "bob", attributes: { plan: "gold", "key0-7": 2 } });
  const id = await begin({ kind: "subscribers" });
  await world.settle();

  const [header, ...rows] = await linesOf(id);

  expect(header?.split(",").at(-1)).toBe("other_attributes");
  expect(rows.find((row) => row.startsWith("bob,"))).toMatch(/,2,.*,"{""plan"":""gold""}"$/);
  expect(rows.find((row) => row.startsWith("made-up-1,"))).toMatch(/,$/);
});

it("an export of subscribers has a column for each attribute, and no formulas (RDA-16)", async () => {
  const { world, upsert, begin, linesOf } = await setting();
  await upsert(ADA);
  await upsert({ external_id: "bob" });
  const id = await begin({ kind: "subscribers" });
  await world.settle();

  const [header, ...rows] = await linesOf(id);

  expect(header).toBe(
    "external_id,email,phone,first_name,last_name,timezone,locale,consent_status,consent_at,consent_status:sms,consent_at:sms,consent_status:chat_app,consent_at:chat_app,'=x,formula,note,toString,vip",
  );
  expect(rows.sort()).toEqual([
    'ada,ada@example.com,+4915112345678,Ada,,,,opted_in,2026-11-01T00:00:00.000Z,,,,,y,\'=cmd(),"says ""=1+1"", twice",z,true',
    "bob,,,,,,,,,,,,,,,,,",
  ]);
});

it("a file of exported subscribers is imported as it is (RDA-16)", async () => {
  const { world, upsert, begin, linesOf } = await setting();
  await upsert(ADA);
  const id = await begin({ kind: "subscribers" });
  await world.settle();
  const content = `${(await linesOf(id)).join("\r\n")}\r\n`;
  const other = await world.tenant();
  const list = (await other.call("POST /api/v1/lists", { name: "All" })).body.id;
  const request = multipartBody({ listId: list }, { filename: "people.csv", content });

  const { body: begun } = await world.call("POST /api/v1/lists/import", { as: await other.dashboard(), ...request });
  await world.settle();

  const { body: job } = await other.call(`GET /api/v1/lists/import/${begun.import_job_id}`);
  expect(job).toMatchObject({ status: "completed", processed_rows: 1, failed_rows: 0 });
  const [ada] = (await other.call("GET /api/v1/subscribers?external_id=ada")).body.items;
  expect(JSON.parse(ada.attributes)).toMatchObject({ first_name: "Ada", phone: "+4915112345678", vip: true });
});

it("an export is pending until its file is made (RDA-16)", async () => {
  const { world, upsert, begin, get } = await setting();
  await upsert(ADA);

  const id = await begin({ kind: "subscribers" });

  expect(await get(id)).toMatchObject({ status: "pending", rows: null, url: null, expires_at: null });
  await world.settle();
  expect(await get(id)).toMatchObject({ status: "completed", rows: 1, error: null });
});

it("the three days of a file begin when it is whole (RDA-16)", async () => {
  const { world, begin, get } = await setting();
  const id = await begin({ kind: "subscribers" });
  world.clock.jumpTo(world.clock.now() + HOUR);
  await world.settle();

  const { completed_at, expires_at, created_at } = await get(id);
  expect(Date.parse(completed_at) - Date.parse(created_at)).toBeGreaterThanOrEqual(HOUR);
  expect(Date.parse(expires_at) - Date.parse(completed_at)).toBe(3 * DAY);
});

it("exports are listed in pages (RDA-16)", async () => {
  const { call, begin } = await setting();
  const made = [await begin({ kind: "subscribers" }), await begin({ kind: "report" })];

  const { body: first } = await call("GET /api/v1/exports?limit=1");
  const { body: second } = await call(`GET /api/v1/exports?limit=1&cursor=${first.next_cursor}`);

  expect([...first.items, ...second.items].map(({ id }) => id).sort()).toEqual(made.sort());
});

it.each(["deleted", "suspended"])(
  "the link of an export leads nowhere once its workspace is %s (RDA-16, ERR-6, ERR-7)",
  async (status) => {
    const { world, tenant, upsert, begin, get, follow } = await setting();
    await upsert({ external_id: "ada" });
    const id = await begin({ kind: "subscribers" });
    await world.settle();
    const { url } = await get(id);
    expect((await follow(url)).status).toBe(302);

    await world.host.invoke("operator", { tenant_id: tenant.id, status });

    expect((await follow(url)).status).toBe(404);
  },
);

it("the link of an export leads nowhere after a day, and a new one can be had (RDA-16)", async () => {
  const { world, begin, get, follow } = await setting();
  const id = await begin({ kind: "report" });
  await world.settle();
  const { url } = await get(id);

  await world.advance(25 * HOUR);

  expect((await follow(url)).status).toBe(404);
  expect((await follow((await get(id)).url)).status).toBe(302);
});

it("an export has expired at the end of its three days (RDA-16)", async () => {
  const { world, begin, get } = await setting();
  const id = await begin({ kind: "report" });
  await world.settle();
  const { expires_at } = await get(id);

  await world.advance(Date.parse(expires_at) - world.clock.now() - 1);
  expect(await get(id)).toMatchObject({ status: "completed", expires_at });
  await world.advance(1);

  expect(await get(id)).toMatchObject({ status: "expired", rows: 0, url: null, expires_at: null });
});

it("an export of a list has its members alone (RDA-16)", async () => {
  const { call, upsert, rowsOf } = await setting();
  const ada = await upsert(ADA);
  await upsert({ external_id: "bob" });
  const list_id = (await call("POST /api/v1/lists", { name: "Some" })).body.id;
  await call(`POST /api/v1/lists/${list_id}/subscribers`, { subscriber_ids: [ada] });

  expect(firstCells(await rowsOf({ kind: "list", filter: { list_id } }))).toEqual(["ada"]);
});

it("an export of a segment has its members alone (RDA-16)", async () => {
  const { world, call, upsert, rowsOf } = await setting();
  await upsert(ADA);
  await upsert({ external_id: "bob" });
  const rule = { attribute: { vip: { $eq: true } } };
  const segment_id = (await call("POST /api/v1/segments", { name: "VIP", rule })).body.id;
  await world.settle();

  expect(firstCells(await rowsOf({ kind: "segment", filter: { segment_id } }))).toEqual(["ada"]);
});

it("an export of recipients says how each send ended (RDA-16)", async () => {
  const { world, tenant, upsert, rowsOf } = await setting();
  const ada = await upsert(ADA);
  const bob = await upsert({ external_id: "bob" });
  const { answer } = await send(world, tenant, { subscriberIds: [ada, bob] });

  const rows = await rowsOf({ kind: "recipients", filter: { notification_id: answer.id } });

  const beginnings = rows.map((row) => row.split(",").slice(0, 3).join());
  expect(beginnings.sort()).toEqual([`${ada},ada,delivered`, `${bob},bob,delivered`].sort());
});

it("an export of events has those since its start (RDA-16)", async () => {
  const { world, tenant, upsert, rowsOf } = await setting();
  const ada = await upsert(ADA);
  const event = { event_name: "bought", subscriber_id: ada, properties: { cents: 5 } };
  await world.call("POST /v1/events", { as: tenant.server, body: event });
  await world.advance(MINUTE);

  expect(await rowsOf({ kind: "events" })).toEqual([expect.stringContaining(`bought,${ada}`)]);
  expect(await rowsOf({ kind: "events", filter: { start: timestamp(world.clock.now()) } })).toEqual([]);
});

it("an export of the report has a row for each campaign with its counts (RDA-16)", async () => {
  const { world, call, upsert, rowsOf } = await setting();
  for (const external_id of ["ada", "bob"]) await upsert({ external_id });
  const channel = (await call("GET /api/v1/channels")).body.channels[0].id;
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [channel] }];
  const campaign = (await call("POST /api/v1/campaigns", { name: "Spring", messages })).body.id;
  await call(`POST /api/v1/campaigns/${campaign}/release`);
  await world.settle();
  await world.advance(MINUTE);

  expect(await rowsOf({ kind: "report" })).toEqual([
    expect.stringMatching(new RegExp(`^${campaign},Spring,completed,marketing,.*,2,2,0,0,0,0,0,0,0$`)),
  ]);
});

const untouched = shared((own) => exporting(own)());

it.each([
  ["an unknown kind", { kind: "people" }, "kind"],
  ["a filter where there is none", { kind: "subscribers", filter: {} }, "filter"],
  ["a list without a filter", { kind: "list" }, "filter"],
  ["an unknown list", { kind: "list", filter: { list_id: UNKNOWN } }, "filter.list_id"],
  ["an unknown segment", { kind: "segment", filter: { segment_id: UNKNOWN } }, "filter.segment_id"],
  ["an unknown send", { kind: "recipients", filter: { notification_id: UNKNOWN } }, "filter.notification_id"],
  ["a start that is no time", { kind: "events", filter: { start: "soon" } }, "filter.start"],
  ["a start that is to come", { kind: "report", filter: { start: "2031-01-01T00:00:00Z" } }, "filter.start"],
])("an export is refused with 422 for %s (RDA-16)", async (_, body, field) => {
  const { call } = await untouched();

  const refused = await call("POST /api/v1/exports", body);

  expect(refused.status).toBe(422);
  expect(Object.keys(refused.body.fields)).toEqual([field]);
});

it("a fourth export at a time is refused until one has ended (RDA-16)", async () => {
  const { world, call, begin } = await setting();
  for (let n = 0; n < 3; n++) await begin({ kind: "report" });

  expect((await call("POST /api/v1/exports", { kind: "report" })).body).toMatchObject({ code: "QUOTA_EXCEEDED" });
  await world.settle();
  await begin({ kind: "report" });
});

it("an erasure deletes the files with subscribers that were made before it, and no others (RDA-16, SUB-9)", async () => {
  const { world, call, upsert, begin, get, objectNames } = await setting();
  const ada = await upsert(ADA);
  const subscribers = await begin({ kind: "subscribers" });
  const report = await begin({ kind: "report" });
  await world.settle();

  await call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(5 * MINUTE);

  const error = expect.stringContaining("erased");
  expect(await get(subscribers)).toMatchObject({ status: "expired", url: null, error });
  expect((await get(report)).status).toBe("completed");
  expect(await objectNames()).toEqual([`${report}.csv`]);
});

it("an erasure ends an export of subscribers that is being made, and leaves no file of it (RDA-16, SUB-9)", async () => {
  const { world, call, upsert, begin, get, objectNames } = await setting();
  const ada = await upsert(ADA);
  const id = await begin({ kind: "subscribers" });

  await call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(5 * MINUTE);

  expect(["failed", "expired"]).toContain((await get(id)).status);
  expect(await objectNames()).toEqual([]);
  expect(JSON.stringify(await wholeTable(world))).not.toContain("ada@example.com");
});
