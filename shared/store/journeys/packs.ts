// Stores moves of runs in packs: the runs, the counts of their journey and their sends are one transaction, so that a
// run has moved if and only if its send has begun (docs/decisions/0029). Many runs without sends move by a write each,
// and are counted afterwards (docs/decisions/0058).
import { runsTimerId } from "../../contract/due-kinds.ts";
import { MINUTE } from "../../kernel/clock.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { THIS_SEND } from "../../rules/journey-run.ts";
import { absent } from "../conditions.ts";
import type { Store } from "../context.ts";
import type { ItemWrite } from "../item.ts";
import { busy, contended, done, failuresOf, untilUncontended } from "../refusals.ts";
import type { JobWidths } from "../sends/jobs/job-width.ts";
import type { Timer, Timers } from "../timers.ts";
import { allowanceOf, sendReservation, sendsLeft, warnOfUsage } from "../workspaces/usage.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { countWrites, sumOf } from "./counts.ts";
import { beginEach } from "./entry-packs.ts";
import { moveEach, openPack, sealPack } from "./run-packs.ts";
import type { EntryGuard } from "./run-rows.ts";
import { type Destination, entryOf, entryWrites, moveWrites, type RunWrites, runMove } from "./runs.ts";
import { jobOfGroup, planSends } from "./sends.ts";
import { type AdmittedMoves, admit, isBraked, type Move } from "./step-admission.ts";

export interface PackDeps {
  store: Store;
  timers: Timers;
  jobWidths: JobWidths;
  workspace: () => Promise<WorkspaceRecord | undefined>;
}

/** Runs of one transaction. The row of its job names them all, and is written several times. */
const MAX_RUNS = 45;
/** A pack of single writes costs as much as a transaction of this many runs less one: 6 write units and one a run. */
const MIN_SINGLE_RUNS = 5;
/** The same for runs that begin: 6 units and two a run, instead of 2 and four a run. */
const MIN_SINGLE_ENTRIES = 3;
const MAX_SINGLE_RUNS = 100;
/** Items of one transaction. */
const MAX_ITEMS = 100;

/** How long after a send began its messages are sent again, if they were lost. */
const WATCH_AFTER_MS = 15 * MINUTE;

interface StoredMoves {
  /** The stored moves, by the requested move. */
  moved: Map<Move, Move>;
  /** Runs that would have begun with a send beyond the month's quota (AMB-147). */
  overQuota: Set<Move>;
}

/** Stores moves. @returns also those whose run another worker moved first, and why others could not be stored */
export async function storeMoves(
  deps: PackDeps,
  workspace: WorkspaceRecord | undefined,
  moves: readonly Move[],
): Promise<StoredMoves & { lost: Set<Move>; failures: PromiseSettledResult<unknown>[] }> {
  const moved = new Map<Move, Move>();
  const overQuota = new Set<Move>();
  const lost = new Set<Move>();
  const failures: PromiseSettledResult<unknown>[] = [];
  const plain = moves.filter(({ entry, send }) => !entry && !send);
  const single = plain.length < MIN_SINGLE_RUNS ? [] : plain;
  const first = moves.filter(({ entry, send }) => entry && !entry.former && !send);
  const beginning = first.length < MIN_SINGLE_ENTRIES ? [] : first;
  const alone = new Set([...single, ...beginning]);
  const together = moves.filter((move) => !alone.has(move));
  const packs = [
    ...chunksOf(beginning, MAX_SINGLE_RUNS).map((pack) => ({
      pack,
      store: () => storeEntries(deps.store, pack).then(asAsked),
    })),
    ...chunksOf(single, MAX_SINGLE_RUNS).map((pack) => ({
      pack,
      store: () => storeEach(deps.store, pack).then(asAsked),
    })),
    ...chunksOf(together, MAX_RUNS).map((pack) => ({ pack, store: () => storeAdmitted(deps, workspace, pack) })),
  ];
  await deps.timers.set(runTimers(moves.filter((move) => !isBraked(move))));
  // One after the other: they change the same counters.
  for (const { pack, store } of packs) {
    const [stored] = await Promise.allSettled([store()]);
    if (stored?.status === "rejected") failures.push(stored);
    if (stored?.status !== "fulfilled") continue;
    for (const [asked, move] of stored.value.moved) moved.set(asked, move);
    for (const move of stored.value.overQuota) overQuota.add(move);
    for (const move of pack) if (!moved.has(move) && !overQuota.has(move)) lost.add(move);
  }
  return { moved, overQuota, lost, failures };
}

const asAsked = (moves: readonly Move[]): StoredMoves => ({
  moved: new Map(moves.map((move) => [move, move])),
  overQuota: new Set(),
});

