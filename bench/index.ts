// `npm run bench`: what the service asks of AWS and of the processor, beside its targets; `--help` lists what there is.
import { readArguments, refuse } from "../tools/arguments.ts";

const USAGE = `npm run bench -- [costs|scale|service|load]: the cost of each unit of work beside its target, loads on a table of
limited throughput, the local service, or what the functions take to load.

  costs [work…]       the rows whose names contain one of these
  scale [load…]       the loads whose names contain one of these, on a fresh and on a warm table, and the ceilings
  service [what…]     the figures whose names contain one of these
  --write             writes docs/performance.md: of costs and service all rows, or those that are named; of scale all
                      ceilings
  --seconds 20        of service time that a load of scale lasts: a shorter one is smaller and has less burst

Progress goes to stderr. Ends with 1 if a budget is not kept.

Example: npm run bench -- scale --seconds 5`;

const EVERY_MS = 5_000;

const { positionals, values } = readArguments(USAGE, {
  allowPositionals: true,
  options: {
    write: { type: "boolean", default: false },
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

/** Each bench is imported only when it is run. */
async function figures(): Promise<{ lines: string[]; kept: boolean }> {
  const options = { only: rest, write: values.write, tell };
  if (what === "costs") return (await import("./costs/index.ts")).benchCosts(options);
  if (what === "service") return (await import("./local-service.ts")).benchLocalService(options);
  if (what === "load") return (await import("./load.ts")).benchLoad();
  if (what === "scale") return scaleFigures();
  return refuse(`There is no bench "${what}".`);
}

async function scaleFigures() {
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) refuse("--seconds takes a number above 0.");
  const options = { only: rest, seconds, tell };
  const loads = values.write ? { lines: [], kept: true } : await (await import("./scale.ts")).benchScale(options);
  const ceilings = await (await import("./ceilings.ts")).benchCeilings({ ...options, write: values.write });
  return { lines: [...loads.lines, ...ceilings.lines], kept: loads.kept && ceilings.kept };
}

const ticking = setInterval(tellAgain, EVERY_MS);
const { lines, kept } = await figures();
clearInterval(ticking);
console.log(lines.join("\n"));
process.exit(kept ? 0 : 1);
