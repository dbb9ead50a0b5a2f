// `npm start`: the whole service in one process on this machine.
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import type { LogEntry } from "../shared/kernel/deps.ts";
import { logLine } from "../shared/kernel/log.ts";
import { readArguments } from "../tools/arguments.ts";
import { commitOf } from "../tools/release.ts";
import { beginSweeps } from "./account.ts";
import { startAwsPort } from "./aws/index.ts";
import { withConsole } from "./console.ts";
import { createControl } from "./control.ts";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import { type Demo, demoVariables, prepareDemo, welcome } from "./demo.ts";
import { fillDemo, WEEK_MS } from "./demo-week.ts";
import { createFaults, UNDISTURBED } from "./faults.ts";
import { type RequestLine, startHttpServer } from "./http-server.ts";
import { createLocalService } from "./local-service.ts";
import { isStartRefused, readSettings, type Settings, startRefused } from "./settings.ts";
import { openState, rememberOffset } from "./state.ts";
import { newOwnerPassword, openTenancy } from "./tenancy.ts";

const STOP_MS = 10_000;

const USAGE = `npm start -- [--demo | --empty]: the whole service on this machine.

  --demo   a new data folder begins with a week of history in the demo workspace
  --empty  it begins without (the default)

Settings are environment variables: docs/local.md.

Example: PORT=3001 npm start -- --demo`;

async function start(): Promise<void> {
  const { values } = readArguments(USAGE, { options: { demo: { type: "boolean" }, empty: { type: "boolean" } } });
  const settings = readEnvironment();
  const folder = openDataFolder(settings.dataFolder);
  const isFilled = values.demo === true && !values.empty && folder.isNew && !settings.dynamodbEndpoint;
  const log = createLog();
  // The password is hashed while the service is made.
  const owner = folder.isNew ? newOwnerPassword(randomBytes) : undefined;
  // Links of the demo's mails are made before the server listens.
  const address = { url: `http://127.0.0.1:${settings.port}` };
  const startsAt = Date.now() + folder.offset - (isFilled ? WEEK_MS : 0);

  let isFilling = isFilled;
  const running = await runService(settings, { ...folder, startsAt, areClientsDirect: () => isFilling }, log, address);
  const prepare = () => prepareDemo(running.tenancy, running.state, demoName(settings), owner);
  if (isFilled) {
    // A start that is killed meanwhile leaves an empty folder, which the next start fills again.
    const release = running.service.database.hold();
    await fillDemo({ ...running, demo: await prepare() });
    isFilling = false;
    await running.service.time.advance(Math.max(running.service.clock.now(), Date.now()), { recurring: false });
    release();
  }

  if (folder.isNew && !settings.dynamodbEndpoint) await beginSweeps(running.service.depsFor(UNDISTURBED));
  running.service.time.start();
  const demo = await prepare();
  const quiet = await running.tenancy.quietHours(demo.tenant_id);
  const servers = await openServers(settings, running, log, address);
  running.service.stack?.topics.askToConfirm(servers.url);
  const variables = writeVariables(settings, servers.url, demo);

  stopOnSignals(async () => {
    log.mute();
    await servers.close();
    rememberOffset(running.state, running.service.clock.offset());
    await running.service.close();
    folder.release();
  });

  // Without this, a service that is killed would keep no compiled code, and compile it at every start.
  flushCompileCache();
  // Printed last: a reader may stop the service as soon as it is printed.
  console.log(welcome({ url: servers.url, aws: servers.awsUrl, folder: settings.dataFolder, variables }, demo, quiet));
}

const demoName = ({ dynamodbEndpoint }: Settings) => (dynamodbEndpoint ? "remote-demo" : "demo");

/** Settings come from the environment, and from a file `.env` where the environment has none. */
function readEnvironment(): Settings {
  if (existsSync(".env")) process.loadEnvFile(".env");
  return readSettings(process.env);
}

