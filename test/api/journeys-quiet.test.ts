// Steps after a send whose message waits for the end of quiet hours (AMB-136, D-QUIET).
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { attribute, branch, graphOf, journeySetting } from "../support/journeys.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** It is noon: quiet until ten the next morning. */
const QUIET = { start: "11:30", end: "10:00", timezone_mode: "workspace" };
const MORNING = 22 * HOUR;

async function quietJourneys() {
  const here = await journeySetting(await fresh());
  const { world, tenant, call, track, runs, at } = here;
  const { ios = "" } = await openChannels(world, tenant, "ios-push");
  await call("PATCH /api/v1/workspace", { quiet_hours: QUIET });
  const push = (title: string, next: string, more: object = {}) => ({
    send: { channel_ids: [ios], content: { title, body: "b" }, next, ...more },
  });
  const withPhone = async (name: string) => {
    const id = await here.person(name);
    await addPhone(world, tenant, id, "ios");
    return id;
  };
  const titles = async () => (await outboxOf(world)).map(({ title }) => title);
  /** When the only run of a journey goes on, after somebody began it. */
  const goesOn = async (journey: string, name: string) => {
    await track(name, "signed_up");
    return (await runs(journey))[0].waiting_until;
  };
  return { ...here, push, withPhone, titles, goesOn, at };
}

it("two messages that a delay keeps apart do not go out together when quiet hours end (AMB-136, D-QUIET)", async () => {
  const { world, active, push, withPhone, titles, track } = await quietJourneys();
  await active(
    graphOf({
      first: push("first", "pause"),
      pause: { delay: { duration: "1h", next: "second" } },
      second: push("second", "end"),
      end: "exit",
    }),
  );
  await withPhone("ada");
  await track("ada", "signed_up");
  expect(await titles()).toEqual([]);
  await world.advance(MORNING);
  expect(await titles()).toEqual(["first"]);
  await world.advance(HOUR - MINUTE);
  expect(await titles()).toEqual(["first"]);
  await world.advance(2 * MINUTE);

  expect(await titles()).toEqual(["first", "second"]);
});

it("a wait behind a branch ends its duration after the message that waits goes out (AMB-136, D-QUIET)", async () => {
  const { active, push, withPhone, goesOn, at } = await quietJourneys();
  const wait = { event_name: "paid", within: "1h", on_event: "end", on_timeout: "end" };
  const id = await active(
    graphOf({
      first: push("first", "way"),
      way: branch(attribute("vip", true), "end", "wait"),
      wait: { wait_for_event: wait },
      end: "exit",
    }),
  );
  await withPhone("ada");

  expect(await goesOn(id, "ada")).toBe(at(MORNING + HOUR));
});

const pause = { delay: { duration: "1h", next: "end" } };

it("a delay behind two messages ends its duration after the one that waits, though the other goes out at once (AMB-136, D-QUIET)", async () => {
  const { active, push, send, withPhone, goesOn, at } = await quietJourneys();
  const id = await active(
    graphOf({ first: push("first", "second"), second: send("inbox", "pause"), pause, end: "exit" }),
  );
  await withPhone("ada");

  expect(await goesOn(id, "ada")).toBe(at(MORNING + HOUR));
});

it("a delay behind two messages ends its duration after the one that waits, though the other waited for its canary (AMB-136, F21)", async () => {
  const { world, active, push, send, withPhone, track, runs, at } = await quietJourneys();
  const safety = { canary_percent: 1, canary_wait_minutes: 30 };
  const second = { send: { ...send("inbox", "pause").send, safety } };
  const id = await active(graphOf({ first: push("first", "second"), second, pause, end: "exit" }));
  // One in a hundred is in the canary, and does not wait.
  for (const name of ["ada", "bob", "cyd"]) {
    await withPhone(name);
    await track(name, "signed_up");
  }
  const [waiting] = (await runs(id)).filter((run: { current_step: string }) => run.current_step === "second");

  await world.advance(HOUR);

  const [waited] = (await runs(id)).filter((run: { id: string }) => run.id === waiting.id);
  expect(waited.waiting_until).toBe(at(MORNING + HOUR));
});

