// The timeline of a subscriber, newest first: merged from the rows that are there anyway (docs/decisions/0034).
import * as v from "valibot";
import { openCursor, pageRoom, sealCursor } from "../../contract/paging.ts";
import type { StoreReader } from "../context.ts";
import { JourneyItem } from "../journeys/items.ts";
import { ListItem } from "../lists/items.ts";
import type { RootSecrets } from "../secrets.ts";
import { SegmentItem } from "../segments/items.ts";
import { withContents } from "../sends/jobs/job-content.ts";
import { findJobs } from "../sends/jobs/jobs.ts";
import type { TimelineEntry } from "./timeline-entries.ts";
import { isBefore } from "./timeline-places.ts";
import { timelineSources } from "./timeline-sources.ts";

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
