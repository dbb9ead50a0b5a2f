// What a move of a sandbox's time says of itself (F4).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { month, sandboxIn } from "../support/sandboxes.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

it("a move says from when to when it went by the time of the sandbox, and when by real time (F4)", async () => {
  const world = await fresh();
  const sandbox = await sandboxIn(world);
  await sandbox.move({ advance: "3d" });
  await world.advance(HOUR);
  const began = world.clock.now();

  const { move } = await sandbox.move({ to: timestamp(START + 10 * DAY) });

  expect(move).toMatchObject({ to: timestamp(START + 10 * DAY), moments: 0, messages: 0 });
  const [from, started, ended] = [move.from, move.started_at, move.ended_at].map(Date.parse);
  expect(Math.abs(from! - (began + 3 * DAY))).toBeLessThan(HOUR / 2);
  expect(started).toBe(began);
  expect(ended! - began).toBeLessThan(HOUR / 2);
});

it("what is planned after a move of a sandbox's time happens by itself (F4)", async () => {
  const world = await fresh();
  const sandbox = await sandboxIn(world);
  await sandbox.move({ advance: "10d" });
  const { subscriber } = await month(sandbox, world);

  await world.advance(7 * DAY + 2 * MINUTE);

  expect(await sandbox.inbox(subscriber)).toEqual(["Day 1", "Day 8"]);
});
