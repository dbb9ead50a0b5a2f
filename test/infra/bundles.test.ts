// The deployed bundles are tested: each loads and is small enough, and together they send a message.
import { readdir, readFile } from "node:fs/promises";
import { Code } from "aws-cdk-lib/aws-lambda";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { declaredItems } from "../../docs/generate/items.ts";
import { furtherActions, type ListedAction, listedActions } from "../../functions/table-actions.ts";
import { type Bundle, bundleFile, bundleFolder, bundleFunctions, bundleSizes } from "../../infra/bundle.ts";
import { contents, deployedFunctions } from "../../infra/functions.ts";
import { logicalIdOf } from "../../infra/names.ts";
import { billOf } from "../../infra/sbom.ts";
import { proxyEvent } from "../../local/gateway-event.ts";
import { fillIn, placeholdersFor } from "../../local/invoke.ts";
import { type BundledWorld, bundleStories, callBundles, requestFor } from "./support/bundle-stories.ts";
import { bundledWorld } from "./support/bundled-world.ts";
import { BUS, ofType, synthesize } from "./support/template.ts";

const MAX_ENDPOINT_BYTES = 550 * 1024;
/** docs/decisions/0016. */
const MAX_OWN_BYTES = 220 * 1024;
/** S3 has a protocol of its own (docs/decisions/0016). */
const S3_BYTES = 168 * 1024;
/** It reads files of phone numbers (docs/decisions/0016). */
const NUMBERS = "api-suppressions";
const MOBILE_BYTES = 96 * 1024;
/** It contains the endpoints that are tools (docs/decisions/0037). */
const TOOLS = "api-mcp";
const MAX_TOOLS_BYTES = 1_151 * 1024;
const MAX_TOOLS_OWN_BYTES = 574 * 1024;
/** It calls the providers within a request (docs/decisions/0040). */
const TESTS = "api-tests";
const PROVIDER_BYTES = 160 * 1024;
/** It explains a person in journeys too (docs/decisions/0016). */
const EXPLANATIONS = "api-recipients";
const JOURNEY_BYTES = 51 * 1024;
/** Its simulations know who gets no text, and it knows who waits at a step for others (docs/decisions/0016). */
const JOURNEYS = "api-journeys";
const TEXTS_BYTES = 23 * 1024;
/** They render messages; the text part of a mail is made by html-to-text (docs/decisions/0016). */
const RENDERING: ReadonlySet<string> = new Set([TOOLS, TESTS, EXPLANATIONS, JOURNEYS, "api-templates"]);
const TEXT_PART_BYTES = 128 * 1024;
const PATIENCE_MS = 120_000;
/** They are in the template where a setting is on that the template of this test has not. */
const OF_SETTINGS: ReadonlySet<string> = new Set([
  "CONFIRM_ADDRESSES",
  "EDGE_ONLY",
  "TOKEN_JWKS",
  "MAIL_SENDER",
  "SIGN_IN_CLIENT_ID",
  "SIGN_IN_ISSUER",
]);

let world: BundledWorld;
let bundles: Map<string, Bundle>;
beforeAll(async () => {
  bundles = await bundleFunctions({ hasMaps: false });
  world = await bundledWorld();
}, PATIENCE_MS);
afterAll(() => world.close());

const usesS3 = new Set(
  deployedFunctions(contents).flatMap(({ name, grants }) =>
    grants.some(({ actions }) => actions.some((action) => action.startsWith("s3:"))) ? [name] : [],
  ),
);
const names = deployedFunctions(contents).map(({ name }) => name);

const call = (route: string, headers: Record<string, string>) => callBundles(world, route, headers);

