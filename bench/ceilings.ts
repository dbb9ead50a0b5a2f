// The ceilings of one workspace, as rows of `npm run bench -- scale` and of docs/performance.md: what is offered each second
// to a warm table, and whether it is taken; and single sends beside the import of another workspace.
import { readFileSync, writeFileSync } from "node:fs";
import { MINUTE, SECOND } from "../shared/kernel/clock.ts";
import { timers } from "../shared/store/capabilities.ts";
import { multipartBody } from "../test/support/multipart.ts";
import { openChannels } from "../test/support/reached.ts";
import { columnsOf, short } from "../tools/text-table.ts";
import { PAGE, withCeilings } from "./costs/page.ts";
import { equip } from "./people.ts";
import { liftLimits, runLoad, type ScaleFigure } from "./scale.ts";
import { journeyMoves, LOAD_SECONDS, type Load, loads, singleSends, TICK, workspace } from "./scale-loads.ts";

const REASONS: Record<string, string> = {
  "journey moves, by batches of 10":
    "An entry puts the index row of its run at the price of a transaction, two units, in one of 16 shards: 8,000 a second are all that these take.",
};

interface Ceiling {
  load: Load;
  /** Units a second that are to be reached. */
  target: number;
}

const ROWS_AT_ONCE = 100;
/** Timers of one minute, and how long they may take. */
const TIMERS = 1_000_000;
const TIMERS_WITHIN_SECONDS = 240;
const TIMERS_AHEAD_MS = 3 * MINUTE;
const MIN_SECONDS = TICK / SECOND;
const IMPORTED_ROWS = 100_000;
/** Single sends a second beside the import. */
const BESIDE = 50;
const MAX_FACTOR = 2;
/** What was offered is reached if it is done within this time after the last arrival. */
const MAX_LAG_SECONDS = 10;

function knownLoad(name: string): Load {
  const found = loads.find((load) => load.name === name);
  if (!found) throw new Error(`There is no load "${name}".`);
  return found;
}

const inApp = knownLoad("single in-app sends");

const pushes: Load = {
  name: "single push sends",
  unit: "send",
  wcu: 5.5,
  prepare: async (world, count) => {
    const { tenant, ids } = await workspace(world, count);
    const { ios } = await openChannels(world, tenant, "ios-push");
    await equip(world, tenant, ids);
    return singleSends(world, tenant, ids, { channel_ids: [ios] });
  },
};

const moves: Load = {
  ...knownLoad("journey moves"),
  name: "journey moves, by batches of 10",
  prepare: journeyMoves(10),
};

const timersOfOneMinute: Load = {
  name: "timers of one minute",
  unit: "timer",
  units: TIMERS,
  ends: "DUE#",
  wcu: 2,
  prepare: async (world, count) => {
    const tenant = await world.tenant();
    const at = Math.ceil((world.clock.now() + TIMERS_AHEAD_MS) / MINUTE) * MINUTE;
    const { set } = timers.open(world.depsFor("bench"))(tenant.id);
    for (let from = 0; from < count; from += ROWS_AT_ONCE)
      await set(
        Array.from({ length: Math.min(ROWS_AT_ONCE, count - from) }, (_, n) => ({
          kind: "job" as const,
          id: `timer-${from + n}`,
          at,
        })),
      );
    return { arrive: async () => undefined, due: at };
  },
};

const ceilings: readonly Ceiling[] = [
  { load: { ...inApp, perSecond: 5_000 }, target: 5_000 },
  { load: { ...pushes, perSecond: 4_000 }, target: 4_000 },
  { load: { ...moves, perSecond: 8_000 }, target: 8_000 },
  { load: { ...knownLoad("events in batches"), perSecond: 10_000 }, target: 10_000 },
  { load: timersOfOneMinute, target: TIMERS / TIMERS_WITHIN_SECONDS },
];

/** Single sends of one workspace, with or without an import of another one that begins with them. */
const beside = (rows: number): Load => ({
  name: rows > 0 ? "single sends beside an import" : "single sends without an import",
  unit: "send",
  perSecond: BESIDE,
  wcu: Number.POSITIVE_INFINITY,
  prepare: async (world, count, faults) => {
    const sends = await inApp.prepare(world, count, faults);
    const other = await world.tenant();
    const as = await other.dashboard();
    const list = (await world.call("POST /api/v1/lists", { as, body: { name: "people" } })).body.id;
    const lines = Array.from({ length: rows }, (_, n) => `u${n},u${n}@example.com\n`).join("");
    const file = { filename: "people.csv", content: `external_id,email\n${lines}` };
    return {
      arrive: (from, some, waits) =>
        Promise.all([
          sends.arrive(from, some, waits),
          ...(from === 0 && rows > 0
            ? [world.call("POST /api/v1/lists/import", { as, ...multipartBody({ listId: list }, file) })]
            : []),
        ]),
    };
  },
});

const HEADING = ["load", "units", "reached", "target", "hottest key", "its ceiling", "throttled", "p99 wait ms"];
const CEILING_COLUMN = HEADING.indexOf("its ceiling");

