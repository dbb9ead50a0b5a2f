// Consent that came with an import: noted once per job and subscriber, and never a way back from an opt-out (D-CSV).
import { timestamp, uuidOfText } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import type { ImportedConsent } from "../../rules/import-columns.ts";
import { absent, all, present } from "../conditions.ts";
import { keys } from "../keys.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { consentRow, foldedConsent, isNewestConsent, isOpenConsent } from "./consents.ts";

const CHANNEL = "email";

/** @returns what became of it: its status, or that nothing changed. */
export async function recordImportedConsent(
  store: Store,
  subscriber: string,
  job: string,
  { status, at, source, ip }: ImportedConsent,
): Promise<ImportedConsent["status"] | "unchanged"> {
  if (status === "unknown") return "unknown";
  const consented_at = at ?? timestamp(store.clock.now());
  const assertion = { channel: CHANNEL, status, consented_at, source, ip, import_job_id: job };
  const alive = [present(), absent("erased_at")];
  const conditions = {
    opted_in: [...alive, isOpenConsent(CHANNEL), isNewestConsent(assertion)],
    opted_out: [...alive, isOpenConsent(CHANNEL)],
    suppressed: alive,
  };
  return store
    .transact([
      {
        update: keys.subscriber(store.tenant, subscriber),
        change: { set: foldedConsent(assertion) },
        when: all(...conditions[status]),
      },
      { put: consentRow(store, subscriber, uuidOfText(`import:${job}:${subscriber}`), assertion) },
    ])
    .then(
      () => status,
      onTransactionCanceled(() => "unchanged" as const),
    );
}
