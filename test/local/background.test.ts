// The background pump of a ticking clock: triggered by changes, idle otherwise.
import { describe, expect, test } from "vitest";
import { DAY, SECOND } from "../../shared/kernel/clock.ts";
import { toyWorld as world } from "../support/toy-world.ts";

describe("the background pump", () => {
  const until = async (condition: () => boolean) => {
    for (let left = 300; left > 0 && !condition(); left--) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(condition()).toBe(true);
  };

  test("the background pump runs what is sent, what is delayed and what is scheduled, as time ticks", async () => {
    const { time, send, worker, trace, note, scheduler, clock } = await world({ ticking: true });
    await worker("work", (body) => trace.push(body));
    time.start();
    scheduler.put("scheduled", clock.now() + 300, "work");
    await send("work", "now");
    await send("work", "delayed", 1);
    await until(() => trace.length === 3);
    expect(trace).toEqual(["now", "scheduled", "delayed"]);
    await time.advance(clock.now() + DAY);
    note("moved");
    expect(Number(trace[3]!.split(" ")[0])).toBeGreaterThanOrEqual(DAY / SECOND);
    const moved = clock.now();
    await until(() => clock.now() > moved);
  });

  test("the background pump goes on after a few seconds, however long a settle takes", async () => {
    const { time, send, worker, clock } = await world({ ticking: true, stillMs: 50 });
    const { promise: answer, resolve: answers } = Promise.withResolvers<void>();
    const wasHeld: boolean[] = [];
    await worker("asking", () => {
      wasHeld.push(clock.isHeld());
      return answer;
    });
    await send("asking", "something real");
    const settled = time.settle();
    await until(() => wasHeld.length > 0 && !clock.isHeld());
    expect(wasHeld).toEqual([true]);
    const before = clock.now();
    await until(() => clock.now() > before);
    answers();
    await settled;
  });

  test("the background pump fires at its time what is scheduled while nothing else is due", async () => {
    const { time, worker, trace, scheduler, clock } = await world({ ticking: true });
    await worker("work", (body) => trace.push(body));
    time.start();
    await new Promise((resolve) => setTimeout(resolve, 100));
    scheduler.put("scheduled", clock.now() + 200, "work");
    await until(() => trace.length === 1);
  });

  test("the background pump does nothing while nothing is due", async () => {
    const { time, sqs } = await world({ ticking: true });
    let looks = 0;
    const { nextVisible } = sqs;
    sqs.nextVisible = () => {
      looks++;
      return nextVisible();
    };
    time.start();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(looks).toBeLessThan(5);
  });

  test("the background pump logs a failure and goes on", async () => {
    const { time, scheduler, logged, worker, trace, send } = await world({ ticking: true });
    await worker("work", (body) => trace.push(body));
    const { next } = scheduler;
    scheduler.next = () => {
      throw new Error("broken");
    };
    time.start();
    await until(() => logged.includes("The background pump failed and continues."));
    scheduler.next = next;
    await send("work", "after");
    await until(() => trace.length === 1);
  });
});