/** Warnings, errors and requests, one line each. */
function createLog() {
  let isMuted = false;
  const write = (entry: LogEntry) => {
    if (entry.level !== "info" && !isMuted) console.error(logLine(entry));
  };
  return {
    write,
    request: (line: RequestLine) => {
      if (!isMuted) console.error(logLine({ level: "info", message: "request", ...line }));
    },
    warn: (message: string, details?: object) => write({ level: "warn", message, ...details }),
    mute: () => {
      isMuted = true;
    },
  };
}

type LocalLog = ReturnType<typeof createLog>;

/** The address that clients call; without its port until the server listens, where it takes a free one. */
interface Address {
  url: string;
}

async function runService(
  { plan, dynamodbEndpoint, accountConcurrency, requestsPerSecond, stack, passedOn }: Settings,
  folder: DataFolder & { startsAt: number; areClientsDirect(): boolean },
  log: LocalLog,
  address: Address,
) {
  const faults = createFaults();
  const service = await createLocalService({
    file: folder.file,
    start: folder.startsAt,
    areClientsDirect: folder.areClientsDirect,
    ticking: true,
    plan,
    baseUrl: () => address.url,
    log: log.write,
    hooks: faults.hooks,
    providerFaults: faults,
    dynamodbEndpoint,
    accountConcurrency,
    requestsPerSecond,
    stack,
    env: { COMMIT: commitOf(), ...passedOn },
  }).catch(refuseEndpoint(dynamodbEndpoint));
  const tenancy = openTenancy(service.depsFor(UNDISTURBED));
  return { service, faults, tenancy, state: openState(service.database) };
}

type RunningService = Awaited<ReturnType<typeof runService>>;

/** The API with its control surface, and the embedded AWS services where `AWS_PORT` asks for them. */
async function openServers(
  settings: Settings,
  { service, tenancy, faults }: RunningService,
  { warn, request }: LocalLog,
  address: Address,
) {
  const { port, awsPort, logsRequests } = settings;
  const logged = logsRequests ? { onRequest: request } : {};
  const control = createControl({ service, tenancy, faults, demo: demoName(settings) });
  const gateway = withConsole(service.gateway);
  const api = await startHttpServer({ port, gateway, control, log: warn, ...logged }).catch(refusePort("PORT", port));
  address.url = api.url;
  const aws =
    awsPort === undefined
      ? undefined
      : await startAwsPort(service, awsPort, warn).catch(refusePort("AWS_PORT", awsPort));
  return { url: api.url, awsUrl: aws?.url, close: () => Promise.all([api.close(), aws?.close()]) };
}

/** Writes the demo's credentials beside the data, for shells. @returns the file, or undefined if nothing is kept. */
function writeVariables({ dataFolder }: Settings, url: string, demo: Demo): string | undefined {
  if (dataFolder === ":memory:") return undefined;
  const file = join(dataFolder, "demo.env");
  writeFileSync(file, demoVariables(url, demo), { mode: 0o600 });
  return file;
}

function stopOnSignals(stop: () => Promise<void>): void {
  let isStopping = false;
  const onSignal = async () => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), STOP_MS).unref();
    await stop();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  // The launcher was killed and can pass on no more signals.
  process.on("disconnect", () => process.exit(1));
}

const refusePort = (name: string, port: number) => (error: Error & { code?: string }) => {
  const reason = error.code === "EADDRINUSE" ? "is in use by another program" : `cannot be used (${error.message})`;
  throw startRefused(`Port ${port} ${reason}. Set ${name} to another one.`);
};

const refuseEndpoint = (endpoint: string | undefined) => (error: Error) => {
  throw endpoint ? startRefused(`AWS_ENDPOINT_URL_DYNAMODB ${endpoint} cannot be used: ${error.message}.`) : error;
};

/** Resolves when the service is ready. */
export const started = start().catch((error) => {
  console.error(isStartRefused(error) ? error.message : error);
  process.exit(1);
});
