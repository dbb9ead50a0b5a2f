// What is installed with the service: a licence or an install script that is new fails, until somebody looked at it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";

const LICENCES = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "MIT", "OFL-1.1"];
/** Its binary for this machine, which builds the bundles. */
const INSTALL_SCRIPTS = ["esbuild"];

interface LockedPackage {
  dev?: boolean;
  link?: boolean;
  license?: string;
  hasInstallScript?: boolean;
}

const PREFIX = "node_modules/";
const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as {
  packages: Record<string, LockedPackage>;
};
const installed = Object.entries(packages).filter(
  ([path, { dev, link }]) => path.startsWith(PREFIX) && dev !== true && link !== true,
);

it("every package that runs with the service has a licence that was looked at", () => {
  const odd = installed.filter(([, { license = "none" }]) => !LICENCES.includes(license));
  expect(odd.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
});

it("no package that runs with the service runs a script at its installation, but those that were looked at", () => {
  const scripts = installed
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(PREFIX.length));
  expect(scripts).toEqual(INSTALL_SCRIPTS);
});

/** The files that begin each program; `npm start` builds the console too. */
const PROGRAMS = {
  start: ["local/main.ts", "local/start.ts", "local/launch.mjs", "console/app/main.tsx"],
  "run operate": ["infra/operate.ts"],
  "run probe": ["infra/probe.ts"],
  "run invoke": ["local/invoke.ts"],
  "run cost": ["tools/cost.ts"],
};
const STACK = "infra/app.ts";

const { metafile } = await build({
  entryPoints: [...Object.values(PROGRAMS).flat(), STACK],
  absWorkingDir: fileURLToPath(new URL("..", import.meta.url)),
  outdir: "nowhere",
  platform: "node",
  ...{ bundle: true, write: false, metafile: true, packages: "external", format: "esm" },
});

/** The packages that the files and whatever they import need. */
function importedBy(...files: readonly string[]): string[] {
  const reached = new Set(files);
  const names = new Set<string>();
  for (const file of reached)
    for (const { path, external } of metafile.inputs[file]!.imports)
      if (!external) reached.add(path);
      else if (!path.startsWith("node:")) names.add(path.split("/", path.startsWith("@") ? 2 : 1).join("/"));
  return [...names];
}

it.each(Object.entries(PROGRAMS))("npm %s imports no package that npm ci --omit=dev leaves out (F5)", (_, files) => {
  const imported = importedBy(...files);
  expect(imported).toEqual(expect.arrayContaining(["valibot"]));
  expect(imported.filter((name) => packages[PREFIX + name]?.dev !== undefined)).toEqual([]);
});

/** What the product's user asked to build it with: none goes because our own lines could do the same. */
const ASKED_FOR = [
  ...["@aws-sdk/client-dynamodb", "@aws-sdk/lib-dynamodb", "@aws-sdk/client-sqs", "@aws-sdk/client-scheduler"],
  ...["@aws-sdk/client-s3", "@aws-sdk/client-kms", "@middy/core", "@middy/http-json-body-parser", "valibot"],
  ...["aws-jwt-verify", "aws-cdk-lib"],
];

it("the service and its stack are built with the packages that were asked for", () => {
  const imported = importedBy("local/main.ts", STACK);
  expect(ASKED_FOR.filter((name) => !imported.includes(name))).toEqual([]);
});

it.each(["package-lock.json", "test/clients/package-lock.json"])("%s names no registry", (file) => {
  const { packages: locked } = JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));
  const addresses = Object.values<{ resolved?: string }>(locked).map(({ resolved = "" }) => resolved);
  expect(addresses.filter((address) => address.includes(":"))).toEqual([]);
});
