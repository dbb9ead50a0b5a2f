// Chart annotations (ANN): what happened when, by people and by the service itself.
import { timestamp } from "../clock.ts";
import type { Store } from "../resources.ts";
import { keys } from "./keys.ts";

/** D-ANNAUTO. */
export type AutoKind =
  | "plan_change"
  | "campaign_released"
  | "journey_activated"
  | "journey_paused"
  | "experience_published"
  | "experience_ended"
  | "channel_invalid"
  | "schedule_failed"
  | "import_completed"
  | "webhook_disabled"
  | "quota_warning"
  | "blast_halted";

/** Notes something that the service found or did by itself. */
export async function annotate(
  store: Store,
  { kind, text, ref_id }: { kind: AutoKind; text: string; ref_id?: string },
): Promise<void> {
  const now = store.clock.now();
  const at = timestamp(now);
  const id = store.ids.uuidAt(now);
  await store.put({
    ...keys.entity(store.tenant, "annotation", `${at}#${id}`),
    ...{ id, occurred_at: at, text, source: "auto", kind, visibility: "tenant", created_at: at },
    ...(ref_id !== undefined && { ref_id }),
  });
}
