// `npm run bench -- costs`: what each unit of work costs beside its target; `--write` makes docs/performance.md of it.
import { readFileSync, writeFileSync } from "node:fs";
import { dollarsPerMillion } from "../../shared/rules/cost.ts";
import { columnsOf, short } from "../../tools/text-table.ts";
import type { Cost, Floor, Row, Target } from "./cost.ts";
import { eventRows } from "./events.ts";
import { importRows } from "./imports.ts";
import { journeyRows } from "./journeys.ts";
import { PAGE, pageOf } from "./page.ts";
import { rawEcho, requestRows, signedPost } from "./requests.ts";
import { segmentRows } from "./segments.ts";
import { sendRows } from "./sends.ts";
import { streamRows } from "./streams.ts";

const rows: readonly Row[] = [
  ...sendRows,
  ...journeyRows,
  ...eventRows,
  ...segmentRows,
  ...requestRows,
  ...importRows,
  ...streamRows,
];
const floors: Record<Floor, { name: string; measure(): Promise<Cost> }> = {
  echo: { name: "raw echo", measure: rawEcho },
  post: { name: "signed post", measure: signedPost },
};
const names = { wcu: "WCU", rcu: "RCU", requests: "requests", hottest: "hottest key", cpu: "CPU" };

type Floors = Partial<Record<Floor, number>>;

interface Options {
  /** Parts of names of rows; all if none. */
  only: readonly string[];
  /** Writes the page. Rows that are not measured stay as they are there. */
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
  const beside = new Map<Cost, Floors>();
  for (const { name, measure } of chosen) {
    tell(name);
    for (const cost of await measure()) {
      costs.push(cost);
      beside.set(cost, await floorsBeside(cost, found));
    }
  }
  const floorsOf = (cost: Cost): Floors => beside.get(cost) ?? found;
  const lines = [HEADING, ...costs.map((cost) => lineOf(cost, floorsOf(cost)))];
  if (write) {
    const missed = costs
      .filter((cost) => unmet(cost, floorsOf(cost)).length > 0)
      .map((cost) => ({ work: cost.work, name: nameOf(cost), text: missedOf(cost, floorsOf(cost)) }));
    const former = only.length > 0 ? readFileSync(PAGE, "utf8") : undefined;
    writeFileSync(PAGE, pageOf({ heading: HEADING, rows: lines.slice(1), missed }, former));
  }
  return {
    lines: [columnsOf(lines, [...LEFT]), legendOf(found)],
    kept: costs.every((cost) => unmet(cost, floorsOf(cost)).length === 0),
  };
}

/** The floors of the targets of a row: the mean of before all rows and right after this one, for what else runs changes. */
async function floorsBeside({ targets }: Cost, before: Floors): Promise<Floors> {
  const own: Floors = { ...before };
  for (const { floor } of targets)
    if (floor !== undefined) own[floor] = ((before[floor] ?? 0) + (await floors[floor].measure()).cpuUs) / 2;
  return own;
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

const missedOf = (cost: Cost, found: Floors) =>
  `${nameOf(cost)}: ${unmet(cost, found)
    .map((target) => missOf(target, cost, found))
    .join("; ")}.`;

function missOf(target: Target, cost: Cost, found: Floors): string {
  if (target.of === "cpu") return `${textOf(target, cost, found)}`;
  const value = figureOf(target, cost, found);
  const shown = target.of === "hottest" ? percent(value) : short(value);
  return `${shown} instead of ${textOf(target, cost, found)}`;
}

const nameOf = ({ work, size }: Cost): string => [work, size].filter(Boolean).join(", ");
