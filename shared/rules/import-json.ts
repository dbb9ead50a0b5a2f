// Refusals in a cell of JSON: each key is read like the name of a column. JSON never agrees, because the subject of its
// times is unknown (AMB-132).
import { CONTRARY, isNo, isNothing, isYes } from "./import-answers.ts";
import type { SignedCell } from "./import-consents.ts";
import { columnKey } from "./import-names.ts";
import { type SignedName, signedName } from "./import-signs.ts";
import { jsonOf, type Value } from "./import-values.ts";

/** A text, number or boolean with the keys that lead to it, the name of its column first. */
interface Leaf {
  path: readonly string[];
  value: string;
}

/** Keys that count only beside a word for their subject: a status may be that of an order. */
const OF_ANYTHING =
  /^(?:(?:[a-z]+)?(?:status|state)|reason|type|event|enabled|active|e?mails?|sms|texts?|whatsapp|marketing)$/;
const ABOUT_CONSENT =
  /prefer|consent|notif|channel|subscri|permission|marketing|communic|optin|optout|newsletter|e?mail|sms|whatsapp/;
/** Below this key, each key is a choice. */
const OF_CHOICES =
  /(?:subscription|e?mail|newsletter|marketing|communication)s?(?:preference|setting|notification|topic|choice|group|state)s?$/;
/** A key whose value may name the channel of the others. */
const NAMES_CHANNEL = /^(?:channel|medium|type|name)$/;

/**
 * The refusals in a cell. @returns undefined for a cell that is no object, no list of objects, and no pairs with a
 * refusal
 */
export function refusedInJson(column: string, text: string): SignedCell[] | undefined {
  const value = /^[[{]/.test(text) ? (jsonOf(text) ?? jsonOf(asJson(text))) : undefined;
  const isRead = Array.isArray(value) ? value.some(isObject) : isObject(value);
  if (isRead) return refusedIn(column, value);
  const pairs = ABOUT_CONSENT.test(columnKey(column)) ? pairsOf(text) : undefined;
  const refused = pairs === undefined ? [] : refusedIn(column, pairs);
  return refused.length > 0 ? refused : undefined;
}

/** `Email: no; SMS: yes`: at least one of the keys is a channel. */
function pairsOf(text: string): Value | undefined {
  const pairs = text.split(/[;,|\n]/).map((part) => part.split(/[:=]/).map((side) => side.trim()));
  const isOfPairs = pairs.every(([key = "", value = "", ...more]) => /^\p{L}/u.test(key) && value && more.length === 0);
  const isOfChannels = pairs.some(([key = ""]) => signedName(key)?.isBare);
  return isOfPairs && isOfChannels ? Object.fromEntries(pairs) : undefined;
}

function refusedIn(column: string, value: Value | undefined): SignedCell[] {
  const leaves = leavesOf(value, [column]).filter((leaf) => !isNothing(leaf.value));
  const found = leaves.flatMap((leaf) => cellOf(leaf) ?? []);
  const signed = signedName(column);
  const isNegative = signed?.sign === "out" || signed?.sign === "suppressed";
  const isDenied = leaves.every((leaf) => isNo(leaf.value) || CONTRARY.has(columnKey(leaf.value)));
  const isTold = found.some((cell) => cell.signed.sign !== "word" && cell.signed.sign !== "status");
  return isNegative && !isTold && !isDenied ? [{ signed, value: "true" }] : found;
}

/** Converts a Python dictionary to JSON. */
const asJson = (text: string): string =>
  text
    .replaceAll("'", '"')
    .replaceAll(/\bNone\b/g, "null")
    .replaceAll(/\bTrue\b/g, "true")
    .replaceAll(/\bFalse\b/g, "false");

const isObject = (value: Value | undefined): value is { [key: string]: Value } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function leavesOf(value: Value | undefined, path: readonly string[]): Leaf[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((member) => leavesOf(member, path));
  if (!isObject(value)) return [{ path, value: String(value) }];
  const entries = Object.entries(value);
  const channel = entries.flatMap(([key, of]) =>
    typeof of === "string" && NAMES_CHANNEL.test(key) ? channelIn(of) : [],
  );
  return entries.flatMap(([key, of]) => leavesOf(of, [...path, ...channel, key]));
}

/** The channel in a text: `SMS US`. */
const channelIn = (text: string): string[] => (signedName(text)?.isUnnamed === undefined ? [text] : []);

function cellOf({ path, value }: Leaf): SignedCell | undefined {
  const signed = signedPath(path, value);
  if (!signed || ((signed.sign === "in" || signed.isBare) && isYes(value))) return undefined;
  return { signed, value };
}

/** The statement of a path: of its last key, else with more and more of the keys before it. */
function signedPath(path: readonly string[], value: string): SignedName | undefined {
  const before = columnKey(path.slice(0, -1).join());
  const of = signedName(path.join(" "));
  if (!of) return undefined;
  const isOfConsent = ABOUT_CONSENT.test(before);
  const names = path.map((_, i) => path.slice(-1 - i).join(" "));
  const mayStand = (name: string) => isOfConsent || !OF_ANYTHING.test(columnKey(name));
  const readings = names.filter(mayStand).flatMap((name) => signedName(name) ?? []);
  const read = readings.find(({ sign }) => sign !== "word") ?? readings.find(({ isBare }) => isBare);
  if (read) return ofChannels(read, of);
  const isChoice = isNo(value) && OF_CHOICES.test(before);
  const { isBare: _, ...word } = of;
  return { ...word, sign: isChoice ? "in" : "word" };
}

/** The channels of the whole path count if the key names none. */
function ofChannels(signed: SignedName, of: SignedName): SignedName {
  if (signed.isUnnamed === undefined || of.isUnnamed !== undefined) return signed;
  const { isUnnamed: _, ...named } = signed;
  return { ...named, channels: of.channels };
}
