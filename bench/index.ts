// `npm run bench`: costs per item beside the budgets; `-- local` the engine itself, `-- weight` the bundles, `--json` for machines.
// Run it in a small heap (--max-old-space-size=128), so that the peak shows what the work needs, not garbage.
import { parseArgs } from "node:util";
import { type Figure, tableOf } from "./measure.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, sizes: { type: "string" }, items: { type: "string" } },
});
const [what = "product"] = positionals;
/** Each is imported only when it is run. */
const benches = {
  product: async () => (await import("./product.ts")).benchProduct(progress, values.sizes?.split(",").map(Number)),
  local: async () =>
    (await import("./engine.ts")).benchEngine(progress, values.items === undefined ? undefined : Number(values.items)),
  weight: async () => (await import("./weight.ts")).benchWeight(),
};

/** Prints the progress to a terminal. */
function progress({ scenario, items }: Figure): void {
  if (process.stderr.isTTY) process.stderr.write(`${scenario}: ${items}\n`);
}

if (!Object.hasOwn(benches, what)) {
  console.error(`There is no bench "${what}"; there are ${Object.keys(benches).join(", ")}.`);
  process.exit(1);
}
const { figures, notes } = await benches[what as keyof typeof benches]();
if (values.json) console.log(JSON.stringify({ node: process.version, bench: what, figures, notes }, undefined, 2));
else console.log([tableOf(figures), ...notes].join("\n"));
process.exit(figures.some(({ kept }) => kept === false) ? 1 : 0);
