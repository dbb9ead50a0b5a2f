// Runs that move together: their sends are shared, and each run still moves and is sent to once (docs/decisions/0029).
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { countsOf, readCounts } from "../../shared/store/journeys/counts.ts";
import { recountRuns } from "../../shared/store/journeys/recount.ts";
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

it("people who take a step together share a notification, and each gets it once (JND-15, D-INTJOBS)", async () => {
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

it("a pack that goes on beyond the quota fails as a whole, and its runs go on (JND-15, F25)", async () => {
  const { world, tenant, people, enter, sends, inbox, send, stats, active } = await crowd(4);
  await operate(world, tenant, { monthly_send_cap: 3 });
  const pause = { delay: { duration: "1h", next: "end" } };
  const id = await active(
    graphOf({ first: { delay: { duration: "1m", next: "hello" } }, hello: send("Hello", "pause"), pause, end: "exit" }),
  );
  await enter(people);
  await world.advance(MINUTE);
  expect(await sends()).toMatchObject([{ subscriber_ids_count: 4, status: "failed" }]);
  expect((await stats(id)).steps.pause.active).toBe(4);
  await operate(world, tenant, { monthly_send_cap: 4 });
  const next = await active(graphOf({ hello: send("Again", "pause"), pause, end: "exit" }));
  await enter(people);
  expect((await stats(next)).steps.pause.active).toBe(4);
  for (const subscriber of people) expect(await inbox(subscriber)).toEqual(["Again"]);
});

it("a late move of a run does not move the one that replaced it (JND-12)", async () => {
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
