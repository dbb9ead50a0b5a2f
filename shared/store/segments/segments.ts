// Segments (SEG-1 to SEG-14): subscribers that a rule chooses, computed once or kept up to date.
import { MINUTE, timestamp } from "../../clock.ts";
import { ApiError, conflict, invalid, notFound } from "../../http/errors.ts";
import { type PlanName, plans } from "../../plans.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { capProblem, compileRule, type Rule } from "../../rules/segment-evaluation.ts";
import { isProblem, parseRule, type RuleProblem } from "../../rules/segment-rules.ts";
import { listEntries, MAX_ENTRIES, removeNamed } from "../catalogue.ts";
import { absent, all, any, below, is } from "../conditions.ts";
import { watchWrites } from "../events/watchers.ts";
import { keys } from "../keys.ts";
import { membershipDeletionWrite, planSecondPass } from "../lists/membership-deletion.ts";
import { countMembers, countsOfMany, type Group } from "../lists/memberships.ts";
import type { Item, Key } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";
import type { Timers } from "../timers.ts";
import { partsNeeded } from "./fill.ts";

export interface Segment {
  id: string;
  name: string;
  is_dynamic: boolean;
  needs_recompute: boolean;
  count: number;
  rule: Record<string, unknown>;
  created_at: string;
  updated_at: string;
}

interface SegmentInput {
  name: string;
  is_dynamic?: boolean | undefined;
  rule: Record<string, unknown>;
}

const MAX_ATTEMPTS = 10;
export const WATCH_RUN_MS = 15 * MINUTE;

const groupOf = (id: string): Group => ({ kind: "segment", id });
const nameTaken = () => conflict("The name is already used by another segment.");

/** @throws 422 saying what is wrong with a rule, or what the plan does not allow about it (SEG-7). */
export function requireRule(plan: PlanName, value: unknown, field = "rule"): Rule {
  const refuse = ({ path, reason }: RuleProblem) => {
    const name = [field, path].filter(Boolean).join(".") || "body";
    throw invalid({ [name]: reason });
  };
  const parsed = parseRule(value);
  if (isProblem(parsed)) return refuse(parsed);
  const rule = compileRule(value);
  const beyond = capProblem(rule, plans[plan]);
  return beyond ? refuse(beyond) : rule;
}

const eventNames = ({ events }: Rule): string[] => events.map(({ name }) => name);

