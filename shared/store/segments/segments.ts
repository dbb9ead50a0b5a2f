// Segments (SEG-1 to SEG-14): the subscribers that match a rule, computed once or kept up to date.
import * as v from "valibot";
import { grammar } from "../../contract/grammar.ts";
import { pageRoom } from "../../contract/paging.ts";
import { LastError } from "../../contract/schemas.ts";
import { MINUTE, timestamp } from "../../kernel/clock.ts";
import { ApiError, beingChanged, conflict, invalid, requireFound } from "../../kernel/errors.ts";
import { canonicalJson } from "../../kernel/objects.ts";
import { mentionsTime } from "../../rules/bare-dates.ts";
import { fieldPath } from "../../rules/field-path.ts";
import { type PlanName, plans } from "../../rules/plans.ts";
import { capProblem, type Rule } from "../../rules/segment-evaluation.ts";
import { parseRule, type RuleProblem } from "../../rules/segment-rules.ts";
import { absent, all, any, below, is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { countChange } from "../counters.ts";
import { anotherEdit, type EditResult, edited, isStill, outdated, versionOf } from "../edits.ts";
import { type EntityRange, entityPage } from "../entity-pages.ts";
import { watchersChanged, watchWrites } from "../events/watchers.ts";
import { changeItem, fieldsOf, type NewRowOf, putItem, removeItem } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import type { Group } from "../lists/items.ts";
import { countMembers, countsOfMany } from "../lists/member-counts.ts";
import { Name, requireRoomForName } from "../name-index.ts";
import { contended, done, failuresOf, happened, untilUncontended, whereItHolds } from "../refusals.ts";
import type { Timers } from "../timers.ts";
import { partsNeeded } from "./fill.ts";
import { DynamicSegmentCount, SegmentItem, type SegmentRow, segmentFields } from "./items.ts";
import { compiledRule } from "./rules.ts";

export const Segment = v.object({
  id: segmentFields.id,
  name: segmentFields.name,
  is_dynamic: segmentFields.is_dynamic,
  needs_recompute: v.boolean(),
  last_error: v.optional(LastError),
  count: v.number(),
  rule: v.pipe(v.record(v.string(), v.any()), grammar("SegmentRule")),
  created_at: segmentFields.created_at,
  updated_at: segmentFields.updated_at,
});
export interface Segment extends v.InferOutput<typeof Segment> {
  /** Not of the body: the entity tag. */
  version: number;
}

interface SegmentInput {
  name: string;
  is_dynamic?: boolean | undefined;
  rule: Record<string, unknown>;
}

/** When a computation is looked at, if it has not ended. */
export const WATCH_RUN_MS = 15 * MINUTE;

export const groupOf = (id: string): Group => ({ kind: "segment", id });
const nameTaken = () => conflict("The name is already used by another segment.");

/** Requires a valid rule. @throws 422 naming its problem, or the part beyond the plan (SEG-7) */
export async function requireRule(store: StoreReader, plan: PlanName, value: unknown, field = "rule"): Promise<Rule> {
  const refuse = ({ path, reason }: Pick<RuleProblem, "path" | "reason">) => {
    const name = fieldPath(field, path) || "body";
    throw invalid({ [name]: reason });
  };
  const parsed = parseRule(value, true);
  if (parsed.kind === "problem") return refuse(parsed);
  const rule = await compiledRule(store, value);
  const beyond = capProblem(rule, plans[plan]);
  return beyond ? refuse(beyond) : rule;
}

const eventNames = ({ events }: Rule): string[] => events.map(({ name }) => name);

/**
 * Creates a segment. Its members are computed in the background (AMB-17).
 * @throws 403 beyond the plan's dynamic segments, 409 if the name is taken, 422, 429 beyond 10,000 segments.
 */
export async function createSegment(
  store: Store,
  timers: Timers,
  plan: PlanName,
  { name, is_dynamic = false, rule }: SegmentInput,
): Promise<Segment> {
  const compiled = await requireRule(store, plan, rule);
  const max = plans[plan].dynamicSegments;
  if (is_dynamic && max === 0)
    throw new ApiError("FEATURE_NOT_AVAILABLE", `Dynamic segments are not part of the plan ${plan}.`);
  await requireRoomForName(store, SegmentItem, "segments");
  const row = await newRow(store, { name, is_dynamic, rule });
  const { id } = row;
  const ofDynamic = [
    changeItem(DynamicSegmentCount, {}, countChange({ n: 1 }), any(absent("n"), below("n", max))),
    ...watchWrites("segment", id, eventNames(compiled)),
  ];
  await watchRun(store, timers, id);
  const [taken, , full] = await failuresOf(store, [
    putItem(Name, { kind: "segment", name }, { id }, absent()),
    putItem(SegmentItem, { id }, row),
    ...(is_dynamic ? ofDynamic : []),
  ]);
  if (full)
    throw new ApiError(
      "FEATURE_NOT_AVAILABLE",
      `The plan ${plan} includes ${max} dynamic segments, and they are in use.`,
    );
  // The reply to this very write may have been lost: then the name is its own.
  if (taken && taken.old?.id !== id) throw nameTaken();
  return segmentOf(row, 0);
}

/** The row of a new segment, whose first computation begins. */
async function newRow(
  store: Store,
  { name, is_dynamic, rule }: SegmentInput & { is_dynamic: boolean },
): Promise<NewRowOf<typeof SegmentItem>> {
  const now = store.clock.now();
  const at = timestamp(now);
  const progress = { parts: await partsNeeded(store), parts_done: 0, computed: 0 };
  const computation = { run: 1, run_version: 1, run_at: now, ...progress };
  const named = { react: "segment" as const, id: store.ids.uuidAt(now), name, is_dynamic };
  return { ...named, rule: toJson(rule), rule_version: 1, created_at: at, updated_at: at, ...computation };
}

const watchRun = (store: Store, timers: Timers, id: string) =>
  timers.set([{ kind: "segment-run", id, at: store.clock.now() + WATCH_RUN_MS }]);

export const findSegment = (store: StoreReader, id: string): Promise<SegmentRow | undefined> =>
  store.get(SegmentItem, { id });

export async function requireRow(store: StoreReader, id: string): Promise<SegmentRow> {
  return requireFound(await findSegment(store, id), "segment");
}

/** Gets a segment. @throws 404, also for another workspace's segment */
export async function getSegment(store: StoreReader, id: string): Promise<Segment> {
  const [row, count] = await Promise.all([requireRow(store, id), countMembers(store, groupOf(id))]);
  return segmentOf(row, count);
}

/** SEG-5: newest first, by pages of a few MB. `next` is absent on the last page. */
export async function listSegments(
  store: StoreReader,
  range: EntityRange,
): Promise<{ segments: Segment[]; next: string | undefined }> {
  const { items: rows, next } = await entityPage(store, SegmentItem, range, {
    read: (row) => row,
    accepts: pageRoom(),
  });
  const ids = rows.map(({ id }) => id);
  const counts = await countsOfMany(store, "segment", ids, { asRange: true });
  return { segments: rows.map((row) => segmentOf(row, counts.get(row.id) ?? 0)), next };
}

/**
 * Changes a segment (SEG-8). A changed rule sets `needs_recompute`; the same rule leaves it as it was (AMB-70). A
 * dynamic segment is then recomputed. @param seen only if it still has this version @throws 404, 409 if the new name is
 * taken, 422
 */
export async function updateSegment(
  store: Store,
  timers: Timers,
  id: string,
  { plan, input, seen }: { plan: PlanName; input: SegmentInput; seen?: number | undefined },
): Promise<EditResult<Segment>> {
  const compiled = await requireRule(store, plan, input.rule);
  return untilUncontended<EditResult<Segment>>(beingChanged, async () => {
    const row = await requireRow(store, id);
    if (seen !== undefined && versionOf(row) !== seen) return done(outdated);
    const edit = await editOf(store, row, input);
    if (edit.starts) await watchRun(store, timers, id);
    const outcome = await writeEdit(store, row, edit, compiled);
    switch (outcome) {
      case "written": {
        const count = await countMembers(store, groupOf(id));
        return done(edited(segmentOf({ ...row, ...edit.set, edits: versionOf(row) }, count)));
      }
      case "name taken":
        throw nameTaken();
      case "changed meanwhile":
        return contended;
    }
  });
}

interface Edit {
  set: Pick<SegmentRow, "name" | "updated_at"> & Partial<SegmentRow>;
  /** A dynamic segment with a new rule is recomputed. */
  starts: boolean;
}

/** The edit of a segment. @throws 422 for changing a static segment to dynamic, or the reverse */
async function editOf(store: Store, row: SegmentRow, { name, is_dynamic, rule }: SegmentInput): Promise<Edit> {
  if (is_dynamic !== undefined && is_dynamic !== row.is_dynamic) throw invalid({ is_dynamic: "cannot be changed" });
  const isChanged = canonicalJson(rule) !== canonicalJson(fromJson(row.rule));
  const starts = isChanged && row.is_dynamic;
  const rule_version = row.rule_version + 1;
  const set = {
    name,
    updated_at: timestamp(store.clock.now()),
    ...(isChanged && { rule: toJson(rule), rule_version }),
    ...(starts && { run: row.run + 1, run_version: rule_version, parts_done: 0, parts: await partsNeeded(store) }),
  };
  return { set, starts };
}

async function writeEdit(
  store: Store,
  row: SegmentRow,
  { set, starts }: Edit,
  compiled: Rule,
): Promise<"written" | "name taken" | "changed meanwhile"> {
  const { id } = row;
  const isSame = all<"name" | "rule_version" | "run" | "edits">(isUnchanged(row), isStill(versionOf(row)));
  const renaming = [
    putItem(Name, { kind: "segment", name: set.name }, { id }, absent()),
    removeItem(Name, { kind: "segment", name: row.name }, is("id", id)),
  ];
  const isRenamed = set.name !== row.name;
  const failures = await failuresOf(store, [
    changeItem(SegmentItem, { id }, { set, add: anotherEdit }, isSame),
    ...(isRenamed ? renaming : []),
    ...(starts ? watchWrites("segment", id, eventNames(compiled)) : []),
  ]);
  if (failures.length === 0) return "written";
  const [moved, taken] = failures;
  return isRenamed && taken && !moved ? "name taken" : "changed meanwhile";
}

/** The segment is still as it was read. */
const isUnchanged = ({ name, rule_version, run }: SegmentRow) =>
  all(is("name", name), is("rule_version", rule_version), is("run", run));

/** Recomputes a segment in the background; a computation in progress starts again. @throws 404 */
export async function recomputeSegment(store: Store, timers: Timers, id: string): Promise<void> {
  return untilUncontended(beingChanged, async () => {
    const row = await requireRow(store, id);
    await watchRun(store, timers, id);
    const parts = await partsNeeded(store);
    const since = row.parts_done === row.parts ? row.run_at : row.since;
    const times = { run_at: store.clock.now(), ...(since !== undefined && { since }) };
    const set = { run: row.run + 1, run_version: row.rule_version, parts, parts_done: 0, ...times };
    const isStarted = await happened(store.change(SegmentItem, { id }, { set }, isUnchanged(row)));
    return isStarted ? done(undefined) : contended;
  });
}

/** Recomputes the dynamic segments whose members depend on the beginning of the workspace's days (AMB-137). */
export async function recomputeDated(store: Store, timers: Timers): Promise<void> {
  // Rules are cached with the zone of their bare dates.
  await watchersChanged(store);
  const rows = await store.queryAll(SegmentItem, {});
  const dated = rows.filter(({ is_dynamic, rule }) => is_dynamic && mentionsTime(fromJson(rule)));
  for (const { id } of dated) await recomputeSegment(store, timers, id);
}

export async function countDynamicSegments(store: StoreReader): Promise<number> {
  return (await store.get(DynamicSegmentCount, {}, { eventual: true }))?.n ?? 0;
}

/** The watchdog found parts of a run that no worker has computed in time: the segment shows it (AMB-123). */
export async function noteLate(store: Store, { id, run }: SegmentRow, open: number): Promise<void> {
  const message = `The computation is late: ${open} of its parts were started again.`;
  const last_error = { code: "RECOMPUTE_LATE", message, at: timestamp(store.clock.now()) };
  await whereItHolds(store.change(SegmentItem, { id }, { set: { last_error, failed_run: run } }, is("run", run)));
}

const segmentOf = (row: NewRowOf<typeof SegmentItem>, count: number): Segment => ({
  ...fieldsOf(segmentFields, row),
  needs_recompute: row.rule_version > row.computed,
  ...(row.failed_run === row.run && row.parts_done < row.parts && row.last_error && { last_error: row.last_error }),
  count,
  version: versionOf(row),
  rule: fromJson(row.rule),
});
