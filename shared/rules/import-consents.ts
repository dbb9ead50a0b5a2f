// What an imported row says of consent, by the platform that exported it and by the names of its columns (D-CSV, AMB-132):
// it never invents an opt-in and never loses an opt-out.
import type { ImportSource } from "./import-columns.ts";
import { columnKey } from "./import-names.ts";
import { type SignedName, signOf } from "./import-signs.ts";
import { readTime, type TimeForm } from "./import-times.ts";

export type ImportedConsent = {
  status: "opted_in" | "opted_out" | "suppressed" | "unknown";
  /** RFC 3339; absent if the file has no time. */
  at?: string | undefined;
  source?: string | undefined;
  ip?: string | undefined;
  /** The status in the file, where it does not prove an opt-in. */
  said?: string | undefined;
  /** Why a yes proves nothing. */
  doubt?: "yes_without_time" | "future" | undefined;
};

/** How the times of a file are read, and what its import says for all of its rows. */
export interface ConsentReading extends TimeForm {
  /** When the import was created, in milliseconds: no consent is later. */
  createdAt: number;
  /** When those agreed of whom the file has no time. */
  consent_at?: string | undefined;
  consent_source?: string | undefined;
}

type Standards = { consent_status?: string; consent_at?: string; consent_source?: string };

/** What one or more columns say, before its time is looked at. */
interface Claim {
  status: ImportedConsent["status"];
  /** As the file has it. */
  time?: string | undefined;
  source?: string | undefined;
  ip?: string | undefined;
  said?: string | undefined;
}

export const OPTED_IN = ["opted_in", "subscribed", "true", "yes", "1"];
export const OPTED_OUT = ["opted_out", "unsubscribed", "false", "no", "0"];

const any = (...whole: string[]) => new RegExp(`^(?:${whole.join("|")})$`);
const words = (...texts: string[]) => new Set(texts.flatMap((text) => text.split(" ")).map(columnKey));
const IN_WORDS = words(
  "opted_in optin opt_in subscribed subscribe granted given agreed accepted allowed allow send confirmed erteilt erlaubt",
);
const YES = words("true yes y 1 t on x checked wahr ja j vrai oui verdadero sí si vero verdadeiro sim waar prawda tak");
const NO = words("false no n 0 f off unchecked falsch nein faux non falso não onwaar nee fałsz nie");
/** A no where somebody is asked; where a name says no, it is none to that. */
const REFUSED = words(
  "denied rejected disallowed notgranted nothanks nothankyou notinterested stop nope removed deleted neindanke keininteresse",
  "nonmerci nogracias nograzie naoobrigado neebedankt niedziekuje abgelehnt verweigert rechazado rifiutato recusado",
  "geweigerd odmowa",
);
const EMPTY = words("none null na nan undefined never");
const TICK = /^[✓✔☑✅]\uFE0F?$/u;
const CROSS = /^[✗✘✕✖❌❎☐]\uFE0F?$/u;

/** A word without marks; a number that a spreadsheet or a data frame wrote with decimals, `1.0`, without them. */
const wordOf = (text: string): string => columnKey(text.trim().replace(/^(-?[01])[.,]0+$/, "$1"));

const isYes = (text: string): boolean => TICK.test(text) || YES.has(wordOf(text)) || IN_WORDS.has(wordOf(text));
const isNo = (text: string): boolean => CROSS.test(text) || NO.has(wordOf(text));
const isRefusal = (text: string): boolean => isNo(text) || REFUSED.has(wordOf(text));

/** No value, as platforms write it: `[]`, `null`, `0000-00-00`. */
export function isNothing(text: string): boolean {
  const key = columnKey(text);
  if (isNo(text)) return false;
  return (key === "" && !TICK.test(text)) || EMPTY.has(key) || /^00+$/.test(key);
}

/** Whether a text says yes, no, when, or a word for a negative. */
export const isClear = (text: string, form: TimeForm): boolean =>
  isYes(text) || isNo(text) || readTime(text, form) !== undefined || negativeOf(text) !== undefined || saysOut(text);

