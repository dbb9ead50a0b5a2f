// Runs of journeys: the steps they take, how they are counted, and how they are listed (JND, JST, D-JNY-RUN).
import { expect, it } from "vitest";
import { DAY, timestamp } from "../../shared/kernel/clock.ts";
import { timeOfUuid } from "../../shared/kernel/ids.ts";
import { putItem } from "../../shared/store/item.ts";
import { type Cause, RunEntry, RunItem, runEntryKey } from "../../shared/store/journeys/run-items.ts";
import { newestKey } from "../../shared/store/journeys/run-rows.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { attribute, branch, countedSetting, delayed, graphOf } from "../support/journeys.ts";
import { entriesOf } from "../support/pages.ts";
import { inboxOf } from "../support/people.ts";
import { START, type Tenant } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => countedSetting(await fresh());

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

it("a run that ended on a step does not stand there (RDA-13)", async () => {
  const { world, active, person, track, runs } = await setting();
  const id = await active(graphOf({ pause: { delay: { duration: "3d", next: "end" } }, end: "exit" }));
  await person("ada");
  await track("ada", "signed_up");
  await world.advance(4 * DAY);

  expect(await runs(id)).toMatchObject([{ status: "completed", current_step: "end" }]);
  expect(await runs(id, "?step=end")).toEqual([]);
});

/** The row of the n-th run. */
const runRow = (
  journey_id: string,
  run: { id: string; subscriber: string; status: "active" | "completed" },
  n: number,
) => ({
  ...{ id: run.id, journey_id, version: 1, subscriber_id: run.subscriber, status: run.status },
  ...{ step: "pause", seq: 1, entered_at: timestamp(START + n), context: toJson<Cause>({}) },
});

/** Puts completed and active runs by turns, each newer than the one before it. @returns the ids of the active ones */
async function putRuns({ store }: Tenant, journey: string, count: number, shardOf: (n: number) => string) {
  const runs = Array.from({ length: count }, (_, n) => ({
    id: store.ids.uuidAt(START + n).slice(0, -1) + shardOf(n),
    status: n % 2 === 0 ? ("active" as const) : ("completed" as const),
    subscriber: store.ids.uuid(),
  }));
  const writes = runs.flatMap((run, n) => {
    const { id, status, subscriber } = run;
    return [
      putItem(RunItem, newestKey({ subscriber, journey }), runRow(journey, run, n)),
      putItem(RunEntry, runEntryKey(journey, id), { subscriber, status }),
    ];
  });
  await store.writeAll(writes);
  return runs.flatMap(({ id, status }) => (status === "active" ? [id] : []));
}

it("the pages of runs with a status together hold each of them once, newest first, of however many (RDA-13)", async () => {
  const { tenant, call, create } = await setting();
  const id = await create(delayed("3d"));
  // Of one shard are nearly all of the newest, of another the older ones.
  const runs = await putRuns(tenant, id, 700, (n) => (n < 350 === n % 5 > 0 ? "0" : "1"));

  const route = `GET /api/v1/journeys/${id}/runs`;
  const listed = await entriesOf<{ id: string }>((page) => call(route + page), "status=active");

  expect(listed.map((run) => run.id)).toEqual(runs.toReversed());
});

it("the pages of the runs of one person together hold each of them once, newest first (RDA-13)", async () => {
  const { tenant, call, create, person } = await setting();
  const [journey, subscriber] = [await create(delayed("3d")), await person("ada")];
  const ids = Array.from({ length: 205 }, (_, n) => tenant.store.ids.uuidAt(START + n));
  const rowOf = (id: string, n: number) => runRow(journey, { id, subscriber, status: "completed" }, n);
  await tenant.store.writeAll(ids.map((run, n) => putItem(RunItem, { subscriber, journey, run }, rowOf(run, n))));

  const route = `GET /api/v1/journeys/${journey}/runs`;
  const listed = await entriesOf<{ id: string }>((page) => call(route + page), `subscriber_id=${subscriber}`);

  expect(listed.map(({ id }) => id)).toEqual(ids.toReversed());
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
