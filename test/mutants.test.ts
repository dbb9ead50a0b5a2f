// `npm run mutants`: its areas, what it makes of a test that does not end, and what a signal leaves behind.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { areas, codeOf, ROOT, suitesOf } from "./mutants/areas.ts";
import { makeCopy } from "./mutants/copy.ts";
import { scenarios } from "./simulator/scenarios/index.ts";

const never = new AbortController().signal;

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "mutants-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A copy of a folder with one script. */
function copyWith(script: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  writeFileSync(join(folder, "script.mjs"), script);
  const copy = makeCopy(folder);
  onTestFinished(copy.remove);
  return { copy, folder };
}

const PATIENCE = { timeout: 20_000 };
const HAS_PROC = existsSync("/proc");

const isRunning = (pid: number): boolean => {
  try {
    // A process that ended stays as a zombie until its parent has waited for it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

/** A script that goes on for ever, as does the process that it starts and whose id it writes down. */
const endless = (file: string) => `
  import { spawn } from "node:child_process";
  import { writeFileSync } from "node:fs";
  const { pid } = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  writeFileSync(${JSON.stringify(file)}, String(pid));
  setInterval(() => {}, 1000);`;

describe("the areas of mutations", () => {
  it.each(Object.entries(areas))("%s has code, suites and scenarios that exist", (_, area) => {
    expect(codeOf(area)).not.toEqual([]);
    expect(suitesOf(area)).not.toEqual([]);
    expect(scenarios.map(({ name }) => name)).toEqual(expect.arrayContaining([...area.scenarios]));
  });
});

describe("a test of a mutation", () => {
  it.each([
    ["passed", "process.exit(0)"],
    ["failed", "process.exit(1)"],
    ["unknown", 'process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 60_000);'],
  ])("a test of a mutation is %s by how it ends", async (kind, script) => {
    const { copy } = copyWith(script);

    expect((await copy.run(["script.mjs"], 20_000, never)).kind).toBe(kind);
  });

  it.runIf(HAS_PROC)(
    "a test of a mutation is unknown when it runs too long, and ends with all that it started",
    async () => {
      const started = join(temporaryFolder(), "pid");
      const { copy } = copyWith(endless(started));

      const outcome = await copy.run(["script.mjs"], 5_000, never);

      expect(outcome).toEqual({ kind: "unknown", why: "it ran longer than 5000 ms" });
      // The system takes a killed process away a moment later, on a busy machine seconds later.
      await vi.waitFor(() => expect(isRunning(Number(readFileSync(started, "utf8")))).toBe(false), PATIENCE);
    },
  );
});

describe("npm run mutants", () => {
  it("draws from all areas and lists what it drew", async () => {
    const listing = ["test/mutants/main.ts", "--list", "--sample", "3", "--seed", "5"];

    const { stdout } = await promisify(execFile)(process.execPath, listing, { cwd: ROOT });

    expect(stdout.match(/^\S+\.ts:\d+ {2}/gm)).toHaveLength(3);
  });

  it.runIf(HAS_PROC).each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves no folder and no process behind after %s", async (signal, expected) => {
    const folder = temporaryFolder();
    const running = spawn(process.execPath, ["test/mutants/main.ts", "--area", "audit", "--sample", "1"], {
      cwd: ROOT,
      env: { ...process.env, TMPDIR: folder },
    });
    onTestFinished(() => void running.kill("SIGKILL"));
    const children = () =>
      readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, "utf8").split(" ").filter(Boolean);
    const tests = await vi.waitUntil(() => children()[0], { timeout: 30_000 });

    running.kill(signal);
    const code = await new Promise((resolve) => running.once("exit", resolve));

    expect(code).toBe(expected);
    expect(readdirSync(folder)).toEqual([]);
    expect(isRunning(Number(tests))).toBe(false);
  });
});
