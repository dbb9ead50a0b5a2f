// Chart annotations (ANN): dated notes, made by users and by the service itself.
import * as v from "valibot";
import { pageRoom } from "../../contract/paging.ts";
import { isUuid, Timestamp } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { ApiError, notFound } from "../../kernel/errors.ts";
import { timeOfUuid, uuidV7 } from "../../kernel/ids.ts";
import type { Store, StoreContext, StoreReader } from "../context.ts";
import { fieldsOf, type ItemWrite, type NewRowOf, putItem, removeItem } from "../item.ts";
import type { Key } from "../model.ts";
import { pagesOf } from "../table.ts";
import { AnnotationItem, annotationFields } from "./annotation-items.ts";

/** D-ANNAUTO. */
export const autoKinds = [
  "plan_change",
  "campaign_released",
  "campaign_paused",
  "experience_paused",
  "experience_failed",
  "campaign_failed",
  "journey_activated",
  "journey_paused",
  "experience_published",
  "experience_ended",
  "channel_invalid",
  "schedule_failed",
  "import_completed",
  "webhook_disabled",
  "quota_warning",
  "blast_halted",
] as const;
export type AutoKind = (typeof autoKinds)[number];

export const Annotation = v.object({
  ...annotationFields,
  /** Null for one of the service itself. */
  created_by: v.nullable(v.string()),
  created_at: Timestamp,
});
export type Annotation = v.InferOutput<typeof Annotation>;

type AnnotationRow = NewRowOf<typeof AnnotationItem>;

interface AutoNote {
  kind: AutoKind;
  text: string;
  ref_id?: string | undefined;
  /** The time of the event, in milliseconds. Default: now. */
  at?: number | undefined;
}

const MAX_TEXT_CHARACTERS = 500;

/** The last time that a date can hold. */
const MAX_DATE_MS = 8.64e15;

const annotationKey = ({ id, occurred_at }: Pick<AnnotationRow, "id" | "occurred_at">) => ({
  id: `${occurred_at}#${id}`,
});

/** Behind all other annotations: a second row of each that has an end, in the order of the ends. */
const SPANS = "~";
const spanKey = (id: string, ends_at: string) => ({ id: `${SPANS}${ends_at}#${id}` });

function autoRow({ clock, ids }: Pick<StoreContext, "clock" | "ids">, note: AutoNote): AnnotationRow {
  const { kind, text, ref_id, at = clock.now() } = note;
  return {
    id: ids.uuidAt(at),
    occurred_at: timestamp(at),
    text: text.slice(0, MAX_TEXT_CHARACTERS),
    source: "auto",
    kind,
    visibility: "tenant",
    created_at: timestamp(clock.now()),
    ref_id,
  };
}

/** The write of an annotation by the service, for the transaction of its event. */
export function annotationWrite(context: Pick<StoreContext, "clock" | "ids">, note: AutoNote): ItemWrite<"workspace"> {
  const row = autoRow(context, note);
  return putItem(AnnotationItem, annotationKey(row), row);
}

/** The id contains the time of the annotation, which is a part of its key. */
const idAt = (occurredAt: string, unique: string) =>
  uuidV7(Date.parse(occurredAt), Buffer.from(unique.replaceAll("-", ""), "hex"));

/** Writes the annotation of a user (ANN-3). */
export async function writeAnnotation(
  store: Store,
  note: Pick<Annotation, "occurred_at" | "ends_at" | "text" | "visibility">,
  user: string | null,
): Promise<Annotation> {
  const { occurred_at, ends_at, text, visibility } = note;
  const row: AnnotationRow = {
    id: idAt(occurred_at, store.ids.uuid()),
    occurred_at,
    ends_at,
    text,
    source: "manual",
    kind: "custom",
    visibility,
    created_by: user ?? undefined,
    created_at: timestamp(store.clock.now()),
  };
  const key = annotationKey(row);
  if (ends_at === undefined) await store.put(AnnotationItem, key, row);
  else
    await store.transact([putItem(AnnotationItem, key, row), putItem(AnnotationItem, spanKey(row.id, ends_at), row)]);
  return annotationOf(row);
}

/**
 * Annotations that begin within a range or reach into it, both ends included, oldest first. Agencies also get those of
 * agencies.
 */
export async function listAnnotations(
  store: StoreReader,
  { from, to, kinds, isAgency }: { from: string; to: string; kinds?: readonly string[] | undefined; isAgency: boolean },
): Promise<Annotation[]> {
  const found: Annotation[] = [];
  const takes = pageRoom();
  const isShown = ({ visibility, kind }: AnnotationRow) =>
    (isAgency || visibility === "tenant") && (!kinds || kinds.includes(kind));
  for (const row of (await spansInto(store, from, kinds)).filter(isShown)) {
    const annotation = annotationOf(row);
    if (!takes(annotation)) return found;
    found.push(annotation);
  }
  const read = (after?: Key) => store.query(AnnotationItem, {}, { from, to: `${to}~`, after });
  for await (const { items } of pagesOf(read))
    for (const row of items.filter(isShown)) {
      const annotation = annotationOf(row);
      if (!takes(annotation)) return found;
      found.push(annotation);
    }
  return found;
}

/** The annotations that began before a time and ended after it, oldest first: only those of users have an end. */
async function spansInto(
  store: StoreReader,
  from: string,
  kinds: readonly string[] | undefined,
): Promise<AnnotationRow[]> {
  if (kinds && !kinds.includes("custom")) return [];
  const rows = await store.queryAll(AnnotationItem, {}, { from: `${SPANS}${from}`, to: `${SPANS}~` });
  return rows.filter(({ occurred_at }) => occurred_at < from).sort(byTime);
}

const byTime = (a: AnnotationRow, b: AnnotationRow): number => (a.occurred_at < b.occurred_at ? -1 : 1);

/** Deletes an annotation (ANN-5). @throws 404; 403 for an annotation of the service itself (AMB-33) */
export async function deleteAnnotation(store: Store, id: string, { isAgency }: { isAgency: boolean }): Promise<void> {
  const at = isUuid(id) ? timeOfUuid(id.toLowerCase()) : Number.NaN;
  const key = at >= 0 && at < MAX_DATE_MS ? annotationKey({ id, occurred_at: timestamp(at) }) : undefined;
  const row = key && (await store.get(AnnotationItem, key));
  if (!row || (row.visibility === "agency_only" && !isAgency)) throw notFound("annotation");
  if (row.source === "auto") throw new ApiError("FORBIDDEN", "What the service noted by itself cannot be deleted.");
  const { ends_at } = row;
  if (ends_at === undefined) return void (await store.remove(AnnotationItem, key));

  await store.transact([removeItem(AnnotationItem, key), removeItem(AnnotationItem, spanKey(row.id, ends_at))]);
}

const annotationOf = (row: AnnotationRow): Annotation => ({
  ...fieldsOf(annotationFields, row),
  created_by: row.created_by ?? null,
  created_at: row.created_at,
});
