// One whole service in a process: embedded AWS, Lambda host, mappings, time and gateway around the product's functions.
import { workers } from "../functions/index.ts";
import type { Network } from "../shared/egress/network.ts";
import type { Group } from "../shared/http/endpoint.ts";
import type { LogEntry } from "../shared/kernel/deps.ts";
import type { Ids } from "../shared/kernel/ids.ts";
import type { PlanName } from "../shared/rules/plans.ts";
import type { FunctionDeps } from "../shared/runtime/deps.ts";
import { systemIds } from "../shared/runtime/system.ts";
import { environmentOf, mailEventsTo, remoteTable, TABLE } from "./account.ts";
import { uncounted } from "./account-metrics.ts";
import { type OpenedStack, openStack } from "./alarms.ts";
import {
  createDynamoDb,
  createEventBridge,
  createKms,
  createRemoteDynamoDb,
  createS3,
  createScheduler,
  createSes,
  createSqs,
  type Database,
  type DynamoDb,
  type DynamoDbFaults,
  type EventBridge,
  type Hooks,
  type Kms,
  openDatabase,
  type S3,
  type Scheduler,
  type Services,
  type Ses,
  type Sqs,
  type SqsFaults,
} from "./aws/index.ts";
import { createClock, runner, type ServiceClock } from "./clock.ts";
import { withDocumentation } from "./documentation.ts";
import { mapEventSources } from "./event-sources.ts";
import type { Faults } from "./faults.ts";
import { withFiles } from "./files.ts";
import { createGateway, type Gateway } from "./gateway.ts";
import { hostFunctions } from "./hosted-functions.ts";
import { ACCOUNT, createLambdaHost, type LambdaHost, REGION } from "./lambda.ts";
import { traceOf } from "./lineage.ts";
import { createTurns, localClients, retriesOn } from "./local-clients.ts";
import type { StreamSource } from "./mapping.ts";
import { openOutbox } from "./outbox.ts";
import { createDns } from "./providers/dns.ts";
import { sesMailbox } from "./providers/mail.ts";
import { createLocalNetwork, type LocalNetwork } from "./providers/network.ts";
import { createChangeSignal, createWriteSignals } from "./signals.ts";
import { openState } from "./state.ts";
import type { LocalStack } from "./template.ts";
import { createTime, type Time } from "./time.ts";

export interface LocalServiceOptions {
  /** A file, or `:memory:` for data that is lost at the end. */
  file?: string;
  /** Service time at the start, in milliseconds. */
  start: number;
  ticking?: boolean;
  plan?: PlanName;
  ids?: Ids;
  /** A PEM private key that services may share, because generating one is slow. */
  signingKey?: string;
  log?(entry: LogEntry): void;
  faults?: DynamoDbFaults;
  queueFaults?: SqsFaults;
  /** Whether SDK commands skip the protocols of AWS now: for tests of what is above the clients, and for the demo's history. */
  areClientsDirect?: (() => boolean) | undefined;
  /** A DynamoDB endpoint to use instead of the embedded one. */
  dynamodbEndpoint?: string | undefined;
  /** Invocations at once of all functions, as an account's limit. */
  accountConcurrency?: number | undefined;
  /** Requests to the gateway of all callers together, as its stage's limit. */
  requestsPerSecond?: number | undefined;
  /** Called between every SDK client and the embedded services, with the function, so that a fault can target it. */
  hooks?(functionName: string): Hooks;
  /** Faults of the embedded providers. */
  providerFaults?: Pick<Faults, "take">;
  /** The address that clients call. A function, because a server knows its port only once it listens. */
  baseUrl?(): string;
  env?: Record<string, string>;
  /** A synthesized stack, whose alarms watch this service. */
  stack?: LocalStack | undefined;
  /** The endpoints; those of the product if absent. */
  groups?: readonly Group[];
  /** Called with every row that is read, and with the item that it is read as. */
  onRead?: NonNullable<FunctionDeps["onRead"]>;
  /** Replaces the network of webhooks. Default: this machine alone, and only if allowed. */
  network?: Network | undefined;
}

