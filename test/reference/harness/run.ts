// Runs a program on the product and on the reference, and holds every answer of one against the other.
import { bucketOf, HOUR, MINUTE, SECOND, Unpromised } from "../model/kit.ts";
import { createReference } from "../model/reference.ts";
import { compareTrail } from "./audit.ts";
import { lookAt, outbox } from "./compare.ts";
import { answerHooks, call, fault, link, report, use } from "./deeds.ts";
import { compareFile } from "./files.ts";
import { filteredLooks } from "./filters.ts";
import { allLooks, looksAfter, looksAfterWaiting } from "./looks.ts";
import { compareNarrowed } from "./narrowed.ts";
import { openProduct } from "./product.ts";
import { type Call, type Command, HANDLE, idOf, type Program } from "./program.ts";
import { useSession } from "./sessions.ts";
import { type Failure, type Line, type Sides, tell } from "./sides.ts";
import { createStorm, stillness } from "./storm.ts";
import { compareStreams, hangUp, listen } from "./streams.ts";
import { Bindings } from "./unify.ts";

export interface Run {
  failure?: Failure;
  story: Line[];
  calls: number;
  /** How many faults of a storm struck. */
  faults: number;
}

export interface RunOptions {
  /** Draws what fails meanwhile. Times of the product are then compared by the hour. */
  storm?: number | undefined;
  /** After a command also every answer that should be as it was: slower, and a failure is seen where it begins. */
  readsAll?: boolean;
  /** In a workspace with a time of its own, which is moved (F4). */
  sandbox?: boolean;
}

export async function run(
  program: Program,
  { storm: seed, readsAll = false, sandbox = false }: RunOptions = {},
): Promise<Run> {
  const ofSeed = seed === undefined ? undefined : createStorm(seed);
  const storm = sandbox ? stillness : ofSeed;
  const product = await openProduct(program, { storm, isSandbox: sandbox });
  const slack = storm ? SLACK.storm : 0;
  const bindings = new Bindings({ slack: sandbox ? SLACK.sandbox : slack });
  const theirs = (id: string) => bindings.product.get(id) ?? id;
  const bucket = (purpose: string, unit: string, subscriber: string) =>
    bucketOf(purpose, drawIn(theirs(unit)), theirs(subscriber));
  const reference = createReference({ now: product.start, bucket });
  if (sandbox) reference.world.receiver = 200;
  reference.world.isStorm = storm !== undefined;
  const told = { handles: new Map<string, string>(), story: [], counted: { calls: 0, spared: 0 } };
  const sides: Sides = {
    product,
    reference,
    bindings,
    storm,
    seen: new Map(),
    streams: new Map(),
    tokens: new Map(),
    readsAll,
    ...told,
  };
  try {
    const failure = await play(sides, program.commands).catch((error: unknown) => {
      if (!(error instanceof Unpromised)) throw error;
      tell(sides, `from here on it is open: ${error.message}`);
      return undefined;
    });
    return {
      ...(failure && { failure }),
      story: sides.story,
      calls: sides.counted.calls,
      faults: storm?.struck() ?? 0,
    };
  } finally {
    await product.close();
  }
}

/** The id of a preview holds the unit that it drew with. */
const drawIn = (unit: string): string =>
  unit.startsWith("eyJ") ? JSON.parse(Buffer.from(unit.split(".")[0]!, "base64url").toString()).draw : unit;

async function play(sides: Sides, commands: Command[]): Promise<Failure | undefined> {
  const start = await lookAt(sides, [{ path: "/api/v1/channels" }], 0);
  if (start) return start;
  for (const [number, command] of commands.entries()) {
    const failure = await step(sides, command, number);
    if (failure) return failure;
  }
  await endStorm(sides);
  const { world } = sides.reference;
  const looks = [...allLooks(world), ...filteredLooks(world)];
  return (
    (await compareStreams(sides, commands.length)) ??
    (await lookAt({ ...sides, readsAll: true }, looks, commands.length)) ??
    (await compareNarrowed(sides, commands.length)) ??
    (await outbox(sides, commands.length)) ??
    unsigned(sides, commands.length) ??
    // The trail has real time.
    (sides.storm === stillness ? undefined : await compareTrail(sides, commands.length))
  );
}

function unsigned({ product }: Sides, command: number): Failure | undefined {
  const [got] = product.unsigned();
  return got && { path: "signature", expected: "that of its endpoint", got, command, route: "webhook" };
}

