// Runs of journeys: who enters, the steps they take, and the conditions that end them (JND, JST, D-JNY-RUN).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { timeOfUuid } from "../../shared/kernel/ids.ts";
import { attribute, branch, countedSetting, delayed, graphOf } from "../support/journeys.ts";
import { inboxOf } from "../support/people.ts";
import { START } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => countedSetting(await fresh());

type Setting = Awaited<ReturnType<typeof setting>>;

const statuses = (runs: { status: string }[]) => runs.map(({ status }) => status);

/** A journey of every type of step, after the three who entered it have left. */
const ended = shared(async ({ fresh }) => {
  const journey = await countedSetting(await fresh());
  const { world, send, active, person, track } = journey;
  const steps = graphOf({
    welcome: send("Welcome", "pause"),
    pause: { delay: { duration: "3d", next: "paying" } },
    paying: branch(attribute("plan", "pro"), "thanks", "wait"),
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
    last: { delay: { duration: "2d", next: "end" } },
    end: "exit",
  });
  const id = await active(steps);
  const people: Record<string, string> = {};
  for (const [name, attributes] of Object.entries({ ada: { plan: "pro" }, bob: {}, eve: {} })) {
    people[name] = await person(name, attributes);
    await track(name, "signed_up");
  }
  await world.advance(4 * DAY);
  await track("bob", "bought", { properties: { price: 5 } });
  await world.advance(DAY);
  await track("bob", "bought", { properties: { price: 10 } });
  await world.advance(7 * DAY);
  return { ...journey, id, people };
});

it.each([
  ["delays a step and takes the branch of those who meet its condition", "ada", { Welcome: 0, Thanks: 3 }],
  ["waits for the event that its filter lets through", "bob", { Welcome: 0, Congratulations: 5 }],
  ["goes on by the timeout where no such event comes", "eve", { Welcome: 0, "Come back": 10 }],
])("a journey %s (JND-1, JND-3, JND-4, JND-5, JND-6, JND-10, JND-13)", async (_, name, dayOfMessage) => {
  const { world, tenant, people } = await ended();

  const messages = await inboxOf(world, tenant, people[name]!);

  const days = messages.map(({ content, created_at }) => [
    content.title,
    Math.floor((Date.parse(created_at) - START) / DAY),
  ]);
  expect(Object.fromEntries(days)).toEqual(dayOfMessage);
});

it("the statistics of a journey count its runs by status and its steps by outcome, as the runs do (JST-1, JST-2, JST-3)", async () => {
  const { id, stats, recounted } = await ended();

  const { runs, steps } = await stats(id);

  expect(runs).toEqual({ active: 0, completed: 3, exited: 0, canceled: 0 });
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
});

it("how many entered and completed a journey is in the list, and 0 elsewhere (JNY-6)", async () => {
  const { id, call } = await ended();

  const { journeys } = (await call("GET /api/v1/journeys")).body;
  const { body } = await call(`GET /api/v1/journeys/${id}`);

  expect(journeys).toMatchObject([{ entered: 3, completed: 3 }]);
  expect(body).toMatchObject({ entered: 0, completed: 0 });
});

it("a run shows its subscriber, its status and the last step that it took (JND-7, JND-14)", async () => {
  const { id, runs, people } = await ended();

  expect(await runs(id, `?subscriber_id=${people.ada}`)).toMatchObject([
    { status: "completed", version: 1, current_step: "thanks", subscriber_id: people.ada },
  ]);
});

it("each message of a journey is a completed send of its own, with an id of the time it was made (JND-15, D-INTJOBS)", async () => {
  const { id, call } = await ended();

  const { items } = (await call(`GET /api/v1/notifications?source_type=journey&source_id=${id}`)).body;

  expect(items).toHaveLength(6);
  for (const send of items) {
    expect(send).toMatchObject({ status: "completed", counts: { sent: 1, delivered: 1 } });
    expect(timestamp(timeOfUuid(send.id))).toBe(send.created_at);
  }
});

describe("entry", () => {
  it.each([
    ["segment_entered", "pro"],
    ["segment_exited", "free"],
  ])("%s starts the run of who becomes %s, and of nobody before (JND-10, JNY-2)", async (type, plan) => {
    const { world, call, active, person, runs } = await setting();
    const rule = attribute("plan", "pro");
    const segment_id = (await call("POST /api/v1/segments", { name: "Paying", is_dynamic: true, rule })).body.id;
    const ada = await person("ada", { plan: plan === "pro" ? "free" : "pro" });
    await world.settle();
    const id = await active(delayed("1h"), { trigger: { type, segment_id } });

    await world.advance(MINUTE);
    expect(await runs(id)).toEqual([]);

    await person("ada", { plan });
    await world.advance(MINUTE);
    expect(await runs(id)).toMatchObject([{ subscriber_id: ada, status: "active", context: { segment_id } }]);
  });

  it("only who is eligible enters a journey (JND-11, JNY-3)", async () => {
    const { active, person, track, runs } = await setting();
    const id = await active(delayed("1h"), { entry_rules: { eligibility: attribute("plan", "pro") } });
    const ada = await person("ada", { plan: "pro" });
    await person("bob", { plan: "free" });

    await track("ada", "signed_up");
    await track("bob", "signed_up");

    expect(await runs(id)).toMatchObject([{ subscriber_id: ada }]);
  });

  it("who is no longer eligible after the entry completes the journey (JND-11)", async () => {
    const { world, active, person, track, runs } = await setting();
    const id = await active(delayed("1h"), { entry_rules: { eligibility: attribute("plan", "pro") } });
    await person("ada", { plan: "pro" });
    await track("ada", "signed_up");

    await person("ada", { plan: "free" });
    await world.advance(2 * HOUR);

    expect(statuses(await runs(id))).toEqual(["completed"]);
  });

  it("eligibility may depend on the history of events (JND-11)", async () => {
    const { active, person, track, runs } = await setting();
    const boughtTwice = { event: { name: "bought", frequency: { min: 2 } } };
    const id = await active(delayed("1h"), { entry_rules: { eligibility: boughtTwice, allow_reentry: true } });
    await person("ada");

    await track("ada", "bought");
    await track("ada", "signed_up");
    expect(await runs(id)).toEqual([]);

    await track("ada", "bought");
    await track("ada", "signed_up");
    expect(await runs(id)).toHaveLength(1);
  });

  // Ada signs up at once, and 10 minutes, 70 minutes and a day after that.
  it.each([
    ["without re-entry a subscriber has one run ever", "1m", undefined, [1, 1, 1, 1]],
    ["re-entry takes that the last run has ended", "1h", { allow_reentry: true }, [1, 1, 2, 3]],
    ["re-entry takes that its window is over", "1m", { allow_reentry: true, reentry_window: "24h" }, [1, 1, 1, 2]],
  ])("%s (D-JNY-RUN, JND-12)", async (_, duration, entry_rules, runsAfterEachEvent) => {
    const { world, active, person, track, runs } = await setting();
    const id = await active(delayed(duration), entry_rules && { entry_rules });
    await person("ada");

    const found: number[] = [];
    for (const pause of [0, 10 * MINUTE, HOUR, DAY]) {
      await world.advance(pause);
      await track("ada", "signed_up");
      found.push((await runs(id)).length);
    }

    expect(found).toEqual(runsAfterEachEvent);
  });
});

