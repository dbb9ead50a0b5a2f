// Reads keys and items of the table for the invariants.
import { MINUTE } from "../../shared/kernel/clock.ts";
import { rowOf } from "../../shared/store/item.ts";
import type { Item } from "../../shared/store/model.ts";
import { ChunkItem } from "../../shared/store/sends/audience/audience-items.ts";
import { chunkOf } from "../../shared/store/sends/chunks/chunks.ts";
import { laneOf } from "../../shared/store/sends/jobs/job-ids.ts";
import type { Mirror } from "./mirror.ts";

/** `T#<tenant>#<kind>#<id>`: the tenant, and what follows. */
export function placeOf(pk: string): { tenant: string; kind: string; id: string } | undefined {
  const [first, tenant, kind, id = ""] = pk.split("#");
  return first === "T" && tenant !== undefined && kind !== undefined ? { tenant, kind, id } : undefined;
}

/** Whether due rows are stored here whose minute is over by then. */
export function isDueBy(pk: string, at: number): boolean {
  const [kind, minute] = pk.split("#");
  return kind === "DUE" && (Number(minute) + 1) * MINUTE <= at;
}

interface Inbox {
  tenant: string;
  subscriber: string;
  message: string;
}

export function inboxRow(pk: string, sk: string): Inbox | undefined {
  const place = placeOf(pk);
  if (place?.kind !== "U" || !sk.startsWith("I#")) return undefined;
  return { tenant: place.tenant, subscriber: place.id, message: sk.slice(2) };
}

export const isJob = (pk: string): boolean => placeOf(pk)?.kind === "JOB";

interface JobRows {
  chunks: Item[];
  claims: Item[];
  ranges: Item[];
}

/** The rows of a job's audience. */
export function jobRowsOf(mirror: Mirror, tenant: string, job: string): JobRows {
  const { partitions, under } = mirror;
  const rows: JobRows = { chunks: [], claims: [], ranges: [] };
  const own = `T#${tenant}#J#${job}`;
  for (const pk of partitions()) {
    if (pk !== own && !pk.startsWith(`${own}#`)) continue;
    for (const [sk, item] of under(pk))
      if (sk.startsWith("C#")) rows.chunks.push({ ...item, ids: under(pk).get(sk.replace("C", "X"))?.ids });
      else if (sk.startsWith("K#")) rows.claims.push(item);
      else if (sk.startsWith("R#")) rows.ranges.push(item);
  }
  // The only recipient of a job is on its row, and its claim too.
  const row = mirror.get(`T#${tenant}#${laneOf(job)}`, job);
  if (row?.recipients !== undefined) {
    rows.chunks.push({ ...row, planned_at: Number(row.round) });
    if (row.owner !== undefined || row.completed_at !== undefined)
      rows.claims.push({ ...row, closed: row.completed_at !== undefined });
  }
  return rows;
}

interface Audience {
  sent: Map<string, "a" | "b" | undefined>;
  heldOut: Set<string>;
  /** Subscribers that the plan skipped, and the reason. */
  skipped: Map<string, string>;
  /** Elements that occur twice. */
  twice: string[];
}

export function audienceOf(chunks: readonly Item[]): Audience {
  const audience: Audience = { sent: new Map(), heldOut: new Set(), skipped: new Map(), twice: [] };
  const seen = new Set<string>();
  const meet = (id: string) => (seen.has(id) ? void audience.twice.push(id) : void seen.add(id));
  for (const item of chunks) {
    const { recipients, heldOut } = chunkOf(rowOf(ChunkItem, item));
    for (const { subscriber, arm } of recipients) {
      meet(subscriber);
      audience.sent.set(subscriber, arm);
    }
    for (const id of heldOut) {
      meet(id);
      audience.heldOut.add(id);
    }
    const skipped: Record<string, string[]> = item.ids ? JSON.parse(String(item.ids)) : {};
    for (const [reason, ids] of Object.entries(skipped))
      for (const id of ids) {
        meet(id);
        audience.skipped.set(id, reason);
      }
  }
  return audience;
}

/** Every item of a kind, of all tenants. */
export function* itemsOf({ partitions, under }: Mirror, kind: string): Generator<{ tenant: string; item: Item }> {
  for (const pk of partitions()) {
    const place = placeOf(pk);
    if (place?.kind === kind) for (const item of under(pk).values()) yield { tenant: place.tenant, item };
  }
}
