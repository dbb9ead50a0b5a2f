// Runs of journeys: who enters, the steps they take, and the conditions that end them (JND, JST, D-JNY-RUN).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { timeOfUuid } from "../../shared/kernel/ids.ts";
import { attribute, branch, countedSetting, delayed, graphOf } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => countedSetting(await fresh());
const statuses = (runs: { status: string }[]) => runs.map(({ status }) => status);

describe("a story of 30 days", () => {
  it("from an event to the exit (JND-1, JND-3, JND-4, JND-5, JND-6, JND-7, JND-10, JND-13, JND-14, JND-15, JNY-6, JST-1, JST-2, JST-3, D-INTJOBS)", async () => {
    const { world, call, send, active, person, track, stats, runs, inbox, recounted } = await setting();
    const id = await active(
      graphOf({
        welcome: send("Welcome", "pause"),
        pause: { delay: { duration: "3d", next: "paying" } },
        paying: branch({ attribute: { plan: { $eq: "pro" } } }, "thanks", "wait"),
        thanks: send("Thanks"),
        wait: {
          wait_for_event: {
            event_name: "bought",
            where: { price: { $gte: 10 } },
            within: "7d",
            on_event: "congratulate",
            on_timeout: "again",
          },
        },
        congratulate: send("Congratulations", "end"),
        again: send("Come back", "last"),
        last: { delay: { duration: "20d", next: "end" } },
        end: "exit",
      }),
    );
    const [ada, bob, eve] = [await person("ada", { plan: "pro" }), await person("bob"), await person("eve")];
    for (const who of ["ada", "bob", "eve"]) await track(who, "signed_up");
    expect([await inbox(ada), await inbox(bob)]).toEqual([["Welcome"], ["Welcome"]]);
    expect((await stats(id)).steps.pause).toEqual({ active: 3, outcomes: {} });
    await world.advance(3 * DAY);
    expect([await inbox(ada), await inbox(bob)]).toEqual([["Welcome", "Thanks"], ["Welcome"]]);
    expect((await stats(id)).steps.wait.active).toBe(2);
    await world.advance(DAY);
    await track("bob", "bought", { properties: { price: 5 } });
    expect(await inbox(bob)).toEqual(["Welcome"]);
    await world.advance(DAY);
    await track("bob", "bought", { properties: { price: 10 } });
    expect(await inbox(bob)).toEqual(["Welcome", "Congratulations"]);
    await world.advance(5 * DAY);
    expect(await inbox(eve)).toEqual(["Welcome", "Come back"]);
    await world.advance(20 * DAY);
    const { runs: counts, steps } = await stats(id);
    expect(counts).toEqual({ active: 0, completed: 3, exited: 0, canceled: 0 });
    expect(steps).toEqual({
      welcome: { active: 0, outcomes: { sent: 3 } },
      pause: { active: 0, outcomes: { delayed: 3 } },
      paying: { active: 0, outcomes: { "branch:then": 1, "branch:else": 2 } },
      thanks: { active: 0, outcomes: { sent: 1 } },
      wait: { active: 0, outcomes: { "wait:event": 1, "wait:timeout": 1 } },
      congratulate: { active: 0, outcomes: { sent: 1 } },
      again: { active: 0, outcomes: { sent: 1 } },
      last: { active: 0, outcomes: { delayed: 1 } },
      end: { active: 0, outcomes: { exit: 2 } },
    });
    await recounted(id);
    const [listed] = (await call("GET /api/v1/journeys")).body.journeys;
    expect([listed.entered, listed.completed]).toEqual([3, 3]);
    expect((await call(`GET /api/v1/journeys/${id}`)).body).toMatchObject({ entered: 0, completed: 0 });
    const [run] = await runs(id, `?subscriber_id=${ada}`);
    expect(run).toMatchObject({ status: "completed", version: 1, current_step: "thanks", subscriber_id: ada });
    const sends = (await call(`GET /api/v1/notifications?source_type=journey&source_id=${id}`)).body.items;
    const ended = { status: "completed", counts: { sent: 1, delivered: 1 } };
    expect(sends).toHaveLength(6);
    for (const one of sends) expect(one).toMatchObject(ended);
    for (const one of sends) expect(timestamp(timeOfUuid(one.id))).toBe(one.created_at);
  });
});

