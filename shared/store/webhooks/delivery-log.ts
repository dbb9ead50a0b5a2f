// The delivery log of a webhook endpoint, by page.
import { pageRoom } from "../../contract/paging.ts";
import { uuidPrefixOf } from "../../kernel/ids.ts";
import { type Envelope, isTaken } from "../../rules/webhook-events.ts";
import type { StoreReader } from "../context.ts";
import { keyOf } from "../item.ts";
import { fromJson } from "../json-text.ts";
import type { Key } from "../model.ts";
import { countAfter } from "../sorted.ts";
import { type DeliveryRecord, deliveryOf, isKept } from "./deliveries.ts";
import { DeliveryItem, type DeliveryOutcome, type DeliveryRow, SequenceBlock } from "./delivery-items.ts";
import { acceptedAt, MAX_GROUP, sequencesOf } from "./sequences.ts";

export interface DeliveryFilter {
  outcome?: DeliveryOutcome | undefined;
  event_type?: string | undefined;
  /** Milliseconds, inclusive. */
  from?: number | undefined;
  to?: number | undefined;
}

interface LogPage extends DeliveryFilter {
  limit: number;
  after?: Key | undefined;
  newestFirst?: boolean;
}

/** The limits of one page: deliveries read, deliveries per read, and characters of their bodies. */
const MAX_EXAMINED = 2_000;
const MAX_AT_ONCE = 100;
const MAX_EXAMINED_TEXT = 1_048_576;
const BLOCK_PAGE = 10;
const LAST_BLOCK = "N#~";

/** A page of the log; `next` is absent on the last one. `examined` are the rows that were read for it. */
export async function listDeliveries(
  store: StoreReader,
  webhook: string,
  { limit, after, newestFirst = true, from = 0, to, ...filter }: LogPage,
): Promise<{ rows: DeliveryRow[]; examined: number; next?: Key }> {
  const range = {
    from: `D#${uuidPrefixOf(from)}`,
    to: to === undefined ? "D#~" : `D#${uuidPrefixOf(to)}~`,
    newestFirst,
  };
  const rows: DeliveryRow[] = [];
  let position = after;
  let examined = 0;
  let text = 0;
  let count = limit;
  while (examined < MAX_EXAMINED && text < MAX_EXAMINED_TEXT) {
    const queryOptions = { ...range, limit: Math.min(count, MAX_AT_ONCE), after: position };
    const page = await store.query(DeliveryItem, { webhook }, queryOptions);
    examined += page.items.length;
    text += textIn(page.items);
    const found = page.items.filter((row) => isKept(store, row) && isWanted(row, filter));
    const taken = found.slice(0, limit - rows.length);
    rows.push(...taken);
    const last = found.length > taken.length ? taken.at(-1) : undefined;
    position = last ? keyOf(DeliveryItem, store.tenant, { webhook, id: last.id }) : page.next;
    if (!position || rows.length >= limit) break;
    count = countAfter(count, { open: limit - rows.length, found: taken.length });
  }
  return { rows, examined, ...(position && { next: position }) };
}

const textIn = (rows: readonly (DeliveryRow | undefined)[]): number =>
  rows.reduce((sum, row) => sum + (row?.body?.length ?? 0), 0);

const isWanted = (row: DeliveryRow, { outcome, event_type }: Pick<DeliveryFilter, "outcome" | "event_type">): boolean =>
  (outcome === undefined || row.outcome === outcome) && (event_type === undefined || row.event_type === event_type);

/** Also one that was sent again and failed then: its receiver has it. */
const wasTaken = (row: DeliveryRow): boolean =>
  row.outcome === "delivered" || deliveryOf(row).attempts.some(({ status_code }) => isTaken(status_code));

export async function numberedDeliveries(
  store: StoreReader,
  webhook: string,
  rows: readonly DeliveryRow[],
): Promise<DeliveryRecord[]> {
  const unclaimed = rows.filter(({ sequence }) => sequence === undefined);
  const waiting = unclaimed.map((row) => ({ id: row.id, acceptedAt: acceptedAt(row) }));
  const numbers = await sequencesOf(store, webhook, waiting);
  return rows.map((row) => ({ ...deliveryOf(row), sequence: row.sequence ?? numbers.get(row.id) ?? null }));
}

