// The command line in a folder of its own, against an embedded service.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Io } from "../../sdk/src/cli/io.ts";
import { runCli } from "../../sdk/src/cli/run.ts";
import { BASE_URL, fetchOf } from "./embedded-fetch.ts";
import { type Tenant, type TestWorld, testWorld } from "./world.ts";

export interface Cli {
  folder: string;
  /** Runs `engagement <words>`. @returns the exit code, the lines of the result and the notes */
  run(...words: string[]): Promise<{ code: number; out: string[]; notes: string[] }>;
  /** Runs it with `--json`. @returns the result */
  json(...words: string[]): Promise<Record<string, unknown>>;
  write(file: string, content: unknown): void;
}

interface CliOptions {
  env?: Record<string, string>;
  fetch?: typeof fetch;
  answers?: string[];
  /** What happens each time a command waits. It ends when this returns false. */
  pause?: () => Promise<boolean>;
}

export async function cliOf(world: TestWorld, tenant: Tenant, options: CliOptions = {}): Promise<Cli> {
  const folder = mkdtempSync(join(tmpdir(), "cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const token = async () => String((await tenant.dashboard()).authorization).slice("Bearer ".length);
  const run: Cli["run"] = async (...words) => {
    const ended = new AbortController();
    const pause = async () => {
      await world.settle();
      if ((await options.pause?.()) === false) ended.abort();
    };
    const [out, notes]: [string[], string[]] = [[], []];
    const env = options.env ?? { ENGAGEMENT_URL: BASE_URL, ENGAGEMENT_TOKEN: await token() };
    const io: Io = {
      env,
      cwd: folder,
      out: (line) => void out.push(...line.split("\n")),
      note: (line) => void notes.push(line),
      progress: () => {},
      isTerminal: false,
      ask: async () => options.answers?.shift() ?? "",
      readInput: async () => options.answers?.shift() ?? "",
      fetch: options.fetch ?? fetchOf(world),
      now: () => world.clock.now(),
      pause,
      signal: ended.signal,
    };
    return { code: await runCli(words, io), out, notes };
  };
  return {
    folder,
    run,
    json: async (...words) => JSON.parse((await run(...words, "--json")).out.join("")) as Record<string, unknown>,
    write: (file, content) => {
      const isText = typeof content === "string" || content instanceof Uint8Array;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), isText ? content : JSON.stringify(content, null, 2));
    },
  };
}

/** A world, a workspace and the command line of its owner; what is not of the service goes to this machine. */
export async function openedCli() {
  const world = await testWorld();
  const tenant = await world.tenant();
  const local: typeof fetch = (url, init) =>
    String(url).startsWith(BASE_URL) ? fetchOf(world)(url, init) : fetch(url, init);
  return { world, tenant, cli: await cliOf(world, tenant, { fetch: local }) };
}
