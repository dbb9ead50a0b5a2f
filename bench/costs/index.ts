// `npm run bench -- costs`: what each unit of work costs beside its target; `--write` makes docs/performance.md of it.
import { readFileSync, writeFileSync } from "node:fs";
import { columnsOf, short } from "../../tools/text-table.ts";
import type { Cost, Floor, Row, Target } from "./cost.ts";
import { eventRows } from "./events.ts";
import { journeyRows } from "./journeys.ts";
import { dollarsPerMillion, PRICES, PRICES_OF } from "./prices.ts";
import { rawEcho, requestRows, signedPost } from "./requests.ts";
import { segmentRows } from "./segments.ts";
import { sendRows } from "./sends.ts";

const rows: readonly Row[] = [...sendRows, ...journeyRows, ...eventRows, ...segmentRows, ...requestRows];
const floors: Record<Floor, { name: string; measure(): Promise<Cost> }> = {
  echo: { name: "raw echo", measure: rawEcho },
  post: { name: "signed post", measure: signedPost },
};
const names = { wcu: "WCU", rcu: "RCU", requests: "requests", hottest: "hottest key", cpu: "CPU" };
const PAGE = new URL("../../docs/performance.md", import.meta.url);

type Floors = Partial<Record<Floor, number>>;

interface Options {
  /** Parts of names of rows; all if none. */
  only: readonly string[];
  /** Writes the page; all rows must be measured. */
  write: boolean;
  tell(text: string): void;
}

/** @returns the lines to print, and whether every target is reached. */
export async function benchCosts({ only, write, tell }: Options): Promise<{ lines: string[]; kept: boolean }> {
  const chosen = rows.filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)));
  const costs: Cost[] = [];
  const found: Floors = {};
  for (const [floor, { name, measure }] of Object.entries(floors) as [Floor, (typeof floors)[Floor]][]) {
    tell(`floor: ${name}`);
    const cost = await measure();
    found[floor] = cost.cpuUs;
    costs.push(cost);
  }
  for (const { name, measure } of chosen) {
    tell(name);
    costs.push(...(await measure()));
  }
  const lines = linesOf(costs, found);
  if (write) writeFileSync(PAGE, pageOf(costs, found));
  return {
    lines: [columnsOf(lines, [...LEFT]), legendOf(found)],
    kept: costs.every((cost) => unmet(cost, found).length === 0),
  };
}

const HEADING = [
  "work",
  "size",
  "per",
  "WCU",
  "RCU",
  "requests",
  "messages",
  "CPU µs",
  "hottest key",
  "$ per million",
  "target",
];
const LEFT = ["work", "size", "per", "target"];

const linesOf = (costs: readonly Cost[], found: Floors): string[][] => [
  HEADING,
  ...costs.map((cost) => lineOf(cost, found)),
];

function lineOf(cost: Cost, found: Floors): string[] {
  const { work, size, per, wcu, rcu, requests, messages, cpuUs, hottest, targets } = cost;
  const missed = new Set(unmet(cost, found));
  const said = targets.map((target) => `${missed.has(target) ? "NOT REACHED: " : ""}${textOf(target, cost, found)}`);
  const mode = size === "alone" || size === "" ? "alone" : "burst";
  return [
    work,
    size,
    per,
    short(wcu),
    short(rcu),
    short(requests),
    short(messages),
    short(cpuUs),
    hottest === undefined ? "" : percent(hottest),
    work.startsWith("floor") ? "" : short(dollarsPerMillion(cost, mode)),
    said.join("; "),
  ];
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

const figureOf = ({ of, floor }: Target, cost: Cost, found: Floors): number =>
  of === "cpu" ? cost.cpuUs / (found[floor!] ?? Number.NaN) : (cost[of] ?? 0);

const unmet = (cost: Cost, found: Floors): Target[] =>
  cost.targets.filter((target) => figureOf(target, cost, found) > target.most + 1e-9);

function textOf(target: Target, cost: Cost, found: Floors): string {
  if (target.of === "hottest") return `${names.hottest} ${percent(target.most)}`;
  if (target.of !== "cpu") return `${short(target.most)} ${names[target.of]}`;
  return `CPU ${target.most} × the ${floors[target.floor!].name} (${short(figureOf(target, cost, found))} ×)`;
}

const legendOf = (found: Floors) =>
  Object.entries(found)
    .map(([floor, us]) => `${floors[floor as Floor].name}: ${short(us!)} µs of CPU`)
    .join("; ");

/** The page: every row, and those that miss a target. */
function pageOf(costs: readonly Cost[], found: Floors): string {
  const lines = linesOf(costs, found);
  const [heading = [], ...rest] = lines;
  const missed = costs.filter((cost) => unmet(cost, found).length > 0);
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return `# Performance

Written by \`npm run bench -- costs --write\`, version ${version}, Node ${process.version}. Do not edit it by hand.

Units and requests are those of the table, as DynamoDB bills them, without authentication and the limit of requests
where a row does not say otherwise. Processor time is of the machine that ran it, so its targets are multiples of a
floor of the same run: the raw echo is a request through the gateway to a function that answers what it got, the signed
post is an HMAC and a POST of 1 KB to a receiver in the process. "Hottest key" is the part of the table's write units
on one partition key, of loads on many people. The rows of one work show how its cost grows.

## Costs

${markdownOf(heading, rest)}

## Targets that are not reached

${missed.length === 0 ? "None." : missed.map((cost) => `- ${missedOf(cost, found)}`).join("\n")}

Not measured here: the ceilings of one workspace (\`npm run bench -- scale\` measures them on a model of the table's
throughput), and the delay of single sends beside an import of 100,000 rows.

## Prices

Dollars are list prices of us-east-1 of ${PRICES_OF}, without the free tiers, of the table and of the queues. Functions,
the gateway and providers come on top ([deploy.md](deploy.md)).

${markdownOf(
  ["a million", "dollars"],
  Object.entries(PRICES).map(([what, price]) => [what, String(price)]),
)}
`;
}

const missedOf = (cost: Cost, found: Floors) =>
  `${[cost.work, cost.size].filter(Boolean).join(", ")}: ${unmet(cost, found)
    .map((target) => missOf(target, cost, found))
    .join("; ")}.`;

function missOf(target: Target, cost: Cost, found: Floors): string {
  if (target.of === "cpu") return `${textOf(target, cost, found)}`;
  const value = figureOf(target, cost, found);
  const shown = target.of === "hottest" ? percent(value) : short(value);
  return `${shown} instead of ${textOf(target, cost, found)}`;
}

const markdownOf = (heading: readonly string[], rows: readonly (readonly string[])[]) =>
  [heading, heading.map(() => "-"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
