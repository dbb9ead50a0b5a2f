// The AWS clients of a simulated process. Every call is two awaited events, and faults enter here and nowhere else.
import { S3Client } from "@aws-sdk/client-s3";
import {
  awsFailure,
  type Hooks,
  type ServiceName,
  type Services,
  sendThrough,
  type Wire,
} from "../../local/aws/index.ts";
import { REGION } from "../../local/lambda.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import type { Aws } from "../../shared/kernel/deps.ts";
import type { Faults } from "./faults.ts";
import type { Fleet, Process } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";
import { keysOf, lineOf } from "./requests.ts";
import { sdkClients } from "./sdk-clients.ts";

interface ClientDeps {
  kernel: Kernel;
  fleet(): Fleet;
  services: Services;
  faults: Faults;
  /** Real SDK clients over HTTP in process, rather than straight calls. */
  viaSdk: boolean;
  /** Looks at a request before it is carried out. @returns for how many milliseconds it is held up. */
  inspect(process: Process, service: ServiceName, operation: string, input: Wire): number;
  /** Something was carried out that set out at this time. */
  carriedOut(process: Process, service: ServiceName, sentAt: number | undefined): void;
}

const MAX_ATTEMPTS = 5;
const FIRST_BACKOFF_MS = 50;
/** What the SDK waits at most after a first throttle; where throttles follow from the load, only so does the load pass. */
const FIRST_THROTTLED_MS = SECOND;
const MAX_TRANSIT_MS = 25;
/** What is slow takes this long; one in ten, longer than any lease of an attempt. */
const SLOW_MS = { from: SECOND, to: 9 * SECOND };
const VERY_SLOW_MS = { from: 10 * SECOND, to: 50 * SECOND };
const VERY_SLOW = 0.1;
/** A straggler is carried out after the lease of a process that sent it last thing before its timeout. */
const STRAGGLING_MS = { from: 11 * SECOND, to: 30 * SECOND };

export function clientsFor(process: Process, deps: ClientDeps): Aws {
  const hooks = hooksOf(process, deps);
  if (deps.viaSdk) return sdkClients(deps.kernel, deps.services, hooks);
  const send = sendThrough(deps.services, hooks);
  const client = { send: (command: Command) => withRetries(process, deps, () => send(complete(command, process))) };
  // One stub stands for every client class: what differs is in the command. Links to objects are signed by the real one.
  const s3 = Object.assign(Object.create(signer), client);
  return ((clientClass: { name: string }) => (clientClass.name === "S3Client" ? s3 : client)) as unknown as Aws;
}

/** Made once: a client reads the configuration of the machine, and takes longer than the rest of a process. */
const signer = new S3Client({
  region: REGION,
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
  endpoint: "http://127.0.0.1",
});

type Command = Parameters<ReturnType<typeof sendThrough>>[0];

/** Idempotency tokens that the SDK fills in, once however often it sends. */
const tokens: Record<string, string> = {
  TransactWriteCommand: "ClientRequestToken",
  CreateScheduleCommand: "ClientToken",
};

function complete(command: Command, { ids }: Process): Command {
  const token = tokens[command.constructor.name];
  if (token) (command.input as Wire)[token] ??= ids.uuid();
  return command;
}

async function withRetries<T>(process: Process, { kernel, faults }: ClientDeps, attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const { name } = error as Error;
      kernel.note(`${process.label} got ${name}`);
      if (!isTransient(error as Error)) throw error;
      if (attempts === MAX_ATTEMPTS) {
        if (faults.profile.writeUnits === 0) faults.giveUp();
        throw error;
      }
      const isOverload = name === "ThrottlingException" && faults.profile.writeUnits > 0;
      const maxMs = isOverload ? FIRST_THROTTLED_MS * 2 ** (attempts - 1) : FIRST_BACKOFF_MS * 2 ** attempts;
      await process.clock.sleep(process.random.between(1, maxMs));
    }
  }
}

/** As `@smithy/core` classifies errors. */
const throttles = new Set([
  "ThrottlingException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "TransactionInProgressException",
  "TimeoutError",
]);
const isTransient = (error: Error & { $metadata?: { httpStatusCode?: number } }) =>
  throttles.has(error.name) || (error.$metadata?.httpStatusCode ?? 0) >= 500;

