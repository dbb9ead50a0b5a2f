// Segments (SEG, D-SEG, AMB-17, AMB-46, AMB-70).
import { created, type Operation, ok, read, write } from "./access.ts";
import { listing, requiredText } from "./checks.ts";
import { moveRuns, segmentChanged } from "./entries.ts";
import {
  ANY,
  type Body,
  conflict,
  duration,
  invalid,
  iso,
  MINUTE,
  notFound,
  Refusal,
  type Request,
  same,
  Unordered,
  Unpromised,
} from "./kit.ts";
import { limits } from "./plans.ts";
import type { Subscriber } from "./records/people.ts";
import type { Segment } from "./records/plans.ts";
import { attributeKeys, eventNodes, holdsFor, isWithinPlan, treeOf } from "./rules.ts";
import { eventsOf } from "./stitching.ts";
import { at, existing, found, newId, type World } from "./world.ts";

const record = (world: World, segment: Segment): Body => ({
  ...{ id: segment.id, name: segment.name, is_dynamic: segment.is_dynamic, rule: segment.rule },
  ...{ needs_recompute: segment.needs_recompute, created_at: iso(segment.created_at) },
  ...{ updated_at: iso(segment.updated_at), count: world.members.filter(({ of }) => of === segment.id).length },
});

/** RUL and the caps of the plan (SEG-7). */
function checkedTree(world: World, rule: Body): Body {
  const tree = treeOf(rule);
  if (!tree || !isWithinPlan(world, tree)) return invalid();
  return tree;
}

/** How far a change of a segment looks back for historical events, from now or from the last computation. */
const HISTORY = 15 * MINUTE;

/** AMB-133, AMB-134: whether a file without journeys or historical events alone are why somebody is in a segment now, or is not. */
function isOfHistory(world: World, segment: Segment, subscriber: Subscriber, cause: Cause): boolean {
  if (typeof cause === "object" && "event" in cause) return cause.isHistorical;
  const tree = treeOf(segment.rule)!;
  // A static segment changes by all that came since it was computed.
  const since = (segment.is_dynamic ? world.now : (segment.computed_at ?? world.now)) - HISTORY;
  const isOfFile = subscriber.quiet_at === subscriber.updated_at && subscriber.updated_at >= since;
  if (isOfFile && cause === "whole" && eventNodes(tree).length > 0)
    throw new Unpromised("a file without journeys and events may both be why a segment that is computed again changes");
  if (cause === "imported" || (isOfFile && cause === "whole")) return true;
  const linked = world.aliases.filter(({ linked_at }) => linked_at >= since).map(({ anonymous_id }) => anonymous_id);
  const came = world.events.filter(
    ({ received_at, anonymous_id }) => received_at >= since || (anonymous_id !== null && linked.includes(anonymous_id)),
  );
  const before = { ...world, events: world.events.filter((event) => !event.historical || !came.includes(event)) };
  if (holdsFor(before, tree, subscriber) === holdsFor(world, tree, subscriber)) return false;
  const names = eventNodes(tree).map(({ name }) => name);
  if (
    (cause !== "whole" && cause !== "linked") ||
    came.some((event) => !event.historical && names.includes(event.event_name))
  )
    throw new Unpromised("what is not historical changes a segment together with what is");
  return true;
}

/** The people who enter and leave now; journeys hear of it (JND-10). */
export function recompute(world: World, segment: Segment, only?: Subscriber, cause: Cause = "whole"): void {
  const tree = treeOf(segment.rule)!;
  for (const subscriber of only ? [only] : [...world.subscribers]) {
    const row = world.members.find(({ of, subscriber_id }) => of === segment.id && subscriber_id === subscriber.id);
    const belongs = holdsFor(world, tree, subscriber);
    if (belongs === (row !== undefined)) continue;
    const isHistorical = isOfHistory(world, segment, subscriber, cause);
    const change = { type: belongs ? "segment_entered" : "segment_exited", segment: segment.id, isHistorical };
    if (belongs) world.members.push({ of: segment.id, subscriber_id: subscriber.id, entered_at: world.now });
    else world.members = world.members.filter((other) => other !== row);
    segmentChanged(world, change, subscriber);
  }
  if (only) return;
  segment.needs_recompute = false;
  segment.computed_at = world.now;
}

