// The watch of a send that was stopped: its chunks are closed and its share of the quota is returned, whatever was lost
// (docs/decisions/0089, 0093).
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { keyOf } from "../../shared/store/item.ts";
import { RangeItem } from "../../shared/store/sends/audience/audience-items.ts";
import { usageOf } from "../../shared/store/workspaces/usage.ts";
import { jobOf } from "../support/notify.ts";
import { addPeople } from "../support/people.ts";
import { dueRows } from "../support/quiet-hours.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A campaign to three people that is planned, and no worker delivers it. */
async function undelivered() {
  const delivering = requests({ of: "deliver" });
  const { world, tenant } = await withTenant({ hooks: delivering.hooks });
  const [channel] = (await tenant.call("GET /api/v1/channels")).body.channels;
  await addPeople(world, tenant, 3);
  delivering.fail();
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [channel.id] }];
  const { id } = (await tenant.call("POST /api/v1/campaigns", { name: "c", messages })).body;
  const job: string = (await tenant.call(`POST /api/v1/campaigns/${id}/release`)).body.messages[0].job_id;
  await world.settle();
  const stop = async () => {
    await tenant.call(`PATCH /api/v1/campaigns/${id}`, { action: "archive" });
    expect((await tenant.call(`DELETE /api/v1/campaigns/${id}`)).status).toBe(204);
    await world.settle();
    expect(await jobOf(tenant, job)).toMatchObject({ status: "canceled" });
  };
  const used = async () => (await usageOf(tenant.store)).sends;
  expect(await used()).toBe(3);
  return { world, tenant, job, delivering, stop, used };
}

it("the chunks of a stopped send are closed later where their messages were lost (D-BILL, AMB-57)", async () => {
  const { world, tenant, job, delivering, stop, used } = await undelivered();
  await world.advance(25 * MINUTE);
  await stop();
  await world.advance(3 * HOUR);
  expect(await used()).toBe(3);

  delivering.pass();
  await world.advance(HOUR);

  expect(await used()).toBe(0);
  expect((await jobOf(tenant, job)).counts).toMatchObject({ total: 3, sent: 0, skipped: 3 });
});

it("a chunk that a worker planned while its send was stopped is closed later (D-BILL, AMB-57)", async () => {
  const { world, tenant, job, delivering, stop, used } = await undelivered();
  await world.advance(25 * MINUTE);
  const keys = ["all/0-7", "all/8-f"].map((range) => keyOf(RangeItem, tenant.id, { job, range }));
  const ranges = (await tenant.rows.getAll(keys)).filter((row) => row !== undefined);
  await tenant.rows.writeAll(keys.map((key) => ({ kind: "remove", key })));
  await stop();
  await world.advance(7 * MINUTE);

  await tenant.rows.writeAll(ranges.map((item) => ({ kind: "put", item })));
  await world.advance(3 * HOUR);
  delivering.pass();
  await world.advance(HOUR);

  expect((await jobOf(tenant, job)).counts).toMatchObject({ total: 3, sent: 0, skipped: 3 });
  expect(await used()).toBe(0);
});

it("a stopped send whose chunks are closed is watched no more (AMB-57)", async () => {
  const { world, delivering, stop } = await undelivered();
  await stop();
  delivering.pass();

  await world.advance(2 * HOUR);

  expect(await dueRows(world, "job-watch")).toEqual([]);
});
