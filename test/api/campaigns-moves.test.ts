// Campaigns: statuses and moves, held messages, and the schedules that belong to a campaign (CMP).
import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import { at, withCampaigns } from "../support/campaigns.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => withCampaigns(await fresh());

describe("a paused campaign", () => {
  it("a message that falls due while its campaign is paused goes out after the resume (CMP-17, CMP-21, AMB-13)", async () => {
    const { world, several, release, act, inbox, get } = await setting();
    const { id } = await several(at(HOUR), at(9 * DAY));
    await release(id);
    expect((await act(id, "pause")).body.status).toBe("paused");
    await world.advance(2 * DAY);
    expect(await inbox()).toEqual([]);

    expect((await act(id, "resume")).body.status).toBe("scheduled");
    await world.settle();

    expect(await inbox()).toEqual(["M0"]);
    expect((await get(id)).status).toBe("live");
  });

  it("a resumed campaign goes on to its end (CMP-22, AMB-14)", async () => {
    const { world, several, release, act, inbox, get } = await setting();
    const { id } = await several(at(HOUR), at(9 * DAY));
    await release(id);
    await act(id, "pause");
    await world.advance(2 * DAY);
    await act(id, "resume");

    await world.advance(20 * DAY);

    expect(await inbox()).toEqual(["M0", "M1"]);
    expect((await get(id)).status).toBe("completed");
  });

  it("a pause before the scheduled time holds every message, in any order of the workers (CMP-21)", async () => {
    const { world, several, release, act, inbox } = await setting();
    const { id } = await several(at(HOUR), at(DAY));
    await release(id);
    await world.advance(HOUR - 1);

    const pause = act(id, "pause");
    await world.advance(1);
    const seen = await inbox();

    expect((await pause).status).toBe(200);
    await world.advance(2 * DAY);
    expect(await inbox()).toEqual(seen);
  });
});

it("a message whose release stopped half-way does not go out when its campaign is unarchived, but when it is resumed (AMB-54, CMP-24)", async () => {
  const making = requests({ naming: "JOB#authored" });
  const { world, several, release, act, inbox, get } = await withCampaigns(await fresh({ hooks: making.hooks }));
  making.fail();
  const { id } = await several(undefined, at(9 * DAY));
  await release(id);
  await act(id, "archive");
  making.pass();
  await world.advance(2 * DAY);

  await act(id, "unarchive");
  await world.settle();
  expect([await inbox(), (await get(id)).status]).toEqual([[], "live"]);

  await act(id, "pause");
  await act(id, "resume");
  await world.settle();
  expect(await inbox()).toEqual(["M0"]);
  await world.advance(9 * DAY);
  expect([await inbox(), (await get(id)).status]).toEqual([["M0", "M1"], "completed"]);
});

it.each(["pause", "archive"])(
  "a message whose release stopped half-way goes out at the resume, days after its time, where a campaign was held by: %s (CMP-22)",
  async (hold) => {
    const making = requests({ naming: "JOB#authored" });
    const { world, several, release, act, inbox, get } = await withCampaigns(await fresh({ hooks: making.hooks }));
    making.fail();
    const { id } = await several(at(HOUR), at(9 * DAY));
    await release(id);
    await act(id, hold);
    making.pass();
    await world.advance(2 * DAY);
    if (hold === "archive") for (const action of ["unarchive", "pause"]) await act(id, action);

    await act(id, "resume");
    await world.settle();

    expect([await inbox(), (await get(id)).status]).toEqual([["M0"], "live"]);
  },
);

it.each([
  { overdue: "skip", atOnce: [], later: [], status: "completed" },
  { overdue: "keep_distance", atOnce: ["M0"], later: ["M0", "M1"], status: "completed" },
])(
  "messages whose release stopped half-way go by the policy of the resume: $overdue (AMB-138)",
  async ({ overdue, atOnce, later, status }) => {
    const making = requests({ naming: "JOB#authored" });
    const { world, several, release, call, act, inbox, get } = await withCampaigns(
      await fresh({ hooks: making.hooks }),
    );
    making.fail();
    const { id } = await several(at(HOUR), at(3 * HOUR));
    await release(id);
    await act(id, "pause");
    making.pass();
    await world.advance(DAY / 2);

    await call(`PATCH /api/v1/campaigns/${id}`, { action: "resume", overdue });
    await world.settle();

    expect(await inbox()).toEqual(atOnce);
    await world.advance(2 * HOUR);
    expect([await inbox(), (await get(id)).status]).toEqual([later, status]);
  },
);