/** Stores a pack as far as the brakes of its steps allow. */
async function storeAdmitted(
  deps: PackDeps,
  workspace: WorkspaceRecord | undefined,
  pack: readonly Move[],
): Promise<StoredMoves> {
  return untilUncontended(busy.transient("A pack was admitted to its steps too often."), async () => {
    const admitted = await admit(deps.store, workspace, pack);
    const { moves } = admitted;
    await deps.timers.set(runTimers([...moves].flatMap(([asked, move]) => (isBraked(asked) ? [move] : []))));
    const stored = await storePack(deps, workspace, [...moves.values()], admitted);
    // Runs whose sends have texts of their own: each of them has a job.
    if (stored === "too many") {
      const [half = [], other = []] = chunksOf(pack, Math.ceil(pack.length / 2));
      const first = await storeAdmitted(deps, workspace, half);
      const second = await storeAdmitted(deps, workspace, other);
      return done({
        moved: new Map([...first.moved, ...second.moved]),
        overQuota: new Set([...first.overQuota, ...second.overQuota]),
      });
    }
    if (stored === "overtaken") return contended;
    const overQuota = [...moves].filter(([, move]) => stored.overQuota.has(move));
    const moved = [...moves].flatMap(([asked, move]) => {
      const outcome = stored.moved.get(move);
      return outcome ? [[asked, outcome] as const] : [];
    });
    return done({
      moved: new Map(moved),
      overQuota: new Set(overQuota.map(([asked]) => asked)),
    });
  });
}

/** Moves runs without sends by a write each. @returns the moves that were stored */
async function storeEach(store: Store, moves: readonly Move[]): Promise<readonly Move[]> {
  const pack = store.ids.uuidAt(store.clock.now());
  const journey = moves[0]?.run.journey_id ?? "";
  const changes = moves.map(({ run, to, outcomes }) => ({ run, ...runMove(run, to, outcomes, pack) }));
  const members = changes.map(({ run: { id, seq }, counts }) => ({ run: id, seq, counts }));
  await openPack(store, pack, journey, members);
  const hasMoved = await moveEach(store, pack, changes);
  await sealPack(store, { pack, journey, moved: members.filter((_, i) => hasMoved[i]) });
  return moves.filter((_, i) => hasMoved[i]);
}

/** Begins first runs without sends by single writes. @returns the moves that were stored */
async function storeEntries(store: Store, moves: readonly Move[]): Promise<readonly Move[]> {
  const stored: Move[] = [];
  let open = moves.map((move) => ({ move, when: move.entry?.when ?? absent() }));
  await untilUncontended(
    busy.transient("Packs of runs that begin were ended by other workers too often."),
    async () => {
      const left = await beginPack(store, open);
      stored.push(...left.begun);
      open = left.withdrawn;
      return open.length === 0 ? done(undefined) : contended;
    },
  );
  return stored;
}

interface OpenEntry {
  move: Move;
  when: EntryGuard["when"];
}

/**
 * Begins the runs of a pack. @returns the runs that began, and those that another worker withdrew, which may begin in
 * another pack
 */
async function beginPack(store: Store, entries: readonly OpenEntry[]) {
  const pack = store.ids.uuidAt(store.clock.now());
  const journey = entries[0]?.move.run.journey_id ?? "";
  const beginnings = entries.map(({ move: { run, to, outcomes }, when }) => ({ when, ...entryOf(run, to, outcomes) }));
  const members = beginnings.map(({ row: { id: run, subscriber_id: subscriber }, counts }) => ({
    run,
    seq: 0,
    counts,
    subscriber,
  }));
  await openPack(store, pack, journey, members);
  const became = await beginEach(store, pack, beginnings);
  await sealPack(store, { pack, journey, moved: members.filter((_, i) => became[i]?.kind === "begun") });
  return {
    begun: entries.flatMap(({ move }, i) => (became[i]?.kind === "begun" ? [move] : [])),
    withdrawn: entries.flatMap(({ move }, i): OpenEntry[] => {
      const result = became[i];
      return result?.kind === "withdrawn" ? [{ move, when: result.when }] : [];
    }),
  };
}

/**
 * Stores a pack. @returns the stored moves by the requested ones, for runs that no other worker has moved; and those
 * that the quota kept from beginning. `overtaken`: at a step with a brake, other sends began first, or the brake was
 * read too long ago
 */
