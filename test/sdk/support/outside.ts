// The packed SDK, unpacked in a folder outside this tree, beside a running local service.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const tsc = join(root, "node_modules/typescript/bin/tsc");

function run(command: string, words: string[], cwd: string, env = process.env): string {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, encoding: "utf8", env });
  if (status !== 0) throw new Error(`${command} ${words.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

export interface Outside {
  folder: string;
  /** What the service said at its start: `service`, `access token`, … */
  fact(name: string): string;
  /** Runs a module in the folder. @returns the JSON that it printed. */
  script(file: string, code: string, ...facts: string[]): unknown;
  /** Runs a file of the package in the folder. @returns what it printed */
  command(file: string, words: string[], env: Record<string, string>): string;
  /** Runs the TypeScript compiler in the folder. */
  tsc(...words: string[]): string;
  close(): Promise<void>;
}

export async function openOutside(): Promise<Outside> {
  const folder = mkdtempSync(join(tmpdir(), "sdk-"));
  run(process.execPath, [tsc, "-p", "sdk", "--outDir", join(folder, "built")], root);
  const packing = join(folder, "packing");
  mkdirSync(packing);
  run("cp", ["-R", "sdk/package.json", "sdk/README.md", "sdk/LICENSE", packing], root);
  run("mv", ["built", join(packing, "dist")], folder);
  run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], packing);
  const archive = readdirSync(folder).find((file) => file.endsWith(".tgz"))!;
  const home = join(folder, "node_modules/engagement-sdk");
  mkdirSync(home, { recursive: true });
  run("tar", ["-xzf", join(folder, archive), "-C", home, "--strip-components=1"], folder);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const { service, page } = await startService();
  const fact = (name: string) => new RegExp(`^ {2}${name} +(.*)$`, "m").exec(page)![1]!;
  return {
    folder,
    fact,
    script: (file, code, ...facts) => {
      writeFileSync(join(folder, file), code);
      return JSON.parse(run(process.execPath, [file, ...facts.map(fact)], folder));
    },
    command: (file, words, env) => run(process.execPath, [file, ...words], folder, { PATH: process.env.PATH, ...env }),
    tsc: (...words) => run(process.execPath, [tsc, ...words], folder),
    close: () => stop(service, folder),
  };
}

async function startService(): Promise<{ service: ChildProcess; page: string }> {
  const service = spawn(process.execPath, ["local/launch.mjs", "local/start.ts"], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env.PATH, PORT: "0", DATA_DIR: ":memory:", WEBHOOK_ALLOW_LOOPBACK: "1" },
  });
  let page = "";
  for await (const chunk of service.stdout!.iterator({ destroyOnReturn: false })) {
    page += chunk;
    if (page.includes("Stop with")) break;
  }
  service.stdout!.resume();
  return { service, page };
}

async function stop(service: ChildProcess, folder: string): Promise<void> {
  if (service.pid && service.exitCode === null) {
    const closed = once(service, "close");
    process.kill(-service.pid, "SIGKILL");
    await closed;
  }
  rmSync(folder, { recursive: true, force: true });
}