describe("messages that fell due while it was paused", () => {
  /** A campaign of messages 1, 3 and 60 hours from now that was paused for 50 hours and resumed. */
  async function resumedLate(overdue?: string) {
    const here = await setting();
    const { id } = await here.several(at(HOUR), at(3 * HOUR), at(60 * HOUR));
    await here.release(id);
    await here.act(id, "pause");
    await here.world.advance(50 * HOUR);
    const body = { action: "resume", ...(overdue && { overdue }) };
    const resumed = await here.call(`PATCH /api/v1/campaigns/${id}`, body);
    expect(resumed).toMatchObject({ status: 200, body: { status: "scheduled" } });
    await here.world.settle();
    const inboxAfter = async (ms: number) => {
      await here.world.advance(ms);
      return here.inbox();
    };
    return { ...here, id, inboxAfter };
  }

  it.each([undefined, "keep_distance"])(
    "a resume with overdue %s keeps the distances between messages (AMB-138)",
    async (overdue) => {
      const { inboxAfter } = await resumedLate(overdue);

      expect(await inboxAfter(0)).toEqual(["M0"]);
      expect(await inboxAfter(2 * HOUR - 1)).toEqual(["M0"]);
      expect(await inboxAfter(1)).toEqual(["M0", "M1"]);
      expect(await inboxAfter(57 * HOUR - 1)).toEqual(["M0", "M1"]);
      expect(await inboxAfter(1)).toEqual(["M0", "M1", "M2"]);
    },
  );

  it.each([
    ["keep_distance", [50 * HOUR, 52 * HOUR, 109 * HOUR]],
    ["now", [50 * HOUR, 50 * HOUR, undefined]],
    ["skip", [null, null, undefined]],
  ])("a campaign that was resumed with %s says when its messages go out instead (AMB-138)", async (overdue, moved) => {
    const { get, id } = await resumedLate(overdue);

    const { messages } = await get(id);

    expect(messages.map(({ moved_to }: { moved_to?: string | null }) => moved_to)).toEqual(
      moved.map((ms) => (typeof ms === "number" ? at(ms) : ms)),
    );
  });

  it("a resume keeps the distances of messages that are listed in another order than their times (AMB-138)", async () => {
    const { world, several, release, act, inbox } = await setting();
    const { id } = await several(at(3 * HOUR), at(HOUR));
    await release(id);
    await act(id, "pause");
    await world.advance(50 * HOUR);
    await act(id, "resume");
    await world.advance(2 * HOUR - 1);
    expect(await inbox()).toEqual(["M1"]);

    await world.advance(1);

    expect(await inbox()).toEqual(["M1", "M0"]);
  });

  it("a resume with overdue now sends all that fell due at once, and the others at their times (AMB-138)", async () => {
    const { inboxAfter } = await resumedLate("now");

    expect((await inboxAfter(0)).sort()).toEqual(["M0", "M1"]);
    expect(await inboxAfter(10 * HOUR - 1)).toHaveLength(2);
    expect(await inboxAfter(1)).toHaveLength(3);
  });

  it("a resume with overdue skip sends none that fell due, and the others at their times (AMB-138)", async () => {
    const { inboxAfter, get, id, job } = await resumedLate("skip");

    expect(await inboxAfter(10 * HOUR - 1)).toEqual([]);
    expect(await inboxAfter(1)).toEqual(["M2"]);
    const campaign = await get(id);
    expect(campaign.status).toBe("completed");
    expect((await job(campaign.messages[0].job_id)).status).toBe("canceled");
  });

  it("a resume that skips a message leaves the campaign scheduled until another one goes out (CMP-26, AMB-138)", async () => {
    const { inboxAfter, get, id } = await resumedLate("skip");

    await inboxAfter(10 * HOUR - 1);

    expect((await get(id)).status).toBe("scheduled");
  });

  it("a second pause moves messages once more, each as far from the one before as planned (AMB-138)", async () => {
    const { inboxAfter, act, world, id } = await resumedLate();
    await act(id, "pause");
    await world.advance(10 * HOUR);

    await act(id, "resume");
    await world.settle();

    expect(await inboxAfter(0)).toEqual(["M0", "M1"]);
    expect(await inboxAfter(57 * HOUR - 1)).toHaveLength(2);
    expect(await inboxAfter(1)).toEqual(["M0", "M1", "M2"]);
  });
});

describe("a job that is under way", () => {
  it.each([
    ["pause", []],
    ["archive", ["unarchive", "pause"]],
  ])("%s holds a job that is queued, and resume sends it (AMB-113)", async (action, backToPaused) => {
    const { world, several, release, act, inbox, job, get } = await setting();
    const { id } = await several(undefined);
    const [{ job_id }] = (await release(id)).body.messages;

    await act(id, action);
    await world.advance(2 * DAY);
    for (const move of backToPaused) {
      expect((await act(id, move)).status).toBe(200);
      await world.advance(HOUR);
    }

    expect(await inbox()).toEqual([]);
    expect((await job(job_id)).status).toBe("queued");
    await act(id, "resume");
    await world.settle();
    expect(await inbox()).toEqual(["M0"]);
    expect((await job(job_id)).status).toBe("completed");
    expect((await get(id)).status).toBe("completed");
  });

  it.each([
    ["just before its dispatch", "UpdateItem", "queued"],
    ["just after its dispatch, before its audience is planned", "SendMessageBatch", "processing"],
  ])("a job is held by a pause %s, and sent once on resume (AMB-113)", async (_, operation, status) => {
    const planning = requests({ of: "fan-out", operation });
    const { world, several, release, act, inbox, job } = await withCampaigns(await fresh({ hooks: planning.hooks }));
    const { id } = await several(undefined);
    const [{ job_id }] = (await release(id)).body.messages;
    let paused: number | undefined;
    planning.next(async () => {
      paused = (await act(id, "pause")).status;
    });

    await world.settle();
    await world.advance(2 * DAY);

    expect(paused).toBe(200);
    expect((await job(job_id)).status).toBe(status);
    expect(await inbox()).toEqual([]);
    await act(id, "resume");
    await world.settle();
    expect((await job(job_id)).status).toBe("completed");
    expect(await inbox()).toEqual(["M0"]);
  });
});