async function storePack(
  deps: PackDeps,
  workspace: WorkspaceRecord | undefined,
  pack: readonly Move[],
  admitted: AdmittedMoves,
): Promise<{ moved: ReadonlyMap<Move, Move>; overQuota: ReadonlySet<Move> } | "too many" | "overtaken"> {
  const { store, timers, jobWidths } = deps;
  const { outcomeOf, groups } = await planSends(store, workspace, pack);
  const isWide = groups.length > 0 && (await jobWidths.isWide(store, "journey"));
  const overQuota = new Set<Move>();
  let open = pack;
  let isReserved = true;
  while (open.length > 0) {
    const jobs = groups.flatMap((group) => jobOfGroup(store, group, open, { isReserved, isWide }) ?? []);
    const jobOf = new Map(jobs.flatMap(({ id, senders }) => senders.map((move) => [move, id] as const)));
    const moved = new Map(open.map((move) => [move, { ...move, to: destinationOf(move, jobOf.get(move)) }]));
    const written = [...moved].map(([move, outcome]) => ({ move, ...writesOf(outcome, outcomeOf.get(move)) }));
    const rows = written.flatMap(({ move, rows: moveRows }) => moveRows.map((write) => ({ move, write })));
    const sends = isReserved ? jobs.reduce((sum, { n }) => sum + n, 0) : 0;
    const allowance = workspace && sends > 0 ? allowanceOf(workspace) : undefined;
    const quota = allowance ? [sendReservation(sends, allowance, store.clock.now())] : [];
    const guards = admitted.guards(jobs);
    const writes = [
      ...rows.map(({ write }) => write),
      ...guards,
      ...quota,
      ...jobs.flatMap(({ writes: jobWrites }) => jobWrites),
      ...countsOf(written),
    ];
    if (writes.length > MAX_ITEMS) return "too many";
    await timers.set(jobs.map(({ id }) => watchOf(store, id)));
    if (guards.length > 0 && admitted.isOld()) return "overtaken";
    const failures = await failuresOf(store, writes);
    if (failures.length === 0) {
      if (allowance) await warnOfUsage(store, "sends", allowance);
      return { moved, overQuota };
    }
    if (guards.some((_, i) => failures[rows.length + i])) return "overtaken";
    const refused = new Set(rows.flatMap(({ move }, i) => (failures[i] ? [move] : [])));
    const isBeyond = quota.length > 0 && failures[rows.length + guards.length] !== undefined;
    if (isBeyond && allowance) {
      const unmoved = open.filter((move) => !refused.has(move));
      const sending = unmoved.filter((move) => groups.some(({ recipients }) => recipients.has(move)));
      const beginning = sending.filter(({ entry }) => entry);
      const left = (await sendsLeft(store, allowance)) - (sending.length - beginning.length);
      // Runs beyond the quota do not begin. The sends of runs that go on fail when they are dispatched.
      if (beginning.length === 0) isReserved = false;
      for (const move of beginning.slice(Math.max(0, Math.min(left, beginning.length - 1)))) overQuota.add(move);
    } else if (refused.size === 0) throw new Error("A pack was refused, and none of its runs.");
    open = open.filter((move) => !refused.has(move) && !overQuota.has(move));
  }
  return { moved: new Map(), overQuota };
}

function writesOf({ run, entry, to, outcomes, send }: Move, sent: string | undefined): RunWrites {
  const all = send && sent !== undefined ? [...outcomes, { step: send.node.id, name: sent }] : outcomes;
  return entry ? entryWrites(run, to, all, entry) : moveWrites(run, to, all);
}

/**
 * The destination, with the send whose message waits for the end of quiet hours; without a send, that of the former
 * position.
 */
function destinationOf({ to, send }: Move, job: string | undefined): Destination {
  if (to.kind === "ends" || to.position.message !== THIS_SEND) return to;
  return { ...to, position: { ...to.position, message: job ?? send?.reached.message } };
}

/** One write of the counts for all moves. The first run decides the shard. */
function countsOf(written: readonly ({ move: Move } & RunWrites)[]): ItemWrite<"workspace">[] {
  const [first] = written;
  const sum = sumOf(...written.map(({ counts }) => counts));
  return first ? countWrites(first.move.run.journey_id, first.move.run.id, sum) : [];
}

/** One timer for all runs that are evaluated again at the same time. */
function runTimers(moves: readonly Move[]): Timer[] {
  const due = moves.flatMap(({ run, times }) => times.map((at) => ({ at, run })));
  return [...Map.groupBy(due, ({ at }) => at)].map(([at, dueRuns]) => {
    const runs = dueRuns.map(({ run: { subscriber_id, id, seq } }) => ({
      subscriber: subscriber_id,
      run: id,
      seq: seq + 1,
    }));
    return { kind: "journey-runs", id: runsTimerId(dueRuns[0]?.run.journey_id ?? "", runs), at };
  });
}

const watchOf = ({ clock }: Store, id: string): Timer => ({ kind: "job-watch", id, at: clock.now() + WATCH_AFTER_MS });
