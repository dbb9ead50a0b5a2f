// The time of a run is that of what happens to it, not of the worker that looks (AMB-136).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { branch, delayed, graphOf } from "../support/journeys.ts";
import { ends, stallingSetting, wait } from "../support/stalling.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const setting = async () => stallingSetting(await fresh());

describe("waits", () => {
  const two = { one: wait("paid", "two"), two: wait("shipped", "done") };
  const three = { one: wait("paid", "two"), two: wait("paid", "three"), three: wait("paid", "done") };
  it.each([
    {
      title: "each of two waits is ended by its event of one late batch",
      steps: two,
      batch: { shipped: 20, signed_up: 40, paid: 30 },
      expected: { one: { "wait:event": 1 }, two: { "wait:event": 1 }, done: { exit: 1 } },
    },
    {
      title: "what occurred before the event that ended the wait before ends no wait",
      steps: two,
      batch: { signed_up: 40, shipped: 30, paid: 20 },
      expected: { one: { "wait:event": 1 } },
    },
    {
      title: "two events of one instant end two waits, and not a third",
      steps: three,
      batch: { signed_up: 2, paid: [1, 1] },
      expected: { one: { "wait:event": 1 }, two: { "wait:event": 1 } },
    },
    {
      title: "an event that came with a late trigger counts, if it occurred within the wait",
      steps: { one: wait("paid", "done") },
      batch: { signed_up: 180, paid: 150 },
      expected: { one: { "wait:event": 1 }, done: { exit: 1 } },
    },
  ])("$title (AMB-136)", async ({ steps, batch, expected }) => {
    const { active, accept, at, outcomes, world } = await setting();
    const id = await active(graphOf({ ...steps, ...ends }));
    const events = Object.entries<number | number[]>(batch).flatMap(([event_name, ago]) =>
      [ago].flat().map((minutes) => ({ event_name, occurred_at: at(-minutes * MINUTE) })),
    );
    await accept(...events);
    await world.advance(MINUTE);

    expect(await outcomes(id)).toEqual(expected);
  });

  it.each([
    ["after the trigger", ["signed_up", "paid"], { "wait:event": 1 }],
    ["before the trigger", ["paid", "signed_up"], undefined],
  ])("an event of the same instant that is %s in its batch (AMB-136)", async (_, names, expected) => {
    const { active, accept, at, outcomes, world } = await setting();
    const id = await active(graphOf({ one: wait("paid", "done"), ...ends }));
    await accept(
      ...names.map((event_name) => ({ event_name, occurred_at: at(-MINUTE), idempotency_key: `key-${event_name}` })),
    );
    await world.advance(MINUTE);

    expect((await outcomes(id)).one).toEqual(expected);
  });

  it.each([
    ["came before its end counts, also where no worker looked until later", 59, 3 * HOUR, "wait:event"],
    ["came after its end does not count, also where no worker looked before", 61, 61 * MINUTE, "wait:timeout"],
  ])("an event that occurred in the wait and %s (AMB-136)", async (_, came, looked, outcome) => {
    const { active, accept, at, outcomes, stall, track, world } = await setting();
    const id = await active(graphOf({ one: wait("paid", "done"), ...ends }));
    await track("ada", "signed_up");
    stall(came * MINUTE);
    await accept({ event_name: "paid", occurred_at: at(10 * MINUTE) });
    stall(looked);
    await world.settle();

    expect((await outcomes(id)).one).toEqual({ [outcome]: 1 });
  });

  it("a wait that a late trigger begins ends when it would have ended (AMB-136)", async () => {
    const { active, accept, at, outcomes, world } = await setting();
    const id = await active(graphOf({ one: wait("paid", "done", { within: "2h" }), ...ends }));
    await accept({ event_name: "signed_up", occurred_at: at(-90 * MINUTE) });
    await world.advance(31 * MINUTE);

    expect((await outcomes(id)).one).toEqual({ "wait:timeout": 1 });
  });

  it("a queue that is an hour behind changes no outcome (AMB-136)", async () => {
    const steps = { one: wait("paid", "two"), two: wait("shipped", "done", { within: "30m" }), ...ends };
    const lives = await Promise.all(
      [false, true].map(async (isBehind) => {
        const { active, accept, outcomes, stall, world } = await setting();
        const id = await active(graphOf(steps));
        for (const [minute, event_name] of [
          [0, "signed_up"],
          [20, "paid"],
          [60, "shipped"],
        ] as const) {
          stall(minute * MINUTE);
          await accept({ event_name });
          if (!isBehind) await world.settle();
        }
        stall(3 * HOUR);
        await world.settle();
        await world.advance(MINUTE);
        return outcomes(id);
      }),
    );

    expect(lives[0]).toEqual({ one: { "wait:event": 1 }, two: { "wait:timeout": 1 }, late: { exit: 1 } });
    expect(lives[1]).toEqual(lives[0]);
  });

  it("a loop of short waits that are all over is left behind, a hundred steps at a time (AMB-136)", async () => {
    const { active, accept, at, outcomes, world } = await setting();
    const id = await active(
      graphOf({
        one: { wait_for_event: { event_name: "paid", within: "1m", on_event: "done", on_timeout: "one" } },
        done: "exit",
      }),
    );
    await accept({ event_name: "signed_up", occurred_at: at(-5 * HOUR) });
    await world.settle();

    expect((await outcomes(id)).one).toEqual({ "wait:timeout": 300 });
  });
});

