// A run begins when its worker gets to it. What its subscriber did between the trigger and that moment counts (JND-9, JND-13).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { countedSetting, delayed, graphOf } from "../support/journeys.ts";
import { requests } from "../support/requests.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function threeJourneys() {
  const all = await countedSetting(await fresh());
  const { send, active, person, tenant, world } = all;
  const wait = { wait_for_event: { event_name: "paid", within: "1h", on_event: "yes", on_timeout: "no" } };
  const ends = { yes: "exit", no: "exit" } as const;
  const waiting = await active(graphOf({ wait, ...ends }));
  const sending = await active(graphOf({ hello: send("Hello", "wait"), wait, ...ends }));
  const pause = { delay: { duration: "1d", next: "remind" } };
  const leaving = await active(graphOf({ pause, remind: send("Remind") }, [{ event: { name: "paid" } }]));
  const ada = await person("ada");
  /** Accepts events; nothing handles them yet. */
  const accept = async (...events: object[]) => {
    const body = { events: events.map((event) => ({ external_id: "ada", ...event })) };
    expect((await world.call("POST /v1/events", { as: tenant.server, body })).status).toBe(202);
  };
  const results = async () => {
    await world.advance(MINUTE);
    const [one, two, three] = await Promise.all([waiting, sending, leaving].map(all.stats));
    return [one.steps.wait.outcomes, two.steps.wait.outcomes, three.runs.exited];
  };
  return { ...all, ada, accept, results };
}

it("an event that is accepted before the run of the one before it has begun ends its wait, or the run (JND-9, JND-13)", async () => {
  const { world, accept, results, inbox, ada } = await threeJourneys();
  await accept({ event_name: "paid" });
  world.clock.jumpTo(START + 1 * SECOND);
  await accept({ event_name: "signed_up" });
  world.clock.jumpTo(START + 2 * SECOND);
  await world.settle();
  expect(await results()).toEqual([{}, {}, 0]);

  const late = await threeJourneys();
  await late.accept({ event_name: "signed_up" });
  late.world.clock.jumpTo(START + 1 * SECOND);
  await late.accept({ event_name: "paid" });
  late.world.clock.jumpTo(START + 5 * MINUTE);
  expect(await late.results()).toEqual([{ "wait:event": 1 }, { "wait:event": 1 }, 1]);
  expect(await inbox(ada)).toEqual(["Hello"]);
  expect(await late.inbox(late.ada)).toEqual(["Hello"]);
});

it("events that a client sends later, in one request, count in the order in which they occurred (JND-9, JND-13)", async () => {
  const { accept, results, at } = await threeJourneys();
  await accept(
    { event_name: "paid", occurred_at: at(-1 * SECOND) },
    { event_name: "signed_up", occurred_at: at(-5 * SECOND) },
  );

  expect(await results()).toEqual([{ "wait:event": 1 }, { "wait:event": 1 }, 1]);
});

it("a wait takes what occurred in its window, also where something else of the same request came after it (JND-13)", async () => {
  const { accept, results, at } = await threeJourneys();
  await accept({ event_name: "signed_up", occurred_at: at(-3 * HOUR) });
  await accept(
    { event_name: "paid", occurred_at: at(-150 * MINUTE) },
    { event_name: "seen", occurred_at: at(-100 * MINUTE) },
  );

  expect(await results()).toEqual([{ "wait:event": 1 }, { "wait:event": 1 }, 1]);
});

it("a wait does not take what occurred after its window, which a send of a late run lengthens (JND-13)", async () => {
  const { accept, results, at } = await threeJourneys();
  await accept(
    { event_name: "signed_up", occurred_at: at(-2 * DAY) },
    { event_name: "paid", occurred_at: at(-1 * HOUR - SECOND) },
  );

  expect(await results()).toEqual([{ "wait:timeout": 1 }, { "wait:event": 1 }, 1]);
});

it("a run that is over at the instant of its next trigger does not stand in its way (AMB-136)", async () => {
  const timers = requests({ of: "due" });
  const { world, active, person, track, runs } = await countedSetting(await fresh({ hooks: timers.hooks }));
  const id = await active(delayed("1h"), { entry_rules: { allow_reentry: true } });
  await person("ada");
  await track("ada", "signed_up");
  const [first] = await runs(id);
  timers.fail();
  world.clock.jumpTo(Date.parse(first.entered_at) + HOUR);
  await track("ada", "signed_up");

  expect(await runs(id)).toMatchObject([{ status: "active" }, { status: "completed" }]);
});

it("of events of one instant a wait ends by the one that was received first, also where its worker comes late (AMB-136)", async () => {
  const { world, active, person, send, inbox, tenant } = await countedSetting(await fresh());
  const wait = { wait_for_event: { event_name: "paid", within: "1d", on_event: "thanks", on_timeout: "end" } };
  await active(graphOf({ wait, thanks: send("{{ event.item }}", "end"), end: "exit" }));
  const names = Array.from({ length: 6 }, (_, n) => `person-${n}`);
  const ids = await Promise.all(names.map((name) => person(name)));
  const accept = async (minute: number, event_name: string, item: string) => {
    world.clock.jumpTo(START + minute * MINUTE);
    const occurred_at = new Date(START + Math.min(minute, 2) * MINUTE).toISOString();
    const events = names.map((external_id) => ({
      ...{ event_name, external_id, occurred_at, properties: { item } },
      idempotency_key: `${external_id} ${event_name} ${item}`,
    }));
    expect((await world.call("POST /v1/events", { as: tenant.server, body: { events } })).status).toBe(202);
  };
  await accept(1, "signed_up", "a trial");
  await accept(2, "paid", "a lamp");
  await accept(3, "paid", "a chair");
  await world.settle();

  expect(await Promise.all(ids.map(inbox))).toEqual(ids.map(() => ["a lamp"]));
});

it("a trigger that comes while a run waits starts none, also where its worker comes when the wait is over (AMB-136)", async () => {
  const timers = requests({ of: "due" });
  const { world, active, person, track, runs, tenant } = await countedSetting(await fresh({ hooks: timers.hooks }));
  const id = await active(delayed("1h"), { entry_rules: { allow_reentry: true } });
  await person("ada");
  await track("ada", "signed_up");
  timers.fail();

  world.clock.jumpTo(START + 59 * MINUTE);
  const body = { events: [{ event_name: "signed_up", external_id: "ada" }] };
  await world.call("POST /v1/events", { as: tenant.server, body });
  world.clock.jumpTo(START + 2 * HOUR);
  await world.settle();

  expect(await runs(id)).toHaveLength(1);
});
