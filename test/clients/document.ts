// docs/openapi.json, as validators and generators of others read it.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import SwaggerParser from "@apidevtools/swagger-parser";
import { build } from "esbuild";
import { type Claim, FOLDER, newWorkspace } from "./claims.ts";
import { run, runScript } from "./run.ts";

const ROOT = fileURLToPath(new URL("../../", FOLDER));
const DOCUMENT = fileURLToPath(new URL("../../docs/openapi.json", FOLDER));
const GENERATED = fileURLToPath(new URL("generated/", FOLDER));

const at = (path: string): string => fileURLToPath(new URL(path, FOLDER));

/** The programs are compiled as a user's would be, and stricter than most. */
const STRICT = [
  ...["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--skipLibCheck", "--allowImportingTsExtensions"],
  ...["--target", "es2023", "--lib", "es2023,dom,dom.iterable", "--module", "esnext", "--moduleResolution", "bundler"],
  ...["--types", "node", "--typeRoots", "../../node_modules/@types"],
];

/** A generator, and a program that uses what it writes: programs/<name>.ts compiles, and its ten calls succeed. */
const generator = (
  name: string,
  tool: string,
  generate: (folder: string, service: { url: string }) => Promise<string>,
): Claim => ({
  says: `What ${name} generates, without a warning, compiles in strict mode and makes ten calls`,
  tool,
  prove: async (service) => {
    const folder = `${GENERATED}${name}`;
    rmSync(folder, { recursive: true, force: true });
    assert.doesNotMatch(await generate(folder, service), /warn/i);

    const program = `programs/${name}.ts`;
    await runScript("node_modules/typescript/bin/tsc", [...STRICT, program]);

    const bundle = `${folder}/program.mjs`;
    await build({
      entryPoints: [at(program)],
      outfile: bundle,
      bundle: true,
      platform: "node",
      format: "esm",
      nodePaths: [at("node_modules")],
      logLevel: "silent",
    });

    const { sdk_key, server_key, access_token } = await newWorkspace(service);
    const env = { BASE_URL: service.url, SDK_KEY: sdk_key, SERVER_KEY: server_key, ACCESS_TOKEN: access_token };
    await runScript(bundle, [], env);
  },
});

/** Runs a module of its own, since these generators write to the console and end by `process.exit`. */
const inline = (code: string) => run(process.execPath, ["--input-type=module", "--eval", code]);

const orval = (client: "fetch" | "zod", file: string, baseUrl?: string) =>
  inline(`import { generate } from "orval";
await generate(${JSON.stringify({
    input: DOCUMENT,
    output: { target: file, client, mode: "single", clean: true, ...(baseUrl && { baseUrl }) },
  })}, ${JSON.stringify(GENERATED)});`);

export const claims: readonly Claim[] = [
  {
    says: "The document breaks none of the strict rules but two, which redocly.yaml turns off with reasons",
    tool: "@redocly/cli",
    prove: async () => {
      const said = await run(process.execPath, ["node_modules/@redocly/cli/bin/cli.js", "lint", "docs/openapi.json"], {
        cwd: ROOT,
        env: { REDOCLY_TELEMETRY: "off" },
      });
      assert.doesNotMatch(said, /\d+ (warnings?|errors?)/);
    },
  },
  {
    says: "The rules of spectral:oas find nothing in the document, not even a hint",
    tool: "@stoplight/spectral-cli",
    prove: async () => {
      const rules = `${GENERATED}spectral.json`;
      writeFileSync(rules, JSON.stringify({ extends: ["spectral:oas"] }));
      const cli = "node_modules/@stoplight/spectral-cli/dist/index.js";
      const said = await runScript(cli, [
        "lint",
        "--fail-severity=hint",
        "--format=json",
        "--quiet",
        "-r",
        rules,
        DOCUMENT,
      ]);
      assert.deepEqual(JSON.parse(said), []);
    },
  },
  {
    says: "The document is valid by the schema of OpenAPI, with every reference resolved",
    tool: "@apidevtools/swagger-parser",
    prove: async () => {
      const api = await SwaggerParser.validate(DOCUMENT);
      assert.ok(Object.keys(api.paths ?? {}).length > 100);
    },
  },
  generator("openapi-typescript", "openapi-typescript", (folder) =>
    runScript("node_modules/openapi-typescript/bin/cli.js", [DOCUMENT, "-o", `${folder}/schema.ts`]),
  ),
  generator("hey-api", "@hey-api/openapi-ts", (folder) =>
    inline(`import { createClient } from "@hey-api/openapi-ts";
await createClient(${JSON.stringify({
      input: DOCUMENT,
      output: folder,
      plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
    })});`),
  ),
  generator("orval-fetch", "orval", (folder, { url }) => orval("fetch", `${folder}/client.ts`, url)),
  generator("orval-zod", "orval", (folder) => orval("zod", `${folder}/schemas.ts`)),
];