const THROTTLED_WHILE_OUT = 0.85;
const LARGE = /^(T#[^#]+#(S.|U#|J#|JOB|journey#|list#|segment#)|DUE#)/;
/** Items of a page cut short. */
const SHORT_PAGE = 8;
/** A page of 1 MB always holds a whole subscriber, its devices included, and the beginning of the next. */
const MIN_PAGE = 3;
const single = new Set(["PutItem", "UpdateItem", "DeleteItem"]);

function hooksOf(process: Process, deps: ClientDeps): Hooks {
  const { kernel, faults, viaSdk } = deps;
  const { profile } = faults;
  const { random } = process;
  const applied = new Set<unknown>();
  const setOut = new WeakMap<Wire, number>();

  const transitMs = () => {
    if (!hits(profile.slow)) return random.between(1, MAX_TRANSIT_MS);
    const { from, to } = random.chance(VERY_SLOW) ? VERY_SLOW_MS : SLOW_MS;
    return random.between(from, to);
  };
  /** Nothing comes back to a process that is gone; what it sent may still arrive. */
  const wait = (ms: number, straggles = false) =>
    new Promise<void>((resolve) => {
      if (viaSdk) kernel.outside.running--;
      kernel.after(ms, () => {
        if (!process.alive && !straggles) return;
        if (viaSdk) kernel.outside.running++;
        resolve();
      });
    });
  const way = ({ straggles = false } = {}) =>
    wait(straggles ? random.between(STRAGGLING_MS.from, STRAGGLING_MS.to) : transitMs(), straggles);
  const die = (why: string) => {
    deps.fleet().crash(process, why);
    if (viaSdk) kernel.outside.running--;
    return new Promise<never>(() => undefined);
  };
  const hits = (probability: number) => faults.strikes(random, probability);

  return {
    before: async (service, operation, input) => {
      if (hits(profile.clockJump)) process.jump();
      setOut.set(input, kernel.now());
      await way({ straggles: hits(profile.straggle) });
      if (process.alive && hits(profile.crash / 2)) return die(`before ${operation}`);
      if (hits(faults.isOut(service) ? THROTTLED_WHILE_OUT : profile.throttle))
        throw awsFailure("ThrottlingException", "Simulated: slow down.");
      if (service === "dynamodb" && hits(profile.conflict)) refuseByConflict(operation, input, applied);
      if (operation === "Query" && LARGE.test(keysOf(operation, input)[0]!.pk) && hits(profile.shortPage))
        input.Limit = Math.min(Number(input.Limit ?? SHORT_PAGE), random.between(MIN_PAGE, SHORT_PAGE));
      const heldUpMs = deps.inspect(process, service, operation, input);
      // It is on its way: it arrives although its process is gone by then.
      if (heldUpMs > 0) await wait(heldUpMs, true);
      kernel.note(`${process.label} ${lineOf(service, operation, input)}`);
    },
    after: async (service, operation, input) => {
      if (operation === "TransactWriteItems") applied.add(input.ClientRequestToken);
      deps.carriedOut(process, service, setOut.get(input));
      if (process.alive && hits(profile.crash / 2)) return die(`after ${operation}`);
      await way();
      if (hits(profile.lostReply)) {
        kernel.note(`${process.label} lost the reply of ${operation}`);
        throw Object.assign(new Error("Simulated: the reply was lost."), { name: "TimeoutError", code: "ECONNRESET" });
      }
    },
  };
}

/** Another writer is at the item; a transaction that was carried out before only answers again. */
function refuseByConflict(operation: string, input: Wire, applied: Set<unknown>): void {
  if (single.has(operation)) throw awsFailure("TransactionConflictException", "Simulated: a transaction is under way.");
  if (operation !== "TransactWriteItems" || applied.has(input.ClientRequestToken)) return;
  const reasons = (input.TransactItems as unknown[]).map((_, at) => ({
    Code: at === 0 ? "TransactionConflict" : "None",
  }));
  throw awsFailure("TransactionCanceledException", "Simulated: another transaction is under way.", {
    fields: { CancellationReasons: reasons },
  });
}

const PATIENCE_MS = 50;
const PASSING = /Throttling|TransactionConflict|ProvisionedThroughput/;
type Send = ReturnType<typeof sendThrough>;

/** What the scenario itself does meets the writes of the others, but has no faults of its own. */
export function patiently(kernel: Kernel, send: Send): Send {
  const sendPatiently = async (command: Parameters<Send>[0]): Promise<unknown> => {
    try {
      return await send(command);
    } catch (error) {
      if (!PASSING.test(`${(error as Error).name} ${(error as Error).message}`)) throw error;
      await kernel.sleep(PATIENCE_MS);
      return sendPatiently(command);
    }
  };
  // What a command is answered with does not depend on how often it was sent.
  return sendPatiently as Send;
}
