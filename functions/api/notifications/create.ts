// One-off sends as the API takes them: references are checked, and an idempotency key gets the same answer again.
import { createHash } from "node:crypto";
import { DAY, SECOND } from "../../../shared/clock.ts";
import { conflict } from "../../../shared/http/errors.ts";
import type { NewNotification } from "../../../shared/http/notification-input.ts";
import { requireFeature } from "../../../shared/plans.ts";
import type { Store } from "../../../shared/resources.ts";
import { absent, any, below } from "../../../shared/store/conditions.ts";
import { type ItemWrite, putItem, type RowOf } from "../../../shared/store/item.ts";
import { oldRow } from "../../../shared/store/refusals.ts";
import { SMALL_AUDIENCE } from "../../../shared/store/sends/audiences.ts";
import { jobIdOf } from "../../../shared/store/sends/job-ids.ts";
import { IdempotencyRecord } from "../../../shared/store/sends/job-items.ts";
import type { JobWidths } from "../../../shared/store/sends/job-width.ts";
import { oneOffSpec } from "../../../shared/store/sends/one-off.ts";
import { type StartedSend, startSend } from "../../../shared/store/sends/sends.ts";
import { getProfiles } from "../../../shared/store/subscribers/subscribers.ts";
import type { Timers } from "../../../shared/store/timers.ts";
import type { Allowance } from "../../../shared/store/workspaces/usage.ts";

const REMEMBERED_MS = DAY;
const MAX_UNKNOWN_SHOWN = 100;

export interface Created {
  id: string;
  sent: number;
  /** Given ids of no subscriber: how many, and the first of them (AMB-125). */
  unknown?: number | undefined;
  unknown_ids?: string[] | undefined;
  replayed: boolean;
}

/** @throws 403 by plan, 409 for a key that was used with another body, 422 for a reference to nothing. */
export async function createNotification(
  store: Store,
  { timers, jobWidths }: { timers: Timers; jobWidths: JobWidths },
  allowance: Allowance,
  input: NewNotification,
  key: string | undefined,
): Promise<Created> {
  const { plan } = allowance;
  if (input.channel_arbitration_mode === "smart") requireFeature(plan, "smart_channel");
  const digest = createHash("sha256")
    .update(JSON.stringify({ ...input, idempotency_key: undefined }))
    .digest("hex");
  const record = key === undefined ? undefined : await store.get(IdempotencyRecord, { key });
  if (record && record.until > store.clock.now()) return replay(record, digest);

  const spec = await oneOffSpec(store, plan, input);
  const until = store.clock.now() + REMEMBERED_MS;
  const given = input.subscriberIds && [...new Set(input.subscriberIds)];
  const isPlannedNow = spec.scheduled_at === null && given !== undefined && given.length <= SMALL_AUDIENCE;
  const missing = given && !isPlannedNow ? await unknownAmong(store, given) : [];
  const answerOf = ({ id, sent, unknown = missing }: StartedSend) => ({
    id,
    sent,
    ...(given && { unknown: unknown.length, unknown_ids: unknown.slice(0, MAX_UNKNOWN_SHOWN) }),
  });
  const recordWrites = (started: StartedSend): ItemWrite<"workspace">[] =>
    key === undefined
      ? []
      : [
          putItem(
            IdempotencyRecord,
            { key },
            { ...answerOf(started), digest, until, expires: Math.ceil(until / SECOND) },
            any(absent(), below("until", store.clock.now())),
          ),
        ];
  const id = jobIdOf("api", store.clock.now(), store.ids.bytes(10), await jobWidths.isWide(store, "api"));
  const started = await startSend(store, timers, allowance, { id, spec, given }, recordWrites);
  if (!("refused" in started)) return { ...answerOf(started), replayed: false };
  const concurrent = oldRow(IdempotencyRecord, started.refused[0]);
  if (!concurrent) throw conflict("This idempotency key is in use at the moment. Try again.");
  return replay(concurrent, digest);
}

async function unknownAmong(store: Store, ids: readonly string[]): Promise<string[]> {
  const profiles = await getProfiles(store, ids);
  return ids.filter((_, i) => !profiles[i]);
}

function replay({ id, sent, unknown, unknown_ids, digest }: RowOf<typeof IdempotencyRecord>, wanted: string): Created {
  if (digest !== wanted) throw conflict("This idempotency key was used with another body in the last 24 hours.");
  return { id, sent, ...(unknown !== undefined && { unknown, unknown_ids }), replayed: true };
}
