// The Lambda host: environments, the wire, errors, time limits and streamed responses.
import { Writable } from "node:stream";
import type { Context } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { createClock } from "../../local/clock.ts";
import { createLambdaHost, type Handler } from "../../local/lambda.ts";
import type { FunctionFailure } from "../../local/lambda-payloads.ts";
import { awslambda, type ResponseStream, type StreamOut } from "../../local/lambda-stream.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import { systemIds } from "../../shared/runtime/system.ts";

function world() {
  const clock = createClock({ start: 0, ticking: false });
  const host = createLambdaHost({ clock, ids: systemIds });
  const register = (create: () => Handler, more: { concurrency?: number; payloadLimit?: boolean } = {}) =>
    host.register({ name: "toy", timeoutSeconds: 3, create, ...more });
  return { clock, host, register };
}

const failureOf = (invocation: Promise<unknown>) =>
  invocation.then(
    () => undefined,
    (error: FunctionFailure) => error.report,
  );

describe("environments", () => {
  test("one environment serves one invocation at a time, and further ones wait in order", async () => {
    const { clock, host, register } = world();
    const trace: string[] = [];
    let made = 0;
    register(
      () => {
        const environment = ++made;
        return async (event: string) => {
          trace.push(`${event} in ${environment}`);
          await clock.sleep(SECOND);
        };
      },
      { concurrency: 2 },
    );
    const all = ["a", "b", "c", "d", "e"].map((event) => host.invoke("toy", event));
    expect(host.running("toy")).toBe(0);
    for (let second = 1; second <= 3; second++) {
      await new Promise(setImmediate);
      clock.jumpTo(second * SECOND);
    }
    await Promise.all(all);
    expect(trace).toEqual(["a in 1", "b in 2", "c in 1", "d in 2", "e in 1"]);
    expect(host.running()).toBe(0);
  });

  test.each([10, 100, 400])(
    "an account of %i invocations at once throttles those beyond, and no later ones",
    async (limit) => {
      const clock = createClock({ start: 0, ticking: false });
      const host = createLambdaHost({ clock, ids: systemIds, accountConcurrency: limit });
      const create = () => () => clock.sleep(SECOND);
      for (const name of ["toy", "other"]) host.register({ name, timeoutSeconds: 3, concurrency: 500, create });
      const all = Array.from({ length: limit + 5 }, (_, n) => host.invoke(n % 2 ? "toy" : "other", n));
      const outcomes = Promise.allSettled(all);
      await new Promise(setImmediate);
      clock.jumpTo(SECOND);
      const refused = (await outcomes).flatMap((outcome) =>
        outcome.status === "rejected" ? [outcome.reason.name] : [],
      );
      expect(refused).toEqual(Array.from({ length: 5 }, () => "TooManyRequestsException"));
      const later = host.invoke("toy", "later");
      await new Promise(setImmediate);
      clock.jumpTo(2 * SECOND);
      expect(await later).toBeNull();
    },
  );

  test("an error leaves the environment, a crash drops all of them and what they did", async () => {
    const { clock, host, register } = world();
    let made = 0;
    register(() => {
      const environment = ++made;
      return async (event: string) => {
        if (event === "throw") throw new RangeError("too far");
        if (event === "sleep") await clock.sleep(SECOND);
        return environment;
      };
    });
    expect(await host.invoke("toy", "")).toBe(1);
    expect(await failureOf(host.invoke("toy", "throw"))).toMatchObject({
      errorType: "RangeError",
      errorMessage: "too far",
      trace: expect.arrayContaining(["RangeError: too far"]),
    });
    expect(await host.invoke("toy", "")).toBe(1);
    const sleeping = failureOf(host.invoke("toy", "sleep"));
    await new Promise(setImmediate);
    host.crash("toy");
    expect(await sleeping).toMatchObject({ errorType: "Runtime.ExitError" });
    expect(await host.invoke("toy", "")).toBe(2);
  });

  test("a factory that throws is the invoker's error and takes no place", async () => {
    const { host, register } = world();
    let broken = true;
    register(
      () => {
        if (broken) throw new Error("no configuration");
        return async () => "fine";
      },
      { concurrency: 1 },
    );
    expect(await failureOf(host.invoke("toy", ""))).toMatchObject({ errorMessage: "no configuration" });
    broken = false;
    expect(await host.invoke("toy", "")).toBe("fine");
  });

  test("a function over its time is ended, by service time", async () => {
    const { clock, host, register } = world();
    let remaining = 0;
    register(() => async (_: never, context: Context) => {
      await clock.sleep(SECOND);
      remaining = context.getRemainingTimeInMillis();
      await new Promise(() => undefined);
    });
    const ended = failureOf(host.invoke("toy", ""));
    await new Promise(setImmediate);
    clock.jumpTo(SECOND);
    await new Promise(setImmediate);
    clock.jumpTo(3 * SECOND);
    expect(await ended).toMatchObject({
      errorType: "Sandbox.Timedout",
      errorMessage: "Task timed out after 3.00 seconds",
    });
    expect(remaining).toBe(2 * SECOND);
    expect(host.running()).toBe(0);
  });
});