describe("delays and sends", () => {
  it("a delay after a late trigger lasts as long as any other (AMB-136)", async () => {
    const { active, accept, at, outcomes, world } = await setting();
    const id = await active(delayed("1h"));
    await accept({ event_name: "signed_up", occurred_at: at(-2 * DAY) });
    await world.advance(59 * MINUTE);
    expect(await outcomes(id)).toEqual({});
    await world.advance(2 * MINUTE);
    expect((await outcomes(id)).pause).toEqual({ delayed: 1 });
  });

  it("what a late trigger sends is followed by a whole wait, which takes what happened before it (AMB-136)", async () => {
    const { active, accept, ada, at, inbox, send, world } = await setting();
    await active(
      graphOf({ hello: send("Hello", "one"), one: wait("paid", "done"), late: send("Reminder"), done: "exit" }),
    );
    await accept({ event_name: "signed_up", occurred_at: at(-2 * DAY) });
    await world.advance(59 * MINUTE);
    expect(await inbox(ada)).toEqual(["Hello"]);
    await world.advance(2 * MINUTE);
    expect(await inbox(ada)).toEqual(["Hello", "Reminder"]);
  });

  const pause = { delay: { duration: "1h", next: "one" } };
  it.each<[what: string, step: Parameters<typeof graphOf>[0], outcome: string]>([
    ["a wait counts from the end of a delay", { one: wait("paid", "done", { within: "30m" }) }, "wait:event"],
    [
      "a branch asks for what had happened",
      { one: branch({ event: { name: "paid" } }, "done", "late") },
      "branch:else",
    ],
  ])("%s when the run came to it, not when a worker saw it (AMB-136)", async (_, step, outcome) => {
    const { active, accept, outcomes, stall, track, world } = await setting();
    const id = await active(graphOf({ pause, ...step, ...ends }));
    await track("ada", "signed_up");
    stall(70 * MINUTE);
    await accept({ event_name: "paid" });
    stall(3 * HOUR);
    await world.settle();
    await world.advance(MINUTE);

    expect((await outcomes(id)).one).toEqual({ [outcome]: 1 });
  });
});

describe("ends", () => {
  it("a run ends when its event occurred (AMB-136)", async () => {
    const { active, accept, at, runs, stall, world } = await setting();
    const id = await active(graphOf({ one: wait("paid", "done"), ...ends }));
    await accept({ event_name: "signed_up" });
    stall(20 * MINUTE);
    await accept({ event_name: "paid" });
    stall(2 * HOUR);
    await world.settle();
    await world.advance(MINUTE);

    expect(await runs(id)).toMatchObject([{ entered_at: at(0), ended_at: at(20 * MINUTE), status: "completed" }]);
  });

  it("an exit event after the end of a wait does not undo what followed at once (AMB-136)", async () => {
    const { active, accept, outcomes, runs, stall, track, world } = await setting();
    const id = await active(graphOf({ one: wait("paid", "done"), ...ends }, [{ event: { name: "left" } }]));
    await track("ada", "signed_up");
    stall(70 * MINUTE);
    await accept({ event_name: "left" });
    stall(2 * HOUR);
    await world.settle();

    expect(await outcomes(id)).toEqual({ one: { "wait:timeout": 1 }, late: { exit: 1 } });
    expect(await runs(id)).toMatchObject([{ status: "completed" }]);
  });

  it("an exit event ends a run before a send that is late (AMB-136)", async () => {
    const { active, accept, ada, at, inbox, runs, send, stall, track, world } = await setting();
    const id = await active(
      graphOf({ one: wait("paid", "done"), late: send("Reminder"), done: "exit" }, [{ event: { name: "left" } }]),
    );
    await track("ada", "signed_up");
    stall(70 * MINUTE);
    await accept({ event_name: "left" });
    stall(2 * HOUR);
    await world.settle();

    expect(await runs(id)).toMatchObject([{ status: "exited", ended_at: at(70 * MINUTE) }]);
    expect(await inbox(ada)).toEqual([]);
  });

  it("an exit event before the trigger ends no run (JND-8, AMB-136)", async () => {
    const { active, accept, at, outcomes, runs, world } = await setting();
    const id = await active(graphOf({ one: wait("paid", "done"), ...ends }, [{ event: { name: "left" } }]));
    await accept({ event_name: "left", occurred_at: at(-2 * MINUTE) });
    await accept({ event_name: "signed_up", occurred_at: at(-MINUTE) });
    await world.advance(2 * HOUR);

    expect(await runs(id)).toMatchObject([{ status: "completed" }]);
    expect((await outcomes(id)).one).toEqual({ "wait:timeout": 1 });
  });

  it.each(["the first", "the second"])(
    "of two exit events the one that occurred first ends the run, where it is %s of the conditions (AMB-136, JND-9)",
    async (which) => {
      const { active, accept, at, outcomes, runs, stall, world } = await setting();
      const names = which === "the first" ? ["left", "banned"] : ["banned", "left"];
      const exits = names.map((name) => ({ event: { name } }));
      const id = await active(graphOf({ one: wait("paid", "done"), ...ends }, exits));
      await accept({ event_name: "signed_up" });
      stall(50 * MINUTE);
      await accept({ event_name: "left" });
      stall(70 * MINUTE);
      await accept({ event_name: "banned" });
      await world.settle();

      const end_reason = `exit_condition:${names.indexOf("left")}`;
      expect(await runs(id)).toMatchObject([{ status: "exited", ended_at: at(50 * MINUTE), end_reason }]);
      expect(await outcomes(id)).toEqual({});
    },
  );
});
