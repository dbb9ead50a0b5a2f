// Consents of imported rows: noted once per job and subscriber. An import never reverts an opt-out (D-CSV).
import { timestamp, uuidOfText } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import type { ImportedConsent } from "../../rules/import-consents.ts";
import { absent, all, present } from "../conditions.ts";
import { changeItem } from "../item.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { consentWrite, foldedConsent, isNewestConsent, isOpenConsent } from "./consents.ts";
import { Profile } from "./items.ts";

const CHANNEL = "email";

/** @returns the status that was recorded, or that nothing changed. */
export async function recordImportedConsent(
  store: Store,
  subscriber: string,
  job: string,
  { status, at, source, ip }: ImportedConsent,
): Promise<ImportedConsent["status"] | "unchanged"> {
  if (status === "unknown") return "unknown";
  const consented_at = at ?? timestamp(store.clock.now());
  const assertion = { channel: CHANNEL, status, consented_at, source, ip, import_job_id: job };
  const isNotErased = [present(), absent("erased_at")];
  const conditions = {
    opted_in: [...isNotErased, isOpenConsent(CHANNEL), isNewestConsent(assertion)],
    opted_out: [...isNotErased, isOpenConsent(CHANNEL)],
    suppressed: isNotErased,
  };
  return store
    .transact([
      changeItem(Profile, { id: subscriber }, { set: foldedConsent(assertion) }, all(...conditions[status])),
      consentWrite(store, subscriber, uuidOfText(`import:${job}:${subscriber}`), assertion),
    ])
    .then(
      () => status,
      onTransactionCanceled(() => "unchanged" as const),
    );
}
