// Measures a piece of work (processor time and memory) and formats the figures.
import { readFileSync, writeFileSync } from "node:fs";
import { columnsOf, short } from "../tools/text-table.ts";

/** One line of the result; all but `items`, `seconds` and `peak_mb` are per item. */
export interface Figure {
  scenario: string;
  items: number;
  seconds: number;
  per_second: number;
  cpu_us: number;
  peak_mb: number;
  budget: string;
  kept?: boolean | undefined;
}

export interface Answer {
  figures: Figure[];
  notes: string[];
}

const MB = 1_048_576;
const SAMPLE_MS = 20;

export async function measure(scenario: string, items: number, action: () => Promise<unknown>): Promise<Figure> {
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
  const cpu_us = (user + system) / items;
  const peak_mb = (peakBytes() ?? sampled) / MB;
  return { scenario, items, seconds, per_second: items / seconds, cpu_us, peak_mb, budget: "" };
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
  ["peak MB", ({ peak_mb }) => short(peak_mb)],
  ["budget", ({ budget, kept }) => (kept === undefined ? "" : `${kept ? "kept" : "BROKEN"}: ${budget}`)],
];

export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => columns.map(([, show]) => show(figure)));
  return columnsOf([columns.map(([heading]) => heading), ...rows], ["scenario", "budget"]);
}
