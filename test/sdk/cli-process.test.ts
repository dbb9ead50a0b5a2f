// The command line as a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("../../sdk/src/cli/main.ts", import.meta.url));

it("a command whose reader has enough ends without a word (F17)", async () => {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, "help"]);
  child.stdout.destroy();

  const [said, [code]] = await Promise.all([child.stderr.toArray(), once(child, "close")]);

  expect([Buffer.concat(said).toString(), code]).toEqual(["", 0]);
});

it("a command whose notes nobody reads ends with its own exit code (F17)", async () => {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, "no-such-command"]);
  child.stderr.destroy();

  const [code] = await once(child, "close");

  expect(code).toBe(2);
});
