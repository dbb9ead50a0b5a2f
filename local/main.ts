// `npm start`: the whole service in one process on this machine.
import { existsSync } from "node:fs";
import type { LogEntry } from "../shared/deps.ts";
import { logLine } from "../shared/log.ts";
import { startAwsPort } from "./aws-port.ts";
import { createControl } from "./control.ts";
import { openDataFolder } from "./data-folder.ts";
import { prepareDemo, welcome } from "./demo.ts";
import { createFaults, UNDISTURBED } from "./faults.ts";
import { startHttpServer } from "./http-server.ts";
import { createLocalService } from "./local-service.ts";
import { isStartRefused, readSettings, startRefused } from "./settings.ts";
import { openState, rememberOffset } from "./state.ts";
import { openTenancy } from "./tenancy.ts";

const STOP_MS = 10_000;

async function start(): Promise<void> {
  readEnvFile();
  const { port, dataFolder, plan, awsPort, dynamodbEndpoint, passedOn } = readSettings(process.env);
  const folder = openDataFolder(dataFolder);
  const faults = createFaults();
  let stopping = false;
  const log = (entry: LogEntry) => {
    if (entry.level !== "info" && !stopping) console.error(logLine(entry));
  };
  const note = (message: string, details?: object) => log({ level: "warn", message, ...details });

  const { hooks } = faults;
  const begin = Date.now() + folder.offset;
  const given = { plan, log, hooks, providerFaults: faults, dynamodbEndpoint, env: passedOn };
  const options = { start: begin, ticking: true, ...given };
  let url = "";
  const baseUrl = () => url;
  const service = await createLocalService({ file: folder.file, baseUrl, ...options }).catch(
    refuseEndpoint(dynamodbEndpoint),
  );
  service.time.start();
  const tenancy = openTenancy(service.partsFor(UNDISTURBED));
  const state = openState(service.database);
  const demo = await prepareDemo(tenancy, state, dynamodbEndpoint ? "remote-demo" : "demo");
  const control = createControl({ service, tenancy, faults });
  const { gateway } = service;
  const server = await startHttpServer({ port, gateway, control, log: note }).catch(refusePort("PORT", port));
  url = server.url;
  const aws =
    awsPort === undefined
      ? undefined
      : await startAwsPort(service, awsPort, note).catch(refusePort("AWS_PORT", awsPort));
  console.log(welcome({ url, aws: aws?.url, folder: dataFolder }, demo));

  const stop = async () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_MS).unref();
    await Promise.all([server.close(), aws?.close()]);
    rememberOffset(state, service.clock.offset());
    await service.close();
    folder.release();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  // The launcher was killed: nobody could stop this process any more.
  process.on("disconnect", () => process.exit(1));
}

/** Settings may lie in a file `.env`; those of the environment come first. */
function readEnvFile(): void {
  if (existsSync(".env")) process.loadEnvFile(".env");
}

const refusePort = (name: string, port: number) => (error: Error & { code?: string }) => {
  const reason = error.code === "EADDRINUSE" ? "is in use by another program" : `cannot be used (${error.message})`;
  throw startRefused(`Port ${port} ${reason}. Set ${name} to another one.`);
};

const refuseEndpoint = (endpoint: string | undefined) => (error: Error) => {
  throw endpoint ? startRefused(`AWS_ENDPOINT_URL_DYNAMODB ${endpoint} cannot be used: ${error.message}.`) : error;
};

try {
  await start();
} catch (error) {
  console.error(isStartRefused(error) ? error.message : error);
  process.exit(1);
}
