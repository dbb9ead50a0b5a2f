// Runs a range of seeds one after the other, tells of every violation, and sums up what was seen.
import { createHash } from "node:crypto";
import type { Scenario } from "./invariant.ts";
import type { ProfileName } from "./profiles.ts";
import { simulate } from "./simulate.ts";

export interface Exploration {
  from: number;
  seeds: number;
  scenarios: readonly Scenario[];
  profile: ProfileName | undefined;
  viaSdk: boolean;
  ignore: readonly string[];
  keepGoing: boolean;
}

export interface Findings {
  seeds: number;
  calls: number;
  crashes: number;
  sweep: number;
  watchdog: number;
  /** Invariant → the seeds that break it. */
  violations: Record<string, number[]>;
  /** One hash of all traces: the same seeds give the same. */
  trace: string;
}

export async function explore({ from, seeds, scenarios, keepGoing, ...options }: Exploration): Promise<Findings> {
  const findings: Findings = { seeds: 0, calls: 0, crashes: 0, sweep: 0, watchdog: 0, violations: {}, trace: "" };
  const digest = createHash("sha256");
  for (let seed = from; seed < from + seeds; seed++) {
    const run = await simulate({ seed, scenario: scenarios[seed % scenarios.length]!, ...options });
    findings.seeds++;
    findings.calls += run.calls;
    findings.crashes += run.crashes;
    findings.sweep += run.rescues.sweep;
    findings.watchdog += run.rescues.watchdog;
    digest.update(run.hash);
    if (!run.violation) continue;
    const kind = run.violation.invariant;
    findings.violations[kind] = [...(findings.violations[kind] ?? []), seed];
    console.log(`seed ${seed} ${run.scenario} ${run.profile} breaks ${kind}: ${run.violation.text}`);
    if (keepGoing) continue;
    console.log(run.story);
    console.log(`\nnpm run simulate -- --seeds 1 --from ${seed} --scenario ${run.scenario}`);
    break;
  }
  return { ...findings, trace: digest.digest("hex") };
}

/** What several ranges have found together, in the order of their seeds. */
export function together(parts: readonly Findings[]): Findings {
  const violations: Record<string, number[]> = {};
  for (const part of parts)
    for (const [kind, seeds] of Object.entries(part.violations))
      violations[kind] = [...(violations[kind] ?? []), ...seeds];
  const sum = (name: "seeds" | "calls" | "crashes" | "sweep" | "watchdog") =>
    parts.reduce((total, part) => total + part[name], 0);
  const trace = createHash("sha256")
    .update(parts.map((part) => part.trace).join())
    .digest("hex");
  return {
    ...{ seeds: sum("seeds"), calls: sum("calls"), crashes: sum("crashes"), sweep: sum("sweep") },
    ...{ watchdog: sum("watchdog"), violations, trace },
  };
}
