// Whether the tests of an area notice a mutation: its suites first, then each of its scenarios.
import { type Area, suitesOf } from "./areas.ts";
import type { Copy } from "./copy.ts";

export type Verdict = { kind: "noticed"; by: string } | { kind: "not noticed" } | { kind: "unknown"; why: string };

interface Check {
  name: string;
  args: readonly string[];
  /** Several times what it takes without a mutation. */
  limitMs: number;
}

const SOUND_LIMIT_MS = 900_000;
const LIMIT_FACTOR = 3;
const LIMIT_EXTRA_MS = 20_000;

/**
 * The checks of an area, each of which passes without any mutation: one that fails anyway would notice every mutation.
 * @param seeds of each scenario; without scenarios if 0
 */
export async function soundChecks(copy: Copy, area: Area, seeds: number, signal: AbortSignal): Promise<Check[]> {
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--bail=1", "--maxWorkers=1", "--no-cache"];
  const simulator = ["test/simulator/main.ts", "--jobs", "1", "--seeds", String(seeds), "--keep-going", "--scenario"];
  const wanted = [
    { name: "the suites", args: [...vitest, ...suitesOf(area)] },
    ...(seeds > 0 ? area.scenarios : []).map((name) => ({ name: `the scenario ${name}`, args: [...simulator, name] })),
  ];
  const checks: Check[] = [];
  for (const { name, args } of wanted) {
    const start = performance.now();
    const outcome = await copy.run(args, SOUND_LIMIT_MS, signal);
    if (outcome.kind === "failed") throw new Error(`Without any mutation ${name} failed.`);
    if (outcome.kind === "unknown")
      throw new Error(`Of ${name} without any mutation nothing is known: ${outcome.why}.`);
    checks.push({ name, args, limitMs: Math.round((performance.now() - start) * LIMIT_FACTOR) + LIMIT_EXTRA_MS });
  }
  return checks;
}

/** The first check that fails notices what was changed in the copy. */
export async function verdictOf(copy: Copy, checks: readonly Check[], signal: AbortSignal): Promise<Verdict> {
  let verdict: Verdict = { kind: "not noticed" };
  for (const { name, args, limitMs } of checks) {
    const outcome = await copy.run(args, limitMs, signal);
    if (outcome.kind === "failed") return { kind: "noticed", by: name };
    if (outcome.kind === "unknown") verdict = { kind: "unknown", why: `${name}: ${outcome.why}` };
  }
  return verdict;
}
