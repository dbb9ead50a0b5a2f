// `npm run bench -- service`: how long the local service takes to start, what it keeps on disk as work grows, and what is
// installed for it; `--write` puts the figures on docs/performance.md.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { people } from "../test/support/imports.ts";
import { multipartBody } from "../test/support/multipart.ts";
import { testWorld } from "../test/support/world.ts";
import { columnsOf, short } from "../tools/text-table.ts";
import { taken } from "./costs/cost.ts";
import { localRowsIn, PAGE, withLocal } from "./costs/page.ts";
import { inFolder, type LocalFigure, puts, transactions } from "./local-engine.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MB = 1_048_576;
const MS_PER_TICK = 10;

/** Processor time of a process so far, in seconds; undefined where there is no `/proc`. */
function cpuOf(pid: number): number | undefined {
  if (!existsSync(`/proc/${pid}/stat`)) return undefined;
  const [, after = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = after.split(" ").slice(11, 13).map(Number);
  return ((user! + system!) * MS_PER_TICK) / 1_000;
}

async function untilReady(child: ChildProcess): Promise<void> {
  let page = "";
  for await (const chunk of child.stdout!) {
    page += chunk;
    if (page.includes("The service is ready.")) return;
  }
  throw new Error("The service did not start.");
}

/** The second of two starts: the first one makes and compiles the module. */
async function starts(size: string, flag: string, most?: number): Promise<LocalFigure> {
  const start = () =>
    inFolder(async (folder) => {
      const env = { ...process.env, NODE_OPTIONS: "", PORT: "0", DATA_DIR: folder };
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "local/start.ts", flag], {
        cwd: ROOT,
        env,
        stdio: ["ignore", "pipe", "ignore"],
      });
      await untilReady(child);
      const seconds = cpuOf(child.pid!) ?? 0;
      child.kill();
      await new Promise((resolve) => child.once("close", resolve));
      return seconds;
    });
  await start();
  return { what: "start to ready", size, figure: await start(), unit: "s of CPU", ...(most && { most }) };
}

const EVENTS_PER_REQUEST = 100;
const ACTORS = 2_000;
const LOADS: [rows: number, events: number, most: number | undefined][] = [
  [5_000, 15_000, undefined],
  [10_000, 30_000, undefined],
  [20_000, 60_000, 150],
];

/** The file after rows of an import and events. */
async function fileAfter(rows: number, events: number, most: number | undefined): Promise<LocalFigure> {
  return inFolder(async (folder) => {
    const world = await testWorld({ file: join(folder, "service.sqlite") });
    const tenant = await world.tenant({ plan: "enterprise" });
    const as = await tenant.dashboard();
    const listId = taken(await world.call("POST /api/v1/lists", { as, body: { name: "Everybody" } })).body.id as string;
    const form = multipartBody({ listId }, { filename: "people.csv", content: people(rows) });
    taken(await world.call("POST /api/v1/lists/import", { as, ...form }));
    await world.settle();
    for (let n = 0; n < events; n += EVENTS_PER_REQUEST) {
      const some = Array.from({ length: EVENTS_PER_REQUEST }, (_, i) => ({
        event_name: i % 3 ? "product_viewed" : "order_completed",
        external_id: `u${(n + i) % ACTORS}`,
        properties: { sku: `sku-${(n + i) % 50}`, price: 1_999, currency: "EUR" },
      }));
      taken(await world.call("POST /v1/events", { as: tenant.server, body: { events: some } }));
      await world.settle();
    }
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    await world.close();
    const size = `${rows} rows, ${events} events by ${EVENTS_PER_REQUEST}`;
    return { what: "data on disk", size, figure: bytes / MB, unit: "MB", ...(most && { most }) };
  });
}

interface LockedPackage {
  dev?: boolean;
  link?: boolean;
}

/** Of the packages that `npm ci --omit=dev` installs on this machine. */
function installed(): LocalFigure {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const folders = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith("node_modules/") && !dev && !link)
    .map(([path]) => join(ROOT, path))
    .filter((folder) => existsSync(folder));
  const bytes = folders.reduce((sum, folder) => sum + bytesIn(folder), 0);
  const size = `${folders.length} packages`;
  return { what: "installation without tools", size, figure: bytes / MB, unit: "MB", most: 550 };
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.name === "node_modules") return sum;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + bytesIn(path);
    return entry.isFile() ? sum + statSync(path).size : sum;
  }, 0);

