// Runs that move together: their sends are shared, and each run still moves and is sent to once (docs/decisions/0029).
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/clock.ts";
import { countsOf, readCounts } from "../../shared/store/journeys/counts.ts";
import { recountRuns } from "../../shared/store/journeys/recount.ts";
import { RunHead } from "../../shared/store/journeys/run-items.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function crowd(size: number) {
  const setting = await journeySetting(await fresh());
  const { world, tenant, call } = setting;
  const people: string[] = [];
  for (let n = 0; n < size; n++) people.push(await setting.person(`p${n}`));
  const enter = async (ids: readonly string[]) => {
    const events = ids.map((subscriber_id) => ({ event_name: "signed_up", subscriber_id }));
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    await world.settle();
  };
  const sends = async (): Promise<{ subscriber_ids_count: number; status: string }[]> =>
    (await call("GET /api/v1/notifications?limit=100")).body.items;
  return { ...setting, people, enter, sends };
}

it("JND-15 D-INTJOBS people who take a step together share a notification, and each gets it once", async () => {
  const { world, tenant, people, enter, sends, inbox, send, stats, active } = await crowd(35);
  const pause = { delay: { duration: "1h", next: "bye" } };
  const id = await active(graphOf({ hello: send("Hello", "pause"), pause, bye: send("Bye") }));
  await enter([...people, ...people.slice(0, 2)]);
  await enter(people.slice(0, 3));
  expect((await stats(id)).steps.pause.active).toBe(35);
  await world.advance(HOUR + MINUTE);
  const sizes = (await sends()).map(({ subscriber_ids_count }) => subscriber_ids_count);
  expect(sizes.toSorted((a, b) => a - b)).toEqual([5, 5, 30, 30]);
  for (const subscriber of people) expect(await inbox(subscriber)).toEqual(["Hello", "Bye"]);
  const [counted] = await countsOf(tenant.store, [id]);
  expect(counted?.runs.completed).toBe(35);
  expect(readCounts(await recountRuns(tenant.store, id))).toEqual(counted);
});

it("JND-15 F25 a pack beyond the quota fails as a whole, and its runs go on", async () => {
  const { world, tenant, people, enter, sends, inbox, send, stats, active } = await crowd(4);
  await operate(world, tenant, { monthly_send_cap: 3 });
  const pause = { delay: { duration: "1h", next: "end" } };
  const id = await active(graphOf({ hello: send("Hello", "pause"), pause, end: "exit" }));
  await enter(people);
  expect(await sends()).toMatchObject([{ subscriber_ids_count: 4, status: "failed" }]);
  expect((await stats(id)).steps.pause.active).toBe(4);
  await operate(world, tenant, { monthly_send_cap: 4 });
  const next = await active(graphOf({ hello: send("Again", "pause"), pause, end: "exit" }));
  await enter(people);
  expect((await stats(next)).steps.pause.active).toBe(4);
  for (const subscriber of people) expect(await inbox(subscriber)).toEqual(["Again"]);
});

it("JND-12 a run of an earlier release that has ended lets its subscriber enter again", async () => {
  const { world, tenant, people, enter, active, stats } = await crowd(2);
  const id = await active(graphOf({ pause: { delay: { duration: "1m", next: "end" } }, end: "exit" }), {
    entry_rules: { allow_reentry: true },
  });
  await enter(people);
  await enter(people);
  await world.advance(2 * MINUTE);
  const [first] = people;
  await tenant.store.change(RunHead, { subscriber: first!, journey: id }, { remove: ["active"] });
  await enter(people);
  expect((await stats(id)).runs).toMatchObject({ active: 2, completed: 2 });
});
