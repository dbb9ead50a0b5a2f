// Ranges of seeds as tests, a few per test, so that a failure names its range and prints its story.
import { describe, expect, it } from "vitest";
import { shrunkStory } from "./exploration.ts";
import type { ProfileName } from "./profiles.ts";
import { brief, scenarios } from "./scenarios/index.ts";
import { simulate } from "./simulate.ts";

const AT_ONCE = 25;

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
        for (let seed = first; seed <= last; seed++) await expectSound(seed, viaSdk, profileOf(seed));
      });
    }
  });
}

async function expectSound(seed: number, viaSdk: boolean, profile: ProfileName | undefined): Promise<void> {
  const chosen = viaSdk ? brief : scenarios;
  const options = { seed, scenario: chosen[seed % chosen.length]!, viaSdk, profile };
  const run = await simulate(options);
  if (run.violation) expect.fail(await shrunkStory(options, run));
  expect(run.calls).toBeGreaterThan(0);
}
