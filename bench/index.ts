// `npm run bench`: what the service asks of AWS and of the processor, beside its targets; `--help` lists what there is.
// Run it in a small heap (--max-old-space-size=128), so that the peak shows what the work needs, not garbage.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { getHeapStatistics } from "node:v8";
import { readArguments, refuse, wholeNumber } from "../tools/arguments.ts";
import { type Figure, tableOf } from "./measure.ts";

const USAGE = `npm run bench -- [costs|scale|service|local|weight]: the cost of each unit of work beside its target, loads on a
table of limited throughput, the local service, its engine alone, or the bundles.

  costs [work…]       the rows whose names contain one of these
  scale [load…]       the loads whose names contain one of these, on a fresh and on a warm table, and the ceilings
  service [what…]     the figures whose names contain one of these
  --write             writes docs/performance.md: of costs and service all rows, or those that are named; of scale all
                      ceilings
  --seconds 20        of service time that a load of scale lasts: a shorter one is smaller and has less burst
  --items N           of the engine's table
  --json              figures for machines (not of costs, scale and service)

Progress goes to stderr. Ends with 1 if a budget is not kept.

Example: npm run bench -- scale --seconds 5`;

const EVERY_MS = 5_000;

const { positionals, values } = readArguments(USAGE, {
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    items: { type: "string" },
    seconds: { type: "string", default: "20" },
  },
});
const [what = "costs", ...rest] = positionals;

let doing = what;
let told = "";
const tell = (text: string) => {
  doing = text;
};
const tellAgain = () => {
  process.stderr.write(`${doing === told ? "still " : ""}${doing}\n`);
  told = doing;
};
const progress = ({ scenario, items }: Figure) => tell(`${scenario}: ${items}`);

/** Each is imported only when it is run. */
const benches = {
  local: async () =>
    (await import("./engine.ts")).benchEngine(
      progress,
      values.items === undefined ? undefined : wholeNumber("--items", values.items, 1),
    ),
  weight: async () => (await import("./weight.ts")).benchWeight(),
};

/** The largest tables, of 100,000 people, are in memory. */
const LARGE_HEAP_MB = 1_024;
const MB = 1_048_576;

/** The same command in a process whose heap holds that table. */
function inLargerHeap(): boolean {
  const flags = process.execArgv.filter((flag) => !flag.startsWith("--max-old-space-size"));
  const heap = `--max-old-space-size=${LARGE_HEAP_MB}`;
  const self = fileURLToPath(import.meta.url);
  return (
    spawnSync(process.execPath, [...flags, heap, self, ...process.argv.slice(2)], { stdio: "inherit" }).status === 0
  );
}

async function run(): Promise<boolean> {
  const isLarge = what === "scale" || what === "costs" || what === "service";
  if (isLarge && getHeapStatistics().heap_size_limit < LARGE_HEAP_MB * MB) return inLargerHeap();
  if (what === "scale") {
    const seconds = Number(values.seconds);
    if (!(seconds > 0)) refuse("--seconds takes a number above 0.");
    const figures = values.write
      ? { lines: [], kept: true }
      : await (await import("./scale.ts")).benchScale({ only: rest, seconds, tell });
    const ceilings = await (await import("./ceilings.ts")).benchCeilings({
      only: rest,
      seconds,
      write: values.write,
      tell,
    });
    console.log([...figures.lines, ...ceilings.lines].join("\n"));
    return figures.kept && ceilings.kept;
  }
  if (what === "costs" || what === "service") {
    const options = { only: rest, write: values.write, tell };
    const { lines, kept } =
      what === "costs"
        ? await (await import("./costs/index.ts")).benchCosts(options)
        : await (await import("./local-service.ts")).benchLocalService(options);
    console.log(lines.join("\n"));
    return kept;
  }
  if (!Object.hasOwn(benches, what)) refuse(`There is no bench "${what}".`);
  const { figures, notes } = await benches[what as keyof typeof benches]();
  if (values.json) console.log(JSON.stringify({ node: process.version, bench: what, figures, notes }, undefined, 2));
  else console.log([tableOf(figures), ...notes].join("\n"));
  return figures.every(({ kept }) => kept !== false);
}

const ticking = setInterval(tellAgain, EVERY_MS);
const kept = await run();
clearInterval(ticking);
process.exit(kept ? 0 : 1);
