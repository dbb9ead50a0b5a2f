// The consents of a subscriber as shown: the states of its addresses, and its own statements (D-CONSENT).
import * as v from "valibot";
import { personal } from "../../contract/personal.ts";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import { addressKinds } from "../../rules/addresses.ts";
import { consentChannels } from "../../rules/channel-types.ts";
import { channels } from "../../rules/channels.ts";
import type { StoreReader } from "../context.ts";
import { keyOf } from "../item.ts";
import { type Addresses, addressesOf, consentNow } from "./addresses.ts";
import { type Consent, consentOf } from "./consents.ts";
import { ConsentItem } from "./items.ts";
import type { LivingProfile } from "./subscribers.ts";

export const MAX_CONSENTS = 1_000;

export const LiftedSuppression = titled("LiftedSuppression", {
  kind: said("What kind of address it is", v.picklist(addressKinds)),
  lifted_at: said("When messages went to it again", Timestamp),
  reason: personal(said("Why it was lifted; `null` once a subscriber with it was erased", v.nullable(v.string()))),
});
type LiftedSuppression = v.InferOutput<typeof LiftedSuppression>;

/**
 * The states of the present addresses first (AMB-128, AMB-130), then the history, newest first. @param after the last
 * consent of the page before
 */
export async function consentsOf(
  store: StoreReader,
  profile: LivingProfile,
  after?: string,
): Promise<{ items: Consent[]; lifted: LiftedSuppression[]; next: string | undefined }> {
  const key = { subscriber: profile.id };
  const position = after === undefined ? undefined : keyOf(ConsentItem, store.tenant, { ...key, consent: after });
  const [{ items, next }, [addresses = {}]] = await Promise.all([
    store.query(ConsentItem, key, { newestFirst: true, limit: MAX_CONSENTS, after: position }),
    after === undefined ? addressesOf(store, [profile]) : [],
  ]);
  const consents = items.map(consentOf);
  return {
    items: [...(after === undefined ? consentsOfAddresses(profile, addresses) : []), ...consents],
    lifted: liftedOf(addresses),
    next: next && consents.at(-1)?.id,
  };
}

/** Of each present address, the suppression that was lifted last (AMB-129). */
const liftedOf = (addresses: Addresses): LiftedSuppression[] =>
  addressKinds.flatMap((kind) => {
    const { lifted_at, lifted_because: reason = null } = addresses[kind] ?? {};
    return lifted_at === undefined ? [] : [{ kind, lifted_at, reason }];
  });

/** Suppressions, and opt-outs that replace the person's own statements. */
function consentsOfAddresses(profile: LivingProfile, addresses: Addresses): Consent[] {
  return consentChannels.flatMap((channel) => {
    const row = addresses[channels[channel].address];
    const now = consentNow(profile, addresses, channel);
    if (!row || now?.of !== "address") return [];
    const { status, at } = now;
    const source = status === "suppressed" ? (row.reason ?? null) : "address";
    const evidence = { ip: null, text: row.note ?? null, import_job_id: null };
    const shared = { id: row.id, subscriber_id: profile.id, channel, status, express: false, source, evidence };
    return [{ ...shared, consented_at: at, recorded_at: at }];
  });
}
