// Runs that move together: their sends are shared, and each run still moves and is sent to once (docs/decisions/0029).
import { expect, it } from "vitest";
import type { Hooks } from "../../local/aws/index.ts";
import { HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { absent } from "../../shared/store/conditions.ts";
import { countsOf, readCounts } from "../../shared/store/journeys/counts.ts";
import { beginEach } from "../../shared/store/journeys/entry-packs.ts";
import { openPack, settleLeftPacks } from "../../shared/store/journeys/run-packs.ts";
import { endRun, entryOf, findRun } from "../../shared/store/journeys/runs.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import { recountRuns } from "../support/recounts.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function crowd(size: number, hooks?: (name: string) => Hooks) {
  const setting = await journeySetting(await fresh(hooks && { hooks }));
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

  expect(await endRun(store, late!, "late")).toBe("moved");
  expect(await runs(id)).toMatchObject([{ status: "active" }, { id: first, status: "canceled" }]);
});

it("a run that its worker begins after another one ended its pack does not begin, and may by the next event (JND-15)", async () => {
  const { tenant, people, enter, active, runs, stats } = await crowd(3);
  const { store } = tenant;
  const id = await active(graphOf({ pause: { delay: { duration: "1h", next: "end" } }, end: "exit" }));
  const pack = store.ids.uuidAt(store.clock.now());
  const started = { journey_id: id, version: 1, context: {}, entered_at: timestamp(store.clock.now()) };
  const entries = people.map((subscriber_id) => {
    const run = { ...started, id: store.ids.uuidAt(store.clock.now()), subscriber_id };
    return entryOf(run, { kind: "at", position: { step: "pause" } }, []);
  });
  const [early, ...late] = entries.map(({ row }) => ({ row, when: absent() }));
  await openPack(
    store,
    pack,
    id,
    entries.map(({ row, counts }) => ({ run: row.id, seq: 0, counts, subscriber: row.subscriber_id })),
  );
  expect(await beginEach(store, pack, [early!])).toEqual([{ kind: "begun" }]);
  await settleLeftPacks(store);
  expect((await beginEach(store, pack, late)).map(({ kind }) => kind)).toEqual(["withdrawn", "withdrawn"]);
  expect((await runs(id)).map(({ subscriber_id }: { subscriber_id: string }) => subscriber_id)).toEqual([people[0]]);
  expect(await runs(id, `?subscriber_id=${people[1]}`)).toEqual([]);
  expect((await stats(id)).runs.active).toBe(1);

  await enter(people);
  expect((await stats(id)).runs.active).toBe(3);
  expect(await runs(id)).toHaveLength(3);
});

it("runs that begin while another worker ends their pack begin in the next one (JND-15)", async () => {
  const pack = requests({ of: "step-journey", operation: "PutItem", naming: "RUNPACK#", moment: "after" });
  const { tenant, people, enter, active, stats } = await crowd(5, pack.hooks);
  let ended = 0;
  pack.each(async () => {
    if (ended === 2) return;
    ended++;
    await settleLeftPacks(tenant.store);
  });
  const id = await active(graphOf({ pause: { delay: { duration: "1h", next: "end" } }, end: "exit" }));
  await enter(people);
  expect(ended).toBe(2);
  const [counted] = await countsOf(tenant.store, [id]);
  expect((await stats(id)).runs.active).toBe(5);
  expect(readCounts(await recountRuns(tenant.store, id))).toEqual(counted);
});
