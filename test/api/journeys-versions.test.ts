// Versions of a journey (F20): their numbers, what differs between them, and editors who must not overwrite each other.
import { describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { countedSetting, graphOf } from "../support/journeys.ts";
import { entriesOf } from "../support/pages.ts";
import type { TestWorld } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** A journey with a second version: people of the first are on the step `pause`, those of the second on `rest`. */
async function twoVersions(world: TestWorld) {
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
  expect(replaced.status).toBe(200);
  expect(replaced.headers.etag).toEqual('"2"');
  await all.activate(id);
  await enter("cay");
  return { ...all, id, first, second };
}

it("the pages of the versions of a journey together hold each of them once, newest first (F20, RDA-13)", async () => {
  const { call, active, activate, definition, send } = await countedSetting(await fresh());
  const says = (title: string) => graphOf({ hi: send(title, "end"), end: "exit" });
  const id = await active(says("1"));
  for (let n = 2; n <= 22; n++) {
    await call(`POST /api/v1/journeys/${id}/pause`);
    await call(`PUT /api/v1/journeys/${id}`, definition(says(`${n}`)));
    await activate(id);
  }

  const listed = await entriesOf<{ version: number }>((page) => call(`GET /api/v1/journeys/${id}/versions${page}`));

  expect(listed.map(({ version }) => version)).toEqual(Array.from({ length: 22 }, (_, n) => 22 - n));
});

describe("after the people of the first version have ended", () => {
  const ended = shared(async ({ fresh }) => {
    const found = await twoVersions(await fresh());
    await found.world.advance(3 * DAY + MINUTE);
    const statsOf = (version: unknown) => found.call(`GET /api/v1/journeys/${found.id}/stats?version=${version}`);
    return { ...found, statsOf };
  });

  it("the statistics of a version have its runs and its steps alone (F20, RDA-13)", async () => {
    const { statsOf } = await ended();

    expect((await statsOf(1)).body).toMatchObject({
      exact: true,
      runs: { completed: 2, active: 0 },
      steps: {
        welcome: { active: 0, outcomes: { sent: 2 } },
        pause: { active: 0, outcomes: { delayed: 2 } },
        end: { active: 0, outcomes: { exit: 2 } },
      },
    });
    expect(Object.keys((await statsOf(1)).body.steps)).toEqual(["welcome", "pause", "end"]);
    expect((await statsOf(2)).body).toMatchObject({
      runs: { completed: 0, active: 1 },
      steps: { rest: { active: 1 }, bye: { active: 0 } },
    });
  });

  it("the statistics of a journey without a version have the runs of all versions (F20)", async () => {
    const { id, stats } = await ended();

    expect((await stats(id)).runs).toMatchObject({ completed: 2, active: 1 });
  });

  it.each([
    ["the next version", 3, 404],
    ["a later version", 9, 404],
    ["no number", "x", 422],
  ])("the statistics of %s are refused (F20)", async (_, version, status) => {
    const { statsOf } = await ended();

    expect((await statsOf(version)).status).toBe(status);
  });

  it("the versions of a journey are listed, the newest first (F20, RDA-13)", async () => {
    const { call, id } = await ended();

    expect((await call(`GET /api/v1/journeys/${id}/versions`)).body.items).toMatchObject([
      { version: 2, steps: { start: "welcome" } },
      { version: 1, steps: { start: "welcome" } },
    ]);
  });

  it("two versions are compared by steps, by edges and by the rest of their definitions (F20)", async () => {
    const { call, id } = await ended();

    expect((await call(`GET /api/v1/journeys/${id}/versions/1/diff/2`)).body).toEqual({
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
  });

  it("a comparison with a version that there is not is 404 (F20)", async () => {
    const { call, id } = await ended();

    expect((await call(`GET /api/v1/journeys/${id}/versions/1/diff/3`)).status).toBe(404);
  });
});

/** Two versions, and ways to move the runs of the first to the second. */
async function migrating(world: TestWorld) {
  const all = await twoVersions(world);
  const migrate = (body: object = {}) =>
    all.call(`POST /api/v1/journeys/${all.id}/migrations`, { from: 1, to: 2, steps: { pause: "rest" }, ...body });
  const read = async (migration: string) =>
    (await all.call(`GET /api/v1/journeys/${all.id}/migrations/${migration}`)).body;
  /** Moves the runs and waits for the end of it. */
  const migrated = async (body: object = {}) => {
    const begun = (await migrate(body)).body;
    await world.settle();
    return read(begun.id);
  };
  return { ...all, migrate, read, migrated };
}

it("a migration is answered with 202 and the counterpart of every step (F20)", async () => {
  const { migrate } = await migrating(await fresh());

  expect(await migrate()).toMatchObject({
    status: 202,
    body: { status: "processing", steps: { welcome: "welcome", end: "end", pause: "rest" } },
  });
});

it("a step that a migration names goes where it says, also where the new version has one of its own id (F20)", async () => {
  const { migrate } = await migrating(await fresh());

  expect((await migrate({ steps: { welcome: "bye" } })).body.steps).toEqual({ welcome: "bye", end: "end" });
});

it("a step of the new version that has the id of one of another type is not its counterpart (F20)", async () => {
  const { id, call, definition, send, activate, migrate } = await migrating(await fresh());
  await call(`POST /api/v1/journeys/${id}/pause`);
  const third = graphOf({ welcome: send("Hello", "rest"), rest: send("Rest", "end"), end: "exit" });
  await call(`PUT /api/v1/journeys/${id}`, definition(third));
  await activate(id);

  expect((await migrate({ from: 2, to: 3, steps: {} })).body.steps).toEqual({ welcome: "welcome", end: "end" });
});

it("the exit conditions of a version hold for its runs while a later one has others (F20, JND-9)", async () => {
  const { world, active, call, person, track, definition, activate, runs } = await countedSetting(await fresh());
  const waiting = (exits: object[]) =>
    graphOf({ pause: { delay: { duration: "3d", next: "end" } }, end: "exit" }, exits);
  const id = await active(waiting([{ attribute: { plan: { $eq: "gone" } } }]));
  await person("ada");
  await track("ada", "signed_up");
  await call(`POST /api/v1/journeys/${id}/pause`);
  await call(`PUT /api/v1/journeys/${id}`, definition(waiting([{ attribute: { city: { $eq: "Berlin" } } }])));
  await activate(id);
  await world.settle();

  await person("ada", { plan: "gone" });
  await world.settle();

  expect(await runs(id)).toMatchObject([{ status: "exited" }]);
});

it("a migration moves the runs that wait to the new version, and their numbers with them (F20)", async () => {
  const { id, migrated, runs, recounted } = await migrating(await fresh());

  expect(await migrated()).toMatchObject({ status: "completed", progress: 1, moved: 2 });

  expect(await runs(id)).toMatchObject([{ version: 2 }, { version: 2 }, { version: 2 }]);
  const { steps } = await recounted(id);
  expect(steps.pause).toBeUndefined();
  expect(steps.rest?.active).toBe(3);
});

it("a delay that a migration moved ends when it would have, and goes on by the new version (F20)", async () => {
  const { world, id, migrated, inbox, person, recounted } = await migrating(await fresh());
  await world.advance(DAY);
  await migrated();

  await world.advance(2 * DAY + MINUTE);

  expect(await inbox(await person("ada"))).toEqual(["Hi", "Bye"]);
  expect((await recounted(id)).runs).toMatchObject({ active: 1, completed: 2 });
});

it("a migration that is repeated moves nothing (F20)", async () => {
  const { migrated } = await migrating(await fresh());
  await migrated();

  expect(await migrated()).toMatchObject({ status: "completed", moved: 0 });
});

it("a migration leaves the runs on a step without a counterpart where they are (F20)", async () => {
  const { id, migrated, runs, track } = await migrating(await fresh());

  expect(await migrated({ steps: {} })).toMatchObject({
    status: "completed",
    moved: 0,
    steps: { welcome: "welcome", end: "end" },
  });

  await track("ada", "left");
  expect(await runs(id, "?status=exited")).toEqual([]);
});

it("a migration ends a run at once that an exit condition of the new version ends (F20)", async () => {
  const { id, migrated, runs, track } = await migrating(await fresh());
  await track("ada", "left");

  expect(await migrated()).toMatchObject({ moved: 2 });

  expect(await runs(id, "?status=exited")).toHaveLength(1);
});

describe("refusals of a migration", () => {
  const refusing = shared(async ({ fresh }) => migrating(await fresh()));

  it.each<[what: string, field: string, body: object]>([
    ["to an earlier version", "to", { to: 1 }],
    ["to a version that there is not", "to", { to: 5 }],
    ["from a version that there is not", "from", { from: 7 }],
    ["from a step that there is not", "steps.nowhere", { steps: { nowhere: "rest" } }],
    ["to a step that there is not", "steps.pause", { steps: { pause: "nowhere" } }],
    ["from a delay to a send", "steps.pause", { steps: { pause: "bye" } }],
  ])("a migration %s is refused, naming %s (F20)", async (_, field, body) => {
    const { migrate } = await refusing();

    expect((await migrate(body)).body.fields).toEqual({ [field]: expect.any(String) });
  });

  it("the runs of an archived journey are not migrated: 409 (F20)", async () => {
    const { id, call, migrate } = await migrating(await fresh());
    await call(`POST /api/v1/journeys/${id}/pause`);
    await call(`POST /api/v1/journeys/${id}/archive`);

    expect((await migrate()).status).toBe(409);
  });
});

it("a run whose timer fires during a migration ends once, on one of the versions, and is counted once (F20)", async () => {
  const { world, id, person, inbox, track, runs, recounted, migrate, read } = await migrating(await fresh());
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
