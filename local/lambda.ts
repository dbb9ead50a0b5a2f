// The Lambda host: one environment serves one invocation at a time, and payloads are serialized.
import type { Context } from "aws-lambda";
import { SECOND } from "../shared/kernel/clock.ts";
import type { Ids } from "../shared/kernel/ids.ts";
import { awsFailure } from "./aws/index.ts";
import { createEnding, type Runner, runner, type WaitingClock } from "./clock.ts";
import { failure, functionFailure, requestOf, responseOf } from "./lambda-payloads.ts";
import { type ResponseStream, responseStream, type StreamOut } from "./lambda-stream.ts";
import { extended, isLoop, type Lineage } from "./lineage.ts";

/** The event is the sender's JSON. Each handler declares the type that it gets. */
export type Handler = (event: never, context: Context) => unknown;
type StreamHandler = (event: never, stream: ResponseStream, context: Context) => unknown;

interface Registration {
  name: string;
  timeoutSeconds: number;
  /** How many environments there may be; further invocations wait in order. */
  concurrency?: number;
  memoryMb?: number;
  /** Lambda's `RecursiveLoop: Allow`: a chain of messages may invoke the function any number of times. */
  allowsLoops?: boolean;
}

interface BufferedFunction extends Registration {
  /** `false` lifts the 6 MB limit of a buffered payload (the local import). */
  payloadLimit?: boolean;
  create(): Handler;
}

interface StreamingFunction extends Registration {
  create(): StreamHandler;
}

/** One invocation in progress. */
export interface Run extends Runner {
  readonly function: string;
  readonly requestId: string;
  readonly streaming: boolean;
  /** Its time limit, in milliseconds. */
  readonly limit: number;
  /** The chain of messages that this invocation continues, itself included. */
  readonly lineage: Lineage;
  /** Incremented with every change, so that progress can be detected. */
  changes: number;
}

export interface LambdaHost {
  register(spec: BufferedFunction): void;
  registerStreaming(spec: StreamingFunction): void;
  /** The handler's result, or a `FunctionFailure`. @param lineage of the messages in the event */
  invoke(name: string, event: unknown, lineage?: Lineage): Promise<unknown>;
  /** Whether Lambda would stop the next invocation of this chain (recursive loop detection). */
  stops(name: string, lineage: Lineage): boolean;
  /** Resolves when the handler and its stream have ended. */
  invokeStreaming(name: string, event: unknown, out: StreamOut): Promise<void>;
  /** Invocations in progress, of one function or of all. */
  running(name?: string): number;
  /** The same as a list, oldest first. */
  runs(): Run[];
  /** Drops all environments of a function; their invocations fail. */
  crash(name: string): void;
  /** Called after every start or end of an invocation or of one of its sleeps. */
  onChange(listener: (run: Run) => void): () => void;
}

export const REGION = "us-east-1";
export const ACCOUNT = "000000000000";
const DEFAULT_CONCURRENCY = 10;

type AnyHandler = (event: unknown, ...rest: unknown[]) => unknown;
interface Environment {
  handler: AnyHandler;
  dead: boolean;
}
interface HostedFunction extends Registration {
  arn: string;
  streaming: boolean;
  payloadLimit?: boolean;
  create(): AnyHandler;
  idle: Environment[];
  alive: number;
  /** Waiting invocations: each gets a free environment, or the slot of one that ended. */
  waiting: ((environment: Environment | undefined) => void)[];
  crashes: Map<Run, (reason: Error) => void>;
}

interface LambdaHostOptions {
  clock: WaitingClock;
  ids: Ids;
  /** Invocations at once of all functions; more are throttled. */
  accountConcurrency?: number | undefined;
  /** An invocation was throttled. */
  onThrottle?: ((functionName: string) => void) | undefined;
}