describe("exit conditions", () => {
  const forever = (exit_conditions: object[]) =>
    graphOf({ wait: { wait_for_event: { event_name: "never", on_event: "end" } }, end: "exit" }, exit_conditions);

  it.each<[what: string, condition: object, meet: (one: Setting) => Promise<unknown>]>([
    ["an attribute", { attribute: { plan: { $eq: "gone" } } }, ({ person }) => person("ada", { plan: "gone" })],
    [
      "an event",
      { event: { name: "churned", where: { hard: { $eq: true } } } },
      ({ track }) => track("ada", "churned", { properties: { hard: true } }),
    ],
    [
      "a rule of an attribute and an event",
      { rule: { group: { op: "and", nodes: [attribute("age", 7), { event: { name: "left" } }] } } },
      async ({ person, track }) => {
        await person("ada", { age: 7 });
        await track("ada", "left");
      },
    ],
  ])("%s ends a run that waits, and is named as the reason (JND-8, JND-9, AMB-10)", async (_, condition, meet) => {
    const found = await setting();
    const { world, active, person, track, runs, stats, recounted } = found;
    const unmet = { attribute: { plan: { $eq: "other" } } };
    const id = await active(forever([unmet, condition]));
    await person("ada");
    await track("ada", "signed_up");

    await meet(found);
    await world.settle();

    expect(await runs(id)).toMatchObject([{ status: "exited", end_reason: "exit_condition:1" }]);
    expect((await stats(id)).runs).toEqual({ active: 0, completed: 0, exited: 1, canceled: 0 });
    await recounted(id);
  });

  it.each<[what: string, condition: object, act: (one: Setting) => Promise<unknown>]>([
    [
      "an event that the filter of the condition does not let through",
      { event: { name: "churned", where: { hard: { $eq: true } } } },
      ({ track }) => track("ada", "churned", { properties: { hard: false } }),
    ],
    [
      "half of a rule",
      { rule: { group: { op: "and", nodes: [attribute("age", 7), { event: { name: "left" } }] } } },
      ({ person }) => person("ada", { age: 7 }),
    ],
  ])("%s ends no run (JND-8)", async (_, condition, act) => {
    const found = await setting();
    const id = await found.active(forever([condition]));
    await found.person("ada");
    await found.track("ada", "signed_up");

    await act(found);
    await found.world.settle();

    expect(statuses(await found.runs(id))).toEqual(["active"]);
  });

  it("an event that occurred between the one that starts a run and the row of the run ends it (JND-8)", async () => {
    const { world, tenant, active, person, runs } = await setting();
    const id = await active(forever([{ event: { name: "left" } }]));
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

it.each([
  ["pause", ["bob"]],
  ["rest", ["ada"]],
  ["end", []],
])("runs are listed by the step they are on: at %s stands %j (RDA-13)", async (step, names) => {
  const { world, active, person, track, runs } = await setting();
  const rest = { delay: { duration: "9d", next: "end" } };
  const id = await active(graphOf({ pause: { delay: { duration: "3d", next: "rest" } }, rest, end: "exit" }));
  const ids = { ada: await person("ada"), bob: await person("bob") };
  await track("ada", "signed_up");
  await world.advance(4 * DAY);
  await track("bob", "signed_up");

  const found: { subscriber_id: string; current_step: string }[] = await runs(id, `?step=${step}`);

  expect(found.map(({ subscriber_id }) => subscriber_id)).toEqual(names.map((name) => ids[name as "ada"]));
  for (const run of found) expect(run.current_step).toBe(step);
});

it.each([
  ["another version than it has", 412, '"2"'],
  ["the version that it has", 200, '"1"'],
])("a change of a journey that names %s in If-Match is answered with %i (RDA-13)", async (_, status, seen) => {
  const { world, tenant, create, definition } = await setting();
  const id = await create(delayed("1d"));

  const answer = await world.call(`PUT /api/v1/journeys/${id}`, {
    as: await tenant.dashboard(),
    headers: { "if-match": seen },
    body: definition(delayed("2d")),
  });

  expect(answer.status).toBe(status);
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
