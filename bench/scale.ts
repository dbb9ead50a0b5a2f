// `npm run bench -- scale`: loads on a table of limited throughput, in service time, whatever the machine takes for it.
import { warm } from "../local/aws/index.ts";
import { createFaults } from "../local/faults.ts";
import { MINUTE, SECOND } from "../shared/kernel/clock.ts";
import { plans } from "../shared/rules/plans.ts";
import { type TestWorld, testWorld } from "../test/support/world.ts";
import { columnsOf, short } from "../tools/text-table.ts";
import { LOAD_SECONDS, type Load, loads, TICK, unitsOf, type Waits } from "./scale-loads.ts";

interface ScaleOptions {
  /** Parts of names of loads; all loads if none. */
  only: readonly string[];
  /** How many seconds of service time the loads take. A shorter load has a table with less burst. */
  seconds: number;
  tell(text: string): void;
}

type TableState = "fresh" | "warm";

export interface ScaleFigure {
  load: string;
  table: TableState;
  units: number;
  /** Units a second of service time, until the last one was done. */
  rate: number;
  wcu: number;
  rcu: number;
  requests: number;
  /** The part of the table's write units that the hottest partition key took. */
  hottest: number;
  hottestKey: string;
  /** The part of the table's write units that the hottest partition took. */
  partition: number;
  throttled: number;
  /** From the last arrival, or from when it is due, until the last unit was done, in seconds of service time. */
  lag: number;
  refused: number;
  open: number;
  /** 99 of 100 units waited less, in milliseconds; absent if it is not measured. */
  p99?: number;
  faults: string[];
}

const MAX_SHARE = 0.05;
const DRAIN = 10 * MINUTE;
const WARM_PARTITIONS = 40;
const FRESH_PARTITIONS = 4;

/** Runs the loads on a fresh and on a warm table. @returns the lines to print, and whether nothing failed. */
export async function benchScale({ only, seconds, tell }: ScaleOptions): Promise<{ lines: string[]; kept: boolean }> {
  liftLimits();
  const chosen = loads.filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)));
  const figures: ScaleFigure[] = [];
  for (const load of chosen)
    for (const table of ["fresh", "warm"] as const) {
      tell(`${load.name}, ${table} table: prepared`);
      const figure = await runLoad(load, table, seconds, tell);
      figures.push(figure);
      tell(`${load.name}, ${table} table: ${figure.faults.join("; ") || "kept"}`);
    }
  return { lines: linesOf(figures, seconds), kept: figures.every(({ faults }) => faults.length === 0) };
}

/** What the table can take is measured, not what a plan allows. */
export const liftLimits = () => Object.assign(plans.enterprise, { requestsPerMinute: Number.MAX_SAFE_INTEGER });

export async function runLoad(
  load: Load,
  table: TableState,
  seconds: number,
  tell: ScaleOptions["tell"],
): Promise<ScaleFigure> {
  const faults = createFaults();
  const world = await testWorld({ providerFaults: faults, hooks: faults.hooks });
  try {
    const units = unitsOf(load, seconds);
    const { arrive, due = 0 } = await load.prepare(world, units, faults);
    const waits = openWaits(world, load);
    await world.settle();
    world.dynamodb.limit(limitsOf(table, seconds));
    world.dynamodb.resetMeter();
    const start = world.clock.now();
    const arriving: Promise<unknown>[] = [];
    let arrived = 0;
    while (arrived < units) {
      const due = load.perSecond
        ? Math.min(units, Math.floor(((world.clock.now() + TICK - start) / SECOND) * load.perSecond))
        : units;
      if (due > arrived) arriving.push(arrive(arrived, due - arrived, waits));
      arrived = due;
      await world.advance(TICK);
      tell(`${load.name}, ${table} table: ${arrived} of ${units} ${load.unit}s arrived`);
    }
    const end = Math.max(world.clock.now(), due);
    const last = await drain(world, waits);
    await Promise.all(arriving);
    const lag = Math.max(0, (last - end) / SECOND);
    return figureOf(world, load, table, { units, seconds: (last - start) / SECOND, lag, waits });
  } finally {
    world.dynamodb.limit(undefined);
    await world.close();
  }
}

const limitsOf = (table: TableState, seconds: number) => ({
  ...warm(table === "warm" ? WARM_PARTITIONS : FRESH_PARTITIONS),
  // At least what arrives within two ticks, because it arrives at once.
  burstSeconds: Math.min(1, Math.max((2 * TICK) / SECOND, seconds / LOAD_SECONDS)),
});

