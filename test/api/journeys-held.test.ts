// Steps behind a message that quiet hours put off, and that a pause or a suspension holds beyond their end (AMB-136).
import { expect, it } from "vitest";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** It is noon: quiet until ten the next morning. */
const QUIET = { start: "11:30", end: "10:00", timezone_mode: "workspace" };

/** Ada, whose first message waits for the morning. A second one follows a delay, or a wait, of an hour. */
async function twoMessages(kind: "delay" | "wait" = "delay", quiet: object = QUIET) {
  const here = await journeySetting(await fresh());
  const { world, tenant, call, active, track } = here;
  const { ios = "" } = await openChannels(world, tenant, "ios-push");
  await call("PATCH /api/v1/workspace", { quiet_hours: quiet });
  const push = (title: string, next: string) => ({
    send: { channel_ids: [ios], content: { title, body: "b" }, next },
  });
  const pause =
    kind === "delay"
      ? { delay: { duration: "1h", next: "second" } }
      : { wait_for_event: { event_name: "paid", within: "1h", on_event: "end", on_timeout: "second" } };
  const journey = await active(
    graphOf({ first: push("first", "pause"), pause, second: push("second", "end"), end: "exit" }),
  );
  const ada = await here.person("ada");
  await addPhone(world, tenant, ada, "ios");
  await track("ada", "signed_up");
  const sent = async () => (await outboxOf(world)).map(({ title, at }) => ({ title, at: Date.parse(at) }));
  const distance = async () => {
    const [first, second] = await sent();
    expect([first?.title, second?.title]).toEqual(["first", "second"]);
    return second!.at - first!.at;
  };
  return { ...here, journey, sent, distance };
}

it.each(["delay", "wait"] as const)(
  "a journey that is resumed in quiet hours does not send two messages at once that a %s keeps apart (AMB-136, D-QUIET)",
  async (kind) => {
    const { world, call, journey, distance } = await twoMessages(kind);
    await world.advance(21 * HOUR);
    await call(`POST /api/v1/journeys/${journey}/pause`);
    await world.advance(4 * HOUR);
    await call(`POST /api/v1/journeys/${journey}/activate`);
    await world.advance(3 * DAY);

    expect(await distance()).toBeGreaterThanOrEqual(HOUR);
  },
);

it("a journey that was paused for long sends its messages in their order, as far apart as planned (AMB-136, D-QUIET)", async () => {
  const quiet = { start: "11:30", end: "14:00", timezone_mode: "workspace" };
  const { world, call, journey, distance } = await twoMessages("delay", quiet);
  await world.advance(HOUR);
  await call(`POST /api/v1/journeys/${journey}/pause`);
  await world.advance(10 * DAY + 4 * HOUR);
  await call(`POST /api/v1/journeys/${journey}/activate`);
  await world.advance(2 * DAY);

  expect(await distance()).toBeGreaterThanOrEqual(HOUR);
});

it("a workspace that was suspended when quiet hours ended sends the messages of a journey in their order, as far apart as planned (AMB-86, AMB-136)", async () => {
  const quiet = { start: "11:30", end: "14:00", timezone_mode: "workspace" };
  const { world, tenant, distance } = await twoMessages("delay", quiet);
  await world.advance(HOUR);
  await operate(world, tenant, { status: "suspended" });
  await world.advance(8 * HOUR);
  await operate(world, tenant, { status: "active" });
  await world.advance(DAY);

  expect(await distance()).toBeGreaterThanOrEqual(HOUR);
});
