// Who enters a journey, how often, and the conditions that end a run (JND, D-JNY-RUN).
import { describe, expect, it } from "vitest";
import type { Wire } from "../../local/aws/index.ts";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { attribute, countedSetting, delayed, graphOf } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => countedSetting(await fresh());

type Setting = Awaited<ReturnType<typeof setting>>;

const statuses = (runs: { status: string }[]) => runs.map(({ status }) => status);

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

  it("who entered twice by one batch does not enter again when its message is delivered again (JND-12, AMB-136)", async () => {
    const told: string[] = [];
    const before = (_: string, operation: string, { QueueUrl, Entries }: Wire) => {
      if (operation === "SendMessageBatch" && String(QueueUrl).endsWith("step-journey"))
        told.push(...(Entries as Wire[]).map(({ MessageBody }) => String(MessageBody)));
    };
    const world = await fresh({ hooks: (name) => (name === "react" ? { before } : {}) });
    const { active, person, tenant, recounted } = await countedSetting(world);
    const id = await active(graphOf({ end: "exit" }), { entry_rules: { allow_reentry: true } });
    await person("ada");
    const visit = { event_name: "signed_up", external_id: "ada" };
    await world.call("POST /v1/events", { as: tenant.server, body: { events: [visit, visit] } });
    await world.settle();
    const { QueueUrl } = await world.sqs.operate("GetQueueUrl", { QueueName: "step-journey" });
    for (const MessageBody of told) await world.sqs.operate("SendMessage", { QueueUrl, MessageBody });
    await world.settle();

    expect((await recounted(id)).runs.completed).toBe(2);
    expect(world.sqs.depth("step-journey")).toMatchObject({ visible: 0, inFlight: 0 });
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

  it("a property of the trigger with a type that the operator does not accept makes nobody eligible, and others enter (JND-11, D-JNY-RUN)", async () => {
    const { world, tenant, call, active, person, runs, stats } = await setting();
    const eligibility = { attribute: { age: { $gt: "{{trigger.least}}" } } };
    const id = await active(delayed("1d"), { entry_rules: { eligibility } });
    const [ada, ben] = [await person("ada", { age: 7 }), await person("ben", { age: 7 })];
    const signedUp = (external_id: string, least: unknown) => {
      return { event_name: "signed_up", external_id, properties: { least } };
    };
    const body = { events: [signedUp("ada", true), signedUp("ben", 5)] };
    await world.call("POST /v1/events", { as: tenant.server, body });
    await world.settle();

    expect(await runs(id)).toMatchObject([{ subscriber_id: ben }]);
    expect((await stats(id)).refused).toEqual({ not_eligible: 1 });
    const { triggers } = (await call(`GET /api/v1/journeys/${id}/subscribers/${ada}`)).body;
    expect(triggers).toMatchObject([{ outcome: "not_eligible" }]);
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

  it("eligibility counts what had happened before the trigger, also where both are told later (JND-11, AMB-136)", async () => {
    const { world, tenant, active, person, runs } = await setting();
    const bought = { event: { name: "bought", frequency: { min: 1 } } };
    const id = await active(delayed("1d"), { entry_rules: { eligibility: bought } });
    const [ada] = [await person("ada"), await person("ben")];
    const ago = (event_name: string, external_id: string, ms: number) => {
      return { event_name, external_id, occurred_at: timestamp(world.clock.now() - ms) };
    };
    const before = [ago("bought", "ada", 30 * MINUTE), ago("signed_up", "ada", 20 * MINUTE)];
    const after = [ago("signed_up", "ben", 20 * MINUTE), ago("bought", "ben", 10 * MINUTE)];

    await world.call("POST /v1/events", { as: tenant.server, body: { events: [...before, ...after] } });
    await world.settle();

    expect(await runs(id)).toMatchObject([{ subscriber_id: ada }]);
  });

  // Ada signs up at once, and 10 minutes, 70 minutes and a day after that.
  it.each([
    ["without re-entry a subscriber has one run ever", "1m", undefined, [1, 1, 1, 1]],
    ["re-entry takes that the last run has ended", "1h", { allow_reentry: true }, [1, 1, 2, 3]],
    ["re-entry takes that its window is over", "1m", { allow_reentry: true, reentry_window: "24h" }, [1, 1, 1, 2]],
    ["a window begins with the entry", "1h", { allow_reentry: true, reentry_window: "65m" }, [1, 1, 2, 3]],
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

  it("of two conditions that were met before the row of a run the one that was met first is its reason (JND-9)", async () => {
    const { world, tenant, active, person, runs } = await setting();
    const id = await active(forever([{ event: { name: "bought" } }, { event: { name: "left" } }]));
    await person("ada");

    for (const event_name of ["signed_up", "left", "bought"]) {
      const events = [{ event_name, external_id: "ada" }];
      await world.call("POST /v1/events", { as: tenant.server, body: { events } });
      world.clock.jumpTo(world.clock.now() + SECOND);
    }
    await world.settle();

    expect(await runs(id)).toMatchObject([{ status: "exited", end_reason: "exit_condition:1" }]);
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
