// Campaigns: statuses and moves, held messages, and the schedules that belong to a campaign (CMP).

import { describe, expect, it } from "vitest";
import type { Hooks } from "../../local/aws/index.ts";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { campaignStatuses } from "../../shared/rules/campaign-states.ts";
import { at, withCampaigns } from "../support/campaigns.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => withCampaigns(await fresh());

describe("moves", () => {
  it("paused messages are held, and go out after the resume (CMP-17, CMP-21, CMP-22, AMB-13, AMB-14)", async () => {
    const { world, several, release, act, inbox, get } = await setting();
    const { id } = await several(at(HOUR), at(9 * DAY));
    await release(id);
    expect((await act(id, "pause")).body.status).toBe("paused");
    await world.advance(2 * HOUR);
    expect(await inbox()).toEqual([]);
    await world.advance(2 * DAY);
    expect((await act(id, "resume")).body.status).toBe("scheduled");
    await world.settle();
    expect(await inbox()).toEqual(["M0"]);
    expect((await get(id)).status).toBe("live");
    await world.advance(20 * DAY);
    expect(await inbox()).toEqual(["M0", "M1"]);
    expect((await get(id)).status).toBe("completed");
  });

  describe("messages that fell due while it was paused", () => {
    /** Messages 1, 3 and 60 hours from now, resumed after 50. */
    async function paused(overdue?: string) {
      const here = await setting();
      const { id } = await here.several(at(HOUR), at(3 * HOUR), at(60 * HOUR));
      await here.release(id);
      await here.act(id, "pause");
      await here.world.advance(50 * HOUR);
      const body = { action: "resume", ...(overdue && { overdue }) };
      const resumed = await here.call(`PATCH /api/v1/campaigns/${id}`, body);
      expect([resumed.status, resumed.body.status]).toEqual([200, "scheduled"]);
      await here.world.settle();
      const seenAfter = async (ms: number) => {
        await here.world.advance(ms);
        return here.inbox();
      };
      return { ...here, id, seenAfter };
    }

    it.each([undefined, "keep_distance"])(
      "overdue %s: the first now, the others as far apart as planned (AMB-138)",
      async (overdue) => {
        const { seenAfter } = await paused(overdue);
        expect(await seenAfter(0)).toEqual(["M0"]);
        expect(await seenAfter(2 * HOUR - 1)).toEqual(["M0"]);
        expect(await seenAfter(1)).toEqual(["M0", "M1"]);
        expect(await seenAfter(57 * HOUR - 1)).toEqual(["M0", "M1"]);
        expect(await seenAfter(1)).toEqual(["M0", "M1", "M2"]);
      },
    );

    it("overdue now: all of them at once, and what is ahead at its time (AMB-138)", async () => {
      const { seenAfter } = await paused("now");
      expect((await seenAfter(0)).sort()).toEqual(["M0", "M1"]);
      expect(await seenAfter(10 * HOUR - 1)).toHaveLength(2);
      expect(await seenAfter(1)).toHaveLength(3);
    });

    it("overdue skip: none of them, and what is ahead at its time (AMB-138)", async () => {
      const { seenAfter, get, id, job } = await paused("skip");
      expect(await seenAfter(10 * HOUR - 1)).toEqual([]);
      expect(await seenAfter(1)).toEqual(["M2"]);
      const campaign = await get(id);
      expect(campaign.status).toBe("completed");
      expect((await job(campaign.messages[0].job_id)).status).toBe("canceled");
    });

    it("a second pause moves them once more, each as far from the one before as planned (AMB-138)", async () => {
      const { seenAfter, act, world, id } = await paused();
      await act(id, "pause");
      await world.advance(10 * HOUR);
      await act(id, "resume");
      await world.settle();
      expect(await seenAfter(0)).toEqual(["M0", "M1"]);
      expect(await seenAfter(57 * HOUR - 1)).toHaveLength(2);
      expect(await seenAfter(1)).toEqual(["M0", "M1", "M2"]);
    });

    it.each([
      ["an unknown word", { action: "resume", overdue: "later" }],
      ["another action", { action: "pause", overdue: "now" }],
    ])("%s is 422 (AMB-138)", async (_, body) => {
      const { call, several } = await setting();
      const { id } = await several(at(HOUR));
      const answer = await call(`PATCH /api/v1/campaigns/${id}`, body);
      expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, ["overdue"]]);
    });
  });

  it("a pause before the scheduled time holds every message, in any order of the workers (CMP-21)", async () => {
    const { world, several, release, act, inbox } = await setting();
    const { id } = await several(at(HOUR), at(DAY));
    await release(id);
    await world.advance(HOUR - 1);
    const paused = act(id, "pause");
    await world.advance(1);
    const seen = (await inbox()).length;
    expect((await paused).status).toBe(200);
    await world.advance(2 * DAY);
    expect(await inbox()).toHaveLength(seen);
  });

  it.each(["pause", "archive"])("%s holds a job that is queued, and resume sends it (AMB-113)", async (action) => {
    const { world, several, release, act, inbox, job, get } = await setting();
    const { id } = await several(undefined);
    const [{ job_id }] = (await release(id)).body.messages;
    expect((await job(job_id)).status).toBe("queued");
    expect((await act(id, action)).status).toBe(200);
    await world.advance(2 * DAY);
    expect(await inbox()).toEqual([]);
    expect((await job(job_id)).status).toBe("queued");
    for (const back of action === "archive" ? ["unarchive", "pause"] : []) {
      expect((await act(id, back)).status).toBe(200);
      await world.advance(HOUR);
      expect([back, await inbox()]).toEqual([back, []]);
    }
    expect((await act(id, "resume")).status).toBe(200);
    await world.settle();
    expect(await inbox()).toEqual(["M0"]);
    expect((await job(job_id)).status).toBe("completed");
    expect((await get(id)).status).toBe("completed");
  });

  it.each([
    ["just before its dispatch", "UpdateItem", "queued"],
    ["just after its dispatch, before its audience is planned", "SendMessageBatch", "processing"],
  ])("a job is held by a pause %s, and sent once on resume (AMB-113)", async (_, operation, status) => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const hooks = (name: string): Hooks => ({
      before: async (_, requested) => {
        if (name !== "fan-out" || requested !== operation) return;
        const work = meanwhile;
        meanwhile = undefined;
        await work?.();
      },
    });
    const { world, several, release, act, inbox, job } = await withCampaigns(await fresh({ hooks }));
    const { id } = await several(undefined);
    const [{ job_id }] = (await release(id)).body.messages;
    let paused: number | undefined;
    meanwhile = async () => {
      paused = (await act(id, "pause")).status;
    };
    await world.settle();
    expect(paused).toBe(200);
    await world.advance(2 * DAY);
    expect([(await job(job_id)).status, await inbox()]).toEqual([status, []]);
    await act(id, "resume");
    await world.settle();
    expect([(await job(job_id)).status, await inbox()]).toEqual(["completed", ["M0"]]);
  });

  /** A campaign in each status. */
  const reach = async (status: string, here: Awaited<ReturnType<typeof setting>>): Promise<string> => {
    const { create, release, act, world } = here;
    const scheduled_at = timestamp(world.clock.now() + 5 * DAY);
    const { id } = (await create(status === "completed" ? {} : { scheduled_at })).body;
    if (status === "draft") return id;
    if (status === "live") {
      const messages = (await here.several(undefined, scheduled_at)).id;
      await release(messages);
      return messages;
    }
    await release(id);
    await world.settle();
    if (status === "paused") await act(id, "pause");
    if (status === "archived") await act(id, "archive");
    return id;
  };

  it("the whole matrix: an action that a status does not allow is a 409 naming it (CMP-2, CMP-25)", async () => {
    const here = await setting();
    const allowed: Record<string, Record<string, string>> = {
      draft: { archive: "archived" },
      scheduled: { pause: "paused", archive: "archived" },
      live: { pause: "paused", archive: "archived" },
      completed: { archive: "archived" },
      paused: { resume: "scheduled", archive: "archived" },
      archived: { unarchive: "scheduled" },
    };
    for (const status of campaignStatuses)
      for (const action of ["pause", "resume", "archive", "unarchive"]) {
        const id = await reach(status, here);
        const answer = await here.act(id, action);
        const expected = allowed[status]?.[action];
        if (expected)
          expect(answer, `${action} from ${status}`).toMatchObject({ status: 200, body: { status: expected } });
        else {
          expect(answer, `${action} from ${status}`).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
          expect(answer.body.message).toContain(status);
          expect((await here.get(id)).status).toBe(status);
        }
      }
  }, 60_000);

  it("an unknown action is a 422, an unknown campaign a 404 (CMP-17)", async () => {
    const { create, act } = await setting();
    const { id } = (await create()).body;
    expect((await act(id, "explode")).status).toBe(422);
    expect((await act(UNKNOWN, "pause")).status).toBe(404);
  });

  it("unarchive restores the previous status, for each of the five (CMP-23, CMP-24)", async () => {
    const here = await setting();
    for (const status of campaignStatuses.filter((status) => status !== "archived")) {
      const id = await reach(status, here);
      await here.act(id, "archive");
      expect((await here.act(id, "unarchive")).body.status, status).toBe(status);
    }
  });

  it("a message that came due while archived waits for pause and resume; a later one is sent at its time (AMB-54, AMB-67)", async () => {
    const { world, several, release, act, inbox } = await setting();
    const { id } = await several(at(HOUR), at(2 * DAY));
    await release(id);
    await act(id, "archive");
    await world.advance(DAY);
    expect((await act(id, "unarchive")).body.status).toBe("scheduled");
    await world.advance(HOUR);
    expect(await inbox()).toEqual([]);
    await world.advance(2 * DAY);
    expect(await inbox()).toEqual(["M1"]);
    await act(id, "pause");
    await act(id, "resume");
    await world.settle();
    expect(await inbox()).toEqual(["M1", "M0"]);
  });
});
