// Load times of functions, compared with bundles that contain only the SDK's clients and commands they use.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Bundle, bundle, bundleFile } from "../infra/bundle.ts";
import { contents, deployedFunctions } from "../infra/functions.ts";

const RUNS = 9;
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

export interface Import {
  microseconds: number;
  /** The SDK alone; absent if the function uses no client. */
  sdkMicroseconds?: number;
}

/** Medians of fresh processes, run in turns, so that a busy moment of the machine affects all alike. */
export async function importsOf(bundles: ReadonlyMap<string, Bundle>): Promise<Map<string, Import>> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    const entries = new Map([...bundles].map(([name, { packaged }]) => [name, sdkAlone(packaged)]));
    const different = [...new Set(entries.values())].filter((entry) => entry !== "");
    const { outputFiles } = await bundle(new Map(different.map((entry, n) => [`sdk-${n}`, entry])), folder);
    const files = outputFiles.filter(({ path }) => path.endsWith(".js"));
    for (const { path, contents } of files) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path.replace(/js$/, "mjs"), contents);
    }
    const sdkFile = (entry: string) => join(folder, `sdk-${different.indexOf(entry)}.mjs`);
    const took = timesOf([...[...bundles.keys()].map(bundleFile), ...different.map(sdkFile)]);
    return new Map(
      [...entries].map(([name, entry]) => [
        name,
        {
          microseconds: took.get(bundleFile(name))!,
          ...(entry !== "" && { sdkMicroseconds: took.get(sdkFile(entry))! }),
        },
      ]),
    );
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
  return found.length === 0 ? "" : `${lines.join("\n")}\nexport const sdk = [${used.join(", ")}];`;
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
