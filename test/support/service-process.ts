// The real service as a separate process: started as `npm start` does, killed with everything it launched.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const READY = "Stop with";

export interface ServiceProcess {
  url: string;
  /** Where the embedded AWS is mounted, with `AWS_PORT`. */
  aws: string;
  sdk: Record<string, string>;
  tenant: string;
  /** What it wrote to its error output so far. */
  complaints(): string;
  /** Ends it at once, and whatever it launched; resolves with its exit code. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

const running = new Set<ServiceProcess>();
const folders: string[] = [];

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "service-"));
  folders.push(folder);
  return folder;
}

/** Ends what a test left behind. */
export async function cleanUp(): Promise<void> {
  await Promise.all([...running].map((service) => service.kill()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Starts the service and waits until it says that it is ready. */
export async function startService(env: Record<string, string>, args: readonly string[] = []): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ["local/launch.mjs", "local/start.ts", ...args], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, PORT: "0", LOG: "quiet", ...env },
  });
  let complaints = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    complaints += chunk;
  });
  const service: Pick<ServiceProcess, "complaints" | "kill"> = {
    complaints: () => complaints,
    kill: async (signal = "SIGKILL") => {
      running.delete(service as ServiceProcess);
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const closed = once(child, "close");
      process.kill(-child.pid!, signal);
      const [code] = await closed;
      return code;
    },
  };
  running.add(service as ServiceProcess);
  const page = await welcomePage(child);
  if (!page.includes(READY)) throw new Error(`The service did not start: ${complaints}`);
  const fact = (name: string) => new RegExp(`^ {2}${name} +(.*)$`, "m").exec(page)?.[1] ?? "";
  return Object.assign(service, {
    url: fact("service"),
    aws: fact("embedded AWS"),
    sdk: { "x-sdk-key": fact("SDK key") },
    tenant: /\(([^,]+),/.exec(fact("workspace"))![1]!,
  });
}

async function welcomePage(child: ChildProcess): Promise<string> {
  let page = "";
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    page += chunk;
    if (page.includes(READY)) break;
  }
  child.stdout!.resume();
  return page;
}