/** As Kit writes it of those who unsubscribed, and other platforms of those whom they do not write to. */
const CANCELLED = /^(?:cancell?ed|stopp?ed|archived|held)$/;
/** Who never confirmed a double opt-in elsewhere has not agreed, and gets nothing here. */
const UNCONFIRMED =
  /^(?:un|not)confirmed|^(?:awaiting|waitingfor|pending)(?:double)?(?:confirm|optin)|^confirmation(?:pending|sent)/;

/** A negative that is denied: `Not opted out`, `nicht abgemeldet`. */
const DENIED = /^(?:is)?(?:not|never|nicht|nie|non|pas|niet|nao)(.+)/;
const isDenied = (key: string): boolean => /^(?:out|suppressed)$/.test(signOf(DENIED.exec(key)?.[1] ?? "") ?? "");

/** The negative that a status says. */
function negativeOf(status: string): "opted_out" | "suppressed" | undefined {
  const key = columnKey(status);
  if (isDenied(key)) return undefined;
  const sign = signOf(key);
  if (sign === "suppressed" || /^(hard|soft)?bounce|^cleaned|^spam|^junk$|complaint|^invalid/.test(key))
    return "suppressed";
  const isOut = sign === "out" || isRefusal(status) || CANCELLED.test(key) || UNCONFIRMED.test(key);
  return isOut ? "opted_out" : undefined;
}

type Translator = (standard: Standards, evidence: Record<string, string>) => Claim | undefined;

/** Conservative: a status without proof is no opt-in (IMP-12). */
const translators: Record<ImportSource, Translator> = {
  csv: ({ consent_status: said, consent_at: time }) => {
    if (said === undefined) return undefined;
    const status = negativeOf(said);
    if (status) return { status, time };
    return isYes(said) ? { status: "opted_in", time, said } : { status: "unknown", said };
  },
  platform_a: ({ consent_status: said, consent_at: time }, { "email suppressions": suppressions }) => {
    const status = suppressions && suppressionOf(suppressions);
    if (status) return { status, time: status === "opted_out" ? time : undefined };
    if (said === undefined) return undefined;
    if (/^never/i.test(said)) return { status: "unknown" };
    const negative = negativeOf(said);
    if (negative) return { status: negative, time };
    return IN_WORDS.has(columnKey(said)) ? { status: "opted_in", time, said } : { status: "unknown" };
  },
  platform_b: ({ consent_status: said = "", consent_source: source = "import" }, evidence) => {
    const status = columnKey(said);
    const { unsub_time, clean_time, confirm_time, optin_time, optin_ip, confirm_ip } = evidence;
    if (status === "nonsubscribed" && !clean_time && !unsub_time) return { status: "unknown" };
    const negative = negativeOf(said);
    if (clean_time || negative === "suppressed") return { status: "suppressed", time: clean_time, source };
    if (unsub_time || negative || status === "pending") return { status: "opted_out", time: unsub_time, source };
    if (status === "transactional") return { status: "unknown" };
    if (confirm_time) return { status: "opted_in", time: confirm_time, source, ip: confirm_ip ?? optin_ip };
    if (optin_time) return { status: "opted_in", time: optin_time, source, ip: optin_ip };
    return status === "subscribed" ? { status: "opted_in", source, said } : { status: "unknown" };
  },
};

/** Klaviyo lists reasons; an address that only unsubscribed is not dead. */
function suppressionOf(text: string): "opted_out" | "suppressed" | undefined {
  if (isNothing(text) || isNo(text)) return undefined;
  const reasons = text
    .split(/[\s,;|]+/)
    .map(columnKey)
    .filter(Boolean);
  return reasons.length > 0 && reasons.every((reason) => signOf(reason) === "out") ? "opted_out" : "suppressed";
}

