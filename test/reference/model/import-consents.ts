import { instantOf } from "./cron.ts";
import { instant } from "./kit.ts";

/** AMB-132: columns that state a consent by their name. */
export const SIGNS: Record<string, "out" | "suppressed" | "in"> = {
  ...{ unsubscribed: "out", optout: "out", donotemail: "out", abgemeldet: "out", blacklisted: "out" },
  ...{ bounced: "suppressed", complained: "suppressed" },
  ...{ newsletter: "in", subscribed: "in", acceptsmarketing: "in", optin: "in" },
};

export interface ConsentStatement {
  status: string;
  at: number | null;
  /** The words of the file, which stay with the person where they prove no opt-in. */
  kept?: string | undefined;
}

export const isYes = (text: string) => ["true", "yes", "1"].includes(text.toLowerCase());
export const isNo = (text: string) => ["false", "no", "0"].includes(text.toLowerCase());

/** What the name of a column and its cell say. Null: nothing. */
export function saidByName(
  sign: string,
  cell: string,
  time: number | null,
  constant: number | null,
  zone: string,
): ConsentStatement | null {
  const date = timeOf(cell, zone);
  if (cell === "") return null;
  if (sign === "in") {
    if (isNo(cell)) return { status: "opted_out", at: null };
    const at = time ?? constant;
    return isYes(cell)
      ? { status: at === null ? "yes_without_time" : "opted_in", at, kept: cell }
      : { status: "unknown", at: null };
  }
  if (!isYes(cell) && date === null) return isNo(cell) ? null : { status: "unknown", at: null };
  return { status: sign === "out" ? "opted_out" : "suppressed", at: date };
}

/** An instant, or a wall clock or a day in the zone of the job (AMB-133). */
export function timeOf(text: string | undefined, zone: string): number | null {
  const cell = text?.trim() ?? "";
  const [, day, hour = "0", rest = ":00", half] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d)(:\d\d(?::\d\d)?)(?: ([AP])M)?)?$/i.exec(cell) ?? [];
  // Twelve is the first hour of each half of a day.
  const hours = half ? (Number(hour) % 12) + (half.toUpperCase() === "P" ? 12 : 0) : Number(hour);
  const wall = day === undefined ? Number.NaN : Date.parse(`${day}T${String(hours).padStart(2, "0")}${rest}Z`);
  return Number.isNaN(wall) ? (instant(cell) ?? null) : instantOf(wall, zone);
}

const YES = ["opted_in", "subscribed", "true", "yes", "1"];
const NO = ["opted_out", "unsubscribed", "false", "no", "0"];

/** The translation of consents: it never invents an opt-in. Null: nothing is said. */
export function saidByFields(
  source: string,
  row: Record<string, string>,
  constant: number | null,
  zone: string,
): ConsentStatement | null {
  const status = (row.consent_status ?? "").trim().toLowerCase();
  const time = (text: string | undefined) => timeOf(text, zone);
  const kept = row.consent_status?.trim();
  const yes = (at: number | null) => ({ status: at === null ? "yes_without_time" : "opted_in", at, kept });
  if (source === "platform_a") {
    if (row.suppressions?.trim()) return { status: "suppressed", at: null };
    const at = time(row.consent_at);
    if (status === "unsubscribed") return { status: "opted_out", at };
    return status === "subscribed" || status === "subscribe" ? yes(at ?? constant) : { status: "unknown", at };
  }
  if (source === "platform_b") {
    if (row.clean_time?.trim() || status === "cleaned") return { status: "suppressed", at: time(row.clean_time) };
    const isOut = row.unsub_time?.trim() || status === "unsubscribed" || status === "pending";
    if (isOut) return { status: "opted_out", at: time(row.unsub_time) };
    const own = row.confirm_time || row.optin_time;
    const at = own ? time(own) : constant;
    // Which of its files a row is from is said nowhere else.
    const isNot = status === "nonsubscribed" || status === "transactional";
    if (isNot || (!own && status !== "subscribed")) return { status: "unknown", at };
    return { ...yes(at), ...(own && { kept: undefined }) };
  }
  if (status === "") return null;
  const at = time(row.consent_at);
  if (NO.includes(status)) return { status: "opted_out", at };
  return YES.includes(status) ? yes(at ?? constant) : { status: "unknown", at, kept };
}

export const STRENGTH = ["unknown", "yes_without_time", "opted_in", "opted_out", "suppressed"];
