// The simulator's slice in every run: seeds over all scenarios, the same seed twice, real SDK clients, planted bugs.
import { describe, expect, it } from "vitest";
import { findPlanted, planted } from "./simulator/planted.ts";
import { scenarios } from "./simulator/scenarios/index.ts";
import { simulate } from "./simulator/simulate.ts";

const SEEDS = Number(process.env.SIM_SEEDS ?? 200);
const FROM = Number(process.env.SIM_FROM ?? 1);
/** Seeds of one test, so that a failure names its neighbourhood and none takes too long. */
const AT_ONCE = 20;
const SDK_SEEDS = [1, 2, 3];
const LIMIT = { timeout: 120_000 };
/** Those found within a few seeds; `npm run simulate -- --planted` looks for all of them. */
const QUICKLY_FOUND = [
  "an idempotency key is not looked at",
  "jobs move from any state",
  "the due worker drops a timer now and then",
  "an upsert revives the erased",
  "a message names another workspace",
  "a batch of inbox rows loses its last one",
  "a batch of events loses its last one",
];

/** Runs one seed and tells the story of what it broke. */
async function expectSound(seed: number, options: { viaSdk?: boolean } = {}) {
  const scenario = scenarios[seed % scenarios.length]!;
  const run = await simulate({ seed, scenario, ...options });
  const { violation, story } = run;
  const again = `npm run simulate -- --seeds 1 --from ${seed} --scenario ${scenario.name}${options.viaSdk ? " --sdk" : ""}`;
  expect(violation && `${violation.invariant}: ${violation.text}\n${story}\n${again}`).toBeUndefined();
  return run;
}

describe("simulator: every promise holds under faults", () => {
  for (let from = FROM; from < FROM + SEEDS; from += AT_ONCE) {
    const to = Math.min(from + AT_ONCE, FROM + SEEDS);
    it(`seeds ${from} to ${to - 1}`, LIMIT, async () => {
      for (let seed = from; seed < to; seed++) await expectSound(seed);
    });
  }
});

describe("simulator: the kernel", () => {
  it("tells the same story for the same seed", LIMIT, async () => {
    for (const [at, scenario] of scenarios.entries()) {
      const seed = 1_000 + at;
      const [first, second] = [await simulate({ seed, scenario }), await simulate({ seed, scenario })];
      expect(second.hash).toBe(first.hash);
      expect(second.calls).toBe(first.calls);
    }
  });

  it("tells another story for another seed", LIMIT, async () => {
    const scenario = scenarios[0]!;
    const hashes = [await simulate({ seed: 1, scenario }), await simulate({ seed: 2, scenario })].map(
      ({ hash }) => hash,
    );
    expect(new Set(hashes).size).toBe(2);
  });

  it("runs real SDK clients as well", LIMIT, async () => {
    for (const seed of SDK_SEEDS) expect((await expectSound(seed, { viaSdk: true })).calls).toBeGreaterThan(50);
  });
});

describe("simulator: planted bugs are found", () => {
  it.each(planted.filter(({ name }) => QUICKLY_FOUND.includes(name)))("$name", LIMIT, async (bug) => {
    const found = await findPlanted(bug, 1, 40);
    expect(found && bug.finds.includes(found.violation.invariant)).toBe(true);
  });
});
