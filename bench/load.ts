// `npm run bench -- load`: what it takes to load the bundle of each endpoint, beside one that contains only the SDK's clients
// and commands that it uses (docs/decisions/0016).
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Bundle, bundle, bundleFile, bundleFunctions } from "../infra/bundle.ts";
import { contents, deployedFunctions } from "../infra/functions.ts";
import { columnsOf } from "../tools/text-table.ts";

const RUNS = 9;
/** As multiples of what the SDK alone takes. */
const RATIO = { max: 1.6, goal: 1.2 };
/** It contains the other groups. */
const TOOLS_OF_AGENTS = "api-mcp";
const once = fileURLToPath(new URL("import-once.ts", import.meta.url));
const env = {
  ...Object.fromEntries(deployedFunctions(contents).flatMap(({ env }) => env.map((name) => [name, "x"]))),
  // One of a choice.
  REGISTRATION: "open",
  DEFAULT_PLAN: "free",
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "key",
  AWS_SECRET_ACCESS_KEY: "secret",
};

interface Load {
  name: string;
  /** Of CPU. */
  microseconds: number;
  sdkMicroseconds: number;
}

export async function benchLoad(): Promise<{ lines: string[]; kept: boolean }> {
  const bundles = await bundleFunctions();
  const loads = await loadsOf([...bundles].filter(([name]) => name.startsWith("api-") && name !== TOOLS_OF_AGENTS));
  const measured = loads.map((load) => ({ ...load, ratio: load.microseconds / load.sdkMicroseconds }));
  const rows = measured.map(({ name, microseconds, sdkMicroseconds, ratio }) => [
    name,
    String(microseconds),
    String(sdkMicroseconds),
    `${ratio.toFixed(2)}${ratio > RATIO.max ? " BROKEN" : ""}`,
  ]);
  const quick = measured.filter(({ ratio }) => ratio <= RATIO.goal).length;
  const table = columnsOf([["function", "µs of CPU", "the SDK alone", "ratio"], ...rows], ["function", "ratio"]);
  const summary = `Of ${measured.length} endpoint functions ${quick} load within ${RATIO.goal} times the SDK they use alone; ${RATIO.max} is the limit.`;
  return { lines: [table, summary], kept: measured.every(({ ratio }) => ratio <= RATIO.max) };
}

/** Medians of fresh processes, run in turns, so that a busy moment of the machine affects all alike. */
async function loadsOf(bundles: readonly (readonly [name: string, bundle: Bundle])[]): Promise<Load[]> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    const entries = bundles.map(([name, { packaged }]) => ({ name, sdk: sdkAlone(packaged) }));
    const different = [...new Set(entries.map(({ sdk }) => sdk))];
    const { outputFiles } = await bundle(new Map(different.map((sdk, n) => [`sdk-${n}`, sdk])), folder);
    for (const { path, contents: text } of outputFiles.filter((file) => file.path.endsWith(".js"))) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path.replace(/js$/, "mjs"), text);
    }
    const sdkFile = (sdk: string) => join(folder, `sdk-${different.indexOf(sdk)}.mjs`);
    const took = timesOf([...entries.map(({ name }) => bundleFile(name)), ...different.map(sdkFile)]);
    return entries.map(({ name, sdk }) => ({
      name,
      microseconds: took.get(bundleFile(name))!,
      sdkMicroseconds: took.get(sdkFile(sdk))!,
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates each client that is among the modules, and references each command. */
function sdkAlone(modules: readonly string[]): string {
  const found = modules.flatMap((file) => {
    const [, client, name] =
      /@aws-sdk\/(client-[\w-]+)\/dist-es\/(?:commands\/)?(\w+(?:Client|Command))\.js$/.exec(file) ?? [];
    return client && name ? [{ client, name }] : [];
  });
  const lines = found.map(({ client, name }) => `import { ${name} } from "@aws-sdk/${client}";`).sort();
  const used = found.map(({ name }) => (name.endsWith("Client") ? `new ${name}({})` : name)).sort();
  return `${lines.join("\n")}\nexport const sdk = [${used.join(", ")}];`;
}

function timesOf(files: readonly string[]): Map<string, number> {
  const times = new Map<string, number[]>(files.map((file) => [file, []]));
  for (let run = 0; run < RUNS; run++) for (const [file, all] of times) all.push(load(file));
  return new Map([...times].map(([file, all]) => [file, all.sort((a, b) => a - b)[RUNS >> 1]!]));
}

function load(file: string): number {
  const node = ["--disable-warning=ExperimentalWarning", once, pathToFileURL(file).href];
  const { status, stdout, stderr } = spawnSync(process.execPath, node, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${file} does not load: ${stderr.slice(-1_000)}`);
  return Number(stdout);
}
