// Runs a range of seeds one after the other, tells of every violation, and sums up what was seen.
import { createHash } from "node:crypto";
import type { Scenario } from "./invariant.ts";
import type { ProfileName } from "./profiles.ts";
import { shrink } from "./shrink.ts";
import { type Run, type RunOptions, simulate } from "./simulate.ts";

export interface Exploration {
  from: number;
  seeds: number;
  scenarios: readonly Scenario[];
  profile: ProfileName | undefined;
  viaSdk: boolean;
  ignore: readonly string[];
  /** Goes on after a violation, without its story. */
  keepGoing: boolean;
  tell(text: string): void;
  /** Called after each seed. */
  stepped(done: number, found: number): void;
}

export interface Findings {
  seeds: number;
  calls: number;
  crashes: number;
  faults: number;
  sweep: number;
  watchdog: number;
  /** Invariant → the seeds that break it. */
  violations: Record<string, number[]>;
  /** What was reached, each once. */
  reached: string[];
  /** One hash of all traces: the same seeds give the same. */
  trace: string;
}

export async function explore({
  from,
  seeds,
  scenarios,
  keepGoing,
  tell,
  stepped,
  ...rest
}: Exploration): Promise<Findings> {
  const runs: Run[] = [];
  const reached = new Set<string>();
  const digest = createHash("sha256");
  for (let seed = from; seed < from + seeds; seed++) {
    const options = { seed, scenario: scenarios[seed % scenarios.length]!, ...rest };
    const run = await simulate(options);
    for (const one of run.reached) reached.add(one);
    digest.update(run.hash);
    runs.push({ ...run, reached: new Set() });
    stepped(1, run.violation ? 1 : 0);
    if (!run.violation) continue;
    tell(`seed ${seed} ${run.scenario} ${run.profile} breaks ${run.violation.invariant}: ${run.violation.text}`);
    if (keepGoing) continue;
    tell(await shrunkStory(options, run));
    break;
  }
  const sum = (of: (run: Run) => number) => runs.reduce((total, run) => total + of(run), 0);
  const violations: Findings["violations"] = {};
  for (const { violation, seed } of runs)
    if (violation) violations[violation.invariant] = [...(violations[violation.invariant] ?? []), seed];
  return {
    seeds: runs.length,
    calls: sum((run) => run.calls),
    crashes: sum((run) => run.crashes),
    faults: sum((run) => run.faults),
    sweep: sum((run) => run.rescues.sweep),
    watchdog: sum((run) => run.rescues.watchdog),
    violations,
    reached: [...reached].sort(),
    trace: digest.digest("hex"),
  };
}

/** The shortest story that breaks the same promise, and how to see it again. */
export async function shrunkStory(options: RunOptions, failing: Run): Promise<string> {
  const { run, tries, calm } = await shrink(options, failing);
  const { seed, scenario, profile } = failing;
  const sdk = options.viaSdk ? " --sdk" : "";
  return [
    `shrunk in ${tries} runs: ${failing.actors} actors and ${failing.faults} faults to ${run.taking} and ${run.faults}, without ${calm.join(", ") || "nothing"}`,
    `${run.violation!.invariant}: ${run.violation!.text}`,
    run.story,
    `\nnpm run simulate -- --seeds 1 --from ${seed} --scenario ${scenario} --profile ${profile}${sdk}`,
  ].join("\n");
}

/** What several ranges have found together, in the order of their seeds. */
export function together(parts: readonly Findings[]): Findings {
  const violations: Findings["violations"] = {};
  for (const part of parts)
    for (const [kind, seeds] of Object.entries(part.violations))
      violations[kind] = [...(violations[kind] ?? []), ...seeds];
  const sum = (name: "seeds" | "calls" | "crashes" | "faults" | "sweep" | "watchdog") =>
    parts.reduce((total, part) => total + part[name], 0);
  const trace = createHash("sha256");
  for (const part of parts) trace.update(part.trace);
  return {
    seeds: sum("seeds"),
    calls: sum("calls"),
    crashes: sum("crashes"),
    faults: sum("faults"),
    sweep: sum("sweep"),
    watchdog: sum("watchdog"),
    violations,
    trace: trace.digest("hex"),
    reached: [...new Set(parts.flatMap(({ reached }) => reached))].sort(),
  };
}