describe("weight", () => {
  it("the build keeps endpoint bundles within 550 KB, and every function has a bundle of its own", async () => {
    const sizes = await bundleSizes();
    expect(sizes.map(({ name }) => name)).toEqual([...names].sort());
    const maxOf = (name: string) =>
      (RENDERING.has(name) ? TEXT_PART_BYTES : 0) +
      (name === TOOLS
        ? MAX_TOOLS_BYTES
        : MAX_ENDPOINT_BYTES +
          (usesS3.has(name) ? S3_BYTES : 0) +
          (name === TESTS ? PROVIDER_BYTES : 0) +
          (name === NUMBERS ? MOBILE_BYTES : 0) +
          (name === EXPLANATIONS ? JOURNEY_BYTES : 0));
    const ownMaxes: Record<string, number> = {
      [TOOLS]: MAX_TOOLS_OWN_BYTES,
      [EXPLANATIONS]: MAX_OWN_BYTES + JOURNEY_BYTES,
      [JOURNEYS]: MAX_OWN_BYTES + TEXTS_BYTES,
    };
    const ownMaxOf = (name: string) => ownMaxes[name] ?? MAX_OWN_BYTES;
    const heavy = sizes.filter(({ name, bytes }) => name.startsWith("api-") && bytes > maxOf(name));
    expect(heavy).toEqual([]);
    const ownHeavy = [...bundles].filter(
      ([name, { ownBytes }]) => name.startsWith("api-") && ownBytes > ownMaxOf(name),
    );
    expect([bundles.size, ownHeavy]).toEqual([names.length, []]);
  });
});

it("the list of a build has every package of its bundles, each as installed, with a licence (D23)", async () => {
  const { components } = await billOf(bundles);
  const installed = async (folder: string) => JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
  for (const { "bom-ref": folder, name, version, licenses } of components) {
    expect(await installed(folder)).toMatchObject({ name, version });
    expect(licenses).not.toEqual([{ expression: "NOASSERTION" }]);
  }
  const modules = [...bundles.values()].flatMap(({ packaged }) => packaged);
  const unlisted = modules.filter(
    (file) => !components.some((component) => file.startsWith(`${component["bom-ref"]}/`)),
  );
  expect([unlisted, modules.length > 100]).toEqual([[], true]);
  expect(components.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["@fontsource-variable/geist", "@preact/signals-core", "valibot"]),
  );
});

it("sam local finds the code, the handler and a sample event of every function of the template (F6)", async () => {
  const context = {
    eventBus: BUS,
    archive: "400",
    "aws:cdk:enable-asset-metadata": true,
    "aws:cdk:disable-asset-staging": true,
  };
  const template = synthesize({ context, code: (name) => Code.fromAsset(bundleFolder(name)) });
  const samples = (await readdir("events")).filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -5));
  expect(samples.sort()).toEqual(names.toSorted());
  expect(ofType(template, "AWS::Lambda::Function").map(([id]) => id)).toEqual(
    expect.arrayContaining(names.map(logicalIdOf)),
  );
  for (const name of names) {
    const { Properties, Metadata } = template.Resources[logicalIdOf(name)]!;
    const [file, exported] = Properties.Handler.split(".");
    expect(await readFile(`${Metadata!["aws:asset:path"]}/${file}.mjs`, "utf8")).toMatch(
      new RegExp(`\\b${exported}\\b`),
    );
    // SAM puts the path where this property says, and its file of variables replaces those that the template names.
    expect([name, Metadata!["aws:asset:property"], Properties.Runtime]).toEqual([name, "Code", "nodejs24.x"]);
    const given = Object.keys(Properties.Environment?.Variables ?? {});
    const { env } = deployedFunctions(contents).find((deployedFunction) => deployedFunction.name === name)!;
    expect([name, env.filter((variable) => !given.includes(variable) && !OF_SETTINGS.has(variable))]).toEqual([
      name,
      [],
    ]);
  }
});

it("each sample event is answered by the bundle that SAM would run, with the rights of its role (F6)", {
  timeout: PATIENCE_MS,
}, async () => {
  const known = await placeholdersFor(world);
  // CloudFormation alone invokes the one, and the other does not end by itself.
  const ending = names.filter((name) => !["publish-site", "stream"].includes(name));
  for (const name of ending) {
    const event = fillIn(await readFile(`events/${name}.json`, "utf8"), known);
    const answer = Object(await world.invoke(name, event)) as { statusCode?: number; batchItemFailures?: unknown[] };
    const isApi = name.startsWith("api-");
    expect([name, answer.batchItemFailures ?? []]).toEqual([name, []]);
    expect([name, isApi && ![200, 201, 202, 204, 404].includes(answer.statusCode ?? 0)]).toEqual([name, false]);
  }
});

