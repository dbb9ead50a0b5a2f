// Service time: what falls due runs in order of its time, months pass in milliseconds, and nothing deadlocks.
import { createServer, get } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { start, toyWorld as world } from "../support/toy-world.ts";

describe("advance", () => {
  /** Thirty days: a chain of 15-minute SQS delays through one night, and a daily schedule that starts it. */
  const thirtyDays = async () => {
    const { time, scheduler, send, worker, note, trace, clock } = await world();
    await worker("tick", async (body) => {
      note(body);
      const day = Number(body.slice(3)) + 1;
      if (day <= 30) scheduler.put(`day${day}`, start + day * DAY, "tick");
      await send("chain", "1", 900);
    });
    await worker("chain", async (body) => {
      note(`link${body}`);
      if (Number(body) < 4) await send("chain", String(Number(body) + 1), 900);
    });
    scheduler.put("day1", start + DAY, "tick");
    expect(await time.advance(start + 30 * DAY + HOUR)).toBe(start + 30 * DAY + HOUR);
    expect(clock.now()).toBe(start + 30 * DAY + HOUR);
    return trace;
  };

  test("thirty days with two timers pass in order, and the same way twice", async () => {
    const first = await thirtyDays();
    expect(first.length).toBe(30 * 5);
    expect(first.slice(0, 6)).toEqual([
      "86400 day1",
      "87300 link1",
      "88200 link2",
      "89100 link3",
      "90000 link4",
      "172800 day2",
    ]);
    expect(await thirtyDays()).toEqual(first);
  });

  test("each thing runs at its own time: delay, schedule, retry after visibility, sleep of a handler", async () => {
    const { time, scheduler, send, worker, note, trace, clock } = await world();
    let tries = 0;
    await worker("delayed", () => note("delayed"));
    await worker("failing", () => {
      note("failing");
      tries++;
      if (tries < 3) throw new Error("again");
    });
    await worker("sleeping", async () => {
      await clock.sleep(7 * SECOND);
      note("slept");
    });
    await send("delayed", "x", 50);
    await send("failing", "x");
    await send("sleeping", "x");
    scheduler.put("at", start + 55 * SECOND, "delayed");
    await time.advance(start + 150 * SECOND);
    expect(trace).toEqual(["0 failing", "7 slept", "50 delayed", "55 delayed", "60 failing", "120 failing"]);
  });

  test("a worker that computes for long is not overtaken by what is due later", async () => {
    const { time, send, worker, note, trace } = await world();
    await worker("computing", async () => {
      for (let i = 0; i < 12; i++) {
        const until = performance.now() + 100;
        while (performance.now() < until);
        await nextTurn();
      }
      note("computed");
    });
    await worker("later", () => note("later"));
    await send("computing", "x");
    await send("later", "x", 5);
    await time.advance(start + MINUTE);
    expect(trace).toEqual(["0 computed", "5 later"]);
  });

  test("recurring schedules fire once, at the target", async () => {
    const { time, send, worker, note, trace } = await world({ every: 5 * MINUTE });
    await worker("sweep", () => note("sweep"));
    await worker("other", () => note("other"));
    await send("other", "x", 900);
    await time.advance(start + DAY);
    expect(trace).toEqual(["900 other", "86400 sweep"]);
  });

  test("an advance does not go back, and stops exactly at its target", async () => {
    const { time, clock } = await world();
    expect(await time.advance(start - HOUR)).toBe(start);
    expect(await time.advance(start + 1)).toBe(start + 1);
    expect(clock.now()).toBe(start + 1);
  });

  test("streams that poll every second end by themselves, whatever their number", async () => {
    const { time, host, clock } = await world();
    let polls = 0;
    host.registerStreaming({
      name: "feed",
      timeoutSeconds: 900,
      concurrency: 50,
      create: () => async (phase: number, response) => {
        await clock.sleep(phase);
        const until = clock.now() + 14 * MINUTE;
        while (clock.now() < until) {
          polls++;
          await clock.sleep(SECOND);
        }
        response.end();
      },
    });
    const out = { start: () => undefined, write: () => true, end: () => undefined };
    const ended = Array.from({ length: 50 }, (_, phase) => host.invokeStreaming("feed", phase * 20, out));
    await time.advance(start + 30 * DAY);
    await Promise.all(ended);
    expect(host.running()).toBe(0);
    expect(polls).toBeGreaterThan(50 * 400);
    expect(polls).toBeLessThanOrEqual(50 * 840);
  });

  test("an invocation that hangs is waited for a moment, then time goes on and ends it", async () => {
    const { time, send, worker, trace, note, logged } = await world();
    let calls = 0;
    await worker("hanging", async () => {
      note("called");
      calls++;
      if (calls === 1) await new Promise(() => undefined);
    });
    await worker("other", () => note("other"));
    await send("hanging", "x");
    await send("other", "x", 30);
    await time.advance(start + MINUTE);
    expect(trace).toEqual(["0 called", "30 other", "60 called"]);
    expect(logged).toContain("A worker failed.");
  });

  test("requests queue behind it, and two advances come one after the other", async () => {
    const { time, send, worker, note, trace } = await world();
    await worker("delayed", () => note("delayed"));
    await send("delayed", "x", 60);
    const first = time.advance(start + 2 * MINUTE);
    const second = time.advance(start + 3 * MINUTE);
    const request = time.enter(async () => note("request"));
    expect(await first).toBe(start + 2 * MINUTE);
    expect(await second).toBe(start + 3 * MINUTE);
    await request;
    expect(trace).toEqual(["60 delayed", "180 request"]);
  });
});

