// npm run simulate -- --seeds N --from S [--scenario X] [--profile P] [--sdk] [--keep-going] [--ignore invariant,…] [--jobs N]
// npm run simulate -- --planted [--seeds N]: bugs put in on purpose, and the first seed that finds each
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Exploration, explore, type Findings, together } from "./exploration.ts";
import { findPlanted, planted } from "./planted.ts";
import { type ProfileName, profiles } from "./profiles.ts";
import { scenarios } from "./scenarios/index.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    scenario: { type: "string" },
    profile: { type: "string" },
    sdk: { type: "boolean", default: false },
    ignore: { type: "string", default: "" },
    planted: { type: "boolean", default: false },
    jobs: { type: "string", default: String(availableParallelism()) },
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

const exploration: Exploration = {
  from: Number(values.from),
  seeds: Number(values.seeds),
  scenarios: chosen,
  profile,
  viaSdk: values.sdk,
  ignore: values.ignore.split(","),
  keepGoing: values["keep-going"],
};

/** Fewer seeds than this are not worth another process. */
const LEAST_SHARE = 50;
const startedAt = performance.now();
const isShare = process.send !== undefined && process.env.SIMULATOR_SHARE !== undefined;
const jobs = isShare ? 1 : Math.max(1, Math.min(Number(values.jobs), Math.floor(exploration.seeds / LEAST_SHARE)));

/** A part of the seeds in a process of its own. */
function inShare(from: number, seeds: number): Promise<Findings> {
  const words = process.argv
    .slice(2)
    .filter((word, i, all) => !/^--(from|seeds)$/.test(word) && !/^--(from|seeds)$/.test(all[i - 1] ?? ""));
  const child = fork(fileURLToPath(import.meta.url), [...words, "--from", String(from), "--seeds", String(seeds)], {
    env: { ...process.env, SIMULATOR_SHARE: "1" },
  });
  return new Promise((resolve, reject) => {
    child.once("message", (findings) => resolve(findings as Findings));
    child.once("exit", (code) => reject(new Error(`A share of the seeds ended with ${code}.`)));
  });
}

const share = Math.ceil(exploration.seeds / jobs);
const shares = Array.from({ length: jobs }, (_, n) => exploration.from + n * share);
const last = exploration.from + exploration.seeds;
const findings =
  jobs === 1
    ? await explore(exploration)
    : together(await Promise.all(shares.map((from) => inShare(from, Math.min(share, last - from)))));

if (isShare) process.send!(findings);
else {
  const { seeds, calls, crashes, sweep, watchdog, violations, trace } = findings;
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const [kind, broken] of Object.entries(violations))
    console.log(`${broken.length} × ${kind}, first at seed ${broken[0]} (${broken.slice(0, 8)})`);
  console.log(
    `${seeds} seeds in ${seconds.toFixed(1)} s (${(seeds / seconds).toFixed(1)}/s), ${Math.round(calls / seeds)} calls ` +
      `and ${(crashes / seeds).toFixed(1)} crashes a seed; per 1,000 seeds the sweep rescued ` +
      `${Math.round((sweep / seeds) * 1_000)} rows and the watchdog looked ${Math.round((watchdog / seeds) * 1_000)} times; trace ${trace.slice(0, 12)}`,
  );
  if (Object.keys(violations).length > 0) process.exitCode = 1;
}
