// npm run simulate -- --seeds N --from S [--scenario X] [--profile P] [--sdk] [--keep-going] [--ignore invariant,…] [--jobs N] [--reached]
// npm run simulate -- --planted [--seeds N] [--only "part of a name"] [--story]: bugs put in on purpose, and what finds each
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Exploration, explore, type Findings, together } from "./exploration.ts";
import { planted } from "./planted/index.ts";
import { findBug, storyOfBug } from "./planting.ts";
import { type ProfileName, profiles } from "./profiles.ts";
import { type FoundRow, reportOf, tableOf } from "./report.ts";
import { scenarios } from "./scenarios/index.ts";
import { answerShare, inShare, isShare, sharesOf } from "./shares.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    scenario: { type: "string" },
    profile: { type: "string" },
    sdk: { type: "boolean", default: false },
    ignore: { type: "string", default: "" },
    planted: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    story: { type: "boolean", default: false },
    jobs: { type: "string" },
    reached: { type: "boolean", default: false },
    "keep-going": { type: "boolean", default: false },
  },
});

/** Fewer seeds or bugs than this are not worth another process. */
const MIN_SEEDS = 50;
const MIN_BUGS = 3;

const script = fileURLToPath(import.meta.url);
const from = Number(values.from);
const startedAt = performance.now();
await (values.planted ? findPlanted() : exploreSeeds());
if (isShare()) process.disconnect();

async function exploreSeeds(): Promise<void> {
  const seeds = Number(values.seeds ?? 100);
  const chosen = scenarios.filter(({ name }) => values.scenario === undefined || name === values.scenario);
  if (chosen.length === 0) throw new Error(`No scenario ${values.scenario}: ${scenarios.map(({ name }) => name)}`);
  if (values.profile !== undefined && !(values.profile in profiles)) throw new Error(`No profile ${values.profile}.`);
  const exploration: Omit<Exploration, "from" | "seeds"> = {
    scenarios: chosen,
    profile: values.profile as ProfileName | undefined,
    viaSdk: values.sdk,
    ignore: values.ignore.split(","),
    keepGoing: values["keep-going"],
    tell: (text) => console.log(text),
  };
  const jobs = sharesOf(values.jobs, seeds, MIN_SEEDS);
  const share = Math.ceil(seeds / jobs);
  const starts = Array.from({ length: jobs }, (_, n) => from + n * share);
  const findings =
    jobs === 1
      ? await explore({ ...exploration, from, seeds })
      : together(
          await Promise.all(
            starts.map((at) =>
              inShare<Findings>(script, [
                ...without("from", "seeds"),
                ...["--from", String(at), "--seeds", String(Math.min(share, from + seeds - at))],
              ]),
            ),
          ),
        );
  if (isShare()) return answerShare(findings);
  if (values.reached) console.log(findings.reached.join("\n"));
  console.log(reportOf(findings, (performance.now() - startedAt) / 1_000));
  if (Object.keys(findings.violations).length > 0) process.exitCode = 1;
}

async function findPlanted(): Promise<void> {
  const range = { from, seeds: Number(values.seeds ?? 1_000) };
  const chosen = planted.filter(({ name }) => !values.only || values.only.some((part) => name.includes(part)));
  const jobs = sharesOf(values.jobs, chosen.length, MIN_BUGS);
  const rows: FoundRow[] = [];
  if (jobs === 1)
    for (const bug of chosen) {
      const { run, seeds } = await findBug(bug, range);
      const where = run && `${run.scenario} ${run.profile}`;
      rows.push({
        name: bug.name,
        area: bug.area,
        tried: seeds,
        seed: run?.seed,
        where,
        invariant: run?.violation?.invariant,
      });
      if (isShare()) console.error(`${bug.name}: ${run ? `seed ${run.seed}` : "not found"}`);
      if (run && values.story) console.log(`${bug.name}\n${await storyOfBug(bug, run)}\n`);
    }
  else {
    const parts = Array.from({ length: jobs }, (_, part) => chosen.filter((_, n) => n % jobs === part));
    const found = await Promise.all(
      parts.map((part) =>
        inShare<{ rows: FoundRow[] }>(script, [...without("only"), ...part.flatMap(({ name }) => ["--only", name])]),
      ),
    );
    for (const { name } of chosen) rows.push(...found.flatMap((part) => part.rows.filter((row) => row.name === name)));
  }
  if (isShare()) return answerShare({ rows });
  console.log(tableOf(rows));
  if (rows.some(({ seed }) => seed === undefined)) process.exitCode = 1;
}

/** The arguments of this process without some that take a value. */
function without(...names: string[]): string[] {
  const isName = (word = "") => names.some((name) => word === `--${name}`);
  return process.argv.slice(2).filter((word, i, all) => !isName(word) && !isName(all[i - 1]));
}