export interface LocalService extends Services {
  dynamodb: Omit<DynamoDb, "records"> & StreamSource;
  sqs: Sqs;
  scheduler: Scheduler;
  kms: Kms;
  s3: S3;
  ses: Ses;
  eventbridge: EventBridge;
  providers: LocalNetwork;
  clock: ServiceClock;
  ids: Ids;
  time: Time;
  host: LambdaHost;
  gateway: Gateway;
  database: Database;
  /** The alarms, mails and parameters of `stack`. */
  stack: OpenedStack | undefined;
  env: Readonly<Record<string, string>>;
  depsFor(functionName: string): FunctionDeps;
  close(): Promise<void>;
}

export async function createLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const runtime = openRuntime(options);
  const { clock, ids, database } = runtime;
  const aws = openAws(options, runtime);
  const network = openNetwork(options, runtime);
  const ses = openMail(options, runtime, aws);
  const services: Services = { ...aws.services, ses };
  const table = aws.remote ? await remoteTable(services, openState(database), ids) : TABLE;
  const env = await environmentOf(options, services, table);

  const rest = () => time.rest();
  const depsFor = dependenciesOf(options, runtime, { services, env, network, dynamodb: aws.dynamodb, table, rest });
  const routes = hostFunctions(aws.host, depsFor, options.groups);
  const mappings = await mapEventSources(runtime, aws, table, env);

  const { dynamodb, sqs, scheduler, kms, s3, eventbridge, host } = aws;
  const time = createTime({
    clock,
    host,
    mappings,
    scheduler,
    sqs,
    dynamodb,
    changes: runtime.changes,
    log: runtime.warn,
  });
  const { requestsPerSecond } = options;
  const gateway = createGateway({ clock, ids, host, routes, log: runtime.warn, requestsPerSecond, enter: time.enter });

  return {
    dynamodb,
    sqs,
    scheduler,
    kms,
    s3,
    ses,
    eventbridge,
    ...(runtime.stack && { cloudwatch: runtime.stack.alarms, ssm: runtime.stack.parameters }),
    stack: runtime.stack,
    providers: network,
    clock,
    ids,
    time,
    host,
    gateway: withDocumentation(withFiles(runtime.metrics.gateway(gateway), { ...services, s3 })),
    database,
    env,
    depsFor,
    close: async () => {
      await time.stop();
      aws.remote?.close();
      database.close();
    },
  };
}

/** Shared by every part of the service: time, ids, the data file, the log and the change signal. */
function openRuntime(options: LocalServiceOptions) {
  const { file = ":memory:", start, ticking = false, ids = systemIds, log = () => undefined } = options;
  const clock = createClock({ start, ticking });
  const warn = (message: string, details?: object) => log({ level: "warn", message, ...details });
  const deps = { clock, ids, database: openDatabase(file), log };
  const stack = options.stack && openStack(options.stack, deps);
  const metrics = stack?.metrics ?? uncounted;
  return {
    ...deps,
    ...(stack && { log: stack.log }),
    metrics,
    dns: createDns(),
    changes: createChangeSignal(),
    stack,
    warn,
  };
}
type Runtime = ReturnType<typeof openRuntime>;

