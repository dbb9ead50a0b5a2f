// Ranges of seeds as tests, a few per test, so that a failure names its range and prints its story. Some are run twice: the
// same seed tells the same story, another seed another.
import { describe, expect, it } from "vitest";
import { shrunkStory } from "./exploration.ts";
import type { ProfileName } from "./profiles.ts";
import { brief, scenarios } from "./scenarios/index.ts";
import { simulate } from "./simulate.ts";

const AT_ONCE = 25;
/** Every so many seeds, so that the seeds of a test run tell stories of many scenarios twice. */
const TWICE = 7;

interface Slice {
  from: number;
  seeds: number;
  /** Real SDK clients over the protocols of AWS. */
  viaSdk?: boolean;
  profileOf?(seed: number): ProfileName | undefined;
}

/** Every promise holds in these seeds; where one does not, the test fails with the shrunk story. */
export function testSeeds({ from, seeds, viaSdk = false, profileOf = () => undefined }: Slice): void {
  describe(`simulator: every promise holds under faults${viaSdk ? ", through the SDK" : ""}`, () => {
    for (let first = from; first < from + seeds; first += AT_ONCE) {
      const last = Math.min(first + AT_ONCE, from + seeds) - 1;
      it(`seeds ${first} to ${last}`, { timeout: 180_000 }, async () => {
        const hashes = new Set<string>();
        for (let seed = first; seed <= last; seed++) hashes.add(await expectSound(seed, viaSdk, profileOf(seed)));
        expect(hashes.size).toBe(last - first + 1);
      });
    }
  });
}

async function expectSound(seed: number, viaSdk: boolean, profile: ProfileName | undefined): Promise<string> {
  const chosen = viaSdk ? brief : scenarios;
  const options = { seed, scenario: chosen[seed % chosen.length]!, viaSdk, profile };
  const run = await simulate(options);
  if (run.violation) expect.fail(await shrunkStory(options, run));
  expect(run.calls).toBeGreaterThan(0);
  if (seed % TWICE === 0 && !viaSdk) {
    const { hash, calls } = await simulate(options);
    expect({ seed, hash, calls }).toEqual({ seed, hash: run.hash, calls: run.calls });
  }
  return run.hash;
}