async function step(sides: Sides, command: Command, number: number): Promise<Failure | undefined> {
  const { product, reference, storm } = sides;
  if (command.kind === "late") hangUp(sides);
  if (command.wait > 0) {
    if (command.kind === "late" && !sides.storm) {
      await product.beLate(command.wait);
      reference.beLate(product.now());
    } else {
      await product.advance(command.wait);
      reference.advance(product.now());
    }
    const unheard = await compareStreams(sides, number);
    if (unheard) return unheard;
    if (command.wait >= 60_000) {
      tell(sides, `… ${command.wait / 1000} s pass`);
      await quieten(sides);
      const failure = await lookAt(sides, looksAfterWaiting(reference.world), number);
      if (failure) return failure;
    }
  }
  if (command.kind === "wait" || command.kind === "late" || (sides.storm && dependsOnAnOrder(command)))
    return undefined;
  if (sides.storm === stillness && REACHES_OUT.has(command.kind)) return undefined;
  if (command.kind === "session") return useSession(sides, command, number);
  if (command.kind === "stream") return listen(sides, command, number);
  if (command.kind === "receiver") return answerHooks(sides, command.status);
  if (command.kind === "link") return link(sides, command, number);
  if (command.kind === "report") return report(sides, command, number);
  if (command.kind === "usage") return use(sides, command);
  if (command.kind === "fault" || command.kind === "clear faults") return fault(sides, command);
  const exported = reference.world.exports.length;
  const looks = isOfUnseen(sides, command) ? looksAfter(reference.world, command.path) : [];
  const failure = (await lookAt(sides, looks, number)) ?? (await call(sides, command, number));
  if (failure) return failure;
  await product.settle();
  // A long file takes parts of a second.
  if (!storm && product.now() % SECOND > 0) await product.advance(SECOND - (product.now() % SECOND));
  reference.advance(product.now());
  await quieten(sides);
  const isExport = reference.world.exports.length > exported;
  const misprint = isExport ? await compareFile(sides, number) : undefined;
  if (misprint) return misprint;
  // A worker that ended is followed by another one once its lease is over: an export is whole at the end.
  if (storm && command.path === "/api/v1/exports") return undefined;
  return lookAt(sides, looksAfter(reference.world, command.path), number);
}

/** Nothing leaves a sandbox: who is reached by it, and what they answer, is beyond it. Sessions have real time. */
const REACHES_OUT: ReadonlySet<string> = new Set(["link", "report", "receiver", "fault", "clear faults", "session"]);

/** Whether the command is of something whose id in the product no answer has told yet. */
const isOfUnseen = ({ reference, handles, bindings }: Sides, { path }: Call): boolean =>
  [...path.matchAll(HANDLE)].some(([handle]) => {
    const id = idOf(reference, handles, handle);
    return id !== undefined && !bindings.product.has(id);
  });

/** A bounce or complaint comes between two messages of one moment, or after both; nothing tells which run a run is. */
const dependsOnAnOrder = (command: Command): boolean =>
  (command.kind === "fault" && command.outcome === "timeout") ||
  command.kind === "report" ||
  command.kind === "usage" ||
  (command.kind === "call" && /@simulator\.amazonses\.com|@run\(/.test(JSON.stringify(command)));

/** A message that failed comes again within so long, and what waits longer waits for its time. */
const RETRY_MS = 20 * MINUTE;
/** What watches over the rest is there within an hour, and a workspace with a time of its own jumps by less. */
const SLACK = { storm: 2 * HOUR, sandbox: 5 * MINUTE };
const MAX_MOVES = 60;
/** The stream of the table tries a batch again that failed, and one that fails once more. */
const STREAM_RETRY_MS = 10_000;

/** In a storm: lets time pass until what failed was done again. */
async function quieten({ product, reference, storm }: Sides): Promise<void> {
  if (!storm) return;
  const pass = async (ms: number) => {
    await product.advance(Math.ceil(ms / 1000) * 1000);
    reference.advance(product.now());
  };
  for (let [moves, seen] = [0, -1]; moves < MAX_MOVES; moves++) {
    const next = product.nextTry();
    const isDue = next !== undefined && next <= product.now() + RETRY_MS;
    if (isDue) await pass(next - product.now());
    else if (storm.struck() > seen) await pass(STREAM_RETRY_MS);
    else return;
    if (!isDue) seen = storm.struck();
  }
}

/** What no retry repaired is repaired by what watches over it, within an hour. */
async function endStorm(sides: Sides): Promise<void> {
  const { product, reference, storm } = sides;
  if (!storm) return;
  storm.end();
  await quieten(sides);
  await product.advance(HOUR);
  reference.advance(product.now());
  await quieten(sides);
  // An export whose worker ended is made by another one, of what there is by then.
  for (const job of reference.world.exports) job.isForgotten = true;
  tell(sides, `${storm.struck()} faults struck`);
}
