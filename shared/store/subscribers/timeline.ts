// The timeline of a subscriber, newest first: merged from the rows that are there anyway (docs/decisions/0034).
import * as v from "valibot";
import { openCursor, pageRoom, sealCursor } from "../../contract/paging.ts";
import { Timestamp } from "../../contract/schemas.ts";
import { breachReasons } from "../../rules/brake.ts";
import { runStatuses } from "../../rules/run-states.ts";
import type { StoreReader } from "../context.ts";
import { eventSources } from "../events/items.ts";
import { JourneyItem } from "../journeys/items.ts";
import { ListItem } from "../lists/items.ts";
import type { RootSecrets } from "../secrets.ts";
import { SegmentItem } from "../segments/items.ts";
import { withContents } from "../sends/jobs/job-content.ts";
import { findJobs } from "../sends/jobs/jobs.ts";
import { recipientStates } from "../sends/reports/explanation.ts";
import { consentStatuses } from "./items.ts";
import { isBefore, timelineSources } from "./timeline-sources.ts";

const text = v.nullable(v.string());

const halted = v.pipe(
  v.optional(v.picklist(breachReasons)),
  v.description("Of a run that waits at a send step which its brake halted: the limit that was exceeded"),
);

/** `ref` is the id of what the entry is about: a send, an event, a journey, a segment, … */
const common = { at: Timestamp, title: v.string(), ref: v.string() };

export const TimelineEntry = v.variant("kind", [
  v.object({
    kind: v.literal("message"),
    ...common,
    state: v.picklist(recipientStates),
    data: v.object({ channel: text, device_id: text, reason: text, variant_id: text }),
  }),
  v.object({
    kind: v.literal("event"),
    ...common,
    state: v.null(),
    data: v.object({ properties: v.record(v.string(), v.any()), platform: text, source: v.picklist(eventSources) }),
  }),
  v.object({
    kind: v.literal("consent"),
    ...common,
    state: v.picklist(consentStatuses),
    data: v.object({ channel: v.string(), source: text, express: v.boolean(), consented_at: Timestamp }),
  }),
  v.object({
    kind: v.literal("journey"),
    ...common,
    state: v.picklist(["entered", ...runStatuses]),
    data: v.object({ run_id: v.string(), version: v.number(), step: v.string(), end_reason: text, halted }),
  }),
  v.object({ kind: v.literal("segment"), ...common, state: v.picklist(["entered", "exited"]) }),
  v.object({ kind: v.literal("list"), ...common, state: v.literal("entered") }),
  v.object({
    kind: v.literal("device"),
    ...common,
    state: v.string(),
    data: v.object({ platform: v.string(), model: text }),
  }),
]);
export type TimelineEntry = v.InferOutput<typeof TimelineEntry>;

export const timelineKinds = ["message", "event", "consent", "journey", "segment", "list", "device"] as const;

const Position = v.object({ at: v.string(), id: v.string() });

interface TimelineQuery {
  kinds: readonly TimelineEntry["kind"][];
  limit: number;
  cursor?: string | undefined;
}

/** Each source gives at most a page of entries: the newest of all of them are the page. */
export async function timelineOf(
  store: StoreReader,
  secrets: RootSecrets,
  subscriber: string,
  { kinds, limit, cursor }: TimelineQuery,
): Promise<{ items: TimelineEntry[]; next_cursor: string }> {
  const scope = `timeline:${store.tenant}:${subscriber}:${[...kinds].sort().join()}`;
  const before = cursor === undefined ? undefined : v.parse(Position, openCursor(secrets, scope, cursor));
  const sources = kinds.flatMap((kind) => timelineSources[kind]);
  const found = await Promise.all(sources.map((read) => read(store, { subscriber, before, limit })));
  const entries = found
    .flat()
    .filter((one) => before === undefined || isBefore(one, before))
    .sort((one, other) => (isBefore(one, other) ? 1 : -1));
  const takes = pageRoom();
  const overflow = entries.findIndex((one, i) => i === limit || !takes(one));
  const page = overflow < 0 ? entries : entries.slice(0, overflow);
  const last = page.at(-1);
  return {
    items: await named(
      store,
      page.map(({ entry }) => entry),
    ),
    next_cursor: overflow < 0 || !last ? "" : sealCursor(secrets, scope, { at: last.at, id: last.id }),
  };
}

/** Adds the names of sends, journeys, segments and lists. What was deleted has none. */
async function named(store: StoreReader, entries: readonly TimelineEntry[]): Promise<TimelineEntry[]> {
  const idsOf = (kind: TimelineEntry["kind"]) => [
    ...new Set(entries.flatMap((entry) => (entry.kind === kind ? [entry.ref] : []))),
  ];
  const keysOf = (kind: TimelineEntry["kind"]) => idsOf(kind).map((id) => ({ id }));
  const [jobs, ...groups] = await Promise.all([
    findJobs(store, idsOf("message")),
    store.getAll(JourneyItem, keysOf("journey"), { eventual: true }),
    store.getAll(SegmentItem, keysOf("segment"), { eventual: true }),
    store.getAll(ListItem, keysOf("list"), { eventual: true }),
  ]);
  const names = new Map(groups.flat().flatMap((row) => (row ? [[row.id, row.name]] : [])));
  const sends = await withContents(
    store,
    jobs.flatMap((job) => job ?? []),
  );
  for (const { id, title, name } of sends) names.set(id, name ?? title ?? "");
  return entries.map((entry) => ({ ...entry, title: entry.title || (names.get(entry.ref) ?? "") }));
}
