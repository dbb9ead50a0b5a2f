// Runs that move together: their sends are shared, and each run still moves and is sent to once (docs/decisions/0029).
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { countsOf, readCounts } from "../../shared/store/journeys/counts.ts";
import { recountRuns } from "../../shared/store/journeys/recount.ts";
import { RunHead, RunItem } from "../../shared/store/journeys/run-items.ts";
import { newestKey } from "../../shared/store/journeys/run-rows.ts";
import { endRun, findRun } from "../../shared/store/journeys/runs.ts";
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
  const { world, tenant, people, enter, sends, inbox, send, stats, active } = await crowd(50);
  const pause = { delay: { duration: "1h", next: "bye" } };
  const id = await active(graphOf({ hello: send("Hello", "pause"), pause, bye: send("Bye") }));
  await enter([...people, ...people.slice(0, 2)]);
  await enter(people.slice(0, 3));
  expect((await stats(id)).steps.pause.active).toBe(50);
  await world.advance(HOUR + MINUTE);
  const sizes = (await sends()).map(({ subscriber_ids_count }) => subscriber_ids_count);
  // A transaction has 45 runs. How events come together in messages is not fixed.
  expect(sizes.toSorted((a, b) => b - a).slice(0, 2)).toEqual([45, 45]);
  expect(sizes.reduce((sum, n) => sum + n, 0)).toBe(100);
  expect(sizes.length).toBeLessThan(7);
  for (const subscriber of people) expect(await inbox(subscriber)).toEqual(["Hello", "Bye"]);
  const [counted] = await countsOf(tenant.store, [id]);
  expect(counted?.runs.completed).toBe(50);
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

it("JND-12 OPS-3 runs of an earlier release go on, guard entry, and let their subscribers enter again once they ended", async () => {
  const { world, tenant, people, enter, active, stats, runs, call } = await crowd(3);
  const { store } = tenant;
  const rules = { entry_rules: { allow_reentry: true } };
  const journeyOf = (duration: string) =>
    active(graphOf({ pause: { delay: { duration, next: "end" } }, end: "exit" }), rules);
  const [short, long] = [await journeyOf("1m"), await journeyOf("2h")];
  await enter(people);
  const asBefore = async (journey: string, names: (run: string) => string | undefined) => {
    for (const subscriber of people) {
      const row = await store.remove(RunItem, newestKey({ subscriber, journey }));
      const { pk: _, sk: __, ...run } = row!;
      await store.put(RunItem, { subscriber, journey, run: run.id }, run);
      await store.put(RunHead, { subscriber, journey }, { last: Date.parse(run.entered_at), active: names(run.id) });
    }
  };
  await asBefore(short, (run) => run);
  await asBefore(long, (run) => run);
  await world.advance(2 * MINUTE);
  await enter(people);
  expect((await stats(short)).runs).toMatchObject({ active: 3, completed: 3 });
  expect((await stats(long)).runs).toMatchObject({ active: 3, completed: 0 });
  expect(await runs(long)).toHaveLength(3);
  await world.advance(3 * HOUR);
  // A run that ended at once is not named by its head.
  await asBefore(short, () => undefined);
  await enter(people);
  expect((await stats(short)).runs).toMatchObject({ active: 3, completed: 6 });
  expect((await stats(long)).runs).toMatchObject({ active: 3, completed: 3 });
  for (const id of [short, long]) {
    const [counted] = await countsOf(store, [id]);
    expect(readCounts(await recountRuns(store, id))).toEqual(counted);
  }
  for (const id of [short, long])
    for (const action of ["pause", "archive"]) await call(`POST /api/v1/journeys/${id}/${action}`);
  await world.settle();
  for (const id of [short, long]) expect((await stats(id)).runs.active).toBe(0);
});

it("JND-12 a late move of a run does not move the one that replaced it", async () => {
  const { world, tenant, people, enter, active, runs, call } = await crowd(1);
  const { store } = tenant;
  const id = await active(graphOf({ pause: { delay: { duration: "1h", next: "end" } }, end: "exit" }), {
    entry_rules: { allow_reentry: true },
  });
  await enter(people);
  const [{ id: first }] = await runs(id);
  const late = await findRun(store, people[0]!, id, first);
  await call(`POST /api/v1/journeys/${id}/runs/${first}/cancel`);
  await world.advance(MINUTE);
  await enter(people);
  expect(await endRun(store, late!, "late")).toBe(false);
  expect(await runs(id)).toMatchObject([{ status: "active" }, { id: first, status: "canceled" }]);
});
