// One simulated service: the product's handlers in processes that may crash, over the embedded AWS, on virtual time.
import type * as v from "valibot";
import { groups, workers } from "../../functions/index.ts";
import { operator } from "../../functions/operator/index.ts";
import { stream } from "../../functions/stream/index.ts";
import { makeResources } from "../../local/account.ts";
import {
  createDynamoDb,
  createKms,
  createS3,
  createScheduler,
  createSqs,
  openDatabase,
  type ServiceName,
  type Services,
  type StreamRecord,
  sendThrough,
  type Wire,
} from "../../local/aws/index.ts";
import { serve } from "../../shared/http/serve.ts";
import type { LogEntry } from "../../shared/kernel/deps.ts";
import { idsFrom } from "../../shared/kernel/ids.ts";
import type { FunctionDeps } from "../../shared/runtime/deps.ts";
import { queueVariable } from "../../shared/store/queue-sender.ts";
import type { WorkspaceKind } from "../../shared/store/workspaces/identity.ts";
import { clientsFor, patiently } from "./clients.ts";
import { createFaults, type Faults } from "./faults.ts";
import { createFleet, type Fleet, type Handler, type Process } from "./fleet.ts";
import { type Answer, type FrontDoor, openFrontDoor } from "./front-door.ts";
import type { Kernel } from "./kernel.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { listening } from "./listeners.ts";
import { type Commit, createMirror, type Mirror } from "./mirror.ts";
import { watchOutboxes } from "./outbox.ts";
import { FAULTS_END_MS, type Profile } from "./profiles.ts";
import { type Call, isFull, providersFor, type TakenTimes } from "./providers.ts";
import { driveQueues, isWatchdog, type ReceivedMessage } from "./queues.ts";
import type { Random } from "./random.ts";
import { openReceivers, type Receivers } from "./receivers.ts";
import { driveSchedules, lateDelivery } from "./schedules.ts";
import { driveStream } from "./streams.ts";
import { faultsOfTables, limitTable } from "./table-faults.ts";
import { openTenants, type Tenant } from "./tenants.ts";

export interface SimWorld extends FrontDoor {
  kernel: Kernel;
  random: Random;
  profile: Profile;
  mirror: Mirror;
  ledger: Ledger;
  /** When faults end, in virtual milliseconds since the epoch. */
  faultsEnd: number;
  start: number;
  fleet: Fleet;
  records: ReturnType<typeof driveStream>;
  queues: ReturnType<typeof driveQueues>;
  /** Makes a workspace, without faults. */
  tenant(kind?: WorkspaceKind): Promise<Tenant>;
  /** What an operator does to a workspace, at once and without faults. */
  operate(tenant: Tenant, change: Omit<v.InferInput<typeof operator.input>, "tenant_id">): Promise<void>;
  faults: Faults;
  /** The servers that webhooks are posted to. */
  receivers: Receivers;
  /** Runs an actor `ms` from now, unless a shrunk run leaves it out. */
  act(ms: number, action: () => Promise<void>): void;
  /** What actors threw: the simulation itself is wrong. */
  errors: readonly unknown[];
  /** Trace points: called when a batch goes to its worker. */
  onStart(listener: (queue: string, messages: ReceivedMessage[]) => void): void;
  onCommit(listener: (commit: Commit) => void): void;
  /** An AWS request of a process, before it is carried out. Trace points may hold it up for some milliseconds. */
  onRequest(listener: RequestListener): void;
  /** A process logged a warning or an error. */
  onLog(listener: (process: Process, entry: LogEntry) => void): void;
  /** A provider was asked to send something. */
  onProviderCall(listener: (call: Call) => void): void;
  /** An answer of the service to a client. */
  onAnswer(listener: (route: string, answer: Answer, tenant: Tenant) => void): void;
  /** Trace points: called when a request of a client comes to its function. */
  onArrival(listener: (route: string, tenant: Tenant) => void): void;
  /** Gives an id a name that the story tells it by. */
  name(id: string, name: string): void;
  names: ReadonlyMap<string, string>;
  /** How much the sweep and the watchdog repaired. */
  rescues: { sweep: number; watchdog: number };
  /** AWS calls of the product so far. */
  calls(): number;
  /** Actors so far, and those that took part. */
  actors(): number;
  taking(): number;
  close(): void;
}

type RequestListener = (process: Process, service: ServiceName, operation: string, input: Wire) => number | undefined;

interface WorldOptions {
  kernel: Kernel;
  profile: Profile;
  signingKey: string;
  viaSdk?: boolean;
  /** Actors and faults that are left out, by their numbers. */
  without?: Omission | undefined;
}

export interface Omission {
  actors: ReadonlySet<number>;
  faults: ReadonlySet<number>;
}