/** What a status, a reason or a type says that may be one of anything: an opt-out, or that the address is suppressed. */
const OUT_WORDS = [
  ...["unsub[a-z]*", "opt(ed)?out", "(global|group|list)unsub[a-z]*", "bl(ock|ack)listed", "donot(email|contact|mail)"],
  ...["unmarketable", "abgemeldet", "abbestellt", "desabonnee?", "desinscrite?", "dado?debaja", "desuscrit[oa]"],
  ...["disiscritt[oa]", "descadastrad[oa]", "cancelouinscricao", "uitgeschreven", "afgemeld", "wypisan[yae]"],
];
/** Words for an opt-out alone, whatever column they stand in: `unsubscribed`, `newsletter-optout`, `Please unsubscribe`. */
const STANDING_ANYWHERE = any(
  ...OUT_WORDS.map((word) => `(?:please|pls|bitte|wantsto|askedto)?(?:sms|e?mail|newsletter|marketing)*${word}`),
);
/** Whether one of several words or tags in a cell is such a word. */
const saysOut = (value: string): boolean =>
  value.split(/[,;|\n]/).some((word) => STANDING_ANYWHERE.test(columnKey(word)));
/** One of several choices that is a no. */
const A_NO = /\bfalse\b|unsub|opt(?:ed)?[ _-]?out/i;
const STANDING_OUT = any(
  ...OUT_WORDS,
  ...["blocked", "stop(ped)?", "cancell?ed", "removed", "deleted", "noconsent", "ausgetragen", "gesperrt", "baja"],
  ...["archived", "revoked", "withdrawn", "nopermission", "optoutrequested"],
  "cancellat[oa]",
);
const STANDING_SUPPRESSED = any(
  ...[
    "(hard|soft|permanent)?bounced?",
    "cleaned",
    "(spam|direct|issp)?complain[a-z]*",
    "spam(report(ed)?)?",
    "markedasspam",
    "([a-z]+ly|domain|manually|marketing|email)?suppressed",
    "junk",
    "quarantined",
  ],
  ...["invalid(email|address)?", "undeliverable", "unzustellbar", "held"],
);
/** A permanent failure as mail servers write it: `5.1.1`, `550 No such user`. */
const PERMANENT_FAILURE = /^5(?:\.\d{1,3}\.\d{1,3}|\d\d)(?:[\s:;-]|$)/;

function standingOf(value: string): Claim | undefined {
  const key = columnKey(value);
  if (STANDING_SUPPRESSED.test(key) || PERMANENT_FAILURE.test(value)) return { status: "suppressed" };
  return STANDING_OUT.test(key) || UNCONFIRMED.test(key) ? { status: "opted_out" } : undefined;
}

/** A cell whose column says something of consent by its name. */
export interface SignedCell {
  signed: SignedName;
  value: string;
}

/** When somebody agreed, if another column says that they did. */
const momentOf = ({ signed: { sign }, value }: SignedCell, form: TimeForm): string | undefined =>
  sign === "in" && !isNothing(value) && readTime(value, form) !== undefined ? value : undefined;

/** What a cell says by itself. */
function claimOf({ signed: { sign, isBare }, value }: SignedCell, form: TimeForm): Claim | undefined {
  if (sign === "in" && columnKey(value) === "never") return { status: "opted_out" };
  if (isNothing(value)) return undefined;
  if (isBare && (isYes(value) || isNo(value)))
    return isNo(value) ? { status: "opted_out" } : { status: "opted_in", said: value };
  if (sign === "status") return standingOf(value);
  if (sign === "word") return saysOut(value) ? { status: "opted_out" } : undefined;
  if (sign === "choices") return A_NO.test(value) ? { status: "opted_out" } : undefined;
  if (sign === "code") return /^-\d/.test(value) ? { status: "opted_out" } : undefined;
  const time = readTime(value, form) === undefined ? undefined : value;
  if (sign === "in") {
    if (time !== undefined) return undefined;
    const status = negativeOf(value);
    if (status) return { status };
    return isYes(value) ? { status: "opted_in", said: value } : undefined;
  }
  if (isNo(value) || IN_WORDS.has(columnKey(value)) || isDenied(columnKey(value))) return undefined;
  if (sign === "out") return { status: "opted_out", time };
  return { status: (time === undefined && suppressionOf(value)) || "suppressed", time };
}

