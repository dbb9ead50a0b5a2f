// What files of exports hold of addresses and of time (RDA-16).
import { expect, it } from "vitest";
import { MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { exporting } from "../support/exports.ts";
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
