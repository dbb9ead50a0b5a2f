// The consent history of a subscriber: append-only; the newest assertion decides (D-CONSENT).
import type { StoreReader } from "../resources.ts";
import { keys } from "./keys.ts";
import type { Item } from "./model.ts";

export interface Consent {
  id: string;
  subscriber_id: string;
  channel: string;
  status: "opted_in" | "opted_out" | "unknown" | "suppressed";
  express: boolean;
  consented_at: string;
  source: string | null;
  evidence: { ip: string | null; text: string | null; import_job_id: string | null };
  recorded_at: string;
}

const MOST_SHOWN = 1_000;

/** Newest first. */
export async function consentsOf(store: StoreReader, subscriber: string): Promise<Consent[]> {
  const { pk, sk } = keys.consent(store.tenant, subscriber, "");
  const { items } = await store.query({ pk, prefix: sk, newestFirst: true, limit: MOST_SHOWN });
  return items.map(consentOf);
}

function consentOf(item: Item): Consent {
  const { ip = null, text = null, import_job_id = null } = JSON.parse(String(item.evidence));
  return {
    id: String(item.id),
    subscriber_id: String(item.subscriber_id),
    channel: String(item.channel),
    status: item.status as Consent["status"],
    express: item.express === true,
    consented_at: String(item.consented_at),
    source: item.source === undefined ? null : String(item.source),
    evidence: { ip, text, import_job_id },
    recorded_at: String(item.recorded_at),
  };
}
