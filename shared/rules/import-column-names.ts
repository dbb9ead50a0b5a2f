// Further information in the name of a column: the meaning of the letters or digits in its cells, as in `Status (S =
// subscribed, U = unsubscribed)`, and which other column has the time of its statement (AMB-132).
import { columnKey, isTimeOfYes, perHeader, rankOf } from "./import-names.ts";
import { type SignedName, signedName } from "./import-signs.ts";
import { isOfMoment } from "./import-times.ts";

interface Legend {
  /** The name without its legend. */
  name: string;
  /** The meanings by letter or digit, in lower case. */
  words: ReadonlyMap<string, string>;
}

/** A longer name is a text. */
const MAX_NAME = 200;
const EQUALS =
  /(?<![\p{L}\d])([\p{L}\d]{1,2}) ?= ?([^\s=,;|/()[\]]+(?: [^\s=,;|/()[\]]+){0,4}?)(?= ?[,;|/)\]]| [\p{L}\d]{1,2} ?=|$)/gu;
const PAIR = /^ ?([\p{L}\d]{1,2}) ?[:–-] ?(\S.*)$/u;
const IN_BRACKETS = /^([^()[\]]*)[([]([^()[\]]+)[)\]]$/;
const BEHIND_COLON = /^([^:]*):(.+)$/;
const OF_STATUSES: Readonly<Record<string, string>> = {
  u: "unsubscribed",
  s: "subscribed",
  c: "cleaned",
  b: "bounced",
};

export function legendOf(written: string): Legend | undefined {
  const name = written.trim().replaceAll(/\s+/g, " ");
  if (name.length > MAX_NAME) return undefined;
  const equal = [...name.matchAll(EQUALS)];
  const [first] = equal;
  if (first) return legend(name.slice(0, first.index), equal);
  const letters = name.toLowerCase().split("/");
  if (letters.length > 1 && letters.includes("u") && letters.every((letter) => Object.hasOwn(OF_STATUSES, letter)))
    return { name: "status", words: new Map(Object.entries(OF_STATUSES)) };
  const [, before = "", inner = ""] = IN_BRACKETS.exec(name) ?? BEHIND_COLON.exec(name) ?? [];
  const pairs = inner.split(/[,;|/]/).map((part) => PAIR.exec(part) ?? undefined);
  if (pairs.length > 1 && pairs.every((pair) => pair !== undefined)) return legend(before, pairs);
  return initialsOf(before, inner);
}

