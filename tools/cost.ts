// `npm run cost`: what a month costs (F10).
import { workers } from "../functions/index.ts";
import { costOfMonth, PRICES_OF } from "../shared/rules/cost.ts";
import { readArguments, wholeNumber } from "./arguments.ts";
import { columnsOf } from "./text-table.ts";

const USAGE = `npm run cost -- [--subscribers N] [--sends N] [--events N] [--streams N]: what a month costs, in dollars.

  --subscribers N   how many there are
  --sends N         messages of the month, in-app or push
  --events N        events of the month
  --streams N       live streams that are open at the same time, on average

Each is 0 by default. Example: npm run cost -- --subscribers 100000 --sends 400000 --events 1000000`;

const amount = { type: "string", default: "0" } as const;
const { values } = readArguments(USAGE, {
  options: { subscribers: amount, sends: amount, events: amount, streams: amount },
});

const month = {
  subscribers: wholeNumber("--subscribers", values.subscribers),
  sends: wholeNumber("--sends", values.sends),
  events: wholeNumber("--events", values.events),
  streams: wholeNumber("--streams", values.streams),
};
const lines = costOfMonth(month, workers.filter(({ eventSource }) => eventSource === "queue").length);
const sum = lines.reduce((total, [, dollars]) => total + dollars, 0);
const rows = [...lines, ["together", sum] as const].map(([what, dollars]) => [what, dollars.toFixed(2)]);
console.log(columnsOf([["a month", "dollars"], ...rows], ["a month"]));
console.log(
  `\nList prices of us-east-1 of ${PRICES_OF}, without the free tiers and without providers (docs/deploy.md).`,
);
