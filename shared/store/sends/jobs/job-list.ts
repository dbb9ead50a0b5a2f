// The list of jobs, newest first: the partitions of all kinds are merged by the time in their ids (AMB-127).
import { pageRoom } from "../../../contract/paging.ts";
import { uuidPrefixOf } from "../../../kernel/ids.ts";
import type { StoreReader } from "../../context.ts";
import { keyOf, type RowOf } from "../../item.ts";
import { fromJson } from "../../json-text.ts";
import { firstOf, sorted } from "../../sorted.ts";
import type { Range } from "../../table.ts";
import { withContents } from "./job-content.ts";
import { type JobLane, type JobSource, jobSources, kindsOf, lanesOf } from "./job-ids.ts";
import { ContentItem, JobItem, JobWidth } from "./job-items.ts";
import type { Job, JobRecord } from "./job-record.ts";
import { jobOf } from "./jobs.ts";

type JobRow = RowOf<typeof JobItem>;

interface JobFilter {
  status?: string | undefined;
  source_type?: JobSource | undefined;
  source_id?: string | undefined;
  /** Sources that are left out. */
  exclude_source_type?: readonly JobSource[] | undefined;
  /** A part of the name or the title. */
  q?: string | undefined;
  /** The caller may not know titles: only names are searched. */
  hidesTitles?: boolean;
  /** When it was created, RFC 3339, both ends included. */
  from?: string | undefined;
  to?: string | undefined;
}

const MAX_EXAMINED = 2_000;
/** The same where a text is searched. */
const MAX_SEARCHED = 500;
/** Rows of a filtered partition that are read together at least, and what the first page of any other has more than its share. */
const MIN_FILTERED = 25;
const SPARE = 4;

/**
 * Newest first. `next` is the id that the next page begins after, absent on the last page. A page may be short when jobs
 * are large, or when `status` or `source_id` leave most of them out.
 */
export async function listJobs(
  store: StoreReader,
  { limit, after, ...filter }: JobFilter & { limit: number; after?: string | undefined },
): Promise<{ jobs: Job[]; next?: string }> {
  const sources = jobSources.filter(
    (source) => source === (filter.source_type ?? source) && !filter.exclude_source_type?.includes(source),
  );
  if (sources.length === 0) return { jobs: [] };

  const width = await store.get(JobWidth, {});
  const bounds = boundsOf(filter);
  if (isBelow(after, bounds.from)) return { jobs: [] };
  const start = isBelow(bounds.to, after) ? undefined : after;

  const lanes = lanesOf(kindsOf(sources), (kind) => width?.[kind] === true);
  const isFiltered = filter.status !== undefined || filter.source_id !== undefined || filter.q !== undefined;
  const max = filter.q === undefined ? MAX_EXAMINED : MAX_SEARCHED;
  const first = isFiltered ? Math.max(limit, MIN_FILTERED) : Math.ceil(limit / lanes.length) + SPARE;
  const open = lanes.map((lane) => laneRows(store, lane, { after: start, bounds }));
  await Promise.all(open.map((lane) => lane.fill(first)));

  const found: JobRecord[] = [];
  const contains = textSearch(store);
  let position = after;
  for (let examined = 0; ; examined++) {
    await Promise.all(open.map((lane) => lane.fill(Math.max(limit - found.length, isFiltered ? MIN_FILTERED : SPARE))));
    const newest = firstOf(open, (one: JobRow, other: JobRow) => one.sk > other.sk);
    const row = newest?.head();
    const isFull = found.length >= limit || examined >= max;
    if (!row || isFull) return pageOf(store, found, row && position);
    if (matches(row, sources, filter) && (await contains(row, filter))) found.push(jobOf(row));
    position = row.sk;
    newest?.shift();
  }
}

/** As many of the jobs as a page has room for. @param next where the next page begins if it has room for all */
async function pageOf(store: StoreReader, found: readonly JobRecord[], next: string | undefined) {
  const whole = await withContents(store, found);
  const takes = pageRoom();
  // The answer says title and body once more, beside what channels say.
  const end = whole.findIndex((job) => !takes(job.by_channel ? [job, job.title, job.body] : job));
  const jobs = end < 0 ? whole : whole.slice(0, end);
  const position = end < 0 ? next : jobs.at(-1)?.id;
  return { jobs, ...(position !== undefined && { next: position }) };
}

const matches = (row: JobRow, sources: readonly string[], { status, source_id }: JobFilter): boolean =>
  sources.includes(row.source_type) &&
  (status === undefined || row.status === status) &&
  (source_id === undefined || row.source_id === source_id);

/** Ids begin with the time of creation. */
function boundsOf({ from, to }: JobFilter): Range {
  if (from === undefined && to === undefined) return {};
  return {
    from: from === undefined ? "0" : uuidPrefixOf(Date.parse(from)),
    to: to === undefined ? "~" : `${uuidPrefixOf(Date.parse(to))}~`,
  };
}

/** Whether a job's name or title contains a text. Content that is stored by its hash is read once. */
function textSearch(store: StoreReader) {
  const titles = new Map<string, Promise<string>>();
  const titleOf = async (hash: string): Promise<string> => {
    const row = await store.get(ContentItem, { hash }, { eventual: true });
    return (row && fromJson(row.content).title) ?? "";
  };
  return async ({ name, title, content }: JobRow, { q, hidesTitles = false }: JobFilter): Promise<boolean> => {
    if (q === undefined) return true;
    const seen = (text: string) => text.normalize("NFC").toLowerCase();
    const isIn = (text: string | null | undefined) => typeof text === "string" && seen(text).includes(seen(q));
    if (isIn(name)) return true;
    if (hidesTitles) return false;
    if (isIn(title)) return true;
    if (content === undefined) return false;
    const stored = titles.get(content) ?? titleOf(content);
    titles.set(content, stored);
    return isIn(await stored);
  };
}

const isBelow = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one < other;

/** The rows of one partition, newest first. */
const laneRows = (store: StoreReader, lane: JobLane, { after, bounds }: { after: string | undefined; bounds: Range }) =>
  sorted(
    (next, limit) => store.query(JobItem, { lane }, { ...bounds, newestFirst: true, limit, after: next }),
    after === undefined ? undefined : keyOf(JobItem, store.tenant, { lane, job: after }),
  );
