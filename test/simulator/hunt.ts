// Looks for planted bugs in mixed runs: the scenarios and profiles of a plain run, up to the first violation.
import type { Scenario } from "./invariant.ts";
import type { Bug } from "./planted/bug.ts";
import { simulatorWith } from "./planting.ts";
import type { ProfileName } from "./profiles.ts";
import { type Run, simulate } from "./simulate.ts";
import { watchSites } from "./sites.ts";

interface BugSearch {
  bug: Bug;
  /** Absent if no seed found it. */
  run: Run | undefined;
  /** Seeds up to the one that found it. */
  seeds: number;
  /** Those of them that executed the changed code; the others cannot differ from a plain run. */
  reached: number;
}

interface Hunt {
  from: number;
  seeds: number;
  /** By their places in this list seeds have their scenarios. */
  scenarios: readonly Scenario[];
  /** Drawn from the seed if absent. */
  profile: ProfileName | undefined;
  /** Called after each seed of each bug. */
  stepped(done: number, found: number): void;
  /** A bug is found, or given up. */
  ended(found: BugSearch): void;
}

/** So many seeds are run plainly at once, to see what each executes. */
const BLOCK = 25;
/** For fewer bugs it is quicker to run them than to look first. */
const MIN_BUGS = 4;

/** The first seed that finds each bug. */
export async function huntBugs(bugs: readonly Bug[], hunt: Hunt): Promise<BugSearch[]> {
  const { from, seeds, stepped, ended } = hunt;
  const states: BugSearch[] = bugs.map((bug) => ({ bug, run: undefined, seeds: 0, reached: 0 }));
  for (let first = from; first < from + seeds; first += BLOCK) {
    const block = Array.from({ length: Math.min(BLOCK, from + seeds - first) }, (_, n) => first + n);
    const open = states.filter(({ run }) => !run);
    if (open.length === 0) break;
    const touched =
      open.length < MIN_BUGS
        ? undefined
        : await touchedBy(
            hunt,
            block,
            open.map(({ bug }) => bug),
          );
    for (const state of open) {
      for (const seed of block) {
        if (state.run) break;
        state.seeds++;
        const isReached = touched?.get(seed)?.has(state.bug) ?? true;
        if (isReached) await tryBug(hunt, state, seed);
        stepped(1, state.run ? 1 : 0);
      }
      if (state.run || first + BLOCK >= from + seeds) ended(state);
    }
  }
  return states;
}

async function tryBug({ scenarios, profile }: Hunt, state: BugSearch, seed: number): Promise<void> {
  const copy = await simulatorWith(state.bug);
  const { name } = scenarioOf(scenarios, seed);
  const scenario = copy.scenarios.find((one) => one.name === name)!;
  state.reached++;
  const run = await copy.simulate({ seed, scenario, profile });
  if (run.violation) state.run = run;
}

const scenarioOf = (scenarios: readonly Scenario[], seed: number): Scenario => scenarios[seed % scenarios.length]!;

/** Which bugs each seed of a plain run would come across. */
async function touchedBy(
  { scenarios, profile }: Hunt,
  block: readonly number[],
  bugs: readonly Bug[],
): Promise<Map<number, ReadonlySet<Bug>>> {
  const sites = await watchSites(bugs);
  const touched = new Map<number, ReadonlySet<Bug>>();
  for (const seed of block) {
    const { violation } = await simulate({ seed, scenario: scenarioOf(scenarios, seed), profile });
    if (violation) throw new Error(`Seed ${seed} has a violation without any bug: ${violation.text}`);
    touched.set(seed, await sites.take());
  }
  await sites.close();
  return touched;
}

/** The shrunk story of a run that found a bug. */
export async function storyOfBug(bug: Bug, run: Run): Promise<string> {
  const { scenarios: all, shrunkStory } = await simulatorWith(bug);
  const scenario = all.find(({ name }) => name === run.scenario)!;
  return shrunkStory({ seed: run.seed, scenario, profile: run.profile }, run);
}
