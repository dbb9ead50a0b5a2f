// Runs of journeys (D-JNY-RUN): a row with the subscriber, guarded by its `seq`; an entry in a shard of the journey; and
// the counts. What changes, changes in one transaction with the runs that move together, or in
// a pack (run-packs.ts). Runs are read here without open packs, so that every move of them is counted once.
import * as v from "valibot";
import { Halt } from "../../contract/safety.ts";
import { isUuid, said, Timestamp } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { beingChanged, conflict, notFound } from "../../kernel/errors.ts";
import type { Outcome, Position } from "../../rules/journey-run.ts";
import { type RunStatus, runMoves } from "../../rules/run-states.ts";
import { absent, all, is, oneOf } from "../conditions.ts";
import type { Store } from "../context.ts";
import { changeItem, fieldsOf, type ItemWrite, type NewRowOf, putItem, removeItem } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import type { Key } from "../model.ts";
import { contended, done, transacted, untilUncontended, whereItHolds } from "../refusals.ts";
import { type Addends, countWrites, outcomeAddends, outcomesIn, statusAddends, sumOf } from "./counts.ts";
import { Cause, RunEntry, RunItem, type RunKey, type RunRow, rowKeyOf, runEntryKey, runFields } from "./run-items.ts";
import { settled, settledNewest, settledRuns } from "./run-packs.ts";
import { type EntryGuard, isAsRead, isWithdrawn, newestWrites, type RunPlace } from "./run-rows.ts";
import { RunSteps, stepsOf } from "./run-steps.ts";

export const Run = v.object({
  ...runFields,
  current_step: v.string(),
  entered_at: said("When what started it was received", Timestamp),
  ended_at: said(
    "When it ended. A run counts from when its event occurred, so this may be before `entered_at`",
    v.nullable(Timestamp),
  ),
  end_reason: v.nullable(v.string()),
  context: Cause,
  steps: RunSteps,
  waiting_until: said(
    "Until when it waits at its step; `null` if it does not, or for an event without a limit",
    v.nullable(Timestamp),
  ),
  halted: said("Of a run that waits at a send step which its brake halted: why", v.optional(Halt)),
});
export type Run = v.InferOutput<typeof Run>;

/** A run, and what its next move needs. */
export interface RunState extends Run {
  key: RunKey;
  seq: number;
  position: Position;
}

/** The destination of a run: a position, of another version if one is named, or its end. */
export type Destination =
  | { kind: "at"; position: Position; version?: number }
  | { kind: "ends"; status: Exclude<RunStatus, "active">; step: string; reason: string; at: number };

const actionOf = { completed: "complete", exited: "exit", canceled: "cancel" } as const;

/** The changes of a run's move: to its rows, and to the counts of its journey. */
export interface RunWrites {
  rows: ItemWrite<"workspace">[];
  counts: Addends;
}

type NewRun = Pick<RunState, "id" | "journey_id" | "version" | "subscriber_id" | "context" | "entered_at">;

/** The row of a run that begins, at the first position where it stops, and its change of the counts. */
export function entryOf(run: NewRun, to: Destination, outcomes: readonly Outcome[]) {
  const { id, journey_id, version, subscriber_id, context, entered_at } = run;
  const { status, step, ...placed } = stateAt(to);
  const row: NewRowOf<typeof RunItem> = {
    id,
    journey_id,
    version,
    subscriber_id,
    status,
    step,
    seq: 1,
    entered_at,
    context: toJson(context),
    ...placed,
    ...outcomeAddends(outcomes),
  };
  return { row, counts: sumOf(statusAddends(status, step, 1), outcomeAddends(outcomes)) };
}

export function entryWrites(run: NewRun, to: Destination, outcomes: readonly Outcome[], guard: EntryGuard): RunWrites {
  const { row, counts } = entryOf(run, to, outcomes);
  const { id, journey_id: journey, subscriber_id: subscriber, status } = row;
  return {
    rows: [
      ...newestWrites({ subscriber, journey }, row, guard),
      // A run that ended, and is no longer the newest one, does not begin again by a message that is delivered again.
      putItem(RunEntry, runEntryKey(journey, id), { subscriber, status }, absent()),
    ],
    counts,
  };
}

/** The writes that move a run from where it was read. They are refused where another worker has moved it. */
export function moveWrites(run: RunState, to: Destination, outcomes: readonly Outcome[]): RunWrites {
  const { key, change, when, counts } = runMove(run, to, outcomes);
  return { rows: [changeItem(RunItem, key, change, when)], counts };
}

/**
 * The change that moves a run from where it was read, and its change of the counts. It is refused if another worker has
 * moved the run. @param pack of a move that is a write of its own
 */
