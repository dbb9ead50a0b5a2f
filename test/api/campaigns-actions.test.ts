// Which action a campaign allows in which status (CMP-21 to CMP-25).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import type { CampaignStatus } from "../../shared/rules/campaign-states.ts";
import { at, withCampaigns } from "../support/campaigns.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => withCampaigns(await fresh());
type Setting = Awaited<ReturnType<typeof setting>>;

describe("moves", () => {
  /** Makes a campaign of a status. @returns its id */
  async function campaignOf(status: CampaignStatus, here: Setting): Promise<string> {
    const { create, several, release, act, world } = here;
    const scheduled_at = timestamp(world.clock.now() + 5 * DAY);
    if (status === "live") {
      const { id } = await several(undefined, scheduled_at);
      await release(id);
      return id;
    }
    const { id } = (await create(status === "completed" ? {} : { scheduled_at })).body;
    if (status !== "draft") await release(id);
    await world.settle();
    if (status === "paused") await act(id, "pause");
    if (status === "archived") await act(id, "archive");
    return id;
  }

  it.each<[CampaignStatus, allowed: Record<string, CampaignStatus>, refused: string[]]>([
    ["draft", { archive: "archived" }, ["pause", "resume", "unarchive"]],
    ["scheduled", { pause: "paused", archive: "archived" }, ["resume", "unarchive"]],
    ["live", { pause: "paused", archive: "archived" }, ["resume", "unarchive"]],
    ["completed", { archive: "archived" }, ["pause", "resume", "unarchive"]],
    ["paused", { resume: "scheduled", archive: "archived" }, ["pause", "unarchive"]],
    ["archived", { unarchive: "scheduled" }, ["pause", "resume", "archive"]],
  ])("a %s campaign moves by %o, and is refused %j with 409 (CMP-2, CMP-25)", async (from, allowed, refused) => {
    const here = await setting();

    for (const [action, status] of Object.entries(allowed)) {
      const answer = await here.act(await campaignOf(from, here), action);
      expect(answer, action).toMatchObject({ status: 200, body: { status } });
    }
    const id = await campaignOf(from, here);
    for (const action of refused) {
      const body = { code: "CONFLICT", message: expect.stringContaining(from) };
      expect(await here.act(id, action), action).toMatchObject({ status: 409, body });
    }
    expect((await here.get(id)).status).toBe(from);
  });

  it("a pause of a campaign is refused with 422 for what is done with the overdue (AMB-138)", async () => {
    const { call, several } = await setting();
    const { id } = await several(at(HOUR));

    const { status, body } = await call(`PATCH /api/v1/campaigns/${id}`, { action: "pause", overdue: "now" });

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual(["overdue"]);
  });

  const archivable = ["draft", "scheduled", "live", "completed", "paused"] as const;
  it.each(archivable)("a campaign that is unarchived is %s if it was so before (CMP-23, CMP-24)", async (status) => {
    const here = await setting();
    const id = await campaignOf(status, here);
    await here.act(id, "archive");

    expect((await here.act(id, "unarchive")).body.status).toBe(status);
  });

  it("a draft that was archived meanwhile is sent by its release (CMP-24, AMB-54)", async () => {
    const { world, several, release, act, get, inbox } = await setting();
    const { id } = await several(undefined, at(-HOUR));
    await act(id, "archive");
    await act(id, "unarchive");

    await release(id);
    await world.settle();

    expect((await inbox()).toSorted()).toEqual(["M0", "M1"]);
    expect((await get(id)).status).toBe("completed");
  });

  it("a message that came due while its campaign was archived waits for pause and resume (AMB-54, AMB-67)", async () => {
    const { world, several, release, act, inbox } = await setting();
    const { id } = await several(at(HOUR), at(9 * DAY));
    await release(id);
    await act(id, "archive");
    await world.advance(DAY);
    await act(id, "unarchive");
    await world.advance(HOUR);
    expect(await inbox()).toEqual([]);

    await act(id, "pause");
    await act(id, "resume");
    await world.settle();

    expect(await inbox()).toEqual(["M0"]);
  });

  it("a message after the time in which its campaign was archived is sent at its time (AMB-54)", async () => {
    const { world, several, release, act, inbox } = await setting();
    const { id } = await several(at(HOUR), at(2 * DAY));
    await release(id);
    await act(id, "archive");
    await world.advance(DAY);
    await act(id, "unarchive");

    await world.advance(2 * DAY);

    expect(await inbox()).toEqual(["M1"]);
  });
});