export function createLambdaHost({
  clock,
  ids,
  accountConcurrency = Infinity,
  onThrottle,
}: LambdaHostOptions): LambdaHost {
  let invocations = 0;
  const functions = new Map<string, HostedFunction>();
  const runs = new Set<Run>();
  const listeners = new Set<(run: Run) => void>();

  const add = (spec: BufferedFunction | StreamingFunction, streaming: boolean) => {
    if (functions.has(spec.name)) throw new Error(`The function ${spec.name} is registered twice.`);
    const arn = `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${spec.name}`;
    // Handlers differ only in parameter types, which JSON does not carry. The sender guarantees them.
    const create = spec.create as () => AnyHandler;
    functions.set(spec.name, { ...spec, create, arn, streaming, idle: [], alive: 0, waiting: [], crashes: new Map() });
  };

  const find = (name: string): HostedFunction => {
    const found = functions.get(name);
    if (found) return found;
    throw awsFailure("ResourceNotFoundException", `Function not found: ${name}`, { status: 404 });
  };

  const build = (host: HostedFunction): Environment => {
    try {
      return { handler: host.create(), dead: false };
    } catch (error) {
      invocations--;
      free(host);
      throw functionFailure(error);
    }
  };

  const free = (host: HostedFunction) => {
    const next = host.waiting.shift();
    if (next) next(undefined);
    else host.alive--;
  };

  const acquire = async (host: HostedFunction): Promise<Environment> => {
    const idle = host.idle.pop();
    if (idle) return idle;
    if (host.alive < (host.concurrency ?? DEFAULT_CONCURRENCY)) {
      host.alive++;
      return build(host);
    }
    const handed = await new Promise<Environment | undefined>((resolve) => host.waiting.push(resolve));
    return handed ?? build(host);
  };

  const release = (host: HostedFunction, environment: Environment) => {
    if (environment.dead) return free(host);
    const next = host.waiting.shift();
    if (next) next(environment);
    else host.idle.push(environment);
  };

  const execute = async <T>(
    host: HostedFunction,
    work: (handler: AnyHandler, context: Context) => Promise<T>,
    lineage: Lineage = new Map(),
  ): Promise<T> => {
    invocations++;
    const environment = await acquire(host);
    const run: Run = {
      function: host.name,
      requestId: ids.uuid(),
      streaming: host.streaming,
      limit: host.timeoutSeconds * SECOND,
      lineage: extended(lineage, host.name),
      asleep: 0,
      outside: 0,
      changes: 0,
      changed: () => {
        run.changes++;
        if (runs.has(run)) for (const listener of [...listeners]) listener(run);
      },
    };

    const over = createEnding();
    const deadline = clock.now() + run.limit;
    const context = contextOf(host, run, () => Math.max(0, deadline - clock.now()));
    runs.add(run);
    run.changed();

    try {
      const timedOut = runner.run(undefined, () => clock.sleep(run.limit, over));
      return await Promise.race([
        runner.run(run, () => work(environment.handler, context)),
        timedOut.then(() => {
          if (over.aborted) return new Promise<never>(() => undefined);
          environment.dead = true;
          throw failure("Sandbox.Timedout", `Task timed out after ${host.timeoutSeconds.toFixed(2)} seconds`);
        }),
        new Promise<never>((_, reject) => {
          host.crashes.set(run, (reason) => {
            environment.dead = true;
            reject(reason);
          });
        }),
      ]);
    } catch (error) {
      throw functionFailure(error);
    } finally {
      over.abort();
      invocations--;
      host.crashes.delete(run);
      release(host, environment);
      run.changed();
      runs.delete(run);
    }
  };

  return {
    register: (spec) => add(spec, false),
    registerStreaming: (spec) => add(spec, true),
    invoke: async (name, event, lineage) => {
      const host = find(name);
      const payload = requestOf(event, host.payloadLimit !== false);
      if (invocations >= accountConcurrency) {
        onThrottle?.(name);
        throw awsFailure("TooManyRequestsException", "Rate Exceeded.", { status: 429 });
      }
      const work = async (handler: AnyHandler, context: Context) => {
        const answer = await handler(JSON.parse(payload), context);
        return responseOf(answer, host.payloadLimit !== false);
      };
      return execute(host, work, lineage);
    },
    stops: (name, lineage) => find(name).allowsLoops !== true && isLoop(lineage, name),
    invokeStreaming: async (name, event, out) => {
      const host = find(name);
      const payload = requestOf(event, true);
      const isFull = host.idle.length === 0 && host.alive >= (host.concurrency ?? DEFAULT_CONCURRENCY);
      if (isFull || invocations >= accountConcurrency) {
        onThrottle?.(name);
        return throttle(out);
      }
      const response = responseStream(out);
      return execute(host, async (handler, context) => {
        await Promise.all([handler(JSON.parse(payload), response.stream, context), response.finished]);
      }).catch((error: unknown) => {
        response.fail();
        throw error;
      });
    },
    running: (name) => [...runs].filter((run) => name === undefined || run.function === name).length,
    runs: () => [...runs],
    crash: (name) => {
      const host = find(name);
      host.alive -= host.idle.length;
      host.idle = [];
      for (const fail of host.crashes.values()) fail(failure("Runtime.ExitError", "Runtime exited with error"));
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The answer of a function URL if no environment is free. */
function throttle(out: StreamOut): void {
  out.start(429, { "content-type": "application/json" });
  out.write(Buffer.from('{"Reason":"ConcurrentInvocationLimitExceeded","Type":"User","message":"Rate Exceeded."}'));
  out.end();
}

function contextOf(host: HostedFunction, run: Run, remaining: () => number): Context {
  const withdrawn = () => {
    throw new Error("Callbacks are withdrawn from the Node.js runtime: return a promise.");
  };
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: host.name,
    functionVersion: "$LATEST",
    invokedFunctionArn: host.arn,
    memoryLimitInMB: String(host.memoryMb ?? 256),
    awsRequestId: run.requestId,
    logGroupName: `/aws/lambda/${host.name}`,
    logStreamName: "local",
    getRemainingTimeInMillis: remaining,
    done: withdrawn,
    fail: withdrawn,
    succeed: withdrawn,
  };
}
