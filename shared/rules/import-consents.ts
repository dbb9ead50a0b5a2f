// The consents of an imported row, by the exporting platform and by the names of its columns (D-CSV, AMB-132). It never
// invents an opt-in and never loses an opt-out.
import {
  A_NO,
  agreedIn,
  beginsWithNo,
  CONTRARY,
  eventIn,
  IN_WORDS,
  isDenied,
  isForbidden,
  isGood,
  isIdle,
  isNo,
  isNoBounce,
  isNoneOf,
  isNothing,
  isOver,
  isSecond,
  isUnconfirmed,
  isYes,
  negativeOf,
  SOFT,
  saysDead,
  saysOut,
  saysSuppressed,
  standingOf,
  suppressionOf,
} from "./import-answers.ts";
import { withReasons } from "./import-bounces.ts";
import { columnKey } from "./import-names.ts";
import type { SignedName } from "./import-signs.ts";
import type { ImportSource } from "./import-sources.ts";
import { readTime, type TimeForm } from "./import-times.ts";

export type ImportedConsent = {
  status: "opted_in" | "opted_out" | "suppressed" | "unknown";
  /** RFC 3339; absent if the file has no time. */
  at?: string | undefined;
  source?: string | undefined;
  ip?: string | undefined;
  /** The status in the file, if it does not prove an opt-in. */
  said?: string | undefined;
  /** Why a yes proves nothing. */
  doubt?: "yes_without_time" | "future" | undefined;
  /**
   * The file says `pending` or `unconfirmed`. A person who has not agreed there has taken back nothing that was agreed
   * here.
   */
  isPending?: true | undefined;
};

/** How the times of a file are read, and the consent that its import states for all rows. */
export interface ConsentReading extends TimeForm {
  /** When the import was created, in milliseconds: no consent is later. */
  createdAt: number;
  /** When people agreed whose time is not in the file. */
  consent_at?: string | undefined;
  consent_source?: string | undefined;
  /** The time of the row's consent is only the time of a yes. */
  isTimeOfYes?: boolean | undefined;
}

type Standards = { consent_status?: string; consent_at?: string; consent_source?: string };

/** The statement of one or more columns, before its time is checked. */
interface Claim {
  status: ImportedConsent["status"];
  /** The time as the file has it. */
  time?: string | undefined;
  ip?: string | undefined;
  said?: string | undefined;
  isPending?: true | undefined;
}

const pendingIn = (said: string) => (isUnconfirmed(said) ? { isPending: true as const } : {});

type Translator = (
  standard: Standards & { refused_at?: string | undefined },
  evidence: Record<string, string>,
) => Claim | undefined;

/** `O` is that of Responsys for the permission of a channel, `U` that of the Newsletter Plugin of WordPress. */
const [OUT_LETTER, LEFT_LETTER] = [/^o$/i, /^u$/i];

/** Conservative: a status without proof is no opt-in (IMP-12). */
const translators: Record<ImportSource, Translator> = {
  csv: ({ consent_status: said, consent_at: time, refused_at }) => {
    if (said === undefined) return undefined;
    const status = OUT_LETTER.test(said) || LEFT_LETTER.test(said) ? "opted_out" : negativeOf(said);
    if (status) return { status, time: refused_at, ...pendingIn(said) };
    return isYes(said) ? { status: "opted_in", time, said } : { status: "unknown", said };
  },
  platform_a: ({ consent_status: said, consent_at: time, refused_at }, { "email suppressions": suppressions }) => {
    const status = suppressions && suppressionOf(suppressions);
    if (status) return { status, time: status === "opted_out" ? refused_at : undefined };
    if (said === undefined || /^never/i.test(said)) return { status: "unknown" };
    const negative = negativeOf(said);
    if (negative) return { status: negative, time: refused_at };
    return IN_WORDS.has(columnKey(said)) ? { status: "opted_in", time, said } : { status: "unknown" };
  },
  platform_b: ({ consent_status: said = "" }, evidence) => {
    const status = columnKey(said);
    const { unsub_time, clean_time, confirm_time, optin_time, optin_ip, confirm_ip } = evidence;
    if (status === "nonsubscribed" && !clean_time && !unsub_time) return { status: "unknown" };
    const negative = negativeOf(said);
    if (clean_time || negative === "suppressed") return { status: "suppressed", time: clean_time };
    if (unsub_time || negative) return { status: "opted_out", time: unsub_time };
    if (status === "transactional") return { status: "unknown" };
    if (confirm_time) return { status: "opted_in", time: confirm_time, ip: confirm_ip ?? optin_ip };
    if (optin_time) return { status: "opted_in", time: optin_time, ip: optin_ip };
    return status === "subscribed" ? { status: "opted_in", said } : { status: "unknown" };
  },
};

