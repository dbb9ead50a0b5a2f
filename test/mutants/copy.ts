// A copy of the repository in which one file at a time is mutated, and the processes that test it.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const NOT_COPIED = new Set(["node_modules", ".git", ".data", "coverage", "cdk.out", "dist", ".tools"]);

type Outcome = { kind: "passed" } | { kind: "failed" } | { kind: "unknown"; why: string };

export interface Copy {
  /** Runs a script of Node and whatever it starts, for at most so long. @throws the signal's reason when it aborts. */
  run(args: readonly string[], limitMs: number, signal: AbortSignal): Promise<Outcome>;
  write(file: string, text: string): void;
  remove(): void;
}

export function makeCopy(root: string): Copy {
  const folder = mkdtempSync(join(tmpdir(), "mutants-"));
  cpSync(root, folder, { recursive: true, filter: (source) => !NOT_COPIED.has(basename(source)) });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  // What tests and Node itself leave goes with the copy.
  const temporary = join(folder, ".temporary");
  mkdirSync(temporary);
  const env = { ...process.env, TMPDIR: temporary, NODE_COMPILE_CACHE: join(temporary, "compile") };

  return {
    run: (args, limitMs, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
          cwd: folder,
          stdio: "ignore",
          env,
          // A process group of its own, which ends as a whole.
          detached: true,
        });
        const end = () => endGroup(child.pid);
        const timeout = AbortSignal.timeout(limitMs);
        timeout.addEventListener("abort", end);
        signal.addEventListener("abort", end);
        child.once("error", reject);
        child.once("exit", (code, killedBy) => {
          timeout.removeEventListener("abort", end);
          signal.removeEventListener("abort", end);
          end();
          if (signal.aborted) reject(signal.reason);
          else
            resolve(outcomeOf(code, timeout.aborted ? `it ran longer than ${limitMs} ms` : `it ended by ${killedBy}`));
        });
      }),
    write: (file, text) => writeFileSync(join(folder, file), text),
    remove: () => rmSync(folder, { recursive: true, maxRetries: 5 }),
  };
}

/** @param why there is no exit code */
function outcomeOf(code: number | null, why: string): Outcome {
  if (code === null) return { kind: "unknown", why };
  return { kind: code === 0 ? "passed" : "failed" };
}

function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