describe("the wire", () => {
  test("payloads are copies, as JSON has them", async () => {
    const { host, register } = world();
    const kept = { at: new Date(0), none: undefined };
    let received: unknown;
    register(() => async (event: unknown) => {
      received = event;
      return kept;
    });
    const sent = { list: [1] };
    expect(await host.invoke("toy", sent)).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    expect(received).toEqual(sent);
    expect(received).not.toBe(sent);
  });

  test("6 MB is the limit both ways, unless it is lifted", async () => {
    const big = "x".repeat(6_291_556);
    const limited = world();
    limited.register(() => async (event: string) => (event === "big" ? big : null));
    await expect(limited.host.invoke("toy", big)).rejects.toMatchObject({
      name: "RequestTooLargeException",
      status: 413,
    });
    expect(await failureOf(limited.host.invoke("toy", "big"))).toMatchObject({
      errorType: "Function.ResponseSizeTooLarge",
    });
    const lifted = world();
    lifted.register(() => async (event: string) => event, { payloadLimit: false });
    expect(await lifted.host.invoke("toy", big)).toBe(big);
  });

  test("what is thrown and is no error, and what JSON cannot carry, is reported", async () => {
    const { host, register } = world();
    register(() => async (event: string) => {
      if (event === "throw") throw "a text";
      return 1n;
    });
    expect(await failureOf(host.invoke("toy", "throw"))).toEqual({
      errorType: "string",
      errorMessage: "a text",
      trace: [],
    });
    expect(await failureOf(host.invoke("toy", ""))).toMatchObject({ errorType: "Runtime.MarshalError" });
    await expect(host.invoke("other", "")).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });
});

describe("streaming", () => {
  const recorder = (listens: (chunks: number) => boolean = () => true) => {
    const seen: unknown[] = [];
    const out: StreamOut = {
      start: (status, headers) => seen.push({ status, headers }),
      write: (chunk) => {
        seen.push(String(chunk));
        return listens(seen.length);
      },
      end: (failed) => seen.push(failed ? "failed" : "end"),
    };
    return { seen, out };
  };
  const stream = (handler: (event: never, stream: ResponseStream) => unknown) => {
    const { clock, host } = world();
    host.registerStreaming({ name: "feed", timeoutSeconds: 900, create: () => handler });
    return { clock, host };
  };

  test("metadata come first, then the chunks as they are written", async () => {
    const { clock, host } = stream(async (_, raw) => {
      const response = awslambda.HttpResponseStream.from(raw, {
        statusCode: 201,
        headers: { "content-type": "text/event-stream" },
        cookies: ["a=1"],
      });
      response.write("one");
      await clock.sleep(SECOND);
      response.end("two");
    });
    const { seen, out } = recorder();
    const ended = host.invokeStreaming("feed", {}, out);
    await new Promise(setImmediate);
    const start = { status: 201, headers: { "content-type": "text/event-stream", "set-cookie": ["a=1"] } };
    expect(seen).toEqual([start, "one"]);
    expect(host.runs()).toMatchObject([{ function: "feed", streaming: true, asleep: 1 }]);
    clock.jumpTo(SECOND);
    await ended;
    expect(seen).toEqual([start, "one", "two", "end"]);
  });

  test("a body given to end alone goes past the metadata, as with Amazon's client", async () => {
    const { host } = stream(async (_, raw) => {
      awslambda.HttpResponseStream.from(raw, { statusCode: 401, headers: { "content-type": "text/plain" } }).end("no");
    });
    const { seen, out } = recorder();
    await host.invokeStreaming("feed", {}, out);
    expect(seen).toEqual([{ status: 200, headers: { "content-type": "application/octet-stream" } }, "no", "end"]);
  });

  test("a client that goes away does not stop the function; what it writes is discarded", async () => {
    let ran = false;
    const { host } = stream(async (_, response) => {
      for (const part of ["1", "2", "3"]) response.write(part);
      ran = true;
      response.end();
    });
    const { seen, out } = recorder((chunks) => chunks < 3);
    await host.invokeStreaming("feed", {}, out);
    expect(ran).toBe(true);
    expect(seen.slice(1)).toEqual(["1", "2"]);
  });

  test("where no environment is free a function URL answers 429 at once", async () => {
    const { clock, host } = world();
    host.registerStreaming({
      name: "feed",
      timeoutSeconds: 3,
      concurrency: 1,
      create: () => async (_, response) => {
        await clock.sleep(SECOND);
        response.end("done");
      },
    });
    const [first, second] = [recorder(), recorder()];
    const ended = host.invokeStreaming("feed", {}, first.out);
    await host.invokeStreaming("feed", {}, second.out);
    expect(second.seen).toEqual([
      { status: 429, headers: { "content-type": "application/json" } },
      expect.stringContaining("Rate Exceeded."),
      "end",
    ]);
    clock.jumpTo(SECOND);
    await ended;
  });

  test("an error before the first byte is a 502, and after it breaks the response off", async () => {
    const early = recorder();
    const late = recorder();
    const thrower = async () => {
      throw new Error("no");
    };
    await expect(stream(thrower).host.invokeStreaming("feed", {}, early.out)).rejects.toThrow("no");
    expect(early.seen).toEqual([
      { status: 502, headers: { "content-type": "application/json" } },
      expect.any(String),
      "end",
    ]);
    const { host } = stream(async (_, response) => {
      response.write("1");
      throw new Error("no");
    });
    await expect(host.invokeStreaming("feed", {}, late.out)).rejects.toThrow("no");
    expect(late.seen.slice(1)).toEqual(["1", "failed"]);
  });

  test("metadata after the first byte are refused", () => {
    expect(() => awslambda.HttpResponseStream.from(new Writable(), {})).toThrow(TypeError);
  });
});
