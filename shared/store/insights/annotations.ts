// Chart annotations (ANN): what happened when, by people and by the service itself.
import { timeOfUuid, timestamp, uuidV7 } from "../../clock.ts";
import { ApiError, notFound } from "../../http/errors.ts";
import { pageRoom } from "../../http/paging.ts";
import { isUuid } from "../../http/schemas.ts";
import type { Store, StoreContext, StoreReader } from "../../resources.ts";
import { keys } from "../keys.ts";
import type { Item, Key } from "../model.ts";

/** D-ANNAUTO. */
export const autoKinds = [
  "plan_change",
  "campaign_released",
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

interface Note {
  kind: AutoKind;
  text: string;
  ref_id?: string;
}

const MAX_TEXT = 500;

/** The row of something that the service found or did by itself, for a transaction with what it tells of. */
export function annotation({ tenant, clock, ids }: Omit<StoreContext, "log">, { kind, text, ref_id }: Note): Item {
  const now = clock.now();
  const at = timestamp(now);
  const id = ids.uuidAt(now);
  return {
    ...keys.entity(tenant, "annotation", `${at}#${id}`),
    ...{
      id,
      occurred_at: at,
      text: text.slice(0, MAX_TEXT),
      source: "auto",
      kind,
      visibility: "tenant",
      created_at: at,
    },
    ...(ref_id !== undefined && { ref_id }),
  };
}

/** Notes something that the service found or did by itself. */
export const annotate = (store: Store, note: Note): Promise<void> => store.put(annotation(store, note));

/** ANN-1. */
export interface Annotation {
  id: string;
  occurred_at: string;
  ends_at?: string;
  text: string;
  source: "auto" | "manual";
  kind: string;
  visibility: "tenant" | "agency_only";
  ref_id?: string;
  created_by: string | null;
  created_at: string;
}

/** The annotation's id says where it lies: its time, and what tells it from others of that time. */
const idOf = (occurredAt: string, unique: string) =>
  uuidV7(Date.parse(occurredAt), Buffer.from(unique.replaceAll("-", ""), "hex"));

/** Something that a person notes (ANN-3). */
export async function writeAnnotation(
  store: Store,
  {
    occurred_at,
    ends_at,
    text,
    visibility,
  }: Pick<Annotation, "occurred_at" | "text" | "visibility"> & { ends_at?: string | undefined },
  user: string | null,
): Promise<Annotation> {
  const id = idOf(occurred_at, store.ids.uuid());
  const item: Item = {
    ...keys.entity(store.tenant, "annotation", `${occurred_at}#${id}`),
    ...{ id, occurred_at, text, source: "manual", kind: "custom", visibility },
    ...(ends_at !== undefined && { ends_at }),
    ...(user !== null && { created_by: user }),
    created_at: timestamp(store.clock.now()),
  };
  await store.put(item);
  return annotationOf(item);
}

/** Those that begin within a range, both ends included, oldest first; an agency's own only for an agency. */
export async function listAnnotations(
  store: StoreReader,
  { from, to, kinds, isAgency }: { from: string; to: string; kinds?: readonly string[] | undefined; isAgency: boolean },
): Promise<Annotation[]> {
  const found: Annotation[] = [];
  const takes = pageRoom();
  let after: Key | undefined;
  do {
    const page = await store.query({
      pk: keys.entities(store.tenant, "annotation"),
      from,
      to: `${to}~`,
      after,
    });
    for (const item of page.items) {
      const annotation = annotationOf(item);
      const isShown = isAgency || annotation.visibility === "tenant";
      if (!isShown || (kinds && !kinds.includes(annotation.kind))) continue;
      if (!takes(annotation)) return found;
      found.push(annotation);
    }
    after = page.next;
  } while (after);
  return found;
}

/** ANN-5. @throws 404; 403 for what the service itself noted (AMB-33). */
export async function deleteAnnotation(store: Store, id: string, { isAgency }: { isAgency: boolean }): Promise<void> {
  const at = isUuid(id) ? timeOfUuid(id.toLowerCase()) : Number.NaN;
  const item =
    at >= 0 && at < 8.64e15
      ? await store.get(keys.entity(store.tenant, "annotation", `${timestamp(at)}#${id}`))
      : undefined;
  if (!item || (item.visibility === "agency_only" && !isAgency)) throw notFound("annotation");
  if (item.source === "auto") throw new ApiError("FORBIDDEN", "What the service noted by itself cannot be deleted.");
  await store.remove(item);
}

const annotationOf = (item: Item): Annotation => ({
  id: String(item.id),
  occurred_at: String(item.occurred_at),
  ...(item.ends_at !== undefined && { ends_at: String(item.ends_at) }),
  text: String(item.text),
  source: item.source as Annotation["source"],
  kind: String(item.kind),
  visibility: item.visibility as Annotation["visibility"],
  ...(item.ref_id !== undefined && { ref_id: String(item.ref_id) }),
  created_by: (item.created_by as string | undefined) ?? null,
  created_at: String(item.created_at),
});