interface Options {
  /** Parts of names of ceilings; all if none. */
  only: readonly string[];
  /** Of service time; what arrives at once is as much less as this is below 20. The import is not. */
  seconds: number;
  /** Writes docs/performance.md. */
  write: boolean;
  tell(text: string): void;
}

interface CeilingTable {
  rows: string[][];
  /** A sentence for each that is not reached. */
  misses: string[];
}

/** @returns the lines to print, and whether every ceiling is reached. */
export async function benchCeilings({ only, seconds, write, tell }: Options) {
  liftLimits();
  const isChosen = (name: string) => only.length === 0 || only.some((word) => name.includes(word));
  const found: CeilingTable = { rows: [], misses: [] };
  for (const { load, target } of ceilings.filter((ceiling) => isChosen(ceiling.load.name))) {
    const figure = await runLoad(load, "warm", seconds, (text) => tell(`ceiling: ${text}`));
    const took = load.perSecond
      ? seconds + Math.max(0, figure.lag - MAX_LAG_SECONDS)
      : Math.max(figure.lag, MIN_SECONDS);
    const reached = Math.min(figure.units / took, ceilingOf(figure));
    const miss = missOf(figure, reached, target);
    found.rows.push(rowOf(figure, short(reached), `${miss ? "NOT REACHED: " : ""}${short(target)} a second`));
    if (miss) found.misses.push(`- ${load.name}: ${miss}`);
  }
  if (isChosen("import")) await compareImport(found, tell);
  const { rows, misses } = found;
  if (write) writeFileSync(PAGE, withCeilings(readFileSync(PAGE, "utf8"), HEADING, rows, saidOf(seconds, misses)));
  return { lines: [columnsOf([HEADING, ...rows], ["load", "target"]), ...misses], kept: misses.length === 0 };
}

const saidOf = (seconds: number, misses: readonly string[]): string =>
  [
    `Written by \`npm run bench -- scale --seconds ${seconds} --write\`, on the model of the table's throughput. The loads last`,
    `${seconds} of ${LOAD_SECONDS} seconds of service time, with as much less burst, and timers are as much fewer; the sends beside an import`,
    `last ${LOAD_SECONDS} seconds, and the import has ${IMPORTED_ROWS} rows. A`,
    "ceiling is reached if nothing is refused, all is done ten seconds after the last arrival, and no partition key would have",
    "more than the 1,000 write units a second of a partition: its ceiling is at how many units a second the hottest one has.",
    "The table has taken this load before (40 partitions). Clients try again what is throttled.",
    ...(misses.length > 0 ? ["", ...misses] : []),
  ].join("\n");

/** The most units a second by which the hottest partition key stays below the limit of a partition. */
const ceilingOf = ({ hottest, wcu }: ScaleFigure): number => 1_000 / (hottest * wcu);

const rowOf = (figure: ScaleFigure, reached: string, target: string): string[] => [
  figure.load,
  String(figure.units),
  reached,
  target,
  `${(figure.hottest * 100).toFixed(1)} %, ${figure.hottestKey.replaceAll("|", "/")}`,
  short(ceilingOf(figure)),
  String(figure.throttled),
  figure.p99 === undefined ? "" : String(figure.p99),
];

function missOf(figure: ScaleFigure, reached: number, target: number): string | undefined {
  const causes = [
    figure.refused > 0 && `${figure.refused} requests refused`,
    figure.open > 0 && `${figure.open} units not done after ten minutes`,
    reached < target && `${short(reached)} instead of ${short(target)} a second`,
  ].filter((cause) => cause !== false);
  return causes.length === 0 ? undefined : `${causes.join(", ")}. ${REASONS[figure.load] ?? ""}`.trim();
}

/** As long and as large as the target says, whatever the other loads are: the import takes a while in any case. */
async function compareImport(found: CeilingTable, tell: (text: string) => void): Promise<void> {
  tell("ceiling: single sends without an import");
  const without = await runLoad(beside(0), "warm", LOAD_SECONDS, tell);
  tell(`ceiling: single sends beside an import of ${IMPORTED_ROWS} rows`);
  const figure = await runLoad(beside(IMPORTED_ROWS), "warm", LOAD_SECONDS, tell);
  // Nothing shorter than a tick is measured.
  const [base, p99] = [Math.max(TICK, without.p99 ?? 0), figure.p99 ?? 0];
  const isReached = p99 <= MAX_FACTOR * base && figure.open === 0 && figure.refused === 0;
  const target = `${isReached ? "" : "NOT REACHED: "}p99 ${MAX_FACTOR} × that without`;
  // Most of what is written is of the import, so a ceiling of the sends says nothing.
  found.rows.push(rowOf(figure, `p99 ${p99} ms, without ${base} ms`, target).with(CEILING_COLUMN, ""));
  if (!isReached)
    found.misses.push(
      `- ${figure.load}: p99 ${p99} ms beside ${IMPORTED_ROWS} rows, ${base} ms without; ${figure.open} not done. ${REASONS[figure.load] ?? ""}`.trim(),
    );
}
