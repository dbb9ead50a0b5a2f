// Versions of a journey (F20): their numbers, what differs between them, and editors who must not overwrite each other.
import { expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { countedSetting, graphOf } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** A journey with a second version: people of the first are on the step `pause`, those of the second on `rest`. */
async function twoVersions() {
  const world = await fresh();
  const all = await countedSetting(world);
  const { send, active, call, person, track, definition } = all;
  const first = graphOf({
    welcome: send("Hi", "pause"),
    pause: { delay: { duration: "3d", next: "end" } },
    end: "exit",
  });
  const second = graphOf(
    {
      welcome: send("Hello", "rest"),
      rest: { delay: { duration: "5d", next: "bye" } },
      bye: send("Bye", "end"),
      end: "exit",
    },
    [{ event: { name: "left" } }],
  );
  const id = await active(first);
  const enter = async (...names: string[]) => {
    for (const name of names) {
      await person(name);
      await track(name, "signed_up");
    }
  };
  await enter("ada", "bob");
  await call(`POST /api/v1/journeys/${id}/pause`);
  const replaced = await call(`PUT /api/v1/journeys/${id}`, definition(second));
  expect([replaced.status, replaced.headers.etag]).toEqual([200, '"2"']);
  await all.activate(id);
  await enter("cay");
  return { ...all, id, first, second };
}

it("statistics of each version, its steps alone; versions are listed and compared, and are entity tags (F20, RDA-13)", async () => {
  const { world, call, id, stats } = await twoVersions();
  await world.advance(3 * DAY + MINUTE);
  const of = async (version: number) => (await call(`GET /api/v1/journeys/${id}/stats?version=${version}`)).body;
  const [one, two] = [await of(1), await of(2)];
  expect(one).toMatchObject({ exact: true, runs: { completed: 2, active: 0 } });
  expect(one.steps).toEqual({
    welcome: { active: 0, outcomes: { sent: 2 } },
    pause: { active: 0, outcomes: { delayed: 2 } },
    end: { active: 0, outcomes: { exit: 2 } },
  });
  expect(two).toMatchObject({ runs: { completed: 0, active: 1 }, steps: { rest: { active: 1 }, bye: { active: 0 } } });
  const all = await stats(id);
  expect(all.runs).toMatchObject({ completed: 2, active: 1 });
  for (const version of [3, 9])
    expect((await call(`GET /api/v1/journeys/${id}/stats?version=${version}`)).status).toBe(404);
  expect((await call(`GET /api/v1/journeys/${id}/stats?version=x`)).status).toBe(422);

  const { items } = (await call(`GET /api/v1/journeys/${id}/versions`)).body;
  expect(
    items.map(({ version, steps }: { version: number; steps: { start: string } }) => [version, steps.start]),
  ).toEqual([
    [2, "welcome"],
    [1, "welcome"],
  ]);
  const { body } = await call(`GET /api/v1/journeys/${id}/versions/1/diff/2`);
  expect(body).toEqual({
    added: ["rest", "bye"],
    removed: ["pause"],
    changed: [{ step: "welcome", fields: ["content", "next"] }],
    edges: {
      added: [
        { from: "welcome", by: "next", to: "rest" },
        { from: "rest", by: "next", to: "bye" },
        { from: "bye", by: "next", to: "end" },
      ],
      removed: [
        { from: "welcome", by: "next", to: "pause" },
        { from: "pause", by: "next", to: "end" },
      ],
    },
    others: ["exit_conditions"],
  });
  expect((await call(`GET /api/v1/journeys/${id}/versions/1/diff/3`)).status).toBe(404);
});

const migrationOf = (all: Awaited<ReturnType<typeof twoVersions>>) => ({
  migrate: (body: object = {}) =>
    all.call(`POST /api/v1/journeys/${all.id}/migrations`, { from: 1, to: 2, steps: { pause: "rest" }, ...body }),
  read: async (migration: string) => (await all.call(`GET /api/v1/journeys/${all.id}/migrations/${migration}`)).body,
});

it("waiting runs move to the new version with their timers, and their numbers with them (F20)", async () => {
  const all = await twoVersions();
  const { world, id, runs, inbox, person, recounted } = all;
  const { migrate, read } = migrationOf(all);
  await world.advance(DAY);
  const begun = await migrate();
  expect([begun.status, begun.body.status, begun.body.steps]).toEqual([
    202,
    "processing",
    { welcome: "welcome", end: "end", pause: "rest" },
  ]);
  await world.settle();
  expect(await read(begun.body.id)).toMatchObject({ status: "completed", progress: 1, moved: 2 });
  expect((await runs(id)).map(({ version }: { version: number }) => version)).toEqual([2, 2, 2]);
  const { steps } = await recounted(id);
  expect([steps.pause, steps.rest?.active]).toEqual([undefined, 3]);
  // A delay of the first version ends when it would have, and the second version goes on from there.
  await world.advance(2 * DAY + MINUTE);
  expect(await inbox(await person("ada"))).toEqual(["Hi", "Bye"]);
  expect((await recounted(id)).runs).toMatchObject({ active: 1, completed: 2 });
  const again = (await migrate()).body;
  await world.settle();
  expect(await read(again.id)).toMatchObject({ status: "completed", moved: 0 });
});

it("a run on a step without a counterpart stays; one that the new version ends is ended at once (F20)", async () => {
  const all = await twoVersions();
  const { world, id, call, runs, track } = all;
  const { migrate, read } = migrationOf(all);
  const kept = (await migrate({ steps: {} })).body;
  await world.settle();
  expect(await read(kept.id)).toMatchObject({
    status: "completed",
    moved: 0,
    steps: { welcome: "welcome", end: "end" },
  });
  await track("ada", "left");
  expect(await runs(id, "?status=exited")).toEqual([]);
  const moved = (await migrate()).body;
  await world.settle();
  expect(await read(moved.id)).toMatchObject({ moved: 2 });
  expect(await runs(id, "?status=exited")).toHaveLength(1);
  const refused = async (body: object) => Object.keys((await migrate(body)).body.fields ?? {});
  expect(await refused({ to: 1 })).toEqual(["to"]);
  expect(await refused({ to: 5 })).toEqual(["to"]);
  expect(await refused({ from: 7 })).toEqual(["from"]);
  for (const steps of [{ nowhere: "rest" }, { pause: "nowhere" }, { pause: "bye" }])
    expect(await refused({ steps })).toEqual([`steps.${Object.keys(steps)[0]}`]);
  await call(`POST /api/v1/journeys/${id}/pause`);
  await call(`POST /api/v1/journeys/${id}/archive`);
  expect((await migrate()).status).toBe(409);
});

it("a migration during ticks: every run ends once, on one of the versions, and is counted once (F20)", async () => {
  const all = await twoVersions();
  const { world, id, person, inbox, track, runs, recounted } = all;
  const { migrate, read } = migrationOf(all);
  const names = Array.from({ length: 8 }, (_, i) => `late-${i}`);
  await world.advance(3 * DAY - MINUTE);
  // The migration's messages and the timers of the first runs are handled at the same time.
  const { body } = await migrate();
  await Promise.all([
    world.advance(2 * MINUTE),
    ...names.map(async (name) => {
      await person(name);
      await track(name, "signed_up");
    }),
  ]);
  expect(await read(body.id)).toMatchObject({ status: "completed" });
  const first = (await runs(id, "?status=completed")) as { version: number; subscriber_id: string }[];
  expect(first).toHaveLength(2);
  for (const { version, subscriber_id } of first)
    expect(await inbox(subscriber_id)).toEqual(version === 1 ? ["Hi"] : ["Hi", "Bye"]);
  expect((await recounted(id)).runs).toMatchObject({ completed: 2, active: 9 });
});
