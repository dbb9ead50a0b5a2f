// Recurring schedules of a campaign as it is paused, resumed and archived.
import { describe, expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import type { CampaignStatus } from "../../shared/rules/campaign-states.ts";
import { putItem } from "../../shared/store/item.ts";
import { CampaignSchedule } from "../../shared/store/schedules/items.ts";
import { switchOwned } from "../../shared/store/schedules/schedules.ts";
import { openTimers } from "../../shared/store/timers.ts";
import { withCampaigns } from "../support/campaigns.ts";
import { quickDeps, quickStore } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => withCampaigns(await fresh());

describe("recurring schedules of a campaign", () => {
  async function withSchedules(n: number) {
    const here = await setting();
    const { id } = (await here.create()).body;
    const schedules: string[] = [];
    for (let i = 0; i < n; i++) {
      const body = {
        cron_expression: "0 * * * *",
        timezone: "UTC",
        template_id: await here.template(),
        channel_ids: here.channel_ids,
        target: { type: "all" },
        campaign_id: id,
      };
      schedules.push((await here.call("POST /api/v1/schedules", body)).body.id);
    }
    const isActive = async (schedule: string) => (await here.call(`GET /api/v1/schedules/${schedule}`)).body.active;
    const actives = () => Promise.all(schedules.map(isActive));
    const set = (schedule: string, active: boolean) => here.call(`PATCH /api/v1/schedules/${schedule}`, { active });
    return { ...here, id, schedules, actives, set };
  }

  it("a pause of a campaign switches its schedules off, and a resume switches the same ones on, never those that the user switched off (CMP-21, CMP-22, AMB-15, AMB-67)", async () => {
    const { id, schedules, actives, set, act, release, world, inbox } = await withSchedules(2);
    await release(id);
    await world.settle();
    await set(schedules[1]!, false);
    await act(id, "pause");
    expect(await actives()).toEqual([false, false]);
    const before = (await inbox()).length;
    await world.advance(3 * HOUR);
    expect(await inbox()).toHaveLength(before);
    await act(id, "resume");
    expect(await actives()).toEqual([true, false]);
  });

  it("a schedule that the user switches off while its campaign is paused stays off after the resume (SCH-12, AMB-67)", async () => {
    const { id, schedules, actives, set, act, release, world } = await withSchedules(2);
    await release(id);
    await act(id, "pause");
    await set(schedules[0]!, false);
    await act(id, "resume");
    await world.settle();

    expect(await actives()).toEqual([false, true]);
  });

  it("a schedule that the user switches on or makes while its campaign is paused stays on, until the next pause (SCH-12, AMB-67)", async () => {
    const { id, schedules, actives, set, act, release, world, call } = await withSchedules(2);
    await release(id);
    await act(id, "pause");
    expect((await set(schedules[0]!, true)).body.active).toBe(true);
    const { body: first } = await call(`GET /api/v1/schedules/${schedules[0]}`);
    const { cron_expression, timezone, template_id, channel_ids, target } = first;
    const body = { cron_expression, timezone, template_id, channel_ids, target, campaign_id: id };
    schedules.push((await call("POST /api/v1/schedules", body)).body.id);
    await world.settle();
    expect(await actives()).toEqual([true, false, true]);
    await act(id, "archive");
    expect(await actives()).toEqual([false, false, false]);
    await act(id, "unarchive");
    await world.settle();
    expect(await actives()).toEqual([true, false, true]);
    await act(id, "resume");
    await act(id, "pause");
    expect(await actives()).toEqual([false, false, false]);
    await act(id, "resume");
    expect(await actives()).toEqual([true, true, true]);
  });

  it("an archived campaign's schedules are off, and on again when it comes back, unless it was paused before (CMP-23, CMP-24, AMB-67)", async () => {
    const { id, actives, act, release } = await withSchedules(1);
    await release(id);
    await act(id, "archive");
    expect(await actives()).toEqual([false]);
    await act(id, "unarchive");
    expect(await actives()).toEqual([true]);
    await act(id, "pause");
    await act(id, "archive");
    await act(id, "unarchive");
    expect(await actives()).toEqual([false]);
    await act(id, "resume");
    expect(await actives()).toEqual([true]);
  });

  it("a pause of a campaign switches off its schedules beyond the first page of their names (CMP-21, AMB-15)", async () => {
    const { id, actives, act, release, tenant } = await withSchedules(1);
    const LONG = 1_000;
    const gone = Array.from({ length: 1_200 }, (_, n) => String(n).padStart(LONG, "0"));
    await tenant.store.writeAll(gone.map((schedule) => putItem(CampaignSchedule, { campaign: id, schedule }, {})));
    await release(id);
    await act(id, "pause");

    expect(await actives()).toEqual([false]);
  });

  it("the schedules of a campaign are deleted with it, and fire no more (CMP-17, RDA-12)", async () => {
    const { id, schedules, set, act, release, call, world, inbox } = await withSchedules(2);
    await release(id);
    await act(id, "archive");
    await set(schedules[0]!, true);
    await world.settle();
    const before = await inbox();

    expect((await call(`DELETE /api/v1/campaigns/${id}`)).status).toBe(204);

    await world.advance(2 * HOUR);
    expect(await inbox()).toEqual(before);
    expect((await call("GET /api/v1/schedules")).body).toMatchObject({ data: [], total: 0 });
  });

  it("a worker that read the campaign before it was paused or resumed again changes nothing (AMB-67)", async () => {
    const { id, actives, act, release, world, tenant } = await withSchedules(1);
    const store = quickStore(world, tenant);
    const late = (status: CampaignStatus, holds: number) =>
      switchOwned(store, openTimers(quickDeps(world))(tenant.id), { id, status, holds });
    await release(id);
    for (const action of ["pause", "archive", "unarchive", "resume"]) await act(id, action);
    await late("paused", 1);
    await late("archived", 2);
    expect(await actives()).toEqual([true]);
    await act(id, "pause");
    await late("scheduled", 2);
    expect(await actives()).toEqual([false]);
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

  it("a campaign is completed once its last active schedule is deleted (D-CMP-AUTO, SCH-9)", async () => {
    const { id, schedules, call, release, world, get } = await withSchedules(2);
    await release(id);
    await world.settle();
    await call(`DELETE /api/v1/schedules/${schedules[0]}`);
    await world.settle();
    expect((await get(id)).status).toBe("live");

    await call(`DELETE /api/v1/schedules/${schedules[1]}`);
    await world.settle();

    expect((await get(id)).status).toBe("completed");
  });
});
