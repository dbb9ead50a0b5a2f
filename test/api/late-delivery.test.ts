// A chunk that is delivered late: it does not restore what an erasure removed, and what was bought before its outcome counts.
import { expect, test } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { mortal } from "../support/mortal.ts";
import { addPeople, wholeTable } from "../support/people.ts";
import { addPhone, openChannels } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

test.each(["Hello", "Hello {{ subscriber.id }}"])(
  "a subscriber who is erased between the plan and a late delivery of %j leaves no row (SUB-9)",
  async (title) => {
    const writing = requests({ of: "deliver", operation: "BatchWriteItem" });
    const { world, tenant } = await withTenant({ hooks: writing.hooks });
    writing.fail();
    const ids: string[] = [];
    for (const external_id of ["ada", "bob"]) ids.push(await tenant.upsert({ external_id }));
    const body = { title, body: "World", subscriberIds: ids };
    const { id } = (await tenant.call("POST /api/v1/notifications", body)).body;
    await world.settle();
    expect((await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`)).status).toBe(204);
    await world.advance(5 * MINUTE);
    writing.pass();
    await world.advance(5 * MINUTE);
    const rows = (await wholeTable(world)).map(({ pk, sk }) => `${pk.S} ${sk.S}`);
    expect(rows.filter((row) => row.includes(`#U#${ids[0]}`))).toEqual([]);
    expect(rows.filter((row) => row.includes(`#U#${ids[1]} I#`))).toHaveLength(1);
    const job = (await tenant.call(`GET /api/v1/notifications/${id}`)).body;
    expect(job).toMatchObject({ status: "completed", counts: { sent: 2, delivered: 1, failed: 1 } });
  },
);

test("a push that is late to who was erased failed for that reason (SUB-9)", async () => {
  const worker = mortal("deliver");
  const { world, tenant } = await withTenant({ hooks: worker.hooks });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const ada = await tenant.upsert({ external_id: "ada" });
  await addPhone(world, tenant, ada, "ios");
  worker.dieAt(1, "before");
  const body = { title: "Hello", body: "World", subscriberIds: [ada], channel_ids: [ios] };
  const { id } = (await tenant.call("POST /api/v1/notifications", body)).body;
  await world.settle();
  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  worker.revive();
  await world.advance(10 * MINUTE);

  expect((await tenant.call(`GET /api/v1/notifications/${id}`)).body.fail_reasons).toEqual({ erased: 1 });
});

test("what is bought counts for the second try of a push, whose outcome is written half an hour later (D-ATTRIB)", async () => {
  const writing = requests({ of: "deliver", naming: '"sent"' });
  const { world, tenant } = await withTenant({ hooks: writing.hooks });
  await tenant.call("POST /api/v1/insights/config", { event_name: "purchase" });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const [ada = ""] = await addPeople(world, tenant, 2);
  await addPhone(world, tenant, ada, "ios");
  writing.fail();
  await world.call("POST /_local/faults", { body: { channel: "ios", outcome: "transient", times: 1 } });
  const messages = [{ content: { title: "Hello", body: "World" }, channel_ids: [ios] }];
  const { id } = (await tenant.call("POST /api/v1/campaigns", { name: "Spring", messages })).body;
  await tenant.call(`POST /api/v1/campaigns/${id}/release`);
  await world.advance(10 * MINUTE);
  const event = { event_name: "purchase", subscriber_id: ada };
  await world.call("POST /v1/events", { as: tenant.server, body: event });
  await world.advance(30 * MINUTE);
  const funnel = async () =>
    (await tenant.call(`GET /api/v1/insights/funnel?source_type=campaign&source_id=${id}`)).body;
  expect(await funnel()).toMatchObject({ delivered: 0, converted: 0 });
  writing.pass();
  await world.advance(2 * HOUR);

  expect(await funnel()).toMatchObject({ delivered: 1, converted: 1 });
});