/** The embedded AWS services, and the host of the functions that some of them invoke. */
function openAws(
  { dynamodbEndpoint, faults = {}, queueFaults = {}, signingKey, accountConcurrency }: LocalServiceOptions,
  { clock, ids, database, metrics }: Runtime,
) {
  const deps = { clock, ids, database };
  const remote = dynamodbEndpoint ? createRemoteDynamoDb(dynamodbEndpoint) : undefined;
  const dynamodb = remote ?? createDynamoDb({ ...deps, faults });
  const sqs = createSqs({ ...deps, faults: queueFaults, trace: () => traceOf(runner.getStore()) });
  const kms = createKms(signingKey === undefined ? deps : { ...deps, rsaKey: () => signingKey });
  const s3 = createS3(deps);
  const eventbridge = createEventBridge({ clock, ids, account: ACCOUNT, region: REGION });
  const host = metrics.host(createLambdaHost({ clock, ids, accountConcurrency, onThrottle: metrics.throttled }), sqs);
  const scheduler = createScheduler({
    ...deps,
    deliver: metrics.delivery(async ({ arn, input }) => {
      if (arn.startsWith("arn:aws:lambda:")) return void (await host.invoke(functionIn(arn), JSON.parse(input)));
      const { QueueUrl } = await sqs.operate("GetQueueUrl", { QueueName: arn.split(":").at(-1) });
      await sqs.operate("SendMessage", { QueueUrl, MessageBody: input });
    }),
  });
  const services = { dynamodb, sqs, scheduler, kms, s3, eventbridge };
  return { remote, ...services, host, services };
}
type EmbeddedAws = ReturnType<typeof openAws>;

const outboxOf = ({ providerFaults }: LocalServiceOptions, { clock, ids, database }: Runtime) => ({
  clock,
  ids,
  outbox: openOutbox(database),
  faults: providerFaults ?? NO_FAULTS,
});

/** The embedded SES: it records mails in the outbox, and sends their events to the product's queue. */
function openMail(options: LocalServiceOptions, runtime: Runtime, { sqs }: EmbeddedAws): Ses {
  const ses = createSes({
    clock: runtime.clock,
    mailbox: sesMailbox(outboxOf(options, runtime)),
    aliasesOf: (name) => runtime.dns.read(name, "CNAME"),
  });
  ses.onEvent(mailEventsTo(sqs, runtime));
  return ses;
}

/** The network of the product's egress client: the embedded providers, and webhooks if they are allowed. */
function openNetwork(options: LocalServiceOptions, runtime: Runtime): LocalNetwork {
  return createLocalNetwork({
    ...outboxOf(options, runtime),
    database: runtime.database,
    dns: runtime.dns,
    allowLoopback: options.env?.WEBHOOK_ALLOW_LOOPBACK === "1",
    allowProviders: options.env?.PROVIDERS_ALLOW_LOOPBACK === "1",
    notify: runtime.changes.notify,
    webhooks: options.network,
  });
}

interface FunctionSettings {
  services: Services;
  env: Readonly<Record<string, string>>;
  network: LocalNetwork;
  dynamodb: EmbeddedAws["dynamodb"];
  table: string;
  rest(): Promise<void>;
}

const workerNames: ReadonlySet<string> = new Set(workers.map(({ name }) => name));

/** The dependencies that a function is created with, by its name. */
function dependenciesOf(
  { hooks, baseUrl, onRead, areClientsDirect: isDirect }: LocalServiceOptions,
  { clock, ids, log, metrics }: Runtime,
  { services, env, network, dynamodb, table, rest }: FunctionSettings,
): (functionName: string) => FunctionDeps {
  const writeSignals = createWriteSignals(dynamodb, table);
  const turning = createTurns(clock);
  const hooksOf = (name: string) => {
    const counting = metrics.hooks(hooks?.(name));
    return workerNames.has(name) ? turning(counting) : counting;
  };
  // A pause of real time would let a move of service time overtake the worker that makes it.
  const settings = { retryStrategy: retriesOn(clock, ids) };
  return (functionName) => ({
    aws: localClients(services, { clock, hooks: hooksOf(functionName), baseUrl, settings, isDirect }),
    clock,
    ids,
    env,
    log,
    network: network.network,
    writeSignal: writeSignals.signal,
    rest,
    ...(onRead && { onRead }),
  });
}

/** `arn:aws:lambda:<region>:<account>:function:<name>[:<qualifier>]` */
const functionIn = (arn: string): string => arn.split(":")[6] ?? "";
const NO_FAULTS = { take: () => undefined };
