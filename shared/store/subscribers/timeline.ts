// The timeline of a subscriber, newest first: merged from the rows that are there anyway (docs/decisions/0034).
import * as v from "valibot";
import { cursorsOf, pageRoom } from "../../contract/paging.ts";
import type { StoreReader } from "../context.ts";
import { namedSource, namesOf, wantedSource } from "../names.ts";
import type { RootSecrets } from "../secrets.ts";
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

/** Each source gives a page of entries and one more, as far as it has them: the newest of all of them are the page. */
export async function timelineOf(
  store: StoreReader,
  secrets: RootSecrets,
  subscriber: string,
  { kinds, limit, cursor }: TimelineQuery,
): Promise<{ items: TimelineEntry[]; next_cursor: string }> {
  const scope = `timeline:${store.tenant}:${subscriber}:${[...kinds].sort().join()}`;
  const cursors = cursorsOf(secrets, scope, Position);
  const before = cursors.open(cursor);
  const sources = kinds.flatMap((kind) => timelineSources[kind]);
  const found = await Promise.all(sources.map((read) => read(store, { subscriber, before, limit: limit + 1 })));
  const entries = found
    .flat()
    .filter((entry) => before === undefined || isBefore(entry, before))
    .sort((one, other) => (isBefore(one, other) ? 1 : -1));
  const takes = pageRoom();
  const overflow = entries.findIndex((item, i) => i === limit || !takes(item));
  const page = overflow < 0 ? entries : entries.slice(0, overflow);
  const last = page.at(-1);
  return {
    items: await named(
      store,
      page.map(({ entry }) => entry),
    ),
    next_cursor: cursors.seal(overflow < 0 || !last ? undefined : { at: last.at, id: last.id }),
  };
}

const namedKindOf = { message: "notification", journey: "journey", segment: "segment", list: "list" } as const;

/** Adds the names of sends and where they come from, of journeys, segments and lists. What was deleted has none. */
async function named(store: StoreReader, entries: readonly TimelineEntry[]): Promise<TimelineEntry[]> {
  const wanted = entries.flatMap(({ kind, ref: id }) =>
    kind in namedKindOf ? [{ kind: namedKindOf[kind as keyof typeof namedKindOf], id }] : [],
  );
  const sends = wanted.flatMap(({ kind, id }) => (kind === "notification" ? [id] : []));
  const jobs = (await findJobs(store, [...new Set(sends)])).flatMap((job) => job ?? []);
  const sources = new Map(jobs.map(({ id, source }) => [id, source]));
  const names = await namesOf(store, [...wanted, ...jobs.flatMap(({ source }) => wantedSource(source))]);
  return entries.map((entry) => {
    const kind = wanted.find(({ id }) => id === entry.ref)?.kind;
    const title = entry.title || (kind ? (names.of(kind, entry.ref) ?? "") : "");
    const shown = { ...entry, title, subject: { id: entry.ref, name: title || null } };
    if (shown.kind !== "message") return shown;
    const source = sources.get(entry.ref);
    return { ...shown, data: { ...shown.data, origin: source ? namedSource(source, names) : null } };
  });
}
