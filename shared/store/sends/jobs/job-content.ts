// The content of a job: short content is on the job's row; long content is stored once, under its hash
// (docs/decisions/0023).
import { Buffer } from "node:buffer";
import { withoutNulls } from "../../../kernel/objects.ts";
import type { Store, StoreReader } from "../../context.ts";
import { hashOf } from "../../hash.ts";
import type { RowOf } from "../../item.ts";
import { fromJson, toJson } from "../../json-text.ts";
import { ContentItem, type JobItem } from "./job-items.ts";
import type { Job, JobRecord } from "./job-record.ts";
import type { JobContent, JobDetails, JobSpec } from "./job-spec.ts";

/** Content up to this size stays on the job, which is then about 1 KB: one write unit. */
const MAX_INLINE_BYTES = 300;
const HASH_CHARACTERS = 40;

/** The content of a specification, in an order of its own, so that the same content has the same hash. */
export const contentOf = (spec: JobContent): JobContent => ({
  title: spec.title,
  body: spec.body,
  data: spec.data,
  device_filters: spec.device_filters,
  subscriber_filters: spec.subscriber_filters,
  variant_b: spec.variant_b,
  ...(spec.in_app && { in_app: spec.in_app }),
  ...(spec.chat_app && { chat_app: spec.chat_app }),
  ...(spec.by_channel && { by_channel: spec.by_channel }),
});

/** The content that is on the job's row. */
export const inlineContent = (
  { title = null, body = null }: Pick<RowOf<typeof JobItem>, "title" | "body">,
  { data = null, device_filters = null, subscriber_filters = null, variant_b = null, ...others }: JobDetails,
): JobContent => contentOf({ title, body, data, device_filters, subscriber_filters, variant_b, ...others });

/** Whether the texts of a send may refer to an event (D-LIQUID). */
export const refersToEvent = ({ title, body, data, by_channel }: Pick<JobContent, EventText>): boolean =>
  [title, body, data && JSON.stringify(data), by_channel && JSON.stringify(by_channel)].some(
    (text) => text && /\bevent\b/.test(text),
  );

type EventText = "title" | "body" | "data" | "by_channel";

/** The hash under which content is stored that is too long for a job's row; undefined for other content. */
export function hashOfLong({ looked_up: _, ...content }: JobContent & Pick<JobSpec, "looked_up">): string | undefined {
  const isShort = Buffer.byteLength(JSON.stringify(withoutNulls(content))) <= MAX_INLINE_BYTES;
  return isShort && !content.by_channel ? undefined : hashOf(toJson(contentOf(content))).slice(0, HASH_CHARACTERS);
}

/**
 * Stores content that is too long for a job's row, unless it is stored already. Call it before the job is written.
 * @returns its hash; undefined for content that belongs on the job's row
 */
export async function storeContent(store: Store, content: JobContent): Promise<string | undefined> {
  const hash = hashOfLong(content);
  if (hash === undefined) return undefined;
  const text = toJson(contentOf(content));
  const existing = await store.get(ContentItem, { hash }, { eventual: true });
  if (!existing) await store.put(ContentItem, { hash }, { content: text });
  return hash;
}

export async function withContent(store: StoreReader, job: JobRecord): Promise<Job> {
  const [whole] = await withContents(store, [job]);
  if (!whole) throw new Error("A job without its content.");
  return whole;
}

async function contentsOf(store: StoreReader, hashes: readonly string[], options?: { eventual: true }) {
  const keys = hashes.map((hash) => ({ hash }));
  const rows = await store.getAll(ContentItem, keys, options);
  return new Map(hashes.flatMap((hash, i) => (rows[i] ? [[hash, rows[i]] as const] : [])));
}

/** Contents by their hashes. */
export type StoredContents = ReadonlyMap<string, RowOf<typeof ContentItem>>;

/**
 * The stored contents by their hashes. A content never changes under its hash, so an eventual read is right if it finds
 * one, and is repeated if it does not.
 */
export async function readContents(
  store: StoreReader,
  hashes: readonly string[],
  before: StoredContents = new Map(),
): Promise<StoredContents> {
  const wanted = [...new Set(hashes)];
  const unread = wanted.filter((hash) => !before.has(hash));
  const stored = new Map([...before, ...(await contentsOf(store, unread, { eventual: true }))]);
  const missing = wanted.filter((hash) => !stored.has(hash));
  for (const [hash, row] of await contentsOf(store, missing)) stored.set(hash, row);
  return stored;
}

/** The same for several jobs: each content is read once, unless it was read before. @throws if one is not stored. */
export async function withContents(
  store: StoreReader,
  jobs: readonly JobRecord[],
  before: StoredContents = new Map(),
): Promise<Job[]> {
  const hashes = jobs.flatMap(({ content }) => (typeof content === "string" ? content : []));
  const stored = await readContents(store, hashes, before);
  return jobs.map((job) => {
    if (typeof job.content !== "string") return { ...job, ...job.content };
    const row = stored.get(job.content);
    if (!row) throw new Error(`The content ${job.content} of job ${job.id} is not stored.`);
    return { ...job, ...fromJson(row.content) };
  });
}