/** Lets time pass until nothing is written any more. @returns when the last unit was done. */
async function drain(world: TestWorld, waits: OpenWaits): Promise<number> {
  const until = world.clock.now() + DRAIN;
  while (world.clock.now() < until) {
    await world.advance(10 * SECOND);
    if (waits.open() === 0 && world.clock.now() - waits.lastWrite() > 5 * MINUTE) break;
  }
  return waits.lastDone();
}

interface OpenWaits extends Waits {
  open(): number;
  refused(): number;
  p99(): number | undefined;
  lastWrite(): number;
  /** When the last unit was done; else the last answer, or the last write. */
  lastDone(): number;
}

function openWaits({ dynamodb, clock }: TestWorld, { ends }: Load): OpenWaits {
  const since = new Map<string, number>();
  const took: number[] = [];
  let lastWrite = clock.now();
  let refused = 0;
  let lastDone: number | undefined;
  let lastAnswered: number | undefined;
  dynamodb.onWrite((_, partitionKey) => {
    lastWrite = clock.now();
    if (ends !== undefined && partitionKey.startsWith(ends)) lastDone = clock.now();
    const at = since.get(partitionKey);
    if (at === undefined) return;
    since.delete(partitionKey);
    took.push(clock.now() - at);
    lastDone = clock.now();
  });
  return {
    until: (partitionKey) => void since.set(partitionKey, clock.now()),
    answered: ({ status, body }) => {
      lastAnswered = clock.now();
      if (status === 429 || status >= 500) refused++;
      else if (status >= 300) throw new Error(`Answered ${status}: ${JSON.stringify(body)}`);
    },
    open: () => since.size,
    refused: () => refused,
    lastWrite: () => lastWrite,
    lastDone: () => lastDone ?? lastAnswered ?? lastWrite,
    p99: () => {
      if (took.length + since.size === 0) return undefined;
      const sorted = [...took, ...Array.from(since.values(), (at) => clock.now() - at)].sort((a, b) => a - b);
      return sorted[Math.floor(sorted.length * 0.99)];
    },
  };
}

interface Ran {
  units: number;
  seconds: number;
  lag: number;
  waits: OpenWaits;
}

function figureOf(world: TestWorld, load: Load, table: TableState, { units, seconds, lag, waits }: Ran): ScaleFigure {
  const meter = world.dynamodb.meter();
  const throughput = world.dynamodb.throughput();
  const onTable = meter.wcu - meter.index_wcu;
  const [hottest] = meter.hottest;
  const p99 = waits.p99();
  const throttled = throughput.reduce((sum, one) => sum + one.throttled, 0);
  const figure: ScaleFigure = {
    load: load.name,
    table,
    units,
    rate: units / Math.max(seconds, 1),
    wcu: meter.wcu / units,
    rcu: meter.rcu / units,
    requests: meter.requests / units,
    hottest: (hottest?.wcu ?? 0) / onTable,
    hottestKey: hottest?.key.replace(/^T#[^#]+#/, "T#…#").replaceAll(/[0-9a-f-]{20,}/g, "…") ?? "",
    partition: Math.max(
      ...(throughput.find(({ name }) => !name.includes("/"))?.partitions ?? []).map(({ share }) => share),
    ),
    throttled,
    lag,
    refused: waits.refused(),
    open: waits.open(),
    ...(p99 !== undefined && { p99 }),
    faults: [],
  };
  if (figure.hottest > MAX_SHARE) figure.faults.push(`hottest key ${percent(figure.hottest)}`);
  if (table === "warm" && throttled > 0) figure.faults.push(`${throttled} throttled on a warm table`);
  if (waits.refused() > 0) figure.faults.push(`${waits.refused()} requests refused`);
  if (waits.open() > 0) figure.faults.push(`${waits.open()} not done`);
  if (figure.wcu > load.wcu * 1.005) figure.faults.push(`${short(figure.wcu)} WCU, not ${load.wcu}`);
  return figure;
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

function linesOf(figures: readonly ScaleFigure[], seconds: number): string[] {
  const heading = [
    "load",
    "table",
    "units",
    "units/s",
    "WCU",
    "RCU",
    "requests",
    "hottest key",
    "",
    "hottest partition",
    "throttled",
    "p99 wait ms",
    "verdict",
  ];
  const rows = figures.map((figure) => [
    figure.load,
    figure.table,
    String(figure.units),
    short(figure.rate),
    short(figure.wcu),
    short(figure.rcu),
    short(figure.requests),
    percent(figure.hottest),
    figure.hottestKey,
    percent(figure.partition),
    String(figure.throttled),
    figure.p99 === undefined ? "" : String(figure.p99),
    figure.faults.length === 0 ? "kept" : `BROKEN: ${figure.faults.join("; ")}`,
  ]);
  return [
    columnsOf([heading, ...rows], ["load", "table", "", "verdict"]),
    `${seconds} seconds of service time, and what followed.`,
  ];
}
