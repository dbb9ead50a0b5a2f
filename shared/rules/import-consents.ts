// What an imported row says of consent, by the platform that exported it (D-CSV).
import type { ImportSource } from "./import-columns.ts";
import { parseTimestamp } from "./timestamps.ts";

export type ImportedConsent = {
  status: "opted_in" | "opted_out" | "suppressed" | "unknown";
  /** RFC 3339; absent if the file has no time. */
  at?: string | undefined;
  source?: string | undefined;
  ip?: string | undefined;
  /** The status in the file, where it does not prove an opt-in. */
  said?: string | undefined;
};

type Translator = (
  standard: { consent_status?: string; consent_at?: string; consent_source?: string },
  evidence: Record<string, string>,
) => ImportedConsent | undefined;

export const OPTED_IN = ["opted_in", "subscribed", "true", "yes", "1"];
export const OPTED_OUT = ["opted_out", "unsubscribed", "false", "no", "0"];

/** Conservative: a status without proof is no opt-in (IMP-12). */
export const consentTranslators: Record<ImportSource, Translator> = {
  csv: ({ consent_status, consent_at, consent_source: source }) => {
    if (consent_status === undefined) return undefined;
    const status = consent_status.toLowerCase();
    const at = timeOf(consent_at);
    if (OPTED_OUT.includes(status)) return { status: "opted_out", at, source };
    if (status === "suppressed") return { status, at, source };
    if (OPTED_IN.includes(status) && at !== undefined) return { status: "opted_in", at, source };
    return { status: "unknown", said: consent_status };
  },
  platform_a: ({ consent_status, consent_at, consent_source: source }, { "email suppressions": suppressions }) => {
    const at = timeOf(consent_at);
    if (suppressions && suppressions !== "[]") return { status: "suppressed", source };
    if (consent_status === undefined) return undefined;
    const status = consent_status.toUpperCase();
    if (status === "UNSUBSCRIBED") return { status: "opted_out", at, source };
    const isIn = status === "SUBSCRIBED" || status === "SUBSCRIBE";
    if (isIn && at !== undefined) return { status: "opted_in", at, source };
    return isIn ? { status: "unknown", said: consent_status } : { status: "unknown" };
  },
  platform_b: ({ consent_status = "", consent_source: source = "import" }, evidence) => {
    const status = consent_status.toLowerCase();
    const { unsub_time, clean_time, confirm_time, optin_time, optin_ip, confirm_ip } = evidence;
    if (clean_time || status === "cleaned") return { status: "suppressed", at: timeOf(clean_time), source };
    if (unsub_time || status === "unsubscribed") return { status: "opted_out", at: timeOf(unsub_time), source };
    if (status === "nonsubscribed" || status === "transactional") return { status: "unknown" };
    const confirmed = timeOf(confirm_time);
    if (confirmed !== undefined) return { status: "opted_in", at: confirmed, source, ip: confirm_ip ?? optin_ip };
    const optedIn = timeOf(optin_time);
    if (optedIn !== undefined) return { status: "opted_in", at: optedIn, source, ip: optin_ip };
    return { status: "unknown" };
  },
};

/** What a row says of one topic. Without a time, an opt-in proves nothing. */
export type ImportedChoice = {
  status: "opted_in" | "opted_out" | "unknown";
  at?: string | undefined;
  source?: string | undefined;
};
export type ImportedChoices = Readonly<Record<string, ImportedChoice>>;

/**
 * Reads the choices of topics, as conservatively as a consent (TPC-5).
 * @param said what the row says, by the key of a topic
 * @param times when it was chosen, by the key of a topic; else the time of the row's consent counts
 */
export function readChoices(
  said: Readonly<Record<string, string>>,
  times: Readonly<Record<string, string>>,
  { consent_at, consent_source: source }: { consent_at?: string; consent_source?: string },
): ImportedChoices {
  const choices: Record<string, ImportedChoice> = {};
  for (const [key, text] of Object.entries(said)) {
    const value = text.toLowerCase();
    const at = timeOf(times[key] ?? consent_at);
    if (OPTED_OUT.includes(value)) choices[key] = { status: "opted_out", at, source };
    else if (OPTED_IN.includes(value) && at !== undefined) choices[key] = { status: "opted_in", at, source };
    else choices[key] = { status: "unknown" };
  }
  return choices;
}

const LOCAL_TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2})?)$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads RFC 3339, and the platforms' `2025-03-01 09:30:00` and `2025-03-01` as UTC. */
function timeOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const local = LOCAL_TIME.exec(text);
  const [, day = "", time = ""] = local ?? [];
  const full = local ? `${day}T${time.length === 5 ? `${time}:00` : time}Z` : text;
  const at = parseTimestamp(DAY.test(text) ? `${text}T00:00:00Z` : full);
  return at === undefined ? undefined : new Date(at).toISOString();
}
