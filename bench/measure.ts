// Measures a piece of work (DynamoDB units as billed, requests, messages, CPU, memory) and formats the figures.
import { readFileSync, writeFileSync } from "node:fs";
import type { TestWorld } from "../test/support/world.ts";
import { columnsOf, short } from "../tools/text-table.ts";

/** One line of the result; all but `items`, `seconds` and `peak_mb` are per item. */
export interface Figure {
  scenario: string;
  items: number;
  seconds: number;
  per_second: number;
  wcu: number;
  rcu: number;
  requests: number;
  messages: number;
  cpu_us: number;
  peak_mb: number;
  budget: string;
  kept?: boolean | undefined;
}

export interface Budget {
  text: string;
  keeps(figure: Figure): boolean;
}

export interface Work {
  scenario: string;
  items: number;
  /** Operations that authenticate the caller: counted separately, as in the budgets. */
  authentication?: readonly string[];
  budget?: Budget;
}

const MB = 1_048_576;
const SAMPLE_MS = 20;

export async function measure(world: TestWorld, work: Work, action: () => Promise<unknown>): Promise<Figure> {
  const { scenario, items, authentication = [], budget } = work;
  world.dynamodb.resetMeter();
  world.sqs.resetMeter();
  const { took, peak_mb } = await timed(action);
  const meter = world.dynamodb.meter();
  const apart = authentication.map((operation) => meter.by_operation[operation] ?? { requests: 0, wcu: 0, rcu: 0 });
  const less = (unit: "requests" | "wcu" | "rcu") =>
    (meter[unit] - apart.reduce((sum, operation) => sum + operation[unit], 0)) / items;
  const figure: Figure = {
    scenario,
    items,
    ...rates(took, items),
    wcu: less("wcu"),
    rcu: less("rcu"),
    requests: less("requests"),
    messages: world.sqs.meter().sent / items,
    peak_mb,
    budget: budget?.text ?? "",
  };
  return budget ? { ...figure, kept: budget.keeps(figure) } : figure;
}

interface Took {
  seconds: number;
  cpuMicroseconds: number;
}

/** The same for work without AWS requests. */
export async function measurePlain(scenario: string, items: number, action: () => Promise<unknown>): Promise<Figure> {
  const { took, peak_mb } = await timed(action);
  const nothing = { wcu: 0, rcu: 0, requests: 0, messages: 0, budget: "" };
  return { scenario, items, ...rates(took, items), ...nothing, peak_mb };
}

const rates = ({ seconds, cpuMicroseconds }: Took, items: number) => ({
  seconds,
  per_second: items / seconds,
  cpu_us: cpuMicroseconds / items,
});

async function timed(action: () => Promise<unknown>): Promise<{ took: Took; peak_mb: number }> {
  forgetPeak();
  let sampled = process.memoryUsage.rss();
  const sampler = setInterval(() => {
    sampled = Math.max(sampled, process.memoryUsage.rss());
  }, SAMPLE_MS);
  const before = process.cpuUsage();
  const start = performance.now();
  await action();
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(before);
  clearInterval(sampler);
  return { took: { seconds, cpuMicroseconds: user + system }, peak_mb: (peakBytes() ?? sampled) / MB };
}

/** The exact peak from the kernel, if there is a `/proc`. */
function peakBytes(): number | undefined {
  try {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
    return peak ? Number(peak[1]) * 1_024 : undefined;
  } catch {
    return undefined;
  }
}

function forgetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Falls back to the sampled peak.
  }
}

const columns: [heading: string, show: (figure: Figure) => string][] = [
  ["scenario", ({ scenario }) => scenario],
  ["items", ({ items }) => String(items)],
  ["items/s", ({ per_second }) => short(per_second)],
  ["CPU µs", ({ cpu_us }) => short(cpu_us)],
  ["WCU", ({ wcu }) => short(wcu)],
  ["RCU", ({ rcu }) => short(rcu)],
  ["requests", ({ requests }) => short(requests)],
  ["messages", ({ messages }) => short(messages)],
  ["peak MB", ({ peak_mb }) => short(peak_mb)],
  ["budget", ({ budget, kept }) => (kept === undefined ? "" : `${kept ? "kept" : "BROKEN"}: ${budget}`)],
];

export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => columns.map(([, show]) => show(figure)));
  return columnsOf([columns.map(([heading]) => heading), ...rows], ["scenario", "budget"]);
}