const MISSED = "NOT REACHED: ";
const HEADING = ["what", "size", "figure", "at most"];
const REASONS: Record<string, string> = {
  "start to ready":
    "The service is one module whose code is kept, which takes a third off a start without a demo, and the demo has 96 people in place of 240, whose purchases are looked at once (decisions/0143): 1.16 and 6.1 s before. It is filled in one step of the file, which is 5 % less than with the end of each transaction. What is left are some 5,300 requests to the table, half of them whatever the number of people, in code that has just been compiled: the same week takes a third less in a process that made it before. That clients look for no address, random bytes are drawn ahead and the owner's tokens are signed once in five minutes cannot be told from the noise of it. Neither can an engine in memory, nor other settings of V8 (young generation of 16 and 32 MB, baseline code at once, fewer compilers), which took as much or more. A demo that is kept on disk would have an old week at a later start.",
  "data on disk":
    "Stream records that were read are packed, which halved the file. What is left are items as JSON: to deflate rows of 500 bytes one by one cost 14 % of the processor time of an event.",
};

/** What the table of the engine holds before the second puts. */
const ITEMS_BEFORE = 50_000;

/** Of each the figures of several sizes. */
const measures: { name: string; measure(): Promise<LocalFigure[]> }[] = [
  {
    name: "start to ready",
    measure: async () => [await starts("empty", "--empty"), await starts("with the demo", "--demo", 3)],
  },
  {
    name: "data on disk",
    measure: async () => {
      const figures: LocalFigure[] = [];
      for (const [rows, events, most] of LOADS) figures.push(await fileAfter(rows, events, most));
      return figures;
    },
  },
  {
    name: "transaction of the embedded engine",
    measure: async () => {
      const none = await transactions(0);
      // A scan of the tokens grew with them.
      return [none, { ...(await transactions(60_000)), most: Math.max(0.2, none.figure * 2) }];
    },
  },
  {
    name: "put of the embedded engine",
    measure: async () => {
      const empty = await puts(0);
      return [empty, { ...(await puts(ITEMS_BEFORE)), most: empty.figure * 1.5 }];
    },
  },
  { name: "installation without tools", measure: async () => [installed()] },
];

const isMissed = ({ figure, most }: LocalFigure) => most !== undefined && figure > most;

const rowOf = (one: LocalFigure): string[] => [
  one.what,
  one.size,
  `${short(one.figure)} ${one.unit}`,
  one.most === undefined ? "" : `${isMissed(one) ? MISSED : ""}${short(one.most)} ${one.unit}`,
];

interface Options {
  /** Parts of names; all if none. */
  only: readonly string[];
  /** Writes the page. What is not measured stays as it is there. */
  write: boolean;
  tell(text: string): void;
}

export async function benchLocalService({ only, write, tell }: Options) {
  const chosen = measures.filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)));
  const measured: string[][] = [];
  for (const { name, measure } of chosen) {
    tell(name);
    measured.push(...(await measure()).map(rowOf));
  }
  const page = readFileSync(PAGE, "utf8");
  const others = localRowsIn(page).filter(
    ([what = ""]) => only.length > 0 && !chosen.some(({ name }) => what.startsWith(name)),
  );
  const placeOf = ([what = ""]: readonly string[]) => measures.findIndex(({ name }) => what.startsWith(name));
  const rows = [...others, ...measured].sort((a, b) => placeOf(a) - placeOf(b));
  const misses = rows
    .filter(([, , , most = ""]) => most.startsWith(MISSED))
    .map(([what = "", size]) => `- ${what}, ${size}: ${REASONS[what] ?? ""}`.trim());
  const said = [
    "Written by `npm run bench -- service --write`, of the machine that ran it. Data are of a service that reads its stream as it",
    "goes; 60,000 events that are sent one by one have a row and an entry of an index each, and take 296 MB. The installation is",
    "what `npm ci --omit=dev` puts on this platform. A put of the embedded engine is over HTTP, with the part of its caller, into",
    "a file; dynalite 4.0.0 took 2.4 and 2.7 times the processor time for it on the same machine.",
    ...(misses.length > 0 ? ["", ...misses] : []),
  ].join("\n");
  if (write) writeFileSync(PAGE, withLocal(page, HEADING, rows, said));
  return { lines: [columnsOf([HEADING, ...measured], HEADING), ...misses], kept: misses.length === 0 };
}
