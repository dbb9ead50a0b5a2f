// The consent history of a subscriber: append-only; the newest assertion decides (D-CONSENT).
import { createHash } from "node:crypto";
import { timestamp, uuidV7 } from "../../clock.ts";
import type { Store, StoreContext, StoreReader } from "../../resources.ts";
import { absent, all, any, atMost, type Condition, is, present } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";

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

export interface ConsentAssertion {
  channel: string;
  /** Only an import or a provider suppresses. */
  status: "opted_in" | "opted_out" | "suppressed";
  /** RFC 3339. */
  consented_at: string;
  source?: string | undefined;
  ip?: string | undefined;
  text?: string | undefined;
  import_job_id?: string | undefined;
}

const MAX_SHOWN = 1_000;

const statusIn = (channel: string) => `c:${channel}`;
const timeIn = (channel: string) => `ct:${channel}`;

/** The row of the history. */
export function consentRow(
  { tenant, clock }: Pick<StoreContext, "tenant" | "clock">,
  subscriber: string,
  id: string,
  { channel, status, consented_at, source, ip, text, import_job_id }: ConsentAssertion,
): Item {
  return {
    ...keys.consent(tenant, subscriber, id),
    ...{ id, subscriber_id: subscriber, channel, status, express: status === "opted_in", consented_at, source },
    evidence: JSON.stringify({ ip, text, import_job_id }),
    recorded_at: timestamp(clock.now()),
  };
}

/** What the profile keeps of the newest assertion of a channel (docs/decisions/0021#subscriber-shards). */
export const foldedConsent = ({ channel, status, consented_at }: ConsentAssertion): Record<string, string> => ({
  [statusIn(channel)]: status,
  [timeIn(channel)]: consented_at,
});

/** Nobody has opted out, and nothing was suppressed. */
export const isOpenConsent = (channel: string): Condition =>
  any(absent(statusIn(channel)), is(statusIn(channel), "opted_in"));

/** No later assertion of the channel is known. */
export const isNewestConsent = ({ channel, consented_at }: ConsentAssertion): Condition =>
  any(absent(timeIn(channel)), atMost(timeIn(channel), consented_at));

/** An opt-out that came as a message of the subscriber's own: told again, it changes nothing (AMB-90). */
export async function recordOptOut(
  store: Store,
  subscriber: string,
  { channel, message, text, at }: { channel: string; message: string; text: string; at: number },
): Promise<void> {
  const consent: ConsentAssertion = {
    ...{ channel, status: "opted_out", consented_at: timestamp(at), source: "inbound_message", text },
  };
  const id = uuidV7(at, createHash("sha256").update(`${channel} ${message} ${subscriber}`).digest());
  const row = { put: consentRow(store, subscriber, id, consent), when: absent() };
  const profile = keys.subscriber(store.tenant, subscriber);
  const isThere = all(present("external_id"), absent("erased_at"));
  const folding = {
    update: profile,
    change: { set: foldedConsent(consent) },
    when: all(isThere, isNewestConsent(consent)),
  };
  const isWritten = await store.transact([folding, row]).then(
    () => true,
    onTransactionCanceled(([_, existing]) => existing !== undefined),
  );
  // Refused by the profile: it has a later assertion, or is no more.
  if (!isWritten)
    await store.transact([{ check: profile, when: isThere }, row]).catch(onTransactionCanceled(() => undefined));
}

/** Newest first. */
export async function consentsOf(store: StoreReader, subscriber: string): Promise<Consent[]> {
  const { pk, sk } = keys.consent(store.tenant, subscriber, "");
  const { items } = await store.query({ pk, prefix: sk, newestFirst: true, limit: MAX_SHOWN });
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