/** What changed: a new event, or attributes; all of them for a new person. Or the whole segment is computed. */
type Cause =
  | { event: string; isHistorical: boolean }
  | { keys: readonly string[] }
  | "all"
  | "imported"
  | "linked"
  | "whole";

/**
 * SEG-14, EVT-12: dynamic membership follows attributes and events without being asked, but after the answer. Only that of
 * segments that ask for what became different: an end of a window just before it has its own time.
 */
export function subscriberChanged(world: World, subscriber: Subscriber, cause: Cause = "all"): void {
  at(world, world.now, () => {
    if (!world.subscribers.includes(subscriber)) return;
    refresh(world, subscriber, cause);
    moveRuns(world, subscriber);
    wakeAtWindowEnds(world, subscriber);
  });
}

/**
 * AMB-71: a window that ends changes the membership by itself. The product has five minutes for it, and looks at every
 * full minute: so does this, for journeys go on from there.
 */
const LAPSE = 5 * MINUTE;

function wakeAtWindowEnds(world: World, subscriber: Subscriber): void {
  const windows = world.segments
    .filter(({ is_dynamic }) => is_dynamic)
    .flatMap(({ rule }) => eventNodes(treeOf(rule)!))
    .flatMap(({ within }) => duration(within) ?? []);
  for (const window of windows)
    for (const { occurred_at } of eventsOf(world, subscriber.id)) {
      const end = occurred_at + window;
      if (end > world.now) at(world, Math.ceil(end / MINUTE) * MINUTE, () => refresh(world, subscriber));
    }
}

function refresh(world: World, subscriber: Subscriber, cause: Cause = "all"): void {
  if (!world.subscribers.includes(subscriber)) return;
  for (const segment of world.segments)
    if (segment.is_dynamic && asks(treeOf(segment.rule)!, cause)) recompute(world, segment, subscriber, cause);
}

function asks(tree: Body, cause: Cause): boolean {
  if (typeof cause === "string") return true;
  if ("event" in cause) return eventNodes(tree).some(({ name }) => name === cause.event);
  return attributeKeys(tree).some((key) => cause.keys.includes(key) || cause.keys.includes(key.split(".")[0]!));
}

/** Whether a window ended so lately that the product may not have looked yet. */
export function isLapsing(world: World, segment: Segment): boolean {
  if (!segment.is_dynamic) return false;
  const windows = eventNodes(treeOf(segment.rule)!).flatMap(({ within }) => duration(within) ?? []);
  return windows.some((window) =>
    world.events.some(({ occurred_at }) => {
      const end = occurred_at + window;
      return end <= world.now && world.now <= end + LAPSE;
    }),
  );
}

/** A rule that is new: its windows end by themselves, too. */
function computeAnew(world: World, segment: Segment): void {
  if (!world.segments.includes(segment)) return;
  recompute(world, segment);
  for (const subscriber of world.subscribers) wakeAtWindowEnds(world, subscriber);
}

/** SEG-6, SEG-7, AMB-17: computed after the answer. */
function create(world: World, { body }: Request) {
  requiredText(body, "name");
  checkedTree(world, body.rule);
  const dynamic = world.segments.filter(({ is_dynamic }) => is_dynamic).length;
  if (body.is_dynamic && dynamic >= limits(world.plan).dynamic_segments)
    throw new Refusal(403, { code: "FEATURE_NOT_AVAILABLE" });
  if (world.segments.some(({ name }) => name === body.name)) conflict();
  const segment: Segment = {
    ...{ id: newId(world, "segment"), name: body.name, is_dynamic: body.is_dynamic ?? false },
    ...{ needs_recompute: true, rule: body.rule, created_at: world.now, updated_at: world.now },
    computed_at: null,
  };
  world.segments.push(segment);
  at(world, world.now, () => computeAnew(world, segment));
  return created({ ...record(world, segment), count: ANY, needs_recompute: ANY });
}