const legend = (before: string, pairs: readonly RegExpExecArray[]): Legend => ({
  name: before.replace(/[\s:([-]+$/, "") || "status",
  words: new Map(pairs.map(([, letter = "", word = ""]) => [letter.toLowerCase(), word.trim()])),
});

/** `Subscribed/Unsubscribed (S/U)` */
function initialsOf(before: string, inner: string): Legend | undefined {
  const letters = inner.toLowerCase().split("/");
  const words = before.trim().split("/");
  const isOfInitials = letters.every((letter, i) => letter.length === 1 && words[i]?.toLowerCase().startsWith(letter));
  if (letters.length < 2 || letters.length !== words.length || !isOfInitials) return undefined;
  return { name: "status", words: new Map(letters.map((letter, i) => [letter, words[i] ?? ""])) };
}

/** The ending of a name of a time column, and the words for its subject. */
const WHEN = /((?:last)?(?:chang|updat|modifi)ed?)?(?:at|on|date|time|timestamp)$/;
const STATED = /(?:consent|status|state|permission)+$/;

/** The reason or subject of a person's leaving. */
const OF_LEAVING =
  /^(?:(?:suppress(?:ion|ed)?|unsub\w*|opt(?:ed)?out|bounce)?reason|suppressions?|suppress(?:ion|ed)?(?:type|status))$/;
const OF_ROW = /^(?:timestamp|date|time|datetime)$/;
/** The most columns in a file of former subscribers, as Klaviyo writes it: its only time is when they left. */
const MAX_OF_THOSE_WHO_LEFT = 4;

const timesOfRow = perHeader((header) => header.flatMap((name, i) => (OF_ROW.test(columnKey(name)) ? [i] : [])));

/** The time column of a file of former subscribers or events. @returns its index */
function timeOfRow(key: string, header: readonly string[]): number | undefined {
  const isOfEvents = /^event(?:type|name)?$/.test(key);
  const isOfLeaving = OF_LEAVING.test(key) && header.length <= MAX_OF_THOSE_WHO_LEFT;
  // A date beside a time of day is earlier than both together, and would lose against statements in between.
  const [at, ...others] = timesOfRow(header);
  return (isOfEvents || isOfLeaving) && others.length === 0 ? at : undefined;
}

/** The name of a row's only time: `created` at SendGrid, `CreatedAt` at Postmark, `LastUpdateTime` at SES. */
const OF_ENTRY = /^(?:created|inserted|added|blocked|lastupdated?)(?:at|on|date|time|timestamp)?$/;
const entriesOf = perHeader((header) => header.flatMap((name, i) => (OF_ENTRY.test(columnKey(name)) ? [i] : [])));

/** A column with the time of a statement. */
export interface TimeColumn {
  /** Its index. */
  at: number;
  /** It is the time of a suppression only: for an opt-out it may be when the person was added, long before. */
  isOfEntry?: true;
}

/**
 * The column with the time of a statement: `SMS Marketing Consent Timestamp` for `SMS Marketing Consent`, `Email status
 * changed at` for `Email status`, `CreatedAt` for `SuppressionReason`.
 */
export function timeColumnOf(name: string, header: readonly string[]): TimeColumn | undefined {
  const key = columnKey(name);
  const stated = timesOf(header)
    .get(key.replace(STATED, ""))
    ?.find((time) => time.key !== key)?.at;
  const at = stated ?? timeOfRow(key, header);
  if (at !== undefined) return { at };
  const [entry, ...others] = entriesOf(header);
  const isOfLeaving = (OF_LEAVING.test(key) || key === "code") && header.length <= MAX_OF_THOSE_WHO_LEFT;
  return entry !== undefined && isOfLeaving && others.length === 0 ? { at: entry, isOfEntry: true } : undefined;
}

/** The time columns, by the subject of their names. */
const timesOf = perHeader((header) => {
  const times = new Map<string, { key: string; at: number }[]>();
  for (const [at, name] of header.entries()) {
    const key = columnKey(name);
    const [whole, changed] = WHEN.exec(key) ?? [];
    if (whole === undefined) continue;
    const stated = key.slice(0, -whole.length);
    const what = stated.replace(STATED, "");
    // A bare `updated_at` is the time of the whole row.
    const isOfSomething = what !== stated || (changed !== undefined && what !== "");
    const others = times.get(what) ?? [];
    // If several columns have one name, the first counts.
    if (isOfSomething && !others.some((other) => other.key === key)) times.set(what, [...others, { key, at }]);
  }
  return times;
});

const STATES: readonly SignedName["sign"][] = ["in", "asked", "status", "choices", "code"];
/** The columns that may say yes, or that there is no consent. */
const statementsOf = perHeader((header) =>
  header.flatMap((name) => {
    const signed = signedName(name, header);
    const isStatus = rankOf("consent_status", columnKey(name)) !== undefined;
    return isStatus || (signed && STATES.includes(signed.sign)) ? [{ name, signed }] : [];
  }),
);
const OF_A_YES = /opt(?:ed)?in|consent|einwilligung|zustimmung|consens|toestemming|zgod/;
/** The time of any change: of a yes, or of its withdrawal. */
const OF_A_CHANGE = /status|state|updat|chang|modif|consent(?:at|timestamp)$/;
/** Columns of people who never confirmed or have left, or with another answer than yes. */
const MAY_DENY = new RegExp(
  [
    "confirm|conferm|bestatig|bevestig|potwierdz|verif|doubleopt|^doi|activ|aktiv|actif|attiv|enabled|disabled",
    "^(?:granted|given|agreed?|accept(?:ed)?|answer|decision|choice|response|(?:trans)?action)(?:at|on|date|type|status|value)?$|purpose|zweck|^(?:value|wert)$",
    "^(?:left|leave|leaving|exit(?:ed)?|end(?:ed|s)?|cancel\\w*|stop(?:ped)?|austritt)(?:at|on|date|time|datum|am|reason|grund)?$",
    "remov|delet|geloscht|kundig|vertragsende|retire|resili(?!en)|(?<!pr)elimin|disdett|sperr|block|revo[kc]|withdr|(?<!per|trans|in)former|ausgetreten",
  ].join("|"),
);
/** What such words are about elsewhere: what people did last, what they ordered, and other things that they confirmed. */
const OF_OTHER_DEEDS = new RegExp(
  [
    "(?:last|latest|recent|letzte|derniere?|ultim[ao]|laatste|ostatni[aey]?|site|web|app|user|customer)\\w*(?:activ|aktiv|actif|attiv|atividad)",
    "activit(?!ystatus)|aktivitat|attivita|aktywnos|(?:inter|radio|pro)a[ck]tiv|daysactive|activedays|activesince|aktivseit",
    "order|purchase|booking|reservation|appointment|invoice|payment|shipment|ticket|bestell|buchung|rechnung|commande|pedido",
    "(?:count|number|amount|rate|score|revenue|anzahl|frist)$|^(?:number|anzahl)of|retirement|withdrawals|^block$|(?:home|street|city|apartment)block",
    "(?:phone|mobile|identity|age|address|document|bank|kyc|card|push|location|2fa|mfa|factor|biometric\\w*|darkmode)(?:is)?(?:verif|confirm|enabled|disabled)",
  ].join("|"),
);
const mayDenyBy = (key: string): boolean => MAY_DENY.test(key) && !OF_OTHER_DEEDS.test(key);
const mayDeny = perHeader((header) => header.filter((name) => mayDenyBy(columnKey(name))));

/**
 * Whether a time in a column is a yes by itself: its name is about consent, as in `Opt-in date`, and no other column
 * says who agreed (AMB-132). A `subscription date` may be about something else.
 */
function provesAlone(name: string, header: readonly string[]): boolean {
  const key = columnKey(name);
  if (!OF_A_YES.test(key) || OF_A_CHANGE.test(key) || !isOfMoment(key)) return false;
  if (mayDeny(header).some((other) => other !== name)) return false;

  const own = signedName(name, header);
  const isOfAnother = (other: SignedName | undefined): boolean =>
    own !== undefined &&
    other !== undefined &&
    !own.isUnnamed &&
    !other.isUnnamed &&
    !own.channels.some((channel) => other.channels.includes(channel));
  return statementsOf(header).every((other) => other.name === name || isOfAnother(other.signed));
}

/** The meaning of a time in the column of the row's consent. */
export const PROOF: SignedName = { sign: "in", channels: ["email"], isUnnamed: true, isMoment: true, isProof: true };

/** For the column of the row's consent: whether its time is the time of a yes, and whether it is a yes by itself. */
export function timeOfYes(name: string, header: readonly string[]): "proof" | "time" | undefined {
  if (!isTimeOfYes(name)) return undefined;
  return provesAlone(name, header) ? "proof" : "time";
}

/** The same for every other column. */
export const withProof = (signed: SignedName, name: string, header: readonly string[]): SignedName =>
  signed.isMoment && provesAlone(name, header) ? { ...signed, isProof: true } : signed;