export async function createSimWorld(options: WorldOptions): Promise<SimWorld> {
  const { kernel, profile, signingKey, without, viaSdk = false } = options;
  const start = kernel.now();
  const faults = createFaults(kernel, profile, without?.faults ?? new Set());
  const random = kernel.random.fork();
  const clock = { now: kernel.now, sleep: kernel.sleep };
  const database = openDatabase(":memory:");
  const base = { clock, ids: idsFrom(kernel.random.fork().bytes), database };
  const dynamodb = createDynamoDb({ ...base, faults: faultsOfTables(kernel, faults, viaSdk) });
  const dice = kernel.random.fork();
  const sqs = createSqs({
    ...base,
    faults: {
      duplicate: () => faults.strikes(dice, profile.duplicate),
      reorder: () => dice.chance(profile.reorder),
    },
  });
  const kms = createKms({ ...base, rsaKey: () => signingKey });
  const scheduler = createScheduler({ ...base, deliver: lateDelivery(kernel, sqs, faults) });
  const services: Services = { dynamodb, sqs, scheduler, kms, s3: createS3(base) };
  const env: Record<string, string> = {
    ...(await makeResources(services)),
    BASE_URL: "https://engagement.example.com",
    TOKEN_ISSUER: "http://127.0.0.1",
    TOKEN_AUDIENCE: "engagement-dashboard",
    DEFAULT_PLAN: "enterprise",
    REGISTRATION: "open",
  };

  const starts = listening<[queue: string, messages: ReceivedMessage[]]>();
  const commits = listening<[commit: Commit]>();
  const requests: RequestListener[] = [];
  const arrivals = listening<[route: string, tenant: Tenant]>();
  const providerCalls = listening<[call: Call]>();
  const logs = listening<[process: Process, entry: LogEntry]>();
  const answers = listening<[route: string, answer: Answer, tenant: Tenant]>();
  const names = new Map<string, string>();
  const errors: unknown[] = [];
  const rescues = { sweep: 0, watchdog: 0 };
  const taken: TakenTimes = new Map();
  let calls = 0;
  let workspaces = 0;
  let actors = 0;
  let taking = 0;

  const logOf = (process: Process) => (entry: LogEntry) => {
    const { level, message, ...fields } = entry;
    if (level === "info") return;
    if (typeof fields.rescued === "number") rescues.sweep += fields.rescued;
    kernel.note(`log ${message} ${fields.error ?? ""} ${fields.stack ?? ""}`);
    logs.tell(process, entry);
  };
  const outboxes = watchOutboxes(kernel, providerCalls.tell);
  requests.push(outboxes.request);
  commits.on(outboxes.commit);
  const create = (process: Process): Handler => {
    const aws = clientsFor(process, {
      kernel,
      services,
      faults,
      viaSdk,
      fleet: () => fleet,
      inspect: (...request) => {
        calls++;
        return requests.reduce((ms, listener) => Math.max(ms, listener(...request) ?? 0), 0);
      },
      carriedOut: (by, service, sentAt) => {
        if (service === "dynamodb") mirror.sync(by.label, sentAt);
        if (service === "scheduler") schedules.arm();
      },
    });
    const providers = providersFor(process, {
      kernel,
      faults,
      fleet: () => fleet,
      refuses: ({ tenant }) => ledger.refusing.has(tenant),
      isFull: ({ tenant }) => isFull(taken, ledger.limits.get(tenant), { tenant, now: kernel.now() }),
      told: providerCalls.tell,
    });
    const deps: FunctionDeps = {
      aws,
      clock: process.clock,
      ids: process.ids,
      env,
      log: logOf(process),
      providers,
      egress: receivers.clientOf(process),
    };
    const worker = workers.find(({ name }) => name === process.name);
    if (process.name === stream.name) return streaming(deps);
    if (worker) return worker.create(deps) as Handler;
    return serve(groups.find(({ name }) => `api-${name}` === process.name)!, deps) as Handler;
  };

  const receivers = openReceivers({ kernel, faults, fleet: () => fleet });
  const fleet = createFleet(kernel, { skewMs: profile.skewMs, create });
  const records = driveStream({ kernel, fleet, faults });
  const mirror = createMirror(dynamodb, {
    record: (record: StreamRecord) => records.take(record),
    commit: commits.tell,
  });
  const schedules = driveSchedules(kernel, scheduler);
  const queues = driveQueues({
    kernel,
    sqs,
    fleet,
    faults,
    urlOf: (queue) => env[queueVariable(queue)]!,
    starts: (queue, messages) => {
      for (const { body } of messages) if (isWatchdog(body)) rescues.watchdog++;
      starts.tell(queue, messages);
    },
  });

  limitTable(kernel, dynamodb, faults);
  const setupSend = patiently(kernel, sendThrough(services));
  const setupDeps: FunctionDeps = {
    // One stub stands for every client class: what differs is in the command.
    aws: (() => ({ send: setupSend })) as unknown as FunctionDeps["aws"],
    clock,
    ids: base.ids,
    env,
    log: () => undefined,
  };
  const tenants = openTenants(setupDeps);
  const operate = operator.create(setupDeps);
  const door = openFrontDoor({
    kernel,
    fleet,
    random,
    base,
    arrives: arrivals.tell,
    answered: answers.tell,
  });

  const ledger = openLedger();
  return {
    kernel,
    random,
    profile,
    faults,
    receivers,
    mirror,
    faultsEnd: start + FAULTS_END_MS,
    start,
    fleet,
    records,
    queues,
    ...door,
    names,
    rescues,
    ledger,
    tenant: async (kind) => {
      const made = await tenants.make(kind);
      mirror.sync("setup");
      names.set(made.id, `workspace-${++workspaces}`);
      ledger.tenants.set(made.id, made);
      return made;
    },
    operate: async ({ id }, change) => {
      await operate({ tenant_id: id, ...change });
      kernel.note(`operator ${JSON.stringify(change)} of ${id}`);
      mirror.sync("operator");
    },
    act: (ms, action) => {
      const number = actors++;
      if (without?.actors.has(number)) return;
      taking++;
      kernel.after(ms, () => void action().catch((error: unknown) => void errors.push(error)));
    },
    errors,
    onStart: starts.on,
    onCommit: commits.on,
    onRequest: (listener) => void requests.push(listener),
    onArrival: arrivals.on,
    onLog: logs.on,
    onProviderCall: providerCalls.on,
    onAnswer: answers.on,
    name: (id, name) => void names.set(id, name),
    calls: () => calls,
    actors: () => actors,
    taking: () => taking,
    close: () => database.close(),
  };
}

/** A streaming function takes a response beside its event. */
function streaming(deps: FunctionDeps): Handler {
  const open = stream.create(deps);
  return ({ event, response }) => open(event, response);
}