/** A cell whose column is about consent by its name. */
export interface SignedCell {
  signed: SignedName;
  value: string;
  /** Its time in another column. */
  time?: string | undefined;
  /** The same, if it is the time of a suppression only. */
  suppressedAt?: string | undefined;
}

/** The time of a yes, if another column says that the person agreed. */
const momentOf = ({ signed: { isMoment }, value }: SignedCell, form: TimeForm): string | undefined =>
  isMoment && !isNothing(value) && readTime(value, form) !== undefined ? value : undefined;

const asClaim = (status: Claim["status"] | undefined, said = ""): Claim | undefined =>
  status && { status, ...(status === "opted_in" && { said }), ...pendingIn(said) };

/** The claim of a cell, at its own time or at that of its time column. */
function claimOf(cell: SignedCell, form: ConsentReading): Claim | undefined {
  const found = ownClaimOf(cell, form);
  const { confirms } = cell.signed;
  const isPending = confirms === "not yet" || (confirms === "done" && isNo(cell.value));
  const claim = found?.status === "opted_out" && isPending ? { ...found, isPending: true as const } : found;
  if (!claim || claim.time !== undefined) return claim;
  const time = cell.time ?? (claim.status === "suppressed" ? cell.suppressedAt : undefined);
  return time === undefined ? claim : { ...claim, time };
}

/** A day of which nobody knows whether the month comes first. `1/0/00` and `01/01/1970` stand for no day. */
const DAY_OR_MONTH = /^0?[1-9]\d?[/.-]0?[1-9]\d?[/.-](?:199\d|20\d{2}|9\d|0[1-9]|[1-6]\d)(?!\d)/;
const OTHER_STATUS = /^[02-9]$/;

/** The claim of a cell by itself. */
function ownClaimOf({ signed, value }: SignedCell, form: ConsentReading): Claim | undefined {
  const { sign, isBare, isNumbered, isUnnamed, isOfTrade, isOfPurchase, isProof, of } = signed;
  const isPreference = sign === "in" || (sign === "status" && !isUnnamed);
  if (isPreference && isNoneOf(value)) return { status: "opted_out" };
  if (isNothing(value)) return undefined;
  if (isBare && (isYes(value) || isNo(value) || isForbidden(value)))
    return !isYes(value) ? { status: "opted_out" } : { status: "opted_in", said: value };
  if (sign === "status" && isOfTrade && isIdle(value)) return undefined;
  if (sign === "status" && isOfPurchase && (isIdle(value) || isOver(value))) return undefined;
  if (sign === "status") {
    // Responsys writes `D` and `U` for deliverable and undeliverable.
    if (of === "address" && LEFT_LETTER.test(value)) return { status: "suppressed" };
    const isOut = (isUnnamed ? LEFT_LETTER : OUT_LETTER).test(value) || (isNumbered && OTHER_STATUS.test(value));
    const hasEnded = of === undefined && !isOfTrade && isOver(value);
    const ended = isOut || hasEnded ? "opted_out" : undefined;
    return asClaim(standingOf(value) ?? standingOf(eventIn(value)) ?? ended ?? agreedIn(value), value);
  }
  if (sign === "endpoint") return /^inactive$/i.test(value) ? { status: "suppressed" } : undefined;
  if (sign === "word" && saysSuppressed(value)) return asClaim("suppressed");
  if (sign === "word") return asClaim(saysOut(value) ? "opted_out" : undefined);
  if (sign === "asked") return asClaim(negativeOf(value), value);
  // `Pending` is an address that nobody has checked yet.
  if (sign === "valid")
    return isNo(value) || (standingOf(value) && !isUnconfirmed(value)) ? { status: "suppressed" } : undefined;
  if (sign === "choices") return A_NO.test(value) ? { status: "opted_out" } : undefined;
  if (sign === "code") return /^-\d/.test(value) ? { status: "opted_out" } : undefined;
  const time = readTime(value, form) === undefined ? undefined : value;
  if (sign === "in") {
    if (time !== undefined) return isProof && { status: "opted_in", time, said: value };
    const status = isNumbered && isSecond(value) ? "opted_out" : negativeOf(value);
    if (status) return asClaim(status, value);
    return isYes(value) || (isProof && DAY_OR_MONTH.test(value)) ? { status: "opted_in", said: value } : undefined;
  }
  if (
    isNo(value) ||
    isNoneOf(value) ||
    beginsWithNo(value) ||
    CONTRARY.has(columnKey(value)) ||
    isDenied(columnKey(value))
  )
    return undefined;
  if (signed.isUntil && time !== undefined && timeOf(time, form).isAhead) return undefined;
  if (sign === "out") return { status: of === "reason" && saysDead(value) ? "suppressed" : "opted_out", time };
  if (SOFT.test(columnKey(value)) || isGood(value) || isNoBounce(value)) return undefined;
  return { status: (time === undefined && suppressionOf(value)) || "suppressed", time };
}

