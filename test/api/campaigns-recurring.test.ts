// Recurring schedules of a campaign as it is paused, resumed and archived.

import { describe, expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { withCampaigns } from "../support/campaigns.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

describe("recurring schedules of a campaign", () => {
  async function withSchedules(n: number) {
    const here = await withCampaigns(await fresh());
    const { id } = (await here.create()).body;
    const schedules: string[] = [];
    const schedule = async () => ({
      cron_expression: "0 * * * *",
      timezone: "UTC",
      template_id: await here.template(),
      channel_ids: here.channel_ids,
      target: { type: "all" },
      campaign_id: id,
    });
    const add = async () => {
      schedules.push((await here.call("POST /api/v1/schedules", await schedule())).body.id);
    };
    for (let i = 0; i < n; i++) await add();
    const isActive = async (schedule: string) => (await here.call(`GET /api/v1/schedules/${schedule}`)).body.active;
    const actives = () => Promise.all(schedules.map(isActive));
    const set = (schedule: string, active: boolean) => here.call(`PATCH /api/v1/schedules/${schedule}`, { active });
    return { ...here, id, schedules, schedule, add, actives, set };
  }

  it("a pause of a campaign switches its schedules off, and nothing is sent by them (CMP-21, AMB-15)", async () => {
    const { id, actives, act, release, world, inbox } = await withSchedules(2);
    await release(id);
    await world.settle();
    const before = await inbox();

    await act(id, "pause");
    await world.advance(3 * HOUR);

    expect(await actives()).toEqual([false, false]);
    expect(await inbox()).toEqual(before);
  });

  it("a resume of a campaign switches on what its pause switched off, not what the user did (CMP-22, AMB-15, AMB-67)", async () => {
    const { id, schedules, actives, set, act, release } = await withSchedules(2);
    await release(id);
    await set(schedules[1]!, false);
    await act(id, "pause");

    await act(id, "resume");

    expect(await actives()).toEqual([true, false]);
  });

  it("a schedule that the user switches on or makes while its campaign is paused stays on (SCH-12, AMB-67)", async () => {
    const { id, schedules, actives, set, act, release, add } = await withSchedules(2);
    await release(id);
    await act(id, "pause");

    expect((await set(schedules[0]!, true)).body.active).toBe(true);
    await add();

    expect(await actives()).toEqual([true, false, true]);
  });

  it.each([
    ["archived and back", "archive", "unarchive", [true, false, true]],
    ["resumed and paused", "resume", "pause", [false, false, false]],
  ])("what is on in a paused campaign follows it as it is %s (SCH-12, AMB-67)", async (_, there, back, left) => {
    const { world, id, schedules, actives, set, act, release, add } = await withSchedules(2);
    await release(id);
    await act(id, "pause");
    await set(schedules[0]!, true);
    await add();

    await act(id, there);
    await act(id, back);
    await world.settle();

    expect(await actives()).toEqual(left);
  });

  it("an archived campaign's schedules are off, and on again when it comes back (CMP-23, CMP-24, AMB-67)", async () => {
    const { id, actives, act, release } = await withSchedules(1);
    await release(id);
    await act(id, "archive");
    expect(await actives()).toEqual([false]);

    await act(id, "unarchive");

    expect(await actives()).toEqual([true]);
  });

  it("schedules of a campaign that was paused before it was archived stay off until it is resumed (CMP-24, AMB-67)", async () => {
    const { id, actives, act, release } = await withSchedules(1);
    await release(id);
    for (const action of ["pause", "archive", "unarchive"]) await act(id, action);
    expect(await actives()).toEqual([false]);

    await act(id, "resume");

    expect(await actives()).toEqual([true]);
  });

  it("a campaign is not completed before its last schedule is switched off (D-CMP-AUTO, AMB-67)", async () => {
    const { id, schedules, set, release, world, get } = await withSchedules(1);
    await release(id);
    await world.advance(HOUR);
    expect((await get(id)).status).toBe("live");

    await set(schedules[0]!, false);
    await world.settle();

    expect((await get(id)).status).toBe("completed");
  });

  it("a schedule for another workspace's campaign is refused with 422 as for an unknown one (GEN-8, AMB-15)", async () => {
    const { call, schedule, world } = await withSchedules(0);
    const foreign = await withCampaigns(world);
    const refusalOf = async (campaign_id: string) =>
      call("POST /api/v1/schedules", { ...(await schedule()), campaign_id });

    const { status, body } = await refusalOf((await foreign.create()).body.id);

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual(["campaign_id"]);
    expect(body).toEqual((await refusalOf(UNKNOWN)).body);
  });
});
