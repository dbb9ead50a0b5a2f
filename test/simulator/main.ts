// `npm run simulate`: see USAGE.
import { fileURLToPath } from "node:url";
import { readArguments, refuse, wholeNumber } from "../../tools/arguments.ts";
import { type Exploration, explore, type Findings, together } from "./exploration.ts";
import { huntBugs, storyOfBug } from "./hunt.ts";
import type { Scenario } from "./invariant.ts";
import { planted } from "./planted/index.ts";
import { type ProfileName, profiles } from "./profiles.ts";
import { type FoundRow, openProgress, reportOf, tableOf } from "./report.ts";
import { scenarios } from "./scenarios/index.ts";
import { answerShare, inShare, isShare, reportStep, sharesOf } from "./shares.ts";

const names = [...new Set(scenarios.map(({ name }) => name))];
const USAGE = `npm run simulate -- [--seeds 100] [--from 1]: runs the service under faults, once for each seed.

  --scenario NAME     only this one: ${names.join(", ")}
  --profile NAME      only this one: ${Object.keys(profiles).join(", ")}
  --sdk               real SDK clients over the protocols of AWS in process
  --keep-going        goes on after a violation, without its story
  --ignore A,B        leaves invariants out
  --reached           lists what was reached
  --jobs N            processes; by default one per core

npm run simulate -- --planted [--seeds 1000] [--from 1]: looks for the bugs of test/simulator/planted, in the scenarios
and profiles of a plain run unless they are named.

  --only TEXT         only those with this text in their names; may be repeated
  --area NAME         only those of this area; may be repeated
  --story             prints the shrunk story of each

Progress goes to stderr, the report to stdout. Ends with 1 if there is a violation, or a planted bug was not found.

Example: npm run simulate -- --seeds 200 --profile storm`;

const { values } = readArguments(USAGE, {
  options: {
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    scenario: { type: "string" },
    profile: { type: "string" },
    sdk: { type: "boolean", default: false },
    ignore: { type: "string", default: "" },
    planted: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    area: { type: "string", multiple: true },
    story: { type: "boolean", default: false },
    jobs: { type: "string" },
    reached: { type: "boolean", default: false },
    "keep-going": { type: "boolean", default: false },
  },
});

/** Fewer seeds or bugs than this are not worth another process. */
const MIN_SEEDS = 50;
const MIN_BUGS = 8;

const script = fileURLToPath(import.meta.url);
const from = wholeNumber("--from", values.from);
const seeds = wholeNumber("--seeds", values.seeds ?? (values.planted ? "1000" : "100"), 1);
const wantedJobs = values.jobs === undefined ? undefined : wholeNumber("--jobs", values.jobs, 1);
const startedAt = performance.now();
await (values.planted ? findPlanted() : exploreSeeds());
if (isShare()) process.disconnect();

/** The scenarios and the profile that the command line names. */
function worldsAsked(): { scenarios: readonly Scenario[]; profile: ProfileName | undefined } {
  const { scenario, profile } = values;
  const chosen = scenarios.filter(({ name }) => scenario === undefined || name === scenario);
  if (chosen.length === 0) refuse(`There is no scenario "${scenario}".`);
  if (profile !== undefined && !Object.hasOwn(profiles, profile)) refuse(`There is no profile "${profile}".`);
  return { scenarios: chosen, profile: profile as ProfileName | undefined };
}

async function exploreSeeds(): Promise<void> {
  const worlds = worldsAsked();
  const jobs = sharesOf(wantedJobs, seeds, MIN_SEEDS);
  const progress = isShare() ? undefined : openProgress("seeds", seeds);
  const exploration: Omit<Exploration, "from" | "seeds"> = {
    ...worlds,
    viaSdk: values.sdk,
    ignore: values.ignore.split(","),
    keepGoing: values["keep-going"],
    tell: (text) => console.log(text),
    stepped: progress?.add ?? reportStep,
  };
  const share = Math.ceil(seeds / jobs);
  const starts = Array.from({ length: jobs }, (_, n) => from + n * share);
  const findings =
    jobs === 1
      ? await explore({ ...exploration, from, seeds })
      : together(
          await Promise.all(
            starts.map((at) => {
              const range = ["--from", String(at), "--seeds", String(Math.min(share, from + seeds - at))];
              return inShare<Findings>(script, [...without("from", "seeds"), ...range], exploration.stepped);
            }),
          ),
        );
  progress?.end();
  if (isShare()) return answerShare(findings);
  if (values.reached) console.log(findings.reached.join("\n"));
  console.log(reportOf(findings, (performance.now() - startedAt) / 1_000));
  if (Object.keys(findings.violations).length > 0) process.exitCode = 1;
}

async function findPlanted(): Promise<void> {
  const worlds = worldsAsked();
  const { only, area: areas } = values;
  const chosen = planted.filter(
    ({ name, area }) => (!only || only.some((part) => name.includes(part))) && (!areas || areas.includes(area)),
  );
  if (chosen.length === 0) refuse("No planted bug is called so.");
  const jobs = sharesOf(wantedJobs, chosen.length, MIN_BUGS);
  const progress = isShare() ? undefined : openProgress("seeds", seeds * chosen.length);
  const stepped = progress?.add ?? reportStep;
  const rows: FoundRow[] = [];
  if (jobs === 1) {
    const ended = (row: FoundRow) =>
      console.error(`${row.name}: ${row.seed === undefined ? "not found" : `seed ${row.seed}`}`);
    const found = await huntBugs(chosen, { ...worlds, from, seeds, stepped, ended: (state) => ended(rowOf(state)) });
    rows.push(...found.map(rowOf));
    if (values.story)
      for (const { bug, run } of found) if (run) console.log(`${bug.name}\n${await storyOfBug(bug, run)}\n`);
  } else {
    const parts = Array.from({ length: jobs }, (_, part) => chosen.filter((_, n) => n % jobs === part));
    const found = await Promise.all(
      parts.map((part) => {
        const args = [...without("only", "area"), ...part.flatMap(({ name }) => ["--only", name])];
        return inShare<{ rows: FoundRow[] }>(script, args, stepped);
      }),
    );
    for (const { name } of chosen) rows.push(...found.flatMap((part) => part.rows.filter((row) => row.name === name)));
  }
  progress?.end();
  if (isShare()) return answerShare({ rows });
  console.log(tableOf(rows));
  if (rows.some(({ seed }) => seed === undefined)) process.exitCode = 1;
}

function rowOf({
  bug: { name, area },
  run,
  seeds: tried,
  reached,
}: Awaited<ReturnType<typeof huntBugs>>[number]): FoundRow {
  const where = run && `${run.scenario} ${run.profile}`;
  return { name, area, tried, reached, seed: run?.seed, where, invariant: run?.violation?.invariant };
}

/** The arguments of this process without some that take a value. */
function without(...given: string[]): string[] {
  const isName = (word = "") => given.some((name) => word === `--${name}`);
  return process.argv.slice(2).filter((word, i, all) => !isName(word) && !isName(all[i - 1]));
}
