// A slice of the calm and the storm: some programs of fixed seeds, and all that were found and mended.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { areaNames, programOf } from "./harness/generate/program.ts";
import type { Program } from "./harness/program.ts";
import { type RunOptions, run } from "./harness/run.ts";
import { storyOf } from "./harness/story.ts";

const folder = new URL("./found/", import.meta.url);
const open = readFileSync(new URL("README.md", folder), "utf8").split("## Open")[1]!;
const mended = readdirSync(folder).filter((name) => name.endsWith(".json") && !open.includes(name));

async function differenceIn(program: Program, options: RunOptions = {}): Promise<string | undefined> {
  const result = await run(program, options);
  return result.failure && storyOf(program, result);
}

describe("the product answers as the reference", () => {
  for (let seed = 1; seed <= 7; seed++)
    it(`in a program of 24 commands, seed ${seed}`, async () => {
      expect(await differenceIn(programOf(seed, { areas: areaNames, length: 24 }))).toBeUndefined();
    });

  for (let seed = 1; seed <= 4; seed++)
    it(`at the end of a storm over 24 commands, seed ${seed}`, async () => {
      const program = programOf(seed, { areas: areaNames, length: 24 });
      expect(await differenceIn(program, { storm: seed })).toBeUndefined();
    });

  for (let seed = 101; seed <= 102; seed++)
    it(`in a sandbox, over 24 commands, seed ${seed}`, async () => {
      const program = programOf(seed, { areas: areaNames, length: 24 });
      expect(await differenceIn(program, { sandbox: true })).toBeUndefined();
    });

  it.each(mended)("in the program that found a fault, %s", async (name) => {
    const { program } = JSON.parse(readFileSync(new URL(name, folder), "utf8"));
    expect(await differenceIn(program)).toBeUndefined();
  });
});
