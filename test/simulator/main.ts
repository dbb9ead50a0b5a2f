// npm run simulate -- --seeds N --from S [--scenario X] [--profile P] [--sdk] [--keep-going] [--ignore invariant,…]
// npm run simulate -- --planted [--seeds N]: bugs put in on purpose, and the first seed that finds each
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { findPlanted, planted } from "./planted.ts";
import { type ProfileName, profiles } from "./profiles.ts";
import { scenarios } from "./scenarios/index.ts";
import { type Run, simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    scenario: { type: "string" },
    profile: { type: "string" },
    sdk: { type: "boolean", default: false },
    ignore: { type: "string", default: "" },
    planted: { type: "boolean", default: false },
    "keep-going": { type: "boolean", default: false },
  },
});

if (values.planted) {
  for (const bug of planted) {
    const found = await findPlanted(bug, Number(values.from), Number(values.seeds));
    if (!found) process.exitCode = 1;
    const seeds = found ? `${found.seed - Number(values.from) + 1} seeds, ${found.violation.invariant}` : "NOT FOUND";
    console.log(`${bug.name} (${bug.scenario}, ${bug.profile}): ${seeds}`);
  }
  process.exit();
}

const chosen = scenarios.filter(({ name }) => values.scenario === undefined || name === values.scenario);
if (chosen.length === 0) throw new Error(`No scenario ${values.scenario}: ${scenarios.map(({ name }) => name)}`);
if (values.profile !== undefined && !(values.profile in profiles)) throw new Error(`No profile ${values.profile}.`);
const profile = values.profile as ProfileName | undefined;

const from = Number(values.from);
const totals = { calls: 0, crashes: 0, sweep: 0, watchdog: 0 };
const digest = createHash("sha256");
const found = new Map<string, Run[]>();
const startedAt = performance.now();
let seeds = 0;

for (let seed = from; seed < from + Number(values.seeds); seed++) {
  const scenario = chosen[seed % chosen.length]!;
  const run = await simulate({ seed, scenario, profile, viaSdk: values.sdk, ignore: values.ignore.split(",") });
  seeds++;
  digest.update(run.hash);
  totals.calls += run.calls;
  totals.crashes += run.crashes;
  totals.sweep += run.rescues.sweep;
  totals.watchdog += run.rescues.watchdog;
  if (!run.violation) continue;
  const kind = run.violation.invariant;
  found.set(kind, [...(found.get(kind) ?? []), run]);
  console.log(`seed ${seed} ${run.scenario} ${run.profile} breaks ${kind}: ${run.violation.text}`);
  if (values["keep-going"]) continue;
  console.log(run.story);
  console.log(`\nnpm run simulate -- --seeds 1 --from ${seed} --scenario ${run.scenario}`);
  break;
}

const seconds = (performance.now() - startedAt) / 1_000;
for (const [kind, runs] of found)
  console.log(`${runs.length} × ${kind}, first at seed ${runs[0]!.seed} (${runs.slice(0, 8).map(({ seed }) => seed)})`);
console.log(
  `${seeds} seeds in ${seconds.toFixed(1)} s (${(seeds / seconds).toFixed(1)}/s), ${Math.round(totals.calls / seeds)} calls ` +
    `and ${(totals.crashes / seeds).toFixed(1)} crashes a seed; per 1,000 seeds the sweep rescued ` +
    `${Math.round((totals.sweep / seeds) * 1_000)} rows and the watchdog looked ${Math.round((totals.watchdog / seeds) * 1_000)} times; trace ${digest.digest("hex").slice(0, 12)}`,
);
if (found.size > 0) process.exitCode = 1;