describe("entry", () => {
  it("entering and leaving a segment (JND-10, JNY-2)", async () => {
    const { world, call, active, person, runs, tenant } = await setting();
    const rule = attribute("plan", "pro");
    const segment = (await call("POST /api/v1/segments", { name: "Paying", is_dynamic: true, rule })).body.id;
    await world.settle();
    const entered = await active(delayed("1h"), { trigger: { type: "segment_entered", segment_id: segment } });
    const exited = await active(delayed("1h"), { trigger: { type: "segment_exited", segment_id: segment } });
    const ada = await person("ada", { plan: "pro" });
    await world.advance(MINUTE);
    expect([await runs(entered), await runs(exited)]).toMatchObject([
      [{ subscriber_id: ada, status: "active", context: { segment_id: segment } }],
      [],
    ]);
    await person("ada", { plan: "free" });
    await world.advance(MINUTE);
    expect([(await runs(entered)).length, (await runs(exited)).length]).toEqual([1, 1]);
    expect(tenant.id).toBeTruthy();
  });

  it("eligibility is evaluated at entry only (JND-11, JNY-3)", async () => {
    const { world, active, person, track, runs } = await setting();
    const id = await active(delayed("1h"), { entry_rules: { eligibility: attribute("plan", "pro") } });
    const ada = await person("ada", { plan: "pro" });
    await person("bob", { plan: "free" });
    await track("ada", "signed_up");
    await track("bob", "signed_up");
    expect(await runs(id)).toMatchObject([{ subscriber_id: ada }]);
    await person("ada", { plan: "free" });
    await world.advance(2 * HOUR);
    expect(statuses(await runs(id))).toEqual(["completed"]);
  });

  it("eligibility may depend on the history of events (JND-11)", async () => {
    const { active, person, track, runs } = await setting();
    const bought = { event: { name: "bought", frequency: { min: 2 } } };
    const id = await active(delayed("1h"), { entry_rules: { eligibility: bought, allow_reentry: true } });
    await person("ada");
    await track("ada", "bought");
    await track("ada", "signed_up");
    expect(await runs(id)).toEqual([]);
    await track("ada", "bought");
    await track("ada", "signed_up");
    expect(await runs(id)).toHaveLength(1);
  });

  it("at most one run ever, or another once the last ended and the window is over (D-JNY-RUN, JND-12)", async () => {
    const { world, active, person, track, runs } = await setting();
    const once = await active(delayed("1m"));
    const again = await active(delayed("1h"), { entry_rules: { allow_reentry: true } });
    const later = await active(delayed("1m"), { entry_rules: { allow_reentry: true, reentry_window: "24h" } });
    await person("ada");
    const counts = async () => [(await runs(once)).length, (await runs(again)).length, (await runs(later)).length];
    await track("ada", "signed_up");
    await world.advance(10 * MINUTE);
    await track("ada", "signed_up");
    expect(await counts()).toEqual([1, 1, 1]);
    await world.advance(HOUR);
    await track("ada", "signed_up");
    expect(await counts()).toEqual([1, 2, 1]);
    await world.advance(DAY);
    await track("ada", "signed_up");
    expect(await counts()).toEqual([1, 3, 2]);
  });
});

