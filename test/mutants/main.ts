// `npm run mutants`: see USAGE.
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readArguments, refuse, wholeNumber } from "../../tools/arguments.ts";
import { randomFrom } from "../simulator/random.ts";
import { type Area, areas } from "./areas.ts";
import { makeCopy } from "./copy.ts";
import { describe, type Mutation, mutationsOf, operators } from "./mutations.ts";

const USAGE = `npm run mutants -- [--sample 20] [--seed 1] [--area sends]: changes the code a little, and looks whether a test fails.

  --sample N          so many mutations, drawn from all of the area
  --seed S            which ones: the same seed draws the same
  --area NAME         ${Object.keys(areas).join(", ")}; by default all of them
  --operator NAME     ${operators.join(", ")}; by default all of them
  --seeds N           of the simulator, for each scenario of the area; 10 by default
  --list              prints the mutations that are drawn, and runs nothing

Each mutation is made in a copy of the repository, where the suites of its area run, then its scenarios. Progress goes to
stderr, at least every five seconds. What no test noticed is printed with its place. Ends with 1 if there is such a mutation.

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
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const sample = wholeNumber("--sample", values.sample, 1);
const seed = wholeNumber("--seed", values.seed);
const seeds = wholeNumber("--seeds", values.seeds);
if (values.area !== undefined && !Object.hasOwn(areas, values.area)) refuse(`There is no area "${values.area}".`);
if (values.operator !== undefined && !operators.some((operator) => operator === values.operator))
  refuse(`There is no operator "${values.operator}".`);

const textOf = (file: string) => readFileSync(ROOT + file, "utf8");
const filesUnder = (place: string) =>
  place.endsWith("/") ? globSync(`${place}**/*.ts`, { cwd: ROOT }).sort() : [place];
/** Declarations of items are checked by what reads and writes them. */
const isCode = (file: string) => !/items?\.ts$/.test(file);

interface Drawn extends Mutation {
  area: Area;
}

const all = Object.entries(areas)
  .filter(([name]) => values.area === undefined || name === values.area)
  .flatMap(([, area]) =>
    area.code
      .flatMap(filesUnder)
      .filter(isCode)
      .flatMap((file) => mutationsOf(file, textOf(file)).map((mutation): Drawn => ({ ...mutation, area }))),
  )
  .filter(({ operator }) => values.operator === undefined || operator === values.operator);
const drawn = randomFrom(seed).some(all, sample);
console.error(`${drawn.length} of ${all.length} mutations`);
if (values.list) for (const mutation of drawn) console.log(describe(mutation, textOf(mutation.file)));
else await tryAll();

async function tryAll(): Promise<void> {
  const copy = makeCopy();
  const survivors: Drawn[] = [];
  let doing = "the tests without any mutation";
  const telling = setInterval(() => console.error(`still at ${doing}, ${survivors.length} not noticed`), TELL_MS);
  try {
    await requireSound(copy);
    for (const [n, mutation] of drawn.entries()) {
      const { file, from, to, replacement, area } = mutation;
      doing = `${n + 1} of ${drawn.length}: ${file}`;
      const text = textOf(file);
      copy.write(file, text.slice(0, from) + replacement + text.slice(to));
      const failure = await copy.firstFailure(area, suitesOf(area), seeds);
      copy.write(file, text);
      if (!failure) survivors.push(mutation);
      console.error(
        `${n + 1} of ${drawn.length}: ${failure ? `noticed by ${failure}` : "NOT NOTICED"}  ${describe(mutation, text)}`,
      );
    }
  } finally {
    clearInterval(telling);
    copy.remove();
  }
  for (const mutation of survivors)
    console.log(`not noticed  ${mutation.operator}  ${describe(mutation, textOf(mutation.file))}`);
  const noticed = drawn.length - survivors.length;
  console.log(`${noticed} of ${drawn.length} mutations noticed (${Math.round((100 * noticed) / drawn.length)} %)`);
  if (survivors.length > 0) process.exitCode = 1;
}

/** A test that fails without any mutation would notice each of them. */
async function requireSound(copy: ReturnType<typeof makeCopy>): Promise<void> {
  for (const area of new Set(drawn.map((mutation) => mutation.area))) {
    const failure = await copy.firstFailure(area, suitesOf(area), seeds);
    if (failure) throw new Error(`Without any mutation ${failure} failed.`);
  }
}

function suitesOf({ suites }: Area): string[] {
  return globSync("test/{rules,api}/*.test.ts", { cwd: ROOT })
    .filter((file) => suites.some((beginning) => file.startsWith(beginning)))
    .sort();
}