/** SEG-8, SEG-3, AMB-46, AMB-70. */
function patch(world: World, { body }: Request, { id }: Record<string, string>) {
  requiredText(body, "name");
  checkedTree(world, body.rule);
  const segment = existing(world.segments, id);
  if (body.is_dynamic !== undefined && body.is_dynamic !== segment.is_dynamic) invalid();
  if (world.segments.some((other) => other !== segment && other.name === body.name)) conflict();
  const isChanged = !same(segment.rule, body.rule);
  Object.assign(segment, { name: body.name, rule: body.rule, updated_at: world.now });
  if (isChanged) segment.needs_recompute = true;
  if (isChanged && segment.is_dynamic) at(world, world.now, () => computeAnew(world, segment));
  return ok({
    ...record(world, segment),
    count: ANY,
    needs_recompute: segment.is_dynamic ? ANY : segment.needs_recompute,
  });
}

/** SEG-10: any ten of those who match. */
function preview(world: World, { body }: Request) {
  const tree = checkedTree(world, body);
  return ok(sampleOf(world.subscribers.filter((subscriber) => holdsFor(world, tree, subscriber))));
}

function sampleOf(people: Subscriber[]): Body {
  const ids = people.map(({ id }) => id);
  return { estimated_count: ids.length, sample_subscriber_ids: ids.length <= 10 ? new Unordered(ids) : ANY };
}

/** Who would enter by another rule, and who would leave, of those for whom the rule holds now. */
function compare(world: World, { body }: Request, { id }: Record<string, string>) {
  const to = checkedTree(world, body.rule);
  const from = treeOf(existing(world.segments, id).rule)!;
  const movedBy = (one: Body, other: Body) =>
    sampleOf(world.subscribers.filter((person) => holdsFor(world, one, person) && !holdsFor(world, other, person)));
  return ok({ entering: movedBy(to, from), leaving: movedBy(from, to), exact: true });
}

function members(world: World, _: Request, { id }: Record<string, string>) {
  const segment = existing(world.segments, id);
  const rows = world.members.filter(({ of }) => of === id);
  const items = rows.map(({ subscriber_id, entered_at }) => ({
    subscriber_id,
    external_id: found(world.subscribers, subscriber_id)!.external_id,
    entered_at: eventNodes(treeOf(segment.rule)!).some(({ within }) => within) ? ANY : iso(entered_at),
  }));
  return listing("items", isLapsing(world, segment) ? ANY : new Unordered(items), 100);
}

const get: Operation["run"] = (world, _, { id }) => {
  const segment = existing(world.segments, id);
  const count = isLapsing(world, segment) ? { count: ANY } : {};
  return ok({ ...record(world, segment), ...count });
};

const member: Operation["run"] = (world, _, { id, subscriberId }) => {
  const segment = existing(world.segments, id);
  if (!found(world.subscribers, subscriberId)) notFound();
  const isMember = world.members.some(({ of, subscriber_id }) => of === id && subscriber_id === subscriberId);
  return ok({ member: isLapsing(world, segment) ? ANY : isMember });
};

/** SEG-11, SEG-12. Keys of people who are gone may linger. */
const names = (world: World) => [...new Set(world.events.map(({ event_name }) => event_name))];

export const segmentOperations: Operation[] = [
  write("POST /api/v1/segments", "content:write", create),
  read("POST /api/v1/segments/preview", preview),
  read("POST /api/v1/segments/:id/compare", compare),
  read("GET /api/v1/segments", (world) => {
    const items = world.segments.map((segment) => ({
      ...record(world, segment),
      ...(isLapsing(world, segment) && { count: ANY }),
    }));
    return listing("segments", new Unordered(items), 100);
  }),
  read("GET /api/v1/segments/event-names", (world) => ok({ names: new Unordered(names(world)) })),
  read("GET /api/v1/segments/:id", get),
  write("PATCH /api/v1/segments/:id", "content:write", patch),
  write("POST /api/v1/segments/:id/recompute", "content:write", (world, _, { id }) => {
    const segment = existing(world.segments, id);
    at(world, world.now, () => recompute(world, segment));
    return { status: 202, body: { status: "queued" } };
  }),
  read("GET /api/v1/segments/:id/members", members),
  read("GET /api/v1/segments/:id/members/:subscriberId", member),
];
