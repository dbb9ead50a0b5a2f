// Entries that a journey refused, counted by reason (AMB-147).
import { DAY, MINUTE, ttl } from "../../kernel/clock.ts";
import { numberOfEach } from "../../rules/counting.ts";
import { type RefusalReason, refusalReasons } from "../../rules/entry-refusals.ts";
import { absent, is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { hashOf } from "../hash.ts";
import { putItem } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { busy, contended, done, happened, untilUncontended } from "../refusals.ts";
import { COUNT_SHARDS, countKeys } from "./counts.ts";
import { QuotaRefusal, RefusalCount } from "./run-items.ts";

export interface RefusedEntry {
  reason: RefusalReason;
  subscriber: string;
  /** The key of the trigger. */
  key: string;
}

/** How long a batch is remembered, so that a message that is delivered again is counted once. */
const REMEMBERED_MS = 15 * MINUTE;
const MAX_REMEMBERED = 40;
const DIGEST_LENGTH = 12;

/** As long as a person's triggers are explained. */
const QUOTA_KEPT_MS = 90 * DAY;

/** Counts the refused entries of one message, in one write. Those beyond the quota are also kept by person. */
export async function countRefused(store: Store, journey: string, refused: readonly RefusedEntry[]): Promise<void> {
  if (refused.length === 0) return;
  const beyond = refused.filter(({ reason }) => reason === "over_quota");
  const expires = ttl(store.clock.now() + QUOTA_KEPT_MS);
  const kept = beyond.map(({ subscriber, key: cause }) =>
    putItem(QuotaRefusal, { subscriber, journey, cause }, { journey_id: journey, cause, expires }),
  );
  if (kept.length > 0) await store.writeAll(kept);

  const names = refused.map(({ reason, subscriber, key }) => `${reason} ${subscriber} ${key}`).sort();
  const digest = hashOf(names.join("\n")).slice(0, DIGEST_LENGTH);
  const shard = Number.parseInt(digest.slice(0, 2), 16) % COUNT_SHARDS;
  const add = { rev: 1, ...numberOfEach(refused.map(({ reason }) => `n:${reason}`)) };
  const now = store.clock.now();

  await untilUncontended(busy.transient("Refused entries are being counted by others."), async () => {
    const row = await store.get(RefusalCount, { journey, shard });
    const seen = row ? fromJson(row.seen) : [];
    if (seen.some(([seenDigest]) => seenDigest === digest)) return done(undefined);
    const recent = seen.filter(([_, at]) => at > now - REMEMBERED_MS).slice(1 - MAX_REMEMBERED);
    const set = { seen: toJson([...recent, [digest, now] as const]) };
    const isAsRead = row ? is<"rev">("rev", row.rev) : absent();
    const isCounted = await happened(store.change(RefusalCount, { journey, shard }, { set, add }, isAsRead));
    return isCounted ? done(undefined) : contended;
  });
}

/** Refused entries of a journey by reason; reasons without entries are left out. */
export async function refusedOf(store: StoreReader, journey: string): Promise<Record<string, number>> {
  const rows = await store.getAll(RefusalCount, countKeys(journey), { eventual: true });
  const sums = new Map<string, number>();
  for (const row of rows)
    for (const [reason, n] of row ? familyOf(row, "n:") : []) sums.set(reason, (sums.get(reason) ?? 0) + n);
  return Object.fromEntries(
    refusalReasons.map((reason) => [reason, sums.get(reason) ?? 0] as const).filter(([_, n]) => n > 0),
  );
}
