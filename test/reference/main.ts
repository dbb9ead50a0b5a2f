// The calm runner: programs of one seed after another against the reference, until one differs.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import "../support/setup.ts";
import { areaNames, programOf, storyNames } from "./harness/generate/program.ts";
import type { Program } from "./harness/program.ts";
import { run } from "./harness/run.ts";
import { kindOf, shrink } from "./harness/shrink.ts";
import { storyOf } from "./harness/story.ts";

const USAGE = `npm run check:reference -- [--programs N] [--seed S] [--areas a,b] [--length N] [--storm | --sandbox] [--keep-going] [--replay FILE]
Areas: ${areaNames.join(", ")}
Stories (--story): ${storyNames().join(", ")}`;

const { values } = parseArgs({
  options: {
    programs: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    areas: { type: "string" },
    length: { type: "string" },
    story: { type: "string" },
    replay: { type: "string" },
    "keep-going": { type: "boolean", default: false },
    storm: { type: "boolean", default: false },
    sandbox: { type: "boolean", default: false },
    "no-shrink": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

let faults = 0;

/** @returns the kind of the difference, if the product answered otherwise than the reference. */
async function check(program: Program): Promise<string | undefined> {
  const options = { sandbox: values.sandbox, storm: values.storm ? program.seed : undefined };
  const result = await run(program, options);
  faults += result.faults;
  if (!result.failure) return undefined;
  const shortest = values["no-shrink"] ? { program, run: result } : await shrink(program, result, options);
  console.log(storyOf(shortest.program, shortest.run));
  console.log(`To replay: ${JSON.stringify({ program: shortest.program })}`);
  return kindOf(result.failure);
}

async function main(): Promise<void> {
  if (values.help) return console.log(USAGE);
  if (values.replay) {
    const { program } = JSON.parse(readFileSync(values.replay, "utf8"));
    process.exitCode = (await check(program)) === undefined ? 0 : 1;
    return;
  }
  const programs = Number(values.programs);
  const areas = values.areas?.split(",") ?? areaNames;
  const scope = {
    areas,
    ...(values.length !== undefined && { length: Number(values.length) }),
    ...(values.story && { story: values.story }),
  };
  const seeds = new Map<string, number[]>();
  let [done, failed] = [0, 0];
  const start = performance.now();
  const print = () => {
    const rate = (done * 1000) / (performance.now() - start);
    console.error(`${done} of ${programs} programs, ${rate.toFixed(1)} a second, ${failed} differ`);
  };
  const timer = setInterval(print, 3000).unref();
  for (let n = 0; n < programs; n++) {
    const seed = Number(values.seed) + n;
    const kind = await check(programOf(seed, scope));
    done++;
    if (kind === undefined) continue;
    failed++;
    seeds.set(kind, [...(seeds.get(kind) ?? []), seed]);
    if (!values["keep-going"]) break;
  }
  clearInterval(timer);
  for (const [kind, which] of seeds) console.log(`${which.length} × ${kind}: seeds ${which.join(", ")}`);
  console.log(`${failed} of ${programs} programs differ.${values.storm ? ` ${faults} faults struck.` : ""}`);
  process.exitCode = failed > 0 ? 1 : 0;
}

await main();