describe("exit conditions", () => {
  it("an attribute, an event and a rule end a run, also while it waits (JND-8, JND-9, AMB-10)", async () => {
    const { world, active, person, track, runs, stats, recounted } = await setting();
    const steps = graphOf({ wait: { wait_for_event: { event_name: "never", on_event: "end" } }, end: "exit" });
    const exit_conditions = [
      { attribute: { plan: { $eq: "gone" } } },
      { event: { name: "churned", where: { hard: { $eq: true } } } },
      { rule: { group: { op: "and", nodes: [attribute("age", 7), { event: { name: "left" } }] } } },
    ];
    const id = await active({ ...steps, exit_conditions });
    for (const who of ["ada", "bob", "eve", "joe"]) {
      await person(who);
      await track(who, "signed_up");
    }
    await person("ada", { plan: "gone" });
    await track("bob", "churned", { properties: { hard: true } });
    await track("joe", "churned", { properties: { hard: false } });
    await person("eve", { age: 7 });
    await world.settle();
    expect((await stats(id)).runs).toEqual({ active: 2, completed: 0, exited: 2, canceled: 0 });
    await track("eve", "left");
    expect((await stats(id)).runs).toMatchObject({ active: 1, exited: 3 });
    const ended = (await runs(id, "?status=exited")).map(({ end_reason }: { end_reason: string }) => end_reason);
    expect(ended.sort()).toEqual(["exit_condition:0", "exit_condition:1", "exit_condition:2"]);
    await recounted(id);
  });

  it("an event that occurred between the one that starts a run and the row of the run ends it (JND-8)", async () => {
    const { world, tenant, active, person, runs } = await setting();
    const steps = graphOf({ wait: { wait_for_event: { event_name: "never", on_event: "end" } }, end: "exit" });
    const id = await active({ ...steps, exit_conditions: [{ event: { name: "left" } }] });
    await person("ada");
    for (const event_name of ["signed_up", "left"]) {
      const events = [{ event_name, external_id: "ada" }];
      expect(await world.call("POST /v1/events", { as: tenant.server, body: { events } })).toMatchObject({
        status: 202,
      });
      world.clock.jumpTo(world.clock.now() + SECOND);
    }
    await world.settle();
    expect(statuses(await runs(id))).toEqual(["exited"]);
  });

  it("a condition that is met at entry ends the run at once, with nothing sent (AMB-75)", async () => {
    const { active, person, track, runs, inbox, send } = await setting();
    const exit_conditions = [{ attribute: { plan: { $eq: "gone" } } }];
    const id = await active(graphOf({ a: send("Hello") }, exit_conditions));
    const ada = await person("ada", { plan: "gone" });
    await track("ada", "signed_up");
    expect(statuses(await runs(id))).toEqual(["exited"]);
    expect(await inbox(ada)).toEqual([]);
  });
});

it("runs are listed by the step they are on, and a journey is replaced only as its author saw it (RDA-13)", async () => {
  const { world, tenant, call, active, person, track, runs } = await setting();
  const steps = graphOf({
    pause: { delay: { duration: "3d", next: "rest" } },
    rest: { delay: { duration: "9d", next: "end" } },
    end: "exit",
  });
  const id = await active(steps);
  for (const who of ["ada", "bob"]) await person(who);
  await track("ada", "signed_up");
  await world.advance(4 * DAY);
  await track("bob", "signed_up");
  expect((await runs(id, "?step=pause")).map(({ current_step }: { current_step: string }) => current_step)).toEqual([
    "pause",
  ]);
  expect(await runs(id, "?step=rest")).toHaveLength(1);
  expect(await runs(id, "?step=end")).toEqual([]);
  await call(`POST /api/v1/journeys/${id}/pause`);
  const { name, trigger, version } = (await call(`GET /api/v1/journeys/${id}`)).body;
  const replace = async (seen: string) =>
    world.call(`PUT /api/v1/journeys/${id}`, {
      as: await tenant.dashboard(),
      headers: { "if-match": seen },
      body: { name, trigger, steps },
    });
  expect((await replace(`"${version + 1}"`)).status).toBe(412);
  expect((await replace(`"${version}"`)).status).toBe(200);
  expect((await replace(String(version))).status).toBe(412);
});

it("a step may have the name of a property that every object has (JST-2, JNY-7)", async () => {
  const { call, send, active, person, track, stats } = await setting();
  const id = await active(
    graphOf({ toString: send("Hi", "valueOf"), valueOf: { delay: { duration: "1d", next: "end" } }, end: "exit" }),
  );
  await person("ada");
  await track("ada", "signed_up");
  expect((await stats(id)).steps).toEqual({
    toString: { active: 0, outcomes: { sent: 1 } },
    valueOf: { active: 1, outcomes: {} },
    end: { active: 0, outcomes: {} },
  });
  expect((await call("GET /api/v1/journeys")).body.journeys).toMatchObject([{ id, entered: 1, completed: 0 }]);
});
