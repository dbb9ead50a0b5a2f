// The deletion of a campaign while something else happens to it (CMP-17).
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { at, withCampaigns } from "../support/campaigns.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** A campaign that was archived while its message waited. */
async function archived(options: Parameters<typeof fresh>[0] = {}) {
  const here = await withCampaigns(await fresh(options));
  const { call, create, release, act, world, channel_ids, template } = here;
  const { id } = (await create({ scheduled_at: at(HOUR) })).body;
  await release(id);
  await act(id, "archive");
  await world.settle();
  const template_id = await template();
  const spec = { cron_expression: "0 * * * *", timezone: "UTC", template_id, channel_ids, target: { type: "all" } };
  const schedule = () => call("POST /api/v1/schedules", { ...spec, campaign_id: id });
  const remove = () => call(`DELETE /api/v1/campaigns/${id}`);
  const schedules = async () => (await call("GET /api/v1/schedules")).body.total;
  return { ...here, id, schedule, remove, schedules };
}

it("a schedule is refused where its campaign is deleted before it is stored (CMP-17, SCH-9)", async () => {
  const storing = requests({ of: "api-schedules", operation: "TransactWriteItems" });
  const { schedule, remove, schedules } = await archived({ hooks: storing.hooks });
  storing.next(async () => expect((await remove()).status).toBe(204));

  expect(await schedule()).toMatchObject({ status: 422, body: { fields: { campaign_id: expect.any(String) } } });
  expect(await schedules()).toBe(0);
});

it("a campaign that is being deleted gets no schedule (CMP-17, SCH-9)", async () => {
  const removing = requests({ of: "api-campaigns", operation: "TransactWriteItems", naming: '"Delete"' });
  const { schedule, remove, schedules } = await archived({ hooks: removing.hooks });
  removing.next(async () => expect((await schedule()).status).toBe(422));

  expect((await remove()).status).toBe(204);
  expect(await schedules()).toBe(0);
});

it("a campaign that is being deleted is not unarchived (CMP-17, CMP-24)", async () => {
  const removing = requests({ of: "api-campaigns", operation: "TransactWriteItems", naming: '"Delete"' });
  const { id, act, remove } = await archived({ hooks: removing.hooks });
  removing.next(async () => expect((await act(id, "unarchive")).status).toBe(409));

  expect((await remove()).status).toBe(204);
});

it("a campaign whose deletion stopped half-way is not unarchived, and is deleted by the next one (CMP-17, CMP-24)", async () => {
  const removing = requests({ of: "api-campaigns", operation: "TransactWriteItems", naming: '"Delete"' });
  const { id, act, remove } = await archived({ hooks: removing.hooks });
  removing.fail();
  expect((await remove()).status).toBe(500);
  removing.pass();

  expect((await act(id, "unarchive")).status).toBe(409);
  expect((await remove()).status).toBe(204);
});

it.each([
  ["at once", undefined],
  ["later", at(HOUR)],
])(
  "a campaign that is deleted while its release makes a job that goes out %s sends nothing (CMP-17)",
  async (_, time) => {
    const making = requests({ of: "api-campaigns", naming: '"source_type"' });
    const { call, create, release, act, inbox, world } = await withCampaigns(await fresh({ hooks: making.hooks }));
    const { id } = (await create({ scheduled_at: time })).body;
    making.next(async () => {
      await act(id, "archive");
      expect((await call(`DELETE /api/v1/campaigns/${id}`)).status).toBe(204);
    });

    await release(id);
    await world.advance(2 * HOUR);

    expect(making.isAwaited()).toBe(false);
    expect(await inbox()).toEqual([]);
  },
);

it("a campaign that is paused while its release makes its job sends nothing until it is resumed (CMP-22, AMB-113)", async () => {
  const making = requests({ of: "api-campaigns", naming: '"source_type"' });
  const { create, release, act, inbox, world } = await withCampaigns(await fresh({ hooks: making.hooks }));
  const { id } = (await create()).body;
  making.next(() => act(id, "pause"));

  await release(id);
  await world.advance(HOUR);
  expect(await inbox()).toEqual([]);

  await act(id, "resume");
  await world.advance(HOUR);
  expect(await inbox()).toEqual(["Hello"]);
});