it("no bundle loads at its start what reads all of node:http, or a session of HTTP/2 (docs/decisions/0016)", async () => {
  const texts = await Promise.all(names.map((name) => readFile(bundleFile(name), "utf8")));
  expect(names.filter((_, n) => /(?:from|import)\s*\(?"(?:node:)?http2?"/.test(texts[n]!))).toEqual([]);
});

it("a bundle holds of each declared item only what a function needs at run time", async () => {
  const { items } = await declaredItems();
  const texts = await Promise.all(names.map((name) => readFile(bundleFile(name), "utf8")));
  const literals = new Set(texts.flatMap((text) => text.match(/(?<=\babout:(["'`])).*?(?=\1)/g) ?? []));
  expect(items.filter(({ item: { about } }) => literals.has(about)).map(({ name }) => name)).toEqual([]);
  expect(texts.some((text) => text.includes("J#${"))).toBe(true);
});

it("a bundle holds no description of a field, of a shape or of a grammar (docs/decisions/0095)", async () => {
  const ofShape = "The least time between two entries";
  const ofGrammar = "How often, both bounds included";
  const texts = await Promise.all(["api-journeys", "api-segments"].map((name) => readFile(bundleFile(name), "utf8")));
  expect(texts.filter((text) => text.includes(ofShape) || text.includes(ofGrammar))).toEqual([]);
});

/** The service only reads: its bundle holds what every table has. */
const BATCHES_OF_THE_TABLE = 2;
function reachedActions(text: string): ListedAction[] {
  const batches = text.match(/\.writeAll\(/g)?.length ?? 0;
  return listedActions.filter((action) => {
    if (action === "ConditionCheckItem") return text.includes('write:{kind:"check"');
    if (action === "DeleteItem") return text.includes('write:{kind:"remove"') || /\.remove\([\w$]+,/.test(text);
    return batches > BATCHES_OF_THE_TABLE || text.includes(".removeRows(");
  });
}

it("a function may delete, write batches and check conditions where its code does, and nowhere else (docs/decisions/0031) (ARC-13)", async () => {
  const texts = await Promise.all(names.map((name) => readFile(bundleFile(name), "utf8")));
  const reached = Object.fromEntries(names.map((name, n) => [name, reachedActions(texts[n]!)]));
  expect(reached["api-service"]).toEqual([]);
  expect(reached).toEqual(Object.fromEntries(names.map((name) => [name, furtherActions[name] ?? []])));
});

describe("every bundle", () => {
  it.each(names)("%s loads and answers", async (name) => {
    if (name === "operator") {
      expect(await world.invoke(name, {})).toMatchObject({ error: "invalid" });
    } else if (name === "publish-site") {
      await expect(world.invoke(name, {})).rejects.toThrow("RequestType");
    } else if (name === "fallback") {
      expect(await call("GET /nowhere", {})).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    } else if (name === "stream") {
      const replies: object[] = [];
      const event = proxyEvent(world, requestFor("/v1/in-app/stream", {}), { routeKey: "$default", functionUrl: true });
      await world.invoke(name, event, (reply) => replies.push(reply));
      expect(replies[0]).toMatchObject({ kind: "start", status: 401 });
    } else if (name.startsWith("api-")) {
      const { endpoints } = contents.groups.find((group) => `api-${group.name}` === name)!;
      const open = endpoints.find(({ access }) => access.credentials.length > 0) ?? endpoints[0]!;
      const { status } = await call(open.route.replaceAll(/:\w+/g, "x"), {});
      // What is open to all answers for itself: there is nothing of that name, or the request says too little.
      expect(open.access.credentials.length > 0 ? [401] : [200, 404, 422]).toContain(status);
    } else {
      expect(await world.invoke(name, { Records: [] })).toEqual({ batchItemFailures: [] });
    }
  });
});

describe("together", () => {
  bundleStories(() => world);

  it("they never ask for a right that their role has not", () => {
    expect(world.refused).toEqual([]);
    expect([...world.used]).toContainEqual(expect.stringMatching(/^publish-events: events:PutEvents on .*event-bus/));
    expect([...world.used]).toContainEqual(expect.stringMatching(/^publish-events: s3:PutObjectTagging on /));
    expect(world.eventbridge.events(BUS).length).toBeGreaterThan(0);
    expect(world.trouble).toEqual([]);
    const working = new Set([...world.used].map((right) => right.split(":")[0]));
    expect([...working]).toEqual(
      expect.arrayContaining(["api-auth", "stream", "react", "fan-out", "deliver", "mail-event", "erase"]),
    );
  });
});
