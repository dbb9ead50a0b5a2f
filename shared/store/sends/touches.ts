// The send ledger: one row per address of a recipient, under the subscriber by time. It is the touch of attribution.

import { timestamp } from "../../clock.ts";
import type { StoreReader } from "../../resources.ts";
import type { LedgerState, Verdict } from "../../rules/progress.ts";
import type { ReachChannel, Target } from "../../rules/reach.ts";
import { keys } from "../keys.ts";
import type { Item, Key, TenantId } from "../model.ts";
import { allItems } from "../pages.ts";

/** Where a recipient stands: the chunk that erasure must visit. */
export interface ChunkRef {
  job: string;
  range: string;
  n: number;
}

export const chunkRefText = ({ range, n }: Pick<ChunkRef, "range" | "n">): string => `${range}#${n}`;

export function chunkRefOf({ job, place }: Item): ChunkRef {
  const text = String(place);
  const cut = text.lastIndexOf("#");
  return { job: String(job), range: text.slice(0, cut), n: Number(text.slice(cut + 1)) };
}

export interface Touch {
  subscriber: string;
  target: Target;
  verdict: Verdict;
  /** When it was tried, in milliseconds. */
  tries: readonly number[];
  arm?: "a" | "b" | undefined;
  providerId?: string | undefined;
  /** Of one that was skipped: the values that decided it. */
  seen?: object | undefined;
}

/** Of a control group nobody is reached, yet lift must find them. */
const HELD_OUT = "held_out";
const nameOf = ({ channel, device }: Target): string => device ?? channel;

export const touchKey = (tenant: TenantId, subscriber: string, at: number, job: string, target: Target): Key =>
  keys.touch(tenant, subscriber, timestamp(at), job, nameOf(target));

/** The row of one address; `at` is the time of the chunk's first claim, so that every attempt writes the same row. */
export function touchItem(tenant: TenantId, at: number, chunkRef: ChunkRef, touch: Touch): Item {
  const { subscriber, target, verdict, tries, arm, providerId, seen } = touch;
  return {
    ...touchKey(tenant, subscriber, at, chunkRef.job, target),
    job: chunkRef.job,
    place: chunkRefText(chunkRef),
    channel: target.channel,
    ...(target.device !== undefined && { device: target.device }),
    state: verdict.state,
    ...(verdict.reason !== undefined && { reason: verdict.reason.slice(0, MAX_REASON_CHARACTERS) }),
    ...(providerId !== undefined && { provider_id: providerId }),
    ...(arm && { arm }),
    ...(seen && { seen: JSON.stringify(seen) }),
    tries: tries.map((time) => timestamp(time)),
  };
}

/** A row stays within one write unit. */
const MAX_REASON_CHARACTERS = 200;

export const heldOutItem = (tenant: TenantId, at: number, chunkRef: ChunkRef, subscriber: string): Item => ({
  ...keys.touch(tenant, subscriber, timestamp(at), chunkRef.job, HELD_OUT),
  job: chunkRef.job,
  place: chunkRefText(chunkRef),
  state: HELD_OUT,
});

/** What is known of an address after `tries` earlier attempts; undefined if the next one left no row. */
export function recorded(row: Item | undefined, tries: number): Verdict | undefined {
  if (!row || (row.state !== "skipped" && (row.tries as unknown[]).length <= tries)) return undefined;
  const reason = row.reason === undefined ? undefined : String(row.reason);
  return { state: row.state as LedgerState, reason };
}

/** The ledger of a subscriber since a time, oldest first. */
export const touchesSince = (store: StoreReader, subscriber: string, since: number): Promise<Item[]> =>
  allItems(store, { pk: keys.person(store.tenant, subscriber), from: `R#${timestamp(since)}`, to: "R#~" });

/** Which address of which channel a row is of. */
export const targetOf = ({ channel, device }: Item): Target => ({
  channel: channel as ReachChannel,
  ...(device !== undefined && { device: String(device) }),
});