interface LogEntry {
  delivery: DeliveryRecord;
  payload: Envelope | null;
}

/**
 * A page of the log with the payloads; null where a payload was erased. A page holds at most 4 MB
 * (docs/decisions/0021#page-size).
 */
export async function listLog(
  store: StoreReader,
  webhook: string,
  filter: LogPage,
): Promise<{ log: LogEntry[]; next?: Key }> {
  const { rows, next } = await listDeliveries(store, webhook, filter);
  const log = await fittingEntries(store, webhook, rows);
  const last = log.at(-1);
  if (last && log.length < rows.length)
    return { log, next: keyOf(DeliveryItem, store.tenant, { webhook, id: last.delivery.id }) };
  return next ? { log, next } : { log };
}

/**
 * Deliveries without a success in the order of their numbers, whether they are pending or failed (AMB-124).
 * @param after the number of the last delivery of the page before
 */
export async function listMissing(
  store: StoreReader,
  webhook: string,
  { limit, after = 0, ...filter }: Omit<DeliveryFilter, "from" | "to"> & { limit: number; after?: number | undefined },
): Promise<{ log: LogEntry[]; next?: number }> {
  const missing: DeliveryRow[] = [];
  const isMissing = (row: DeliveryRow) => !wasTaken(row) && isKept(store, row) && isWanted(row, filter);
  // A block that begins before the wanted number may hold it.
  let from = SequenceBlock.sk?.({ first: Math.max(1, after + 2 - MAX_GROUP) }) ?? "";
  let reached = after;
  let text = 0;
  for (let examined = 0; examined < MAX_EXAMINED && text < MAX_EXAMINED_TEXT && missing.length < limit; ) {
    const { items, next } = await store.query(SequenceBlock, { webhook }, { from, to: LAST_BLOCK, limit: BLOCK_PAGE });
    const numbered = items
      .flatMap(({ first, ids }) => ids.map((id, i) => ({ id, sequence: first + i })))
      .filter(({ sequence }) => sequence > reached);
    const keys = numbered.map(({ id }) => ({ webhook, id }));
    const rows = await store.getAll(DeliveryItem, keys);
    text += textIn(rows);
    const found = numbered.flatMap(({ sequence }, i) => {
      const row = rows[i];
      return row && isMissing(row) ? [{ ...row, sequence }] : [];
    });
    const taken = found.slice(0, limit - missing.length);
    missing.push(...taken);
    examined += numbered.length;
    const isFull = missing.length === limit;
    reached = (isFull ? taken.at(-1) : numbered.at(-1))?.sequence ?? reached;
    const isLastPage = !next && found.length === taken.length;
    if (isLastPage) return entriesUpTo(store, webhook, missing);
    from = next?.sk ?? from;
  }
  return entriesUpTo(store, webhook, missing, reached);
}

/** The entries that a page has room for, and the number where the next page begins. */
async function entriesUpTo(
  store: StoreReader,
  webhook: string,
  rows: readonly DeliveryRow[],
  reached?: number,
): Promise<{ log: LogEntry[]; next?: number }> {
  const log = await fittingEntries(store, webhook, rows);
  const next = log.length < rows.length ? (log.at(-1)?.delivery.sequence ?? undefined) : reached;
  return next === undefined ? { log } : { log, next };
}

/** As many deliveries with their payloads as a page has room for. */
async function fittingEntries(store: StoreReader, webhook: string, rows: readonly DeliveryRow[]): Promise<LogEntry[]> {
  const deliveries = await numberedDeliveries(store, webhook, rows);
  const takes = pageRoom();
  const log: LogEntry[] = [];
  for (const [i, delivery] of deliveries.entries()) {
    const body = rows[i]?.body;
    const payload = body === undefined ? null : fromJson(body);
    if (!takes(payload) && log.length > 0) return log;
    log.push({ delivery, payload });
  }
  return log;
}
