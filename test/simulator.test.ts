// The simulator itself: the planted bugs and their patches, and how a failing story shrinks.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { areas } from "./simulator/planted/bug.ts";
import { planted } from "./simulator/planted/index.ts";
import { filesOf, plant } from "./simulator/planting.ts";

const LIMIT = { timeout: 300_000 };
const root = new URL("../", import.meta.url);
const command = fileURLToPath(new URL("test/simulator/main.ts", root));

/** `npm run simulate` with these arguments: patched modules need a loader of their own. */
const run = async (...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [command, "--jobs", "1", ...args], {
    env: { ...process.env, NO_COLOR: "1" },
  });
  return stdout;
};

describe("simulator: planted bugs", () => {
  it.each(planted)("$name: its patch applies once", async (bug) => {
    for (const file of filesOf(bug)) {
      const text = await readFile(new URL(file, root), "utf8");
      expect(plant(bug, file, text)).not.toBe(text);
    }
  });

  it("planted bugs are many, of every area, each with a name of its own", () => {
    expect(planted.length).toBeGreaterThanOrEqual(60);
    expect(new Set(planted.map(({ name }) => name)).size).toBe(planted.length);
    expect(new Set(planted.map(({ area }) => area))).toEqual(new Set(areas));
  });

  it("a quick slice of them is found", LIMIT, async () => {
    const names = ["the job ends when the first range", "a range is taken for complete"];
    const told = await run("--planted", "--seeds", "60", ...names.flatMap((name) => ["--only", name]));
    expect(told).toContain(`${names.length} of ${names.length} planted bugs found`);
  });

  it("a story is shrunk to the few who take part in it", LIMIT, async () => {
    // The seeds before these do not find it.
    const where = ["--from", "25", "--seeds", "40"];
    const told = await run("--planted", "--story", ...where, "--only", "a job under way can be canceled");
    const [, before, faults, after, left] = /(\d+) actors and (\d+) faults to (\d+) and (\d+)/.exec(told)!;
    expect(Number(after)).toBeLessThan(Number(before));
    expect(Number(left)).toBeLessThan(Number(faults));
    expect(told).toContain("/cancel send-");
    expect(told).toMatch(/npm run simulate -- --seeds 1 --from \d+ --scenario \w+ --profile \w+/);
  });
});
