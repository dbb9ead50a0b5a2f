// Timers of one minute, however many they are (docs/decisions/0021#timers).
import { expect, it } from "vitest";
import { runsTimerId } from "../../shared/contract/due-kinds.ts";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { timers } from "../../shared/store/capabilities.ts";
import { platformWrite } from "../../shared/store/context.ts";
import type { Item } from "../../shared/store/model.ts";
import { dueKey, minuteOf, SweepItem } from "../../shared/store/platform-items.ts";
import type { Timer } from "../../shared/store/timers.ts";
import { quickDeps } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** What became of the timers: no run waits for any of them. */
const droppedOf = ({ logs }: TestWorld) =>
  logs.filter(({ message }) => message === "the timer of a run that does not exist, or has not got there, was dropped");

const timerIdIn = ({ ids }: TestWorld) =>
  runsTimerId(ids.uuid(), [{ subscriber: ids.uuid(), run: ids.uuid(), seq: 1 }]);

/** 300 timers of one minute, and 600 of one shard of it; half of them at its beginning, half 20 s later. */
async function crowdedMinute() {
  const forwarding = requests({ of: "due", service: "sqs" });
  const world = await fresh({ hooks: forwarding.hooks });
  const [one, other] = [await world.tenant(), await world.tenant()];
  const timerOf = (n: number) => ({
    kind: "journey-runs" as const,
    id: timerIdIn(world),
    at: START + HOUR + (n % 2) * 20 * SECOND,
  });
  await timers
    .open(quickDeps(world))(one.id)
    .set(Array.from({ length: 300 }, (_, n) => timerOf(n)));
  const crowded = Array.from({ length: 600 }, (_, n) => dueRow(other, timerOf(n), 3));
  await other.rows.writeAll(crowded.map((item) => ({ kind: "put", item })));
  return { world, tenant: one, forwarding, dropped: () => droppedOf(world).length };
}

it("hundreds of timers of one minute, and of one shard, are forwarded at their times (JND-4)", async () => {
  const { world, dropped } = await crowdedMinute();

  await world.advance(HOUR - 1);
  expect(dropped()).toBe(0);
  await world.advance(1);
  expect(dropped()).toBe(450);
  await world.advance(20 * SECOND);
  expect(dropped()).toBe(900);
});

it("hundreds of timers of one minute are forwarded in few messages, and leave no row (JND-4)", async () => {
  const { world, tenant, forwarding } = await crowdedMinute();

  await world.advance(HOUR + 20 * SECOND);

  expect(forwarding.seen()).toBeLessThanOrEqual(45);
  const shards = Array.from({ length: 16 }, (_, shard) => `DUE#${minuteOf(START + HOUR)}#${shard}`);
  const left = await Promise.all(shards.map((pk) => tenant.rows.count({ pk })));
  expect(left).toEqual(shards.map(() => 0));
});

/** The row of a timer as it is stored, in a given shard. */
function dueRow({ id: tenant }: Tenant, { kind, id, at }: Timer, shard: number): Item {
  const { timer, minute } = dueKey(at, `${kind}#${tenant}#${id}`);
  const key = { pk: `DUE#${minute}#${shard}`, sk: `${String(at).padStart(15, "0")}#${timer}` };
  return { ...key, react: "due", tenant, kind, id, at, since: START, expires: 0 };
}

it("a timer in any shard is forwarded, and so is one that the minute's pass did not see (JND-4)", async () => {
  const world = await fresh();
  const tenant = await world.tenant();
  const [soon, late] = [START + 30 * SECOND, START + HOUR];
  for (const at of [soon, late]) {
    const timer = { kind: "journey-runs" as const, id: timerIdIn(world), at };
    await tenant.rows.put(dueRow(tenant, timer, 5));
  }
  await world.advance(HOUR + 6 * MINUTE);

  expect(droppedOf(world)).toHaveLength(2);
});

it("the schedule of a minute is made once, however many batches have timers of it (OPS-1)", async () => {
  const making = requests({ of: "react", operation: "CreateSchedule" });
  const world = await fresh({ hooks: making.hooks });
  const tenant = await world.tenant();
  for (let n = 0; n < 3; n++) {
    const id = timerIdIn(world);
    await timers
      .open(quickDeps(world))(tenant.id)
      .set([{ kind: "journey-runs", id, at: START + HOUR }]);
    await world.settle();
  }

  expect(making.seen()).toBe(1);
});

it("the schedule of a minute that could not be made is made by the next try (OPS-1)", async () => {
  const making = requests({ of: "react", operation: "CreateSchedule" });
  making.each(() => {
    if (making.seen() === 1) throw new Error("The scheduler is not there.");
  });
  const world = await fresh({ hooks: making.hooks });
  const tenant = await world.tenant();
  await timers
    .open(quickDeps(world))(tenant.id)
    .set([{ kind: "journey-runs", id: timerIdIn(world), at: START + HOUR }]);
  await world.advance(HOUR);

  expect(droppedOf(world)).toHaveLength(1);
});

it("a sweep of timers that fails goes on where it was (OPS-1)", async () => {
  const forwarding = requests({ of: "due", service: "sqs" });
  forwarding.each(() => {
    if (forwarding.seen() === 2) throw new Error("The queue is not there.");
  });
  const world = await fresh({ hooks: forwarding.hooks });
  const tenant = await world.tenant();
  const [first, second] = [minuteOf(START) - 30, minuteOf(START) - 20];
  for (const minute of [first, second]) {
    const id = timerIdIn(world);
    await tenant.rows.put(dueRow(tenant, { kind: "journey-runs", id, at: minute * MINUTE }, 5));
  }
  const platform = platformWrite.open(quickDeps(world))("" as TenantId);
  await platform.put(SweepItem, {}, { minute: first - 1 });
  const message = { messageId: "1", body: '{"kind":"sweep"}', attributes: { ApproximateReceiveCount: "1" } };
  const answer = await world.host.invoke("due", { Records: [message] });

  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "1" }] });
  expect(await platform.get(SweepItem, {})).toMatchObject({ minute: first });
});
