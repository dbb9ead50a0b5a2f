// Steps behind a message that quiet hours put off, and that a pause or a suspension holds beyond their end (AMB-136).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** It is noon: quiet until ten the next morning. */
const QUIET = { start: "11:30", end: "10:00", timezone_mode: "workspace" };

/** Ada, who has a phone, in a workspace with quiet hours. */
async function quietSetting(quiet: object = QUIET) {
  const here = await journeySetting(await fresh());
  const { world, tenant, call } = here;
  const { ios = "" } = await openChannels(world, tenant, "ios-push");
  await call("PATCH /api/v1/workspace", { quiet_hours: quiet });
  const ada = await here.person("ada");
  await addPhone(world, tenant, ada, "ios");
  const push = (title: string, next: string, more: string[] = []) => ({
    send: { channel_ids: [ios, ...more], content: { title, body: "b" }, next },
  });
  const distance = async () => {
    const [first, second] = (await outboxOf(world)).map(({ title, at }) => ({ title, at: Date.parse(at) }));
    expect([first?.title, second?.title]).toEqual(["first", "second"]);
    return second!.at - first!.at;
  };
  return { ...here, push, distance };
}

interface HoldCase {
  kind?: "delay" | "wait";
  quiet?: object;
  /** The first message is for the inbox too. */
  isInInbox?: boolean;
}

/** A message that waits for the morning. A second one follows a delay, or a wait, of an hour. */
async function twoMessages({ kind = "delay", quiet = QUIET, isInInbox = false }: HoldCase = {}) {
  const here = await quietSetting(quiet);
  const { active, channel, push, track } = here;
  const pause =
    kind === "delay"
      ? { delay: { duration: "1h", next: "second" } }
      : { wait_for_event: { event_name: "paid", within: "1h", on_event: "end", on_timeout: "second" } };
  const first = push("first", "pause", isInInbox ? [channel] : []);
  const begin = async () => {
    const journey = await active(graphOf({ first, pause, second: push("second", "end"), end: "exit" }));
    await track("ada", "signed_up");
    return journey;
  };
  return { ...here, begin };
}

it.each(["delay", "wait"] as const)(
  "a journey that is resumed in quiet hours does not send two messages at once that a %s keeps apart (AMB-136, D-QUIET)",
  async (kind) => {
    const { world, call, begin, distance } = await twoMessages({ kind });
    const journey = await begin();
    await world.advance(21 * HOUR);
    await call(`POST /api/v1/journeys/${journey}/pause`);
    await world.advance(4 * HOUR);
    await call(`POST /api/v1/journeys/${journey}/activate`);
    await world.advance(DAY);

    expect(await distance()).toBeGreaterThanOrEqual(HOUR);
  },
);

it("a journey that was paused for long sends its messages in their order, as far apart as planned (AMB-136, D-QUIET)", async () => {
  const quiet = { start: "11:30", end: "14:00", timezone_mode: "workspace" };
  const { world, call, begin, distance } = await twoMessages({ quiet });
  const journey = await begin();
  await world.advance(HOUR);
  await call(`POST /api/v1/journeys/${journey}/pause`);
  await world.advance(3 * DAY + 4 * HOUR);
  await call(`POST /api/v1/journeys/${journey}/activate`);
  await world.advance(2 * DAY);

  expect(await distance()).toBeGreaterThanOrEqual(HOUR);
});

it("a workspace that was suspended when quiet hours ended sends the messages of a journey in their order, as far apart as planned (AMB-86, AMB-136)", async () => {
  const quiet = { start: "11:30", end: "14:00", timezone_mode: "workspace" };
  const { world, tenant, begin, distance } = await twoMessages({ quiet });
  await begin();
  await world.advance(HOUR);
  await operate(world, tenant, { status: "suspended" });
  await world.advance(8 * HOUR);
  await operate(world, tenant, { status: "active" });
  await world.advance(DAY);

  expect(await distance()).toBeGreaterThanOrEqual(HOUR);
});

it("a message keeps its distance to one that a pause holds at the end of quiet hours, though the inbox was refused its part before (AMB-136, D-CAP)", async () => {
  const { world, call, channel, begin, distance } = await twoMessages({ isInInbox: true });
  const frequency_caps = [{ category: "marketing", channel_class: "in_app", max: 1, per: "week" }];
  await call("PATCH /api/v1/workspace", { frequency_caps });
  const before = { title: "before", body: "b", external_ids: ["ada"], channel_ids: [channel] };
  expect((await call("POST /api/v1/notifications", before)).status).toBe(201);
  await world.settle();
  const journey = await begin();
  await world.advance(21 * HOUR);
  await call(`POST /api/v1/journeys/${journey}/pause`);
  await world.advance(4 * HOUR);
  await call(`POST /api/v1/journeys/${journey}/activate`);
  await world.advance(DAY);

  expect(await distance()).toBeGreaterThanOrEqual(HOUR);
});

it.each(["in time", "late"])(
  "a delay behind an event lasts from that, whenever the message before the event goes out: it came %s (AMB-136)",
  async (how) => {
    const { world, tenant, active, at, push, track } = await quietSetting();
    const paid = { wait_for_event: { event_name: "paid", within: "1d", on_event: "first", on_timeout: "end" } };
    const shipped = { wait_for_event: { event_name: "shipped", within: "1d", on_event: "pause", on_timeout: "end" } };
    const pause = { delay: { duration: "1h", next: "second" } };
    const steps = {
      paid,
      first: push("first", "shipped"),
      shipped,
      pause,
      second: push("second", "end"),
      end: "exit",
    } as const;
    await active(graphOf(steps));
    await track("ada", "signed_up");
    await world.advance(10 * MINUTE);
    const events = ["paid", "shipped"].map((event_name, i) => ({
      ...{ event_name, external_id: "ada" },
      ...(how === "late" && { occurred_at: at((5 + i) * MINUTE) }),
    }));
    for (const some of how === "late" ? [events] : events.map((event) => [event])) {
      await world.call("POST /v1/events", { as: tenant.server, body: { events: some } });
      await world.settle();
    }
    await world.advance(2 * DAY);

    const [one, other, ...more] = (await outboxOf(world)).map(({ at: time }) => Date.parse(time));
    expect(more).toEqual([]);
    expect(Math.abs(other! - one!)).toBeLessThan(HOUR);
  },
);
