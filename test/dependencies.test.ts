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

/** The packages that a program and the console, which it builds, import by themselves. */
async function importedBy(...entryPoints: string[]): Promise<string[]> {
  const options = { bundle: true, write: false, metafile: true, packages: "external", format: "esm" } as const;
  const absWorkingDir = fileURLToPath(new URL("..", import.meta.url));
  const outdir = "nowhere";
  const { metafile } = await build({ entryPoints, absWorkingDir, outdir, platform: "node", ...options });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const names = imports.flatMap(({ path, external }) => (external && !path.startsWith("node:") ? [path] : []));
  return [...new Set(names.map((path) => path.split("/", path.startsWith("@") ? 2 : 1).join("/")))];
}

it.each([
  ["start", ["local/main.ts", "local/start.ts", "local/launch.mjs", "console/app/main.tsx"]],
  ["run operate", ["infra/operate.ts"]],
  ["run probe", ["infra/probe.ts"]],
  ["run invoke", ["local/invoke.ts"]],
  ["run cost", ["tools/cost.ts"]],
])("npm %s imports no package that npm ci --omit=dev leaves out (F5)", async (_, files) => {
  const imported = await importedBy(...files);
  expect(imported).toEqual(expect.arrayContaining(["valibot"]));
  expect(imported.filter((name) => packages[PREFIX + name]?.dev !== undefined)).toEqual([]);
});

/** What the product's user asked to build it with: none goes because our own lines could do the same. */
const ASKED_FOR = [
  ...["@aws-sdk/client-dynamodb", "@aws-sdk/lib-dynamodb", "@aws-sdk/client-sqs", "@aws-sdk/client-scheduler"],
  ...["@aws-sdk/client-s3", "@aws-sdk/client-kms", "@middy/core", "@middy/http-json-body-parser", "valibot"],
  ...["aws-jwt-verify", "aws-cdk-lib"],
];

it("the service and its stack are built with the packages that were asked for", async () => {
  const imported = await importedBy("local/main.ts", "infra/app.ts");
  expect(ASKED_FOR.filter((name) => !imported.includes(name))).toEqual([]);
});

it.each(["package-lock.json", "test/clients/package-lock.json"])("%s names no registry", (file) => {
  const { packages: locked } = JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));
  const addresses = Object.values<{ resolved?: string }>(locked).map(({ resolved = "" }) => resolved);
  expect(addresses.filter((address) => address.includes(":"))).toEqual([]);
});