/** The strongest counts. */
const STRENGTH = ["unknown", "opted_in", "opted_out", "suppressed"] as const;

/** What a row says of mail. */
export function readConsent(
  source: ImportSource,
  {
    standard,
    evidence,
    signed,
  }: { standard: Standards; evidence: Record<string, string>; signed: readonly SignedCell[] },
  reading: ConsentReading,
): ImportedConsent | undefined {
  const stated = translators[source](standard, evidence);
  return settled(stated ? [stated] : [], signed, standard, reading);
}

function settled(
  stated: readonly Claim[],
  signed: readonly SignedCell[],
  standard: Standards,
  reading: ConsentReading,
): ImportedConsent | undefined {
  const claims = [...stated, ...signed.flatMap((cell) => claimOf(cell, reading) ?? [])];
  const strongest = claims.toSorted((a, b) => STRENGTH.indexOf(b.status) - STRENGTH.indexOf(a.status))[0];
  if (!strongest) return undefined;
  const { status, said, ip } = strongest;
  const source = strongest.source ?? standard.consent_source ?? reading.consent_source;
  if (status === "unknown") return { status, ...(said !== undefined && { said }) };
  // `Unsubscribed` may stand in one column, and when it was in another: before the time of the row's consent, which may be
  // that of the yes before.
  const times = claims.flatMap((one) => (one.status === status && one.time !== undefined ? [one.time] : []));
  const time = status === "opted_in" ? times[0] : times.at(-1);
  if (status !== "opted_in") return { status, at: timeOf(time, reading).at, source };
  const [beside] = signed.flatMap((cell) => momentOf(cell, reading) ?? []);
  const { at, isAhead } = timeOf(time ?? standard.consent_at ?? beside ?? reading.consent_at, reading);
  if (at !== undefined) return { status, at, source, ip };
  return { status: "unknown", said, doubt: isAhead ? "future" : "yes_without_time" };
}

/** What a row says of one topic or channel. Without a time, an opt-in proves nothing. */
export type ImportedChoice = {
  status: "opted_in" | "opted_out" | "unknown";
  at?: string | undefined;
  source?: string | undefined;
};
/** By the channel of the consent: `topic:<key>`, or a channel other than e-mail. */
export type ImportedChoices = Readonly<Record<string, ImportedChoice>>;

/**
 * Reads a choice, as conservatively as a consent (TPC-5).
 * @param time when it was chosen; else the time of the row's consent counts
 */
export function readChoice(
  { said, signed, time }: { said?: string | undefined; signed: readonly SignedCell[]; time?: string | undefined },
  standard: Standards,
  reading: ConsentReading,
): ImportedChoice | undefined {
  const consent_at = time ?? standard.consent_at;
  const stated = said === undefined ? [] : [statedChoice(said, consent_at)];
  const found = settled(stated, signed, { ...standard, ...(consent_at !== undefined && { consent_at }) }, reading);
  if (!found || found.status === "unknown") return found && { status: "unknown" };
  const { status, at, source } = found;
  return { status: status === "suppressed" ? "opted_out" : status, at, source };
}

function statedChoice(said: string, time: string | undefined): Claim {
  if (negativeOf(said)) return { status: "opted_out", time };
  return isYes(said) ? { status: "opted_in", time } : { status: "unknown" };
}

const MAX_AHEAD_MS = 300_000;

/** A time ahead of the import by more than five minutes proves nothing, none is stored as later than it (AMB-131). */
function timeOf(text: string | undefined, { createdAt, ...form }: ConsentReading): { at?: string; isAhead: boolean } {
  const at = text === undefined ? undefined : readTime(text, form);
  if (at === undefined) return { isAhead: false };
  if (at > createdAt + MAX_AHEAD_MS) return { isAhead: true };
  return { at: new Date(Math.min(at, createdAt)).toISOString(), isAhead: false };
}
