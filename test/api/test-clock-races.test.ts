// Moves of a sandbox's clock that crash (F4, docs/decisions/0072).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { ClockMove } from "../../shared/store/sandbox/items.ts";
import { MAX_MOMENTS } from "../../shared/store/sandbox/moves.ts";
import { timeIn } from "../../shared/store/sandbox/sandbox.ts";
import { mortal } from "../support/mortal.ts";
import { quickDeps } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { month, sandboxIn } from "../support/sandboxes.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

it("a crash in a move is continued: each message is sent once, and each timer is counted once (F4)", async () => {
  const mover = mortal("move-clock");
  const world = await fresh({ hooks: mover.hooks });
  const counts: number[][] = [];
  for (const [n, moment] of [
    [Number.POSITIVE_INFINITY, "before"],
    [2, "after"],
    [9, "before"],
    [14, "after"],
  ] as const) {
    const sandbox = await sandboxIn(world);
    const { id, subscriber } = await month(sandbox, world);
    mover.dieAt(n, moment);
    const begun = await sandbox.call("POST /v1/test/clock", { advance: "29d" });
    await world.settle();
    mover.revive();
    await world.advance(10 * MINUTE);
    const { move } = await sandbox.call("GET /v1/test/clock");
    expect(move.id, `${n}`).toEqual(begun.move.id);
    expect(move.status, `${n}`).toBe("completed");
    expect((await sandbox.call(`GET /api/v1/journeys/${id}/stats`)).runs.completed).toBe(1);
    expect(await sandbox.inbox(subscriber)).toEqual(["Day 1", "Day 8", "Day 30"]);
    counts.push([move.moments, move.messages]);
  }

  expect(counts).toEqual(counts.map(() => counts[0]));
});

it("a move whose worker never comes back gives way to another one after 45 minutes (F4)", async () => {
  const mover = mortal("move-clock");
  const world = await fresh({ hooks: mover.hooks });
  const sandbox = await sandboxIn(world);
  mover.dieAt(1, "before");
  await sandbox.call("POST /v1/test/clock", { advance: "1h" });
  await world.advance(46 * MINUTE);
  mover.revive();

  const { now } = await sandbox.move({ advance: "2h" });

  expect(Date.parse(now)).toBeGreaterThanOrEqual(START + 2 * HOUR);
});

it("a move that another worker has is looked at again, and taken over when that worker's time is over (F4)", async () => {
  const world = await fresh();
  const { call, tenant } = await sandboxIn(world);
  await call("POST /v1/test/clock", { advance: "1h" });
  const platform = platformWrite.open(quickDeps(world))(tenant.id);
  const set = { owner: "another", lease_until: world.clock.now() + MINUTE };
  await platform.change(ClockMove, { tenant: tenant.id }, { set });
  await world.settle();
  expect((await call("GET /v1/test/clock")).move.status).toBe("running");

  await world.advance(2 * MINUTE);

  expect((await call("GET /v1/test/clock")).move.status).toBe("completed");
});

it("of the time of a sandbox no process sees what was before the end of its latest move, whatever its clock says (F4)", () => {
  const end = START + HOUR;

  expect(timeIn({ clock_offset: HOUR, clock_least: end }, START - MINUTE)).toBe(end);
});

it("a crash right after the end of a move still leads to the first timer that is left (F4)", async () => {
  let isDead: boolean | undefined = false;
  const die = () => {
    if (isDead) throw new Error("the worker died");
  };
  const world = await fresh({
    hooks: (name) => ({
      before: () => (name === "move-clock" ? die() : undefined),
      after: (_, operation, input) => {
        if (name !== "move-clock" || operation !== "TransactWriteItems") return;
        if (isDead === false) isDead = JSON.stringify(input).includes("ended_at");
        die();
      },
    }),
  });
  const sandbox = await sandboxIn(world);
  const { subscriber } = await month(sandbox, world);
  await sandbox.move({ advance: "6d" });
  expect(isDead).toBe(true);
  isDead = undefined;
  await world.advance(DAY + 2 * MINUTE);
  expect(await sandbox.inbox(subscriber)).toEqual(["Day 1", "Day 8"]);
});

it("a move that has come to 10,000 moments with work stops there, and the next one goes on (F4)", async () => {
  const world = await fresh();
  const sandbox = await sandboxIn(world);
  const { subscriber } = await month(sandbox, world);
  await sandbox.call("POST /v1/test/clock", { advance: "29d" });
  const platform = platformWrite.open(quickDeps(world))(sandbox.tenant.id);
  await platform.change(ClockMove, { tenant: sandbox.tenant.id }, { set: { moments: MAX_MOMENTS - 1 } });
  await world.settle();

  const stopped = await sandbox.call("GET /v1/test/clock");
  expect(stopped.move).toMatchObject({ status: "stopped", moments: MAX_MOMENTS });
  expect(Date.parse(stopped.now) - START).toBeLessThan(8 * DAY);

  await sandbox.move({ advance: "29d" });
  expect(await sandbox.inbox(subscriber)).toEqual(["Day 1", "Day 8", "Day 30"]);
});

it("a message of a sandbox that failed once and then succeeded holds up no move (F4)", async () => {
  const attempts = requests({ of: "fan-out", operation: "Query" });
  const world = await fresh({ hooks: attempts.hooks });
  const sandbox = await sandboxIn(world);
  const subscriber = await sandbox.person("ada");
  attempts.next(() => {
    throw new Error("The request failed.");
  });
  await sandbox.call("POST /api/v1/notifications", { title: "Hello", body: "b", target: { type: "all" } });
  await world.advance(10 * MINUTE);
  expect(await sandbox.inbox(subscriber)).toEqual(["Hello"]);
  const before = world.clock.now();

  await sandbox.move({ advance: "1h" });

  expect(world.clock.now() - before).toBeLessThan(MINUTE);
});
