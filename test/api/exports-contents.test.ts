// What files of exports hold: their columns, addresses and times, and what an erasure leaves of them (RDA-16).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { withBuyers } from "../support/conversions.ts";
import { exporting } from "../support/exports.ts";
import { multipartBody } from "../support/multipart.ts";
import { send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const setting = exporting(worlds());

const ADA = {
  external_id: "ada",
  email: "ada@example.com",
  attributes: { phone: "+4915112345678", vip: true },
  consent: { channel: "email", status: "opted_in", consented_at: "2026-11-01T00:00:00Z" },
};

it("an export of subscribers says what counts with their addresses (RDA-16, AMB-128)", async () => {
  const { world, call, upsert, begin, linesOf } = await setting();
  await upsert(ADA);
  for (const channel of ["sms", "chat_app"])
    await upsert({ external_id: "ada", consent: { channel, status: "opted_in" } });
  await world.advance(MINUTE);
  for (const address of [ADA.email, ADA.attributes.phone]) await call("POST /api/v1/suppressions", { address });
  const id = await begin({ kind: "subscribers" });
  await world.settle();

  const suppressed = `suppressed,${timestamp(world.clock.now())}`;
  expect((await linesOf(id))[1]).toContain(`,,,${[suppressed, suppressed, suppressed]},true`);
});

it("an export has one column for an attribute with values inside it, and loses none that is spelt like a path (RDA-16, AMB-148)", async () => {
  const { world, upsert, begin, linesOf } = await setting();
  await upsert({ external_id: "ada", attributes: { address: { city: "Ulm", lines: [{ zip: "89073" }] } } });
  await upsert({ external_id: "bob", attributes: { "address.city": "Bonn", "home.city": "Rome" } });
  await world.settle();
  const id = await begin({ kind: "subscribers" });
  await world.settle();

  const [header = "", ...rows] = await linesOf(id);

  expect(header.split(",").slice(-3)).toEqual(["address", "home.city", "other_attributes"]);
  expect(rows.find((row) => row.startsWith("ada,"))).toMatch(/,"{""city"":""Ulm"",.*}",,$/);
  expect(rows.find((row) => row.startsWith("bob,"))).toMatch(/,,Rome,"{""address.city"":""Bonn""}"$/);
});

it("an export keeps an attribute whose name is that of another column (RDA-16)", async () => {
  const { world, upsert, begin, linesOf } = await setting();
  const attributes = { consent_status: "gold", email: "ada@work.example", other_attributes: 1, vip: true };
  await upsert({ ...ADA, attributes });
  await world.settle();
  const id = await begin({ kind: "subscribers" });
  await world.settle();

  const [header = "", row = ""] = await linesOf(id);

  expect(header).toMatch(/^external_id,email,.*,vip,other_attributes$/);
  expect(row).toMatch(
    /^ada,ada@example\.com,.*,true,"{""consent_status"":""gold"",""email"":""ada@work\.example"",""other_attributes"":1}"$/,
  );
});

it("an import of exported subscribers finds the same people, by ids that a spreadsheet would take for formulas (RDA-16)", async () => {
  const { world, tenant, call, upsert, begin, linesOf } = await setting();
  const ids = ["-Nx7", "+abc=", "@ada", "=1", "＋x", "'-Nx7"];
  for (const external_id of ids) await upsert({ external_id, attributes: { note: "a\0b" } });
  const id = await begin({ kind: "subscribers" });
  await world.settle();
  const content = `${(await linesOf(id)).join("\r\n")}\r\n`;
  const list = (await call("POST /api/v1/lists", { name: "All" })).body.id;
  const request = multipartBody({ listId: list }, { filename: "people.csv", content });

  const { body: begun } = await world.call("POST /api/v1/lists/import", { as: await tenant.dashboard(), ...request });
  await world.settle();

  expect((await call(`GET /api/v1/lists/import/${begun.import_job_id}`)).body).toMatchObject({ failed_rows: 0 });
  const { items } = (await call("GET /api/v1/subscribers?limit=50")).body;
  expect(items.map((item: { external_id: string }) => item.external_id).sort()).toEqual(ids.sort());
});

const FUNNEL = "sent,delivered,failed,opened,opened_human,clicked,clicked_human,converted,revenue_cents";

it.each([
  ["recipients", "subscriber_id,external_id,state,reason,channel,variant_id,at,deferred_until"],
  ["events", "id,event_name,subscriber_id,anonymous_id,occurred_at,received_at,properties,platform,source"],
  ["report", `campaign_id,name,status,category,created_at,${FUNNEL}`],
  ["suppressions", "address,kind,reason,source,note,suppressed_at"],
])("the columns of an export of %s are %s (RDA-16)", async (kind, columns) => {
  const { world, tenant, upsert, begin, linesOf } = await setting();
  const { answer } = await send(world, tenant, { subscriberIds: [await upsert(ADA)] });
  const id = await begin({ kind, ...(kind === "recipients" && { filter: { notification_id: answer.id } }) });
  await world.settle();

  expect((await linesOf(id))[0]).toBe(columns);
});

it("an export of events has those before its end (RDA-16)", async () => {
  const { world, tenant, upsert, rowsOf } = await setting();
  const subscriber_id = await upsert(ADA);
  const [first, second] = [world.clock.now(), world.clock.now() + MINUTE];
  await world.advance(HOUR);
  const events = [first, second].map((at) => ({ event_name: "bought", subscriber_id, occurred_at: timestamp(at) }));
  await world.call("POST /v1/events", { as: tenant.server, body: { events } });

  const rows = await rowsOf({ kind: "events", filter: { end: timestamp(second) } });
  expect(rows).toEqual([expect.stringContaining(`,${timestamp(first)},`)]);
});

it("an export of the report counts what was sent within its period (RDA-16)", async () => {
  const found = await setting();
  const { world, rowsOf } = found;
  const { campaign } = await withBuyers(found, 2);
  await campaign([undefined, timestamp(world.clock.now() + 2 * DAY), timestamp(world.clock.now() + 4 * DAY)]);
  const time = (days: number) => timestamp(world.clock.now() + days * DAY);
  await world.advance(5 * DAY);
  const sentIn = async (filter: object) => (await rowsOf({ kind: "report", filter })).map((row) => row.split(",")[5]);

  expect(await sentIn({})).toEqual(["6"]);
  expect(await sentIn({ start: time(-4) })).toEqual(["4"]);
  expect(await sentIn({ start: time(-4), end: time(-2) })).toEqual(["2"]);
});

it("an export of events has none that came after it was asked for (RDA-16)", async () => {
  const { world, tenant, upsert, begin, linesOf } = await setting();
  const event = { event_name: "bought", subscriber_id: await upsert(ADA) };
  const ingest = () => world.call("POST /v1/events", { as: tenant.server, body: event });
  await ingest();
  await world.advance(MINUTE);
  const id = await begin({ kind: "events" });
  world.clock.jumpTo(world.clock.now() + SECOND);
  await ingest();
  world.clock.jumpTo(world.clock.now() + SECOND);
  await world.settle();

  expect((await linesOf(id)).slice(1)).toHaveLength(1);
});

it("an export of suppressions leaves out the address of who was erased (RDA-16, AMB-128)", async () => {
  const { world, call, upsert, rowsOf } = await setting();
  const ada = await upsert(ADA);
  for (const address of [ADA.email, "other@example.com"]) await call("POST /api/v1/suppressions", { address });
  await call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(5 * MINUTE);

  expect(await rowsOf({ kind: "suppressions" })).toEqual([expect.stringMatching(/^other@example\.com,email,manual,/)]);
});

it("an erasure deletes the files of recipients, events and suppressions, and its receipt counts them (RDA-16, SUB-9, F14)", async () => {
  const { world, tenant, call, upsert, begin, get, objectNames } = await setting();
  const ada = await upsert(ADA);
  const { answer } = await send(world, tenant, { subscriberIds: [ada] });
  const made = [
    await begin({ kind: "recipients", filter: { notification_id: answer.id } }),
    await begin({ kind: "events" }),
    await begin({ kind: "suppressions" }),
  ];
  await world.settle();

  await call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(5 * MINUTE);

  for (const id of made) expect((await get(id)).status).toBe("expired");
  expect(await objectNames()).toEqual([]);
  const { removed } = (await call(`GET /api/v1/erasures/${ada}`)).body;
  expect(removed).toContainEqual({ store: "export_files", count: 3 });
});
