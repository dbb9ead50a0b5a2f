// `npm run mutants`: see USAGE.
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { readArguments, refuse, wholeNumber } from "../../tools/arguments.ts";
import { randomFrom } from "../simulator/random.ts";
import { type Area, areas, codeOf, ROOT } from "./areas.ts";
import { type Copy, makeCopy } from "./copy.ts";
import { describe, type Mutation, mutationsOf, operators } from "./mutations.ts";
import { soundChecks, type Verdict, verdictOf } from "./trials.ts";

const USAGE = `npm run mutants -- [--sample 20] [--seed 1] [--area sends]: changes the code a little, and looks whether a test fails.

  --sample N          so many mutations, drawn from all of the area
  --seed S            which ones: the same seed draws the same
  --area NAME         ${Object.keys(areas).join(", ")}; by default all of them
  --operator NAME     ${operators.join(", ")}; by default all of them
  --seeds N           of the simulator, for each scenario of the area; 10 by default
  --list              prints the mutations that are drawn, and runs nothing

Each mutation is made in a copy of the repository, where the suites of its area run, then its scenarios. Progress goes to
stderr, at least every five seconds. What no test noticed is printed with its place, and what is unknown because a test ran
much longer than without the mutation. Ends with 1 if a mutation was not noticed.

Example: npm run mutants -- --area sends --sample 5`;

const { values } = readArguments(USAGE, {
  options: {
    sample: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "10" },
    area: { type: "string" },
    operator: { type: "string" },
    list: { type: "boolean", default: false },
  },
});
/** A long run says at least this often that it goes on. */
const TELL_MS = 5_000;
const sample = wholeNumber("--sample", values.sample, 1);
const seed = wholeNumber("--seed", values.seed);
const seeds = wholeNumber("--seeds", values.seeds);
if (values.area !== undefined && !Object.hasOwn(areas, values.area)) refuse(`There is no area "${values.area}".`);
if (values.operator !== undefined && !operators.some((operator) => operator === values.operator))
  refuse(`There is no operator "${values.operator}".`);

const textOf = (file: string) => readFileSync(ROOT + file, "utf8");
const described = (mutation: Mutation) => describe(mutation, textOf(mutation.file));

interface DrawnMutation extends Mutation {
  area: Area;
}

const all = Object.entries(areas)
  .filter(([name]) => values.area === undefined || name === values.area)
  .flatMap(([, area]) =>
    codeOf(area).flatMap((file) =>
      mutationsOf(file, textOf(file)).map((mutation): DrawnMutation => ({ ...mutation, area })),
    ),
  )
  .filter(({ operator }) => values.operator === undefined || operator === values.operator);
const drawn = randomFrom(seed).some(all, sample);
console.error(`${drawn.length} of ${all.length} mutations`);
if (values.list) for (const mutation of drawn) console.log(described(mutation));
else await tryUnlessStopped();

/** A signal, or the end of what started this process, ends the tests and removes the copy. */
async function tryUnlessStopped(): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => stop.abort(constants.signals[signal]));
  process.on("disconnect", () => stop.abort(constants.signals.SIGHUP));
  process.channel?.unref();

  const copy = makeCopy(ROOT);
  try {
    await tryAll(copy, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    process.exitCode = 128 + stop.signal.reason;
  } finally {
    copy.remove();
  }
}

async function tryAll(copy: Copy, signal: AbortSignal): Promise<void> {
  const checksOf = new Map<Area, Awaited<ReturnType<typeof soundChecks>>>();
  const open: string[] = [];
  const counts = { noticed: 0, "not noticed": 0, unknown: 0 };
  let doing = "";
  const telling = setInterval(() => console.error(`still at ${doing}, ${counts["not noticed"]} not noticed`), TELL_MS);
  try {
    for (const [n, mutation] of drawn.entries()) {
      const { file, from, to, replacement, area } = mutation;
      const number = `${n + 1} of ${drawn.length}`;
      doing = `${number}: its tests without any mutation`;
      const checks = checksOf.get(area) ?? (await soundChecks(copy, area, seeds, signal));
      checksOf.set(area, checks);

      doing = `${number}: ${file}`;
      const text = textOf(file);
      copy.write(file, text.slice(0, from) + replacement + text.slice(to));
      const verdict = await verdictOf(copy, checks, signal);
      copy.write(file, text);

      counts[verdict.kind]++;
      if (verdict.kind !== "noticed") open.push(`${verdict.kind}  ${mutation.operator}  ${described(mutation)}`);
      console.error(`${number}: ${textOfVerdict(verdict)}  ${described(mutation)}`);
    }
  } finally {
    clearInterval(telling);
  }
  for (const line of open) console.log(line);
  const decided = counts.noticed + counts["not noticed"];
  const share = decided === 0 ? "" : ` (${Math.round((100 * counts.noticed) / decided)}%)`;
  console.log(`${counts.noticed} of ${decided} mutations noticed${share}, ${counts.unknown} unknown`);
  if (counts["not noticed"] > 0) process.exitCode = 1;
}

function textOfVerdict(verdict: Verdict): string {
  switch (verdict.kind) {
    case "noticed":
      return `noticed by ${verdict.by}`;
    case "not noticed":
      return "NOT NOTICED";
    case "unknown":
      return `unknown, ${verdict.why}`;
  }
}
