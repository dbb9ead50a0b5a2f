// A copy of the repository in which one file at a time is mutated, and what its tests say about it.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Area } from "./areas.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const NOT_COPIED = new Set(["node_modules", ".git", ".data", "coverage", "cdk.out", "dist", ".tools"]);
const TEST_LIMIT_MS = 300_000;

export interface Copy {
  /** Runs the suites, then the seeds. @returns which of them failed; undefined if all passed. */
  firstFailure(area: Area, suites: readonly string[], seeds: number): Promise<string | undefined>;
  write(file: string, text: string): void;
  remove(): void;
}

export function makeCopy(): Copy {
  const folder = mkdtempSync(join(tmpdir(), "mutants-"));
  cpSync(ROOT, folder, { recursive: true, filter: (source) => !NOT_COPIED.has(basename(source)) });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));

  const passes = (args: readonly string[]) =>
    new Promise<boolean>((resolve) => {
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
        cwd: folder,
        stdio: "ignore",
      });
      // An endless loop is noticed as well.
      const timer = setTimeout(() => child.kill("SIGKILL"), TEST_LIMIT_MS);
      child.on("exit", (code) => {
        clearTimeout(timer);
        resolve(code === 0);
      });
    });

  return {
    firstFailure: async ({ scenarios }, suites, seeds) => {
      const vitest = ["node_modules/vitest/vitest.mjs", "run", "--bail=1", "--maxWorkers=1"];
      if (suites.length > 0 && !(await passes([...vitest, ...suites]))) return "the suites";
      for (const scenario of seeds > 0 ? scenarios : []) {
        const args = ["--jobs", "1", "--seeds", String(seeds), "--scenario", scenario, "--keep-going"];
        if (!(await passes(["test/simulator/main.ts", ...args]))) return `the scenario ${scenario}`;
      }
      return undefined;
    },
    write: (file, text) => writeFileSync(join(folder, file), text),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