/** Its members are computed in the background (AMB-17). @throws 403 beyond the plan's dynamic segments, 409, 422. */
export async function createSegment(
  store: Store,
  timers: Timers,
  plan: PlanName,
  { name, is_dynamic = false, rule }: SegmentInput,
): Promise<Segment> {
  const compiled = requireRule(plan, rule);
  const max = plans[plan].dynamicSegments;
  const capReached = () =>
    new ApiError("FEATURE_NOT_AVAILABLE", `The plan ${plan} includes ${max} dynamic segments, and they are in use.`);
  if (is_dynamic && max === 0)
    throw new ApiError("FEATURE_NOT_AVAILABLE", `Dynamic segments are not part of the plan ${plan}.`);
  if ((await listEntries(store, "segment")).length >= MAX_ENTRIES)
    throw new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_ENTRIES} segments.`);
  const now = store.clock.now();
  const [id, at] = [store.ids.uuidAt(now), timestamp(now)];
  const entity: Item = {
    ...keys.entity(store.tenant, "segment", id),
    ...{ react: "segment", id, name, is_dynamic, rule: JSON.stringify(rule), rule_version: 1, created_at: at },
    ...{ updated_at: at, run: 1, run_version: 1, parts: await partsNeeded(store), parts_done: 0, computed: 0 },
  };
  const counted: TransactItem = {
    update: keys.dynamicSegments(store.tenant),
    change: { add: { n: 1 } },
    when: any(absent("n"), below("n", max)),
  };
  const writes: TransactItem[] = [
    { put: { ...keys.entry(store.tenant, "segment", name), id }, when: absent() },
    { put: entity },
  ];
  if (is_dynamic) writes.push(counted, ...watchWrites(store, "segment", id, eventNames(compiled)));
  await watchRun(store, timers, id);
  await store.transact(writes).catch(
    onTransactionCanceled(([entry, , full]) => {
      if (full) throw capReached();
      if (entry?.old?.id !== id) throw nameTaken();
    }),
  );
  return segmentOf(entity, 0);
}

const watchRun = (store: Store, timers: Timers, id: string) =>
  timers.set([{ kind: "segment-run", id, at: store.clock.now() + WATCH_RUN_MS }]);

export async function findSegment(store: StoreReader, id: string): Promise<Item | undefined> {
  return store.get(keys.entity(store.tenant, "segment", id));
}

async function requireItem(store: StoreReader, id: string): Promise<Item> {
  const item = await findSegment(store, id);
  if (!item) throw notFound("segment");
  return item;
}

/** @throws 404, also for another workspace's segment. */
export async function getSegment(store: StoreReader, id: string): Promise<Segment> {
  const [item, count] = await Promise.all([requireItem(store, id), countMembers(store, groupOf(id))]);
  return segmentOf(item, count);
}

/** SEG-5: newest first. `next` is absent on the last page. */
export async function listSegments(
  store: StoreReader,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ segments: Segment[]; next?: string }> {
  const pk = keys.entities(store.tenant, "segment");
  const items: Item[] = [];
  let position: Key | undefined = after === undefined ? undefined : { pk, sk: after };
  do {
    const page = await store.query({ pk, newestFirst: true, limit: limit - items.length, after: position });
    items.push(...page.items);
    position = page.next;
  } while (position && items.length < limit);
  const ids = items.map(({ id }) => String(id));
  const counts = await countsOfMany(store, "segment", ids, { asRange: true });
  const segments = items.map((item) => segmentOf(item, counts.get(String(item.id)) ?? 0));
  return { segments, ...(position && { next: position.sk }) };
}

/**
 * SEG-8: a changed rule sets `needs_recompute`; the same one leaves it as it was (AMB-70). A dynamic segment computes
 * itself anew. @throws 404, 409 if the new name is taken, 422.
 */
export async function updateSegment(
  store: Store,
  timers: Timers,
  plan: PlanName,
  id: string,
  { name, is_dynamic, rule }: SegmentInput,
): Promise<Segment> {
  const compiled = requireRule(plan, rule);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const item = await requireItem(store, id);
    if (is_dynamic !== undefined && is_dynamic !== item.is_dynamic) throw invalid({ is_dynamic: "cannot be changed" });
    const isChanged = canonical(rule) !== canonical(JSON.parse(String(item.rule)));
    const version = Number(item.rule_version) + (isChanged ? 1 : 0);
    const runs = isChanged && item.is_dynamic === true;
    const set = {
      name,
      updated_at: timestamp(store.clock.now()),
      ...(isChanged && { rule: JSON.stringify(rule), rule_version: version }),
      ...(runs && { run: Number(item.run) + 1, run_version: version, parts_done: 0, parts: await partsNeeded(store) }),
    };
    const unchanged = asRead(item);
    const writes: TransactItem[] = [
      { update: keys.entity(store.tenant, "segment", id), change: { set }, when: unchanged },
    ];
    if (name !== item.name)
      writes.push(
        { put: { ...keys.entry(store.tenant, "segment", name), id }, when: absent() },
        { remove: keys.entry(store.tenant, "segment", String(item.name)), when: is("id", id) },
      );
    if (runs) writes.push(...watchWrites(store, "segment", id, eventNames(compiled)));
    if (runs) await watchRun(store, timers, id);
    const outcome = await store.transact(writes).then(
      () => "done" as const,
      onTransactionCanceled(([moved, taken]) => (taken && !moved ? "taken" : "again")),
    );
    if (outcome === "taken") throw nameTaken();
    if (outcome === "done") return segmentOf({ ...item, ...set }, await countMembers(store, groupOf(id)));
  }
  throw conflict("Somebody else is changing this at the moment. Try again.");
}

/** The segment is still as it was read. */
const asRead = ({ name, rule_version, run }: Item) =>
  all(is("name", String(name)), is("rule_version", Number(rule_version)), is("run", Number(run)));

/** Computes a segment anew, in the background; one that is under way begins again. @throws 404. */
export async function recomputeSegment(store: Store, timers: Timers, id: string): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const item = await requireItem(store, id);
    await watchRun(store, timers, id);
    const parts = await partsNeeded(store);
    const set = { run: Number(item.run) + 1, run_version: Number(item.rule_version), parts, parts_done: 0 };
    const isBegun = await store.update(keys.entity(store.tenant, "segment", id), { set }, asRead(item)).then(
      () => true,
      onConditionFailed(() => false),
    );
    if (isBegun) return;
  }
  throw conflict("Somebody else is changing this at the moment. Try again.");
}

/** SEG-9: gone at once, its memberships in the background. @throws 404. */
export async function removeSegment(store: Store, timers: Timers, id: string): Promise<void> {
  const item = await requireItem(store, id);
  await planSecondPass(store, timers, "segment", id);
  const extraItems: TransactItem[] = [membershipDeletionWrite(store, "segment", id)];
  if (item.is_dynamic === true)
    extraItems.push(
      { update: keys.dynamicSegments(store.tenant), change: { add: { n: -1 } } },
      ...watchWrites(store, "segment", id, []),
    );
  if (!(await removeNamed(store, "segment", id, { extraItems }))) throw notFound("segment");
}

/** How many dynamic segments a workspace has. */
export async function countDynamicSegments(store: StoreReader): Promise<number> {
  return Number((await store.get(keys.dynamicSegments(store.tenant), { eventual: true }))?.n ?? 0);
}

/** The same for rules that differ only in the order of their keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

const segmentOf = (item: Item, count: number): Segment => ({
  id: String(item.id),
  name: String(item.name),
  is_dynamic: item.is_dynamic === true,
  needs_recompute: Number(item.rule_version) > Number(item.computed),
  count,
  rule: JSON.parse(String(item.rule)),
  created_at: String(item.created_at),
  updated_at: String(item.updated_at),
});
