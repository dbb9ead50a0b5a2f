// The AWS clients of local functions: the address of the service, its time, and turns of the event loop.
import { randomUUID } from "node:crypto";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../shared/kernel/clock.ts";
import type { Aws, Client, ClientClass } from "../shared/kernel/deps.ts";
import type { Ids } from "../shared/kernel/ids.ts";
import { retryStrategy } from "../shared/kernel/retries.ts";
import { awsClients } from "../shared/runtime/aws.ts";
import { type Hooks, requestHandler, type Services, sendThrough, unsigned, type Wire } from "./aws/index.ts";
import { runner, type ServiceClock } from "./clock.ts";
import { REGION } from "./lambda.ts";

export const HOST = "http://127.0.0.1";

/**
 * Middleware that is removed: the embedded services do not read its headers, and it takes a third of a request's CPU
 * time.
 */
const UNREAD = ["getUserAgentMiddleware", "recursionDetectionMiddleware", "loggerMiddleware"];

const hasMiddleware = (client: object): client is { middlewareStack: { remove(name: string): boolean } } =>
  "middlewareStack" in client;

interface LocalClientOptions {
  clock: Pick<ServiceClock, "offset" | "isHeld">;
  hooks?: Hooks | undefined;
  baseUrl?: (() => string) | undefined;
  /** Settings of each client. */
  settings?: object;
  /**
   * Whether commands skip the protocols of AWS now: a client sends one again in full only after a failed first attempt. Less
   * than half the processor time, for tests of what is above the clients, and for the history of the demo.
   */
  isDirect?: (() => boolean) | undefined;
}

/** Real SDK clients whose requests reach the embedded services without a socket. */
export function localClients(
  services: Services,
  { clock, hooks, baseUrl = () => HOST, settings = {}, isDirect }: LocalClientOptions,
): Aws {
  const clients = awsClients({
    region: REGION,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    // Without this, each client looks for an address in the environment and in files at its first call.
    ignoreConfiguredEndpointUrls: true,
    requestHandler: requestHandler(services, hooks, async () => (clock.isHeld() ? undefined : nextTurn())),
  });
  const send = sendThrough(services, hooks);
  // Signed links and forms lead back to this process, which serves the bucket of imports beside the gateway.
  const s3 = {
    forcePathStyle: true,
    endpoint: () => addressOf(baseUrl()),
  };
  return <C extends Client>(clientClass: ClientClass<C>, own?: object): C => {
    const isS3 = clientClass.name === "S3Client";
    const hasOwnAttempts = "maxAttempts" in { ...own };
    const make = (): C => {
      // A client with its own number of attempts keeps its own pauses too.
      const shared = hasOwnAttempts ? {} : settings;
      const client = clients(clientClass, { ...shared, ...(isS3 ? s3 : { signer: unsigned }), ...own });
      if (isS3) signInServiceTime(client, clock);
      if (hasMiddleware(client)) for (const name of UNREAD) client.middlewareStack.remove(name);
      return client;
    };
    return isDirect && !isS3 && !hasOwnAttempts ? shortcut(clientClass, make, send, isDirect) : make();
  };
}

/** The tokens that clients fill in themselves, one for all attempts of a command. */
const tokens: Record<string, string> = {
  TransactWriteCommand: "ClientRequestToken",
  CreateScheduleCommand: "ClientToken",
};

type SentCommand = Parameters<ReturnType<typeof sendThrough>>[0];

/**
 * The first attempt skips the protocols. If it fails in a way that may pass, the client takes over. The client is made
 * only then, because that takes longer than some tests.
 */
function shortcut<C extends Client>(
  { prototype }: ClientClass<C>,
  make: () => C,
  send: ReturnType<typeof sendThrough>,
  isDirect: () => boolean,
): C {
  let made: C | undefined;
  const client = (): C => {
    made ??= make();
    return made;
  };
  const own = {
    send: async (command: SentCommand) => {
      if (!isDirect()) return client().send(command);
      const token = tokens[command.constructor.name];
      if (token) (command.input as Wire)[token] ??= randomUUID();
      try {
        return await send(command);
      } catch (error) {
        if (mayPass(error as Failure)) return client().send(command);
        throw error;
      }
    },
  };
  return Object.assign(Object.create(prototype) as C, own);
}

type Failure = Error & { $metadata?: { httpStatusCode: number } };

const THROTTLES = /^(Throttling|ThrottledException|ProvisionedThroughput|RequestLimit|TransactionInProgress|Timeout)/;

const mayPass = ({ name, $metadata }: Failure): boolean =>
  THROTTLES.test(name) || ($metadata?.httpStatusCode ?? 0) >= 500;

/** A form that is signed by the machine's time would be valid too long or too short for a service whose time was moved. */
function signInServiceTime(client: object, { offset }: Pick<ServiceClock, "offset">): void {
  if (!("config" in client) || !(client.config instanceof Object)) return;
  Object.defineProperty(client.config, "systemClockOffset", { enumerable: true, get: offset, set: () => undefined });
}

async function addressOf(baseUrl: string) {
  const { protocol, hostname, port } = new URL(baseUrl);
  return { protocol, hostname, path: "/", ...(port && { port: Number(port) }) };
}

/** How many calls all workers together make in one turn of the event loop. */
const CALLS_PER_TURN = 8;

/**
 * Wraps the hooks of workers, and lets the event loop turn while they run: their calls to the embedded services need no turn
 * of it, so a long import would keep every request waiting until it ends. While time stands still nothing else is served, and workers run
 * through.
 */
export function createTurns(clock: Pick<ServiceClock, "isHeld">): (hooks: Hooks | undefined) => Hooks {
  let calls = 0;
  let turn: Promise<void> | undefined;
  const startTurn = async () => {
    await nextTurn();
    calls = 0;
    turn = undefined;
  };
  const wait = async () => {
    while (!clock.isHeld() && calls >= CALLS_PER_TURN) {
      turn ??= startTurn();
      await turn;
    }
    calls++;
  };
  return (hooks = {}) => ({
    ...hooks,
    before: async (service, operation, input) => {
      if (!clock.isHeld()) await wait();
      await hooks.before?.(service, operation, input);
    },
  });
}

const FIRST_MS = { THROTTLING: 1_000, TRANSIENT: 50 };

/**
 * A `retryStrategy` of an SDK client: as in the SDK's standard mode, but an invocation waits in service time. Nobody
 * moves the clock for what calls from outside, so that waits as long as it is.
 */
export const retriesOn = ({ sleep }: Pick<Clock, "sleep">, ids: Pick<Ids, "bytes">) =>
  retryStrategy((ms) => (runner.getStore() ? sleep(ms) : delay(ms, undefined)), ids, FIRST_MS);
