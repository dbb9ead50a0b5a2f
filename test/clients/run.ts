// Runs a program of this folder or of this machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { FOLDER } from "./claims.ts";

/** Enough of what a program said to see what is wrong. */
const MOST_SHOWN = 4_000;

/**
 * Runs a program in the folder of these checks.
 * @returns what it wrote, standard output and errors as they came
 * @throws with what it wrote, where it ends with anything but 0
 */
export async function run(
  command: string,
  args: readonly string[],
  { env = {}, cwd = fileURLToPath(FOLDER) }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<string> {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let said = "";
  const hear = (chunk: Buffer) => {
    said += chunk;
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ${args[0] ?? ""} ended with ${code}: ${said.slice(0, MOST_SHOWN)}`);
  return said;
}

/** Runs a script of an installed package by this Node. */
export const runScript = (script: string, args: readonly string[] = [], env: Record<string, string> = {}) =>
  run(process.execPath, [script, ...args], { env });
