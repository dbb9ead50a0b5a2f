// Bundles every function in one esbuild pass, from entries that exist only in memory.
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";
import { build, type Metafile } from "esbuild";
import { knownRoutes } from "../shared/http/fallback.ts";
import { builtFiles, declarations, loadedLate, unwritten, virtual } from "./bundle-plugins.ts";
import { contents } from "./functions.ts";
import { publishSite } from "./publish-site.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FUNCTIONS = join(ROOT, "dist", "functions");
/** Source maps are not part of the bundles, because a cold start would read them. */
const MAPS = join(ROOT, "dist", "maps");
const FILE = "index.mjs";

/** CommonJS packages load built-in modules with `require`, which an ES module does not have. */
const REQUIRE = 'import{createRequire as __require}from"node:module";const require=__require(import.meta.url);';

export const bundleFolder = (name: string): string => join(FUNCTIONS, name);
export const bundleFile = (name: string): string => join(FUNCTIONS, name, FILE);

export interface Bundle {
  /** Bytes of our own code, without packages. */
  ownBytes: number;
  /** The modules of packages that it contains, as paths from the root. */
  packaged: string[];
}

/**
 * Writes `dist/functions/<name>/index.mjs` for every function. The build is reproducible.
 * @param hasMaps whether source maps are written beside them, which take a third of the time
 */
export async function bundleFunctions({ hasMaps = true } = {}): Promise<Map<string, Bundle>> {
  const entries = await entriesOf();
  const { outputFiles, metafile } = await bundle(entries, FUNCTIONS, hasMaps);
  for (const { path, contents } of outputFiles) {
    const name = path.slice(FUNCTIONS.length + 1).replace(/\.js(\.map)?$/, "");
    await replace(path.endsWith(".map") ? join(MAPS, `${name}.mjs.map`) : bundleFile(name), contents);
  }
  for (const name of await readdir(FUNCTIONS))
    if (!entries.has(name)) await rm(bundleFolder(name), { recursive: true, force: true });
  return contentsOf(metafile);
}

/** Makes one bundle from each text of `entries`, as for the functions, and writes none. */
export const bundle = (entries: ReadonlyMap<string, string>, outdir: string, hasMaps = false) =>
  build({
    entryPoints: [...entries.keys()].map((name) => ({ in: `function:${name}`, out: name })),
    plugins: [virtual(entries, ROOT), builtFiles, declarations, loadedLate, unwritten],
    absWorkingDir: ROOT,
    outdir,
    write: false,
    metafile: true,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
    alias: {
      "@aws-sdk/credential-provider-node": join(ROOT, "infra", "lambda-credentials.ts"),
      "@smithy/core/event-streams": join(ROOT, "infra", "no-event-streams.ts"),
      "@aws-sdk/endpoint-cache": join(ROOT, "infra", "no-endpoint-discovery.ts"),
    },
    minify: true,
    sourcemap: hasMaps && "external",
    legalComments: "none",
    banner: { js: REQUIRE },
    logLevel: "warning",
  });

function contentsOf({ outputs }: Metafile): Map<string, Bundle> {
  const code = Object.entries(outputs).filter(([path]) => path.endsWith(".js"));
  return new Map(
    code.map(([path, { inputs }]) => {
      const held = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
      const [packaged, ours] = [held.filter(([file]) => isPackaged(file)), held.filter(([file]) => isCode(file))];
      const ownBytes = ours.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
      return [basename(path, ".js"), { ownBytes, packaged: packaged.map(([file]) => file) }];
    }),
  );
}

const isPackaged = (file: string) => file.includes("node_modules/");
/** Generated files are content, not code. */
const isCode = (file: string) => !isPackaged(file) && !file.endsWith(".gen.ts");

/** Writes atomically, so that two builds may run at once: both write the same content. */
async function replace(file: string, contents: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const fresh = `${MAPS}-${process.pid}-${threadId}`;
  await writeFile(fresh, contents);
  await rename(fresh, file);
}

interface BundleSize {
  name: string;
  bytes: number;
}

/** Sizes of the bundles in `dist/functions`, in bytes before compression. */
export async function bundleSizes(): Promise<BundleSize[]> {
  const names = (await readdir(FUNCTIONS)).sort();
  return Promise.all(names.map(async (name) => ({ name, bytes: (await stat(bundleFile(name))).size })));
}

/** The entry of each bundle: makes the declaration into a handler with the deps of a deployed function. */
async function entriesOf(): Promise<Map<string, string>> {
  const deps = 'import { deployedDeps } from "./shared/runtime/lambda.ts";\n';
  const entries = new Map<string, string>();
  for (const group of contents.groups) {
    const imported = await importOf(`./functions/api/${group.name}/index.ts`, group);
    const serve = 'import { serve } from "./shared/http/serve.ts";\n';
    entries.set(`api-${group.name}`, `${deps}${serve}${imported}export const handler = serve(it, deployedDeps());`);
  }
  for (const worker of contents.workers) {
    const imported = await importOf(`./functions/workers/${worker.name}/index.ts`, worker);
    entries.set(worker.name, `${deps}${imported}export const handler = it.create(deployedDeps());`);
  }

  const operator = await importOf("./functions/operator/index.ts", contents.operator);
  entries.set("operator", `${deps}${operator}export const handler = it.create(deployedDeps());`);
  const stream = await importOf("./functions/stream/index.ts", contents.stream);
  const streamed = "export const handler = awslambda.streamifyResponse(it.create(deployedDeps()));";
  entries.set(contents.stream.name, `${deps}${stream}declare const awslambda: any;\n${streamed}`);
  const answer = 'import { answerUnknown } from "./shared/http/fallback.ts";\n';
  const routes = JSON.stringify(
    knownRoutes([...contents.groups.flatMap(({ endpoints }) => endpoints), contents.stream.endpoint]),
  );
  entries.set("fallback", `${deps}${answer}export const handler = answerUnknown(${routes}, deployedDeps());`);
  entries.set(
    publishSite.name,
    `${deps}import { publishSite } from "./infra/publish-site.ts";\nimport { packed } from "built:site";\n` +
      "export const handler = publishSite.create(deployedDeps(), packed);",
  );

  return entries;
}

/** The import of a declaration as `it`, by the name that its module exports. */
async function importOf(path: string, declaration: object): Promise<string> {
  const module = (await import(new URL(`../${path}`, import.meta.url).href)) as Record<string, unknown>;
  const name = Object.keys(module).find((key) => module[key] === declaration);
  if (!name) throw new Error(`${path} does not export what functions/index.ts lists under its folder's name.`);
  return `import { ${name} as it } from "${path}";\n`;
}
