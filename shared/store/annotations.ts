// Chart annotations (ANN): what happened when, by people and by the service itself.
import { timestamp } from "../clock.ts";
import type { Bound, Store } from "../resources.ts";
import { keys } from "./keys.ts";
import type { Item } from "./model.ts";

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

interface Note {
  kind: AutoKind;
  text: string;
  ref_id?: string;
}

const MOST_TEXT = 500;

/** The row of something that the service found or did by itself, for a transaction with what it tells of. */
export function annotation({ tenant, clock, ids }: Bound, { kind, text, ref_id }: Note): Item {
  const now = clock.now();
  const at = timestamp(now);
  const id = ids.uuidAt(now);
  return {
    ...keys.entity(tenant, "annotation", `${at}#${id}`),
    ...{
      id,
      occurred_at: at,
      text: text.slice(0, MOST_TEXT),
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
