// The brake of a journey's send step (F21, docs/decisions/0077): the figures of its last messages, and how it halts and
// is resumed.
import { HOUR, timestamp } from "../../kernel/clock.ts";
import { timeOfUuid } from "../../kernel/ids.ts";
import {
  type Breach,
  breachOf,
  DEFAULT_SAFETY,
  type Halt,
  type Limits,
  type Safety,
  textOf,
} from "../../rules/brake.ts";
import { isTerminal } from "../../rules/job-states.ts";
import {
  attemptsOf,
  canaryEnd,
  NO_STEP_ATTEMPTS,
  type StepAttempts,
  type StepWindow,
  slide,
} from "../../rules/step-brake.ts";
import { absent, all, asRead, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { annotationWrite } from "../insights/annotations.ts";
import { type ConditionOf, changeItem, type ItemWrite, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { madeOnce, whereItHolds } from "../refusals.ts";
import { RangeItem } from "../sends/audience/audience-items.ts";
import { PLANNED_RANGE } from "../sends/chunks/range-names.ts";
import { tallyOf } from "../sends/chunks/tallies.ts";
import { JobItem } from "../sends/jobs/job-items.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { type LateFigures, StepLane, type StepRef, StepSignal, StepState } from "./step-brake-items.ts";
import { lanes } from "./step-states.ts";

type StateRow = RowOf<typeof StepState>;
type LaneRow = RowOf<typeof StepLane>;

/** While it is halted, its runs look again this often: the message that resumes them may be lost. */
export const HALTED_LOOK_MS = HOUR;

const NO_LATE_FIGURES: LateFigures = { mails: 0, bounced: 0, complained: 0, opted_out: 0 };
const NO_WINDOW: StepWindow = { now: NO_STEP_ATTEMPTS, before: NO_STEP_ATTEMPTS };

export interface LaneView {
  lane: number;
  /** Undefined: it has no row yet. */
  rev: number | undefined;
  /** Sends in progress: not worked through once. */
  open: readonly (readonly [job: string, n: number])[];
  /** Their messages, without those that wait for the end of quiet hours. */
  underWay: number;
  window: StepWindow;
  mails: number;
}

export interface StepView {
  state: StateRow | undefined;
  lanes: LaneView[];
  /** Attempts of the last messages. */
  attempts: StepAttempts;
  /** Since it was resumed. */
  late: LateFigures;
}

/** The limits of a step: its own on top of the workspace's, or what `resume` gave it. Undefined: it has no brake. */
export function limitsOf(
  own: Safety | undefined,
  workspace: Pick<WorkspaceRecord, "safety"> | undefined,
  state: Pick<StateRow, "safety"> | undefined,
): Safety | undefined {
  const changed = state?.safety && fromJson(state.safety);
  if (!own || changed === "off") return undefined;
  const { min_audience: _, ...limits } = workspace?.safety ?? DEFAULT_SAFETY;
  return { ...limits, ...own, ...changed };
}

/** When a person outside the canary of a step goes on, RFC 3339; null for a person who does not wait for it. */
export async function canaryWaitOf(
  store: StoreReader,
  ref: StepRef,
  {
    subscriber,
    safety,
    workspace,
  }: { subscriber: string; safety: Safety | undefined; workspace: WorkspaceRecord | undefined },
): Promise<string | null> {
  const state = safety && (await store.get(StepState, ref));
  const limits = limitsOf(safety, workspace, state);
  if (!limits || state?.began === undefined || state.halted || state.canceled || state.resumed) return null;
  const ends = canaryEnd(ref, subscriber, limits, { began: state.began, now: store.clock.now() });
  return ends === undefined ? null : timestamp(ends);
}

/** Reads the figures of a step. Late figures make the bounds of its lanes smaller, never larger. */
export async function viewStep(store: StoreReader, ref: StepRef): Promise<StepView> {
  const keys = lanes.map((lane) => ({ ...ref, lane }));
  const [state, rows, signals] = await Promise.all([
    store.get(StepState, ref),
    store.getAll(StepLane, keys),
    store.getAll(StepSignal, keys, { eventual: true }),
  ]);
  const worked = await sendsOf(store, rows);
  const views = lanes.map((lane) => laneView(lane, rows[lane], state, worked));
  const sum = (name: "bounced" | "complained" | "opted_out") => signals.reduce((n, row) => n + (row?.[name] ?? 0), 0);
  const before = state?.resumed_with ? fromJson(state.resumed_with) : NO_LATE_FIGURES;
  return {
    state,
    lanes: views,
    attempts: attemptsOf(views.flatMap(({ window }) => [window.now, window.before])),
    late: {
      mails: views.reduce((n, { mails }) => n + mails, 0) - before.mails,
      bounced: sum("bounced") - before.bounced,
      complained: sum("complained") - before.complained,
      opted_out: sum("opted_out") - before.opted_out,
    },
  };
}

interface AttemptedSteps {
  /** Undefined: it was not worked through yet. */
  attempts: StepAttempts | undefined;
  deferred: number;
}

/**
 * The results of the sends in progress. A send that ended otherwise, such as beyond the quota, was worked through as
 * well.
 */
async function sendsOf(
  store: StoreReader,
  rows: readonly (LaneRow | undefined)[],
): Promise<Map<string, AttemptedSteps>> {
  const sends = rows.flatMap((row) => (row ? fromJson(row.open) : []));
  const keys = sends.map(([job]) => ({ job, range: PLANNED_RANGE }));
  const ranges = await store.getAll(RangeItem, keys, { eventual: true });
  const worked = new Map<string, AttemptedSteps>();
  for (const [i, [job, n]] of sends.entries()) {
    const row = ranges[i];
    const { attempts } = tallyOf(row ?? {});
    const isPassed = attempts.passed > 0 || row?.closed === true;
    worked.set(job, { attempts: isPassed ? { ...attempts, passed: n } : undefined, deferred: row?.deferred ?? 0 });
  }
  const unknown = sends.filter(([job]) => worked.get(job)?.attempts === undefined);
  const jobKeys = unknown.map(([job]) => ({ job }));
  const jobs = await store.getAll(JobItem, jobKeys, { eventual: true });
  for (const [i, [job, n]] of unknown.entries()) {
    const status = jobs[i]?.status;
    if (status && isTerminal(status)) worked.set(job, { attempts: { ...NO_STEP_ATTEMPTS, passed: n }, deferred: 0 });
  }
  return worked;
}

function laneView(
  lane: number,
  row: LaneRow | undefined,
  state: StateRow | undefined,
  worked: ReadonlyMap<string, AttemptedSteps>,
): LaneView {
  if (!row) return { lane, rev: undefined, open: [], underWay: 0, window: NO_WINDOW, mails: 0 };
  const sends = fromJson(row.open).map(([job, n]) => ({ job, n, ...worked.get(job) }));
  const open = sends.filter(({ attempts }) => !attempts);
  const known = sends.flatMap(({ job, attempts }) => (attempts ? [{ job, attempts }] : []));
  const counted = known.filter(({ job }) => timeOfUuid(job) >= (state?.resumed ?? 0)).map(({ attempts }) => attempts);
  const window = row.since === state?.resumed ? fromJson(row.window) : NO_WINDOW;
  return {
    lane,
    rev: row.rev,
    open: open.map(({ job, n }) => [job, n] as const),
    underWay: open.reduce((sum, { n, deferred = 0 }) => sum + Math.max(0, n - deferred), 0),
    window: slide(window, attemptsOf(counted)),
    mails: row.mails + known.reduce((sum, { attempts }) => sum + (attempts.tried.email ?? 0), 0),
  };
}

/** Whether a limit is exceeded for sure: by errors among the last messages, or by what came back since it was resumed. */
export function breachOfStep({ max_error_rate, ...late }: Limits, view: StepView): Breach | undefined {
  const { mails, ...signals } = view.late;
  const none = { bounced: 0, complained: 0, opted_out: 0 };
  return (
    breachOf({ max_error_rate }, { ...view.attempts, ...none }) ??
    breachOf(late, { tried: { email: mails }, errors: {}, passed: 0, ...signals })
  );
}

/** The write that begins sends in a lane, on condition that nothing began there since it was read. */
export function laneWrite(
  ref: StepRef,
  { lane, rev, open, window, mails }: LaneView,
  sends: readonly { id: string; n: number }[],
  since: number | undefined,
): ItemWrite<"workspace"> {
  const set = {
    rev: (rev ?? 0) + 1,
    open: toJson([...open, ...sends.map(({ id, n }) => [id, n] as const)]),
    window: toJson(window),
    mails,
    ...(since !== undefined && { since }),
  };
  return changeItem(StepLane, { ...ref, lane }, { set }, asRead("rev", rev));
}

const named = ({ journey, version, step }: StepRef) => ({ react: "journey-step" as const, journey, version, step });

/** Notes when the first run arrived at a step with a canary. @returns that time */
export async function beginStep(store: Store, ref: StepRef): Promise<number> {
  const now = store.clock.now();
  const { began = now } = await store.change(StepState, ref, { set: named(ref), initial: { began: now } });
  return began;
}

/** Halts a step, once, unless it was resumed since it was read. */
export async function haltStep(store: Store, ref: StepRef, { state }: StepView, breach: Breach): Promise<void> {
  const halted: Halt = { ...breach, at: timestamp(store.clock.now()) };
  const isAsRead: ConditionOf<typeof StepState> = asRead("resumed", state?.resumed);
  const text = `The step ${ref.step} of the journey halted: ${textOf(breach)}.`;
  const change = { set: { ...named(ref), halted: toJson(halted) } };
  await whereItHolds(
    store.transact([
      changeItem(StepState, ref, change, all(absent("halted"), absent("canceled"), isAsRead)),
      annotationWrite(store, { kind: "blast_halted", text, ref_id: ref.journey }),
    ]),
  );
}

/**
 * Resumes a halted step: its figures until now no longer count. @param safety other limits from now on; `off`: none
 * @returns false if it is not halted
 */
export async function resumeStep(store: Store, ref: StepRef, safety: Safety | "off" | undefined): Promise<boolean> {
  const { state, late } = await viewStep(store, ref);
  const before = state?.resumed_with ? fromJson(state.resumed_with) : NO_LATE_FIGURES;
  const known: LateFigures = {
    mails: before.mails + late.mails,
    bounced: before.bounced + late.bounced,
    complained: before.complained + late.complained,
    opted_out: before.opted_out + late.opted_out,
  };
  const earlier = state?.safety && fromJson(state.safety);
  const limits = safety === "off" || earlier === "off" ? safety : { ...earlier, ...safety };
  const set = {
    resumed: store.clock.now(),
    resumed_with: toJson(known),
    ...(safety !== undefined && limits !== undefined && { safety: toJson(limits) }),
  };
  const resuming = store.change(StepState, ref, { set, remove: ["halted"] }, present("halted"));
  return madeOnce(StepState, resuming, (old) => old?.halted === undefined && old?.resumed === set.resumed);
}

/** Ends what waits at a halted step, and what will arrive there. It may be repeated. @returns false if it is not halted */
export const cancelStep = (store: Store, ref: StepRef): Promise<boolean> =>
  madeOnce(
    StepState,
    store.change(StepState, ref, { set: { canceled: true } }, all(present("halted"), absent("canceled"))),
    (old) => old?.canceled === true,
  );