export function runMove(run: RunState, to: Destination, outcomes: readonly Outcome[], pack?: string) {
  const kept = { ...(to.kind === "at" && to.position), pack };
  const { status, step, ...placed } = stateAt(to);
  const change = {
    set: { status, step, seq: run.seq + 1, ...placed, pack },
    add: outcomeAddends(outcomes),
    remove: ([...positionFields, "pack"] as const).filter((name) => kept[name] === undefined),
  };
  const before = statusAddends(run.status, run.current_step, -1);
  const counts = sumOf(before, statusAddends(status, step, 1), outcomeAddends(outcomes));
  const from = to.kind === "ends" ? runMoves[actionOf[to.status]].from : (["active"] as const);
  return { key: run.key, change, when: all(is("id", run.id), is("seq", run.seq), oneOf("status", from)), counts };
}

const positionFields = ["at", "from", "since", "until", "heard", "paused", "spent", "message"] as const;

/** The attributes of a run at a position, or at its end. */
const stateAt = (to: Destination) =>
  to.kind === "ends"
    ? { status: to.status, step: to.step, ended_at: timestamp(to.at), end_reason: to.reason }
    : { status: "active" as const, ...to.position, ...(to.version !== undefined && { version: to.version }) };

export async function findRun(
  store: Store,
  subscriber: string,
  journey: string,
  run: string,
): Promise<RunState | undefined> {
  const [row] = await settledRuns(store, [{ subscriber, journey, run }]);
  return row && runOf(row);
}

export async function findRuns(store: Store, keys: readonly RunKey[]): Promise<(RunState | undefined)[]> {
  const rows = await settledRuns(store, keys);
  return rows.map((row) => row && runOf(row));
}

/** The active runs of subscribers in journeys; each once. */
export async function activeRuns(store: Store, places: readonly RunPlace[]): Promise<RunState[]> {
  const once = [...new Map(places.map((place) => [`${place.subscriber} ${place.journey}`, place])).values()];
  const newest = await settledNewest(store, once);
  return newest.flatMap((row) => (row?.status === "active" ? [runOf(row)] : []));
}

export async function readActive(store: Store, keys: readonly RunKey[]): Promise<RunState[]> {
  const rows = await settledRuns(store, keys);
  return rows.flatMap((row) => (row?.status === "active" ? [runOf(row)] : []));
}

/** AMB-74: returns the run, also if it is canceled already. @throws 404, 409 for a run that ended otherwise. */
export async function cancelRun(store: Store, journey: string, id: string): Promise<RunState> {
  return untilUncontended(beingChanged, async () => {
    const entry = isUuid(id) ? await store.get(RunEntry, runEntryKey(journey, id)) : undefined;
    const run = entry?.subscriber === undefined ? undefined : await findRun(store, entry.subscriber, journey, id);
    if (!run) throw notFound("run");
    if (run.status === "canceled") return done(run);
    if (run.status !== "active") throw conflict(`The run is ${run.status} and can no longer be canceled.`);
    await endRun(store, run, "canceled by a user");
    return contended;
  });
}

/** Cancels a run, unless another worker moved it. */
export async function endRun(store: Store, run: RunState, reason: string): Promise<"canceled" | "moved"> {
  const at = store.clock.now();
  const end: Destination = { kind: "ends", status: "canceled", step: run.current_step, reason, at };
  const { rows, counts } = moveWrites(run, end, []);
  const isCanceled = await transacted(store, [...rows, ...countWrites(run.journey_id, run.id, counts)]);
  return isCanceled ? "canceled" : "moved";
}

export const isRun = ({ pk, sk }: Key): boolean => pk.includes("#U#") && sk.startsWith("J#");

/** Cancels and removes the runs of an erased subscriber; the counts keep what they count, without the subscriber. */
export async function forgetRuns(store: Store, subscriber: string, rows: readonly Key[]): Promise<void> {
  for (const { sk } of rows) {
    const [, journey = "", run = ""] = sk.split("#");
    const key = { subscriber, journey, run };
    const [row] = await settled(store, () => store.getAll(RunItem, [key]));
    // A withdrawn row names no other subscriber, and expires by itself: removed sooner, it would let a late run begin.
    if (!row || isWithdrawn(row)) continue;
    const { id } = row;
    const status = row.status === "active" ? "canceled" : row.status;
    const counted = sumOf(statusAddends(row.status, row.step, -1), statusAddends(status, row.step, 1));
    const entry = { set: { status, ...outcomesIn(row) }, remove: ["subscriber"] as const };
    await whereItHolds(
      store.transact([
        removeItem(RunItem, key, isAsRead(row)),
        changeItem(RunEntry, runEntryKey(journey, id), entry),
        ...countWrites(journey, id, counted),
      ]),
    );
  }
}

export function runOf(row: RunRow): RunState {
  const { step, entered_at, ended_at = null, end_reason = null, context, seq, until } = row;
  const isActive = row.status === "active";
  return {
    ...fieldsOf(runFields, row),
    steps: stepsOf(row),
    waiting_until: isActive && until !== undefined ? timestamp(until) : null,
    key: rowKeyOf(row),
    current_step: step,
    entered_at,
    ended_at,
    end_reason,
    context: fromJson(context),
    seq,
    position: { step, ...present(row) },
  };
}

const present = (row: RunRow): Omit<Position, "step"> =>
  Object.fromEntries(positionFields.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]])));