it("a delay is not longer where no message waits: it is transactional, of the app, or reaches nobody (AMB-136)", async () => {
  const { active, push, send, withPhone, person, goesOn, onEvent, track, runs, at } = await quietJourneys();
  const bill = await active(graphOf({ a: push("bill", "pause", { category: "transactional" }), pause, end: "exit" }));
  await withPhone("ada");
  expect(await goesOn(bill, "ada")).toBe(at(HOUR));
  const inbox = await active(graphOf({ a: send("inbox", "pause"), pause, end: "exit" }), { trigger: onEvent("seen") });
  await track("ada", "seen");
  expect((await runs(inbox))[0].waiting_until).toBe(at(HOUR));
  const none = await active(graphOf({ a: push("push", "pause"), pause, end: "exit" }), { trigger: onEvent("none") });
  await person("bob");
  await track("bob", "none");

  expect((await runs(none))[0].waiting_until).toBe(at(HOUR));
});

it("a message that waits is not sent to somebody whose run exits or is canceled meanwhile, but to one that is completed (JND-9, D-QUIET)", async () => {
  const { world, call, active, push, withPhone, track, runs, stats } = await quietJourneys();
  const exits = [{ event: { name: "paid" } }];
  const id = await active(
    graphOf(
      {
        pay: push("pay", "way"),
        way: branch(attribute("vip", true), "end", "pause"),
        pause: { delay: { duration: "1d", next: "end" } },
        end: "exit",
      },
      exits,
    ),
  );
  const people: Record<string, string> = {};
  for (const name of ["ada", "bob", "eve", "sue"]) {
    people[name] = await withPhone(name);
    if (name === "eve") await call(`PATCH /api/v1/subscribers/${people[name]}`, { attributes: { vip: true } });
    await track(name, "signed_up");
  }
  await track("ada", "paid");
  await track("eve", "paid");
  const runOf = async (name: string) =>
    (await runs(id)).find((run: { subscriber_id: string }) => run.subscriber_id === people[name]);
  await call(`POST /api/v1/journeys/${id}/runs/${(await runOf("bob")).id}/cancel`);
  expect([(await runOf("ada")).status, (await runOf("eve")).status]).toEqual(["exited", "completed"]);
  await world.advance(MORNING + MINUTE);

  expect((await outboxOf(world)).map(({ subscriber_id }) => subscriber_id).sort()).toEqual(
    [people.eve, people.sue].sort(),
  );
  expect((await stats(id)).steps.pay.outcomes).toEqual({ sent: 2, "skipped:canceled": 2 });
});

/** The first visit pushes and ends at once, or waits as long as asked; a later one, of a vip, waits to be paid. */
const revisited = (push: Record<string, unknown>, pause: Record<string, unknown>) => {
  const paid = { wait_for_event: { event_name: "never", on_event: "end" } };
  const steps = { way: branch(attribute("vip", true), "paid", "pay"), paid, pay: push, pause, end: "exit" as const };
  return graphOf(steps, [{ event: { name: "paid" } }]);
};

it("a message that waits is sent although a later visit of its person exits (JND-9, JND-12, D-QUIET)", async () => {
  const { world, person, active, push, withPhone, track, titles } = await quietJourneys();
  await active(revisited(push("pay", "end"), pause), { entry_rules: { allow_reentry: true } });
  await withPhone("ada");
  await track("ada", "signed_up");
  await person("ada", { vip: true });
  await world.advance(MINUTE);
  for (const event of ["signed_up", "paid"]) await track("ada", event);

  await world.advance(MORNING);

  expect(await titles()).toEqual(["pay"]);
});

it("a message that waits is not sent to who exited, and has come again since (JND-9, JND-12, D-QUIET)", async () => {
  const { world, person, active, push, withPhone, track, runs, stats, titles } = await quietJourneys();
  const id = await active(revisited(push("pay", "pause"), pause), { entry_rules: { allow_reentry: true } });
  await withPhone("ada");
  for (const event of ["signed_up", "paid"]) await track("ada", event);
  await person("ada", { vip: true });
  await world.advance(MINUTE);
  await track("ada", "signed_up");
  expect((await runs(id)).map(({ status }: { status: string }) => status)).toEqual(["active", "exited"]);

  await world.advance(MORNING);

  expect(await titles()).toEqual([]);
  expect((await stats(id)).steps.pay.outcomes).toEqual({ "skipped:canceled": 1 });
});
