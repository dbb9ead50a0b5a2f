// One-off sends as the API takes them: references checked, repeats of an idempotency key answered again.
import { createHash } from "node:crypto";
import { DAY, SECOND } from "../../../shared/clock.ts";
import { conflict } from "../../../shared/http/errors.ts";
import type { NewNotification } from "../../../shared/http/notification-input.ts";
import { requireFeature } from "../../../shared/plans.ts";
import type { Store } from "../../../shared/resources.ts";
import { absent, any, below } from "../../../shared/store/conditions.ts";
import { keys } from "../../../shared/store/keys.ts";
import type { Item } from "../../../shared/store/model.ts";
import { oneOffSpec } from "../../../shared/store/sends/one-off.ts";
import { startSend } from "../../../shared/store/sends/sends.ts";
import type { TransactItem } from "../../../shared/store/table.ts";
import type { Timers } from "../../../shared/store/timers.ts";
import type { Allowance } from "../../../shared/store/workspaces/usage.ts";

const REMEMBERED_MS = DAY;

export interface Created {
  id: string;
  sent: number;
  replayed: boolean;
}

/** @throws 403 by plan, 409 for a known key with another body, 422 for a reference that leads nowhere. */
export async function createNotification(
  store: Store,
  timers: Timers,
  allowance: Allowance,
  input: NewNotification,
  idempotencyKey: string | undefined,
): Promise<Created> {
  const { plan } = allowance;
  if (input.channel_arbitration_mode === "smart") requireFeature(plan, "smart_channel");
  const digest = createHash("sha256")
    .update(JSON.stringify({ ...input, idempotency_key: undefined }))
    .digest("hex");
  const remembered = idempotencyKey === undefined ? undefined : keys.idempotency(store.tenant, idempotencyKey);
  const existing = remembered && (await store.get(remembered));
  if (existing && Number(existing.until) > store.clock.now()) return replay(existing, digest);

  const spec = await oneOffSpec(store, plan, input);
  const until = store.clock.now() + REMEMBERED_MS;
  const remember = (answer: { id: string; sent: number }): TransactItem[] =>
    remembered
      ? [
          {
            put: { ...remembered, ...answer, digest, until, expires: Math.ceil(until / SECOND) },
            when: any(absent(), below("until", store.clock.now())),
          },
        ]
      : [];
  const id = store.ids.uuidAt(store.clock.now());
  const given = input.subscriberIds && [...new Set(input.subscriberIds)];
  const started = await startSend(store, timers, allowance, { id, spec, given }, remember);
  return "refused" in started ? replay(started.refused[0]!, digest) : { ...started, replayed: false };
}

function replay(existing: Item, digest: string): Created {
  if (existing.digest !== digest)
    throw conflict("This idempotency key was used with another body in the last 24 hours.");
  return { id: String(existing.id), sent: Number(existing.sent), replayed: true };
}
