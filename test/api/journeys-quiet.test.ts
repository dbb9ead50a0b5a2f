// What a delay keeps apart is not sent together at the end of quiet hours: it lasts from when the send before it leaves (AMB-136).
import { beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { mailsOf } from "../support/mails.ts";
import { openChannels } from "../support/reached.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** Eleven in the evening, by the clock of UTC. */
const EVENING = Math.ceil(START / DAY) * DAY + 23 * HOUR;

async function quietSetting(hours: object = {}) {
  const world = await fresh();
  const setting = await journeySetting(world);
  const { tenant, call, person, track } = setting;
  const { email } = await openChannels(world, tenant, "email");
  const quiet_hours = { start: "22:00", end: "07:00", timezone_mode: "workspace", ...hours };
  expect((await call("PATCH /api/v1/workspace", { timezone: "UTC", quiet_hours })).status).toBe(200);
  await tenant.upsert({ external_id: "ada", email: "ada@example.com" });
  const by = (channel: string | undefined, title: string, next?: string, more: object = {}) => ({
    send: { channel_ids: [channel], content: { title, body: "b" }, ...(next && { next }), ...more },
  });
  const begin = async () => {
    world.clock.jumpTo(EVENING);
    await track("ada", "signed_up");
  };
  const mails = async () => (await mailsOf(world)).map(({ headers }) => headers.Subject);
  const mailsAt = async (hour: number, minute = 1) => {
    await world.advance(EVENING - 23 * HOUR + DAY + hour * HOUR + minute * MINUTE - world.clock.now());
    return mails();
  };
  return { ...setting, person, email, by, begin, mails, mailsAt };
}

describe("a journey in quiet hours", () => {
  let setting: Awaited<ReturnType<typeof quietSetting>>;

  beforeEach(async () => {
    setting = await quietSetting();
  });

  it("keeps its mails as far apart as its delay says (AMB-136)", async () => {
    const { active, email, by, begin, mails, mailsAt } = setting;
    await active(
      graphOf({
        one: by(email, "One", "pause"),
        pause: { delay: { duration: "1h", next: "two" } },
        two: by(email, "Two"),
      }),
    );
    await begin();

    expect(await mails()).toEqual([]);
    expect(await mailsAt(7)).toEqual(["One"]);
    expect(await mailsAt(7, 58)).toEqual(["One"]);
    expect(await mailsAt(8)).toEqual(["One", "Two"]);
  });

  it("keeps them apart past a branch, and a wait lasts from when the mail leaves (AMB-136)", async () => {
    const { active, email, by, begin, mailsAt } = setting;
    const isAda = { attribute: { external_id: { $eq: "ada" } } };
    await active(
      graphOf({
        one: by(email, "One", "which"),
        which: branch(isAda, "wait", "wait"),
        wait: { wait_for_event: { event_name: "paid", within: "1h", on_event: "two", on_timeout: "two" } },
        two: by(email, "Two"),
      }),
    );
    await begin();

    expect(await mailsAt(7)).toEqual(["One"]);
    expect(await mailsAt(8)).toEqual(["One", "Two"]);
  });

  it("does not hold back what follows a message of an inbox or a transactional mail (AMB-136)", async () => {
    const { active, channel, email, by, begin, mailsAt, inbox, person } = setting;
    const pause = { delay: { duration: "1h", next: "two" } };
    await active(
      graphOf({
        one: by(channel, "One", "receipt"),
        receipt: by(email, "Receipt", "pause", { category: "transactional" }),
        pause,
        two: by(channel, "Two"),
      }),
    );
    await begin();

    expect(await mailsAt(0)).toEqual(["Receipt"]);
    expect(await inbox(await person("ada"))).toEqual(["One", "Two"]);
  });

  it("is walked as it goes (F3, AMB-136)", async () => {
    const { call, create, email, by, person } = setting;
    const id = await create(
      graphOf({
        one: by(email, "One", "pause"),
        pause: { delay: { duration: "1h", next: "two" } },
        two: by(email, "Two"),
      }),
    );
    const event = { event_name: "signed_up", occurred_at: timestamp(EVENING) };
    const body = { subscriber_id: await person("ada"), events: [event] };
    const { steps } = (await call(`POST /api/v1/journeys/${id}/simulate`, body)).body;

    const sent = steps.filter(({ outcome }: { outcome: string }) => outcome === "sent");
    expect(sent.map(({ at }: { at: string }) => at)).toEqual([timestamp(EVENING), timestamp(EVENING + 9 * HOUR)]);
  });
});
