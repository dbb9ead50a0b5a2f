// Runs a script on a Node that runs TypeScript (22.18 or newer, of 23 from 23.6): the system's, or else the binary that `npm ci`
// installed.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const runsTypeScript = Boolean(process.features.typescript);
const bundled = fileURLToPath(new URL(`../node_modules/node-linux-${process.arch}/bin/node`, import.meta.url));

if (!runsTypeScript && !existsSync(bundled)) {
  console.error(`Node ${process.versions.node} runs no TypeScript, and \`npm ci\` installed no newer one.`);
  console.error("Run `npm ci` (with optional dependencies), or install Node 22.18 or 24.");
  process.exit(1);
}

const node = runsTypeScript ? process.execPath : bundled;
const child = spawn(node, ["--disable-warning=ExperimentalWarning", ...process.argv.slice(2)], {
  // The child detects the end of this process by its IPC channel, even after SIGKILL.
  stdio: ["inherit", "inherit", "inherit", "ipc"],
  env: {
    NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)),
    ...process.env,
  },
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
