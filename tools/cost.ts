// `npm run cost`: what a month costs (F10).
import { workers } from "../functions/index.ts";
import { PRICES_OF } from "../shared/rules/cost.ts";
import { costOfMonth, EMPTY_MONTH, type Month } from "../shared/rules/month-cost.ts";
import { readArguments, wholeNumber } from "./arguments.ts";
import { columnsOf } from "./text-table.ts";

const USAGE = `npm run cost -- [--subscribers N] [--sends N] …: what a month costs, in dollars.

  --subscribers N   how many there are
  --sends N         in-app messages of sends to many
  --singles N       in-app messages of sends to one, each with its request
  --pushes N        pushes of sends to many
  --mails N         emails by SES
  --events N        events of the month, with keys, a thousand a request, each of another person
  --published N     outbound events on the account's event bus, four of a workspace and type in an entry
  --requests N      other requests, each of which writes a row
  --streams N       live streams that are open at the same time, on average
  --gigabytes N     that answers have, together
  --months N        how many such months are stored; 1 by default

Each other is 0 by default. Example: npm run cost -- --subscribers 100000 --sends 400000 --events 1000000`;

const names = Object.keys(EMPTY_MONTH) as (keyof Month)[];
const { values } = readArguments(USAGE, {
  options: Object.fromEntries(
    names.map((name) => [name, { type: "string", default: String(EMPTY_MONTH[name]) }] as const),
  ),
});
const month: Month = { ...EMPTY_MONTH };
for (const name of names) month[name] = wholeNumber(`--${name}`, values[name] ?? "");

const lines = costOfMonth(month, workers.filter(({ eventSource }) => eventSource === "queue").length);
const sum = lines.reduce((total, [, dollars]) => total + dollars, 0);
const rows = [...lines, ["together", sum] as const].map(([what, dollars]) => [what, dollars.toFixed(2)]);
console.log(columnsOf([["a month", "dollars"], ...rows], ["a month"]));
console.log(
  `\nList prices of us-east-1 of ${PRICES_OF}, without the free tiers, providers but SES, and what docs/deploy.md says it leaves out.`,
);
