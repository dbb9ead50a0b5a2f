// Every function has a sample event that it accepts; `npm run invoke` runs it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { contents } from "../docs/generate/contents.ts";
import { sampleEvents } from "../docs/generate/events.ts";
import { contents as deployedContents, deployedFunctions } from "../infra/functions.ts";
import { publishSite } from "../infra/publish-site.ts";
import { fillIn, invoke, type Placeholders, placeholdersFor } from "../local/invoke.ts";
import { type TestWorld, testWorld } from "./support/world.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const names = [...sampleEvents(contents).keys()];

/** A group whose every route names something: the sample's id belongs to no resource. */
const namesAThing = (name: string): boolean =>
  contents.groups.some(
    (group) => `api-${group.name}` === name && group.endpoints.every(({ route }) => route.includes("/:")),
  );

it("every deployed function has one", () => {
  expect(names.toSorted()).toEqual(
    deployedFunctions(deployedContents)
      .map(({ name }) => name)
      .sort(),
  );
});

describe("runs in the in-process host", () => {
  let world: TestWorld;
  let known: Placeholders;
  beforeAll(async () => {
    world = await testWorld();
    known = await placeholdersFor(world);
  });

  // CloudFormation alone invokes it, and no part of the local service does.
  const hosted = names.filter((name) => name !== publishSite.name);
  it.each(hosted)("%s", async (name) => {
    const event = fillIn(readFileSync(`${root}/events/${name}.json`, "utf8"), known);
    const answer = (await invoke(world, name, event, () => world.advance(1_000))) as Record<string, unknown>;
    await world.settle();
    if (namesAThing(name)) expect(answer.statusCode).toBe(404);
    else if (name.startsWith("api-")) expect(answer.statusCode).toBeLessThan(300);
    else if (name === "fallback") expect(answer.statusCode).toBe(404);
    else if (name === "stream")
      expect(answer).toEqual({ status: 200, body: expect.stringMatching(/^retry: \d+\nid: /) });
    else if (name === "operator") expect(answer).toEqual({ error: "not_found" });
    else expect(answer ?? { batchItemFailures: [] }).toEqual({ batchItemFailures: [] });
  });
});

describe("npm run invoke", () => {
  const run = (...words: string[]) =>
    spawnSync(process.execPath, ["local/launch.mjs", "local/invoke.ts", ...words], { cwd: root, encoding: "utf8" });

  it("npm run invoke prints what the function answers", () => {
    const { stdout, status } = run("api-templates", "events/api-templates.json");
    expect([status, JSON.parse(stdout).statusCode]).toEqual([0, 201]);
  }, 120_000);

  it("npm run invoke says how it is used", () => {
    const { stderr, status } = run();
    expect([status, stderr]).toEqual([2, "Name one function and one event. More with --help.\n"]);
  }, 120_000);
});