/** From the weakest to the strongest claim, which counts. */
const STRENGTH = ["unknown", "opted_in", "opted_out", "suppressed"] as const;

/** The mail consent of a row. */
export function readConsent(
  source: ImportSource,
  {
    standard,
    evidence,
    signed,
  }: { standard: Standards; evidence: Record<string, string>; signed: readonly SignedCell[] },
  reading: ConsentReading,
): ImportedConsent | undefined {
  const stated = translators[source]({ ...standard, refused_at: refusedAt(standard.consent_at, reading) }, evidence);
  const { consent_source = source === "platform_b" ? "import" : undefined } = reading;
  const { "email suppressions": reasons } = evidence;
  return settled(stated ? [stated] : [], withReasons(signed, reading, reasons ? [reasons] : []), standard, {
    ...reading,
    consent_source,
  });
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
  const source = standard.consent_source ?? reading.consent_source;
  if (status === "unknown") return { status, ...(said !== undefined && { said }) };
  // `Unsubscribed` and its time may be in two columns. The time of the row's consent counts after that one, because it
  // may be the time of an earlier yes.
  const times = claims.flatMap((claim) => (claim.status === status && claim.time !== undefined ? [claim.time] : []));
  const time = status === "opted_in" ? times[0] : times.at(-1);
  const isPending = claims.every((claim) => claim.status !== status || claim.isPending);
  if (status !== "opted_in") return { status, at: timeOf(time, reading).at, source, ...(isPending && { isPending }) };
  const [beside] = signed.flatMap((cell) => momentOf(cell, reading) ?? []);
  const { at, isAhead } = timeOf(time ?? standard.consent_at ?? beside ?? reading.consent_at, reading);
  if (at !== undefined) return { status, at, source, ip };
  return { status: "unknown", said, doubt: isAhead ? "future" : "yes_without_time" };
}

/** Whether it applies to the address, not only to the person. */
export const isOptOut = (said: Pick<ImportedConsent, "status" | "isPending"> | undefined): boolean =>
  said?.status === "opted_out" && !said.isPending;

/** The choice of a row for one topic or channel. An opt-in without a time proves nothing. */
export type ImportedChoice = {
  status: "opted_in" | "opted_out" | "unknown";
  at?: string | undefined;
  source?: string | undefined;
  isPending?: true | undefined;
};
/** By the channel of the consent: `topic:<key>`, or a channel other than mail. */
export type ImportedChoices = Readonly<Record<string, ImportedChoice>>;

/**
 * Reads a choice, as conservatively as a consent (TPC-5). @param time when it was chosen; default: the time of the
 * row's consent
 */
export function readChoice(
  { said, signed, time }: { said?: string | undefined; signed: readonly SignedCell[]; time?: string | undefined },
  standard: Standards,
  reading: ConsentReading,
): ImportedChoice | undefined {
  const consent_at = time ?? standard.consent_at;
  const stated = said === undefined ? [] : [statedChoice(said, consent_at, time ?? refusedAt(consent_at, reading))];
  const found = settled(
    stated,
    withReasons(signed, reading),
    { ...standard, ...(consent_at !== undefined && { consent_at }) },
    reading,
  );
  if (!found || found.status === "unknown") return found && { status: "unknown" };
  const { status, at, source, isPending } = found;
  return { status: status === "suppressed" ? "opted_out" : status, at, source, ...(isPending && { isPending }) };
}

/** The time of an opt-out. With the time of an earlier yes it would lose against consents given here in between. */
const refusedAt = (consent_at: string | undefined, { isTimeOfYes }: ConsentReading): string | undefined =>
  isTimeOfYes ? undefined : consent_at;

function statedChoice(said: string, time: string | undefined, refused_at: string | undefined): Claim {
  if (negativeOf(said)) return { status: "opted_out", time: refused_at, ...pendingIn(said) };
  return isYes(said) ? { status: "opted_in", time } : { status: "unknown" };
}

const MAX_AHEAD_MS = 300_000;

/**
 * A time more than five minutes after the import proves nothing, and no time is stored as later than the import
 * (AMB-131).
 */
function timeOf(text: string | undefined, { createdAt, ...form }: ConsentReading): { at?: string; isAhead: boolean } {
  const at = text === undefined ? undefined : readTime(text, form);
  if (at === undefined) return { isAhead: false };
  if (at > createdAt + MAX_AHEAD_MS) return { isAhead: true };
  return { at: new Date(Math.min(at, createdAt)).toISOString(), isAhead: false };
}
