// Exports of more than one page of what they hold (RDA-16): each row once.
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { addressId } from "../../shared/store/subscribers/address-items.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { someEvents } from "../support/events.ts";
import { exporting } from "../support/exports.ts";
import { addPeople, quickStore, send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const setting = exporting(worlds());
type Setting = Awaited<ReturnType<typeof setting>>;

/** More than two pages. */
const MANY = 1_050;

/** Makes something of which there are many. @returns the export of it */
type Fill = (found: Setting) => Promise<{ kind: string; filter?: object }>;

const list: Fill = async ({ world, tenant, call }) => {
  const ids = await addPeople(world, tenant, MANY);
  const { id } = (await call("POST /api/v1/lists", { name: "All" })).body;
  for (let n = 0; n < MANY; n += 500)
    await call(`POST /api/v1/lists/${id}/subscribers`, { subscriber_ids: ids.slice(n, n + 500) });
  return { kind: "list", filter: { list_id: id } };
};

const segment: Fill = async ({ world, tenant, call }) => {
  await addPeople(world, tenant, MANY);
  const rule = { attribute: { external_id: { $exists: true } } };
  const { id } = (await call("POST /api/v1/segments", { name: "All", rule })).body;
  await world.settle();
  return { kind: "segment", filter: { segment_id: id } };
};

const recipients: Fill = async ({ world, tenant }) => {
  await addPeople(world, tenant, MANY);
  const { job } = await send(world, tenant, { target: { type: "all" } });
  return { kind: "recipients", filter: { notification_id: job.id } };
};

const events: Fill = async ({ world, tenant }) => {
  for (let n = 0; n < MANY; n += 50)
    await world.call("POST /v1/events", { as: tenant.server, body: { events: someEvents(50) } });
  await world.advance(MINUTE);
  return { kind: "events" };
};

const suppressions: Fill = async ({ world, tenant }) => {
  const store = quickStore(world, tenant);
  // All in one shard, which is read in pages of its own.
  const all = Array.from({ length: 20 * MANY }, (_, n) => `p${n}@example.com`);
  const ofOne = all.filter((address) => addressId("email", address).startsWith("7")).slice(0, MANY);
  for (const address of ofOne) await suppressAddress(store, { kind: "email", address, reason: "manual" });
  return { kind: "suppressions" };
};

const report: Fill = async ({ call }) => {
  const { channels } = (await call("GET /api/v1/channels")).body;
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [channels[0].id] }];
  for (let n = 0; n < 25; n++) await call("POST /api/v1/campaigns", { name: `c${n}`, messages });
  return { kind: "report" };
};

it.each([
  ["members of a list", list, MANY],
  ["members of a segment", segment, MANY],
  ["recipients", recipients, MANY],
  ["events", events, MANY],
  ["suppressions", suppressions, MANY],
  ["campaigns", report, 25],
])("an export of more %s than are read at a time has each once (RDA-16)", async (_, fill, count) => {
  const found = await setting();
  const rows = await found.rowsOf(await fill(found));

  expect(rows).toHaveLength(count);
  expect(new Set(rows.map((row) => row.split(",")[0])).size).toBe(count);
});