describe("settle", () => {
  test("drains chains of messages on the spot and leaves later ones alone", async () => {
    const { time, send, worker, note, trace, clock } = await world();
    await worker("chain", async (body) => {
      note(body);
      if (body.length < 4) await send("chain", `${body}.`);
      else await send("chain", "later", 1);
    });
    await send("chain", ".");
    await time.settle();
    expect(trace).toEqual(["0 .", "0 ..", "0 ...", "0 ...."]);
    expect(clock.now()).toBe(start);
  });

  test("a worker that backs off for a moment does not deadlock it", async () => {
    const { time, send, worker, note, trace, clock } = await world();
    await worker("retrying", async (body) => {
      await clock.sleep(body === "a" ? 300 : 200);
      note(body);
    });
    await send("retrying", "a");
    await send("retrying", "b");
    await time.settle();
    expect(trace).toEqual(["0.2 b", "0.3 a"]);
  });

  test("an open request to something real is waited for, though its time limit is on the service clock", async () => {
    const server = createServer((_, response) => setTimeout(() => response.end("ok"), 400));
    const port = await listenOnLoopback(server);
    const { time, send, worker, note, trace, clock } = await world();
    await worker("posting", async () => {
      const answered = new Promise<string>((resolve, reject) => {
        const request = get({ port, host: "127.0.0.1", agent: false }, (response) => {
          response.resume().on("end", () => resolve("answered"));
        });
        request.on("error", reject);
      });
      const over = new AbortController();
      note(await Promise.race([answered, clock.sleep(5 * SECOND, over.signal).then(() => "timed out")]));
      over.abort();
    });
    await send("posting", "x");
    await time.settle();
    expect(trace).toEqual(["0 answered"]);
    await send("posting", "x");
    await time.advance(start + MINUTE);
    expect(trace[1]).toBe("0 answered");
    server.close();
    server.closeAllConnections();
  });

  test("a settle ends when whoever asked for it has left", async () => {
    const { time, send, worker } = await world();
    await worker("endless", (body) => send("endless", body));
    await send("endless", "x");
    const left = new AbortController();
    const settled = time.settle(left.signal);
    left.abort();
    await expect(settled).rejects.toThrow("aborted");
  });

  test("what works in another thread is waited for", async () => {
    const { time, send, worker, note, trace } = await world();
    await worker("thread", async () => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      note("done");
    });
    await send("thread", "x");
    await time.settle();
    expect(trace).toEqual(["0 done"]);
  });
});

test("a request that sleeps on a frozen clock is woken without anyone moving time", async () => {
  const { host, clock } = await world();
  host.register({
    name: "api",
    timeoutSeconds: 10,
    create: () => async () => {
      await clock.sleep(40);
      await clock.sleep(60);
      return clock.now() - start;
    },
  });
  expect(await host.invoke("api", {})).toBe(100);
});
