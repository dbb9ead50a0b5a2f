// Finds the columns that are fields of a person, by their names and their content (AMB-133).
import { rowColumn } from "./import-channels.ts";
import { columnName, importFields } from "./import-mapping.ts";
import { isAuthor } from "./import-message-logs.ts";
import {
  bareName,
  columnKey,
  hasOwnIds,
  isLikeEmail,
  isLikePhone,
  isNumber,
  isOfOthers,
  isRecipient,
  maybeAddress,
  phoneLead,
  rankOf,
  type Standard,
  saysWhose,
} from "./import-names.ts";
import { isOfPurchase } from "./import-purchases.ts";
import { signedName } from "./import-signs.ts";
import { EVIDENCE, type ImportSource, presets } from "./import-sources.ts";
import { addressTypes, type ColumnType, saysYesOrNo } from "./import-values.ts";

/** The fields that identify a person, and those with an address: none of them is a yes or a no. */
export const OF_WHOM: readonly Standard[] = ["external_id", "email", "phone"];
/** A name with a prefix comes after the same name without it, and before less usual ones. */
const BEHIND_A_PREFIX = 0.5;
/** An empty column comes after every other one for the same field. */
const EMPTY = 1_000_000;
const BEHIND_ALL = 1_000;
/** If one of these is the first name, `Name` is the last name. */
const BESIDE_A_NAME = ["vorname", "voornaam", "prenom", "imie"];

const baseOf = (type: ColumnType | undefined): ColumnType | undefined => {
  if (type && addressTypes.includes(type)) return "address";
  return type === "same_phone" ? "phone" : type;
};

/** The fields of columns by index: each field gets the column with the best name. */
export function usualFields(
  header: readonly string[],
  source: ImportSource,
  { taken, isFree, types }: { taken: ReadonlySet<string>; isFree: readonly boolean[]; types: readonly ColumnType[] },
): Map<number, Standard> {
  const fields = new Map<number, Standard>();
  const keys = header.map((name) => columnKey(bareName(name)));
  const rankIn = (field: Standard, i: number): number => {
    const byName = rankByName(field, i);
    // Each row uses its first readable number.
    return byName < EMPTY && field !== "phone" && types[i] === "empty" ? EMPTY : byName;
  };
  const rankByName = (field: Standard, i: number): number => {
    const name = columnName(header[i] ?? "");
    if (!isFree[i] || fields.has(i) || EVIDENCE[source].includes(name)) return Number.POSITIVE_INFINITY;
    // An id may be 0 or x.
    const isAnswered = field === "external_id" ? types[i] === "boolean" : saysYesOrNo(types[i]);
    if (isAnswered && OF_WHOM.includes(field)) return Number.POSITIVE_INFINITY;
    if (Object.hasOwn(presets[source], name) && presets[source][name] === field) return Number.NEGATIVE_INFINITY;
    // The name in our own exports, whatever else is an attribute there.
    if (field === "phone" && header[i]?.trim() === field) return Number.NEGATIVE_INFINITY;
    if (field === "consent_status" && isOfPurchase(keys[i] ?? "", header)) return Number.POSITIVE_INFINITY;
    if (field === "external_id" && keys[i] === "id" && hasOwnIds(header)) return -1;
    const isLastName =
      field === "last_name" && keys[i] === "name" && BESIDE_A_NAME.some((neighbor) => keys.includes(neighbor));
    const rank = isLastName ? BEHIND_ALL : rankOf(field, keys[i] ?? "");
    if (rank === undefined || (field !== "email" && field !== "phone" && saysWhose(name)))
      return Number.POSITIVE_INFINITY;
    const lead = field === "phone" ? phoneLead(header[i] ?? "") : 0;
    const behind = saysWhose(name) ? BEHIND_ALL : BEHIND_A_PREFIX;
    return (bareName(name) === name ? rank : rank + behind) - lead;
  };
  for (const field of importFields) {
    if (taken.has(field)) continue;
    const found = header.map((_, i) => rankIn(field, i));
    const best = Math.min(...found);
    if (best !== Number.POSITIVE_INFINITY) fields.set(found.indexOf(best), field);
  }
  const isPlain = (name: string, i: number) =>
    isFree[i] &&
    !fields.has(i) &&
    (signedName(name)?.sign ?? "word") === "word" &&
    rowColumn(name, header) === undefined;
  const isKnown = [...taken, ...fields.values()].some((field) => OF_WHOM.includes(field as Standard));
  const authors = isKnown ? -1 : header.findIndex((name, i) => isFree[i] && isAuthor(name, i, header, types));
  if (authors >= 0) fields.set(authors, types[authors] === "phone" ? "phone" : "email");
  const takeLike = (field: Standard, isLike: (name: string, type: ColumnType | undefined) => boolean) => {
    const [named] = [...fields].find(([, target]) => target === field) ?? [];
    const isNamed = named !== undefined && (field === "phone" || types[named] !== "empty");
    if (taken.has(field) || isNamed) return;
    const like = header.findIndex((name, i) => isPlain(name, i) && isLike(name, baseOf(types[i])));
    if (like < 0) return;
    if (named !== undefined) fields.delete(named);
    fields.set(like, field);
  };
  takeLike("email", (name, type) => type === "address" && isLikeEmail(name));
  takeLike("email", (name, type) => type === "address" && isRecipient(name, header));
  takeLike("phone", (name, type) => !saysYesOrNo(type) && type !== "address" && isLikePhone(name));
  const isNamed = [...taken, ...fields.values()].some((field) => field === "external_id" || field === "email");
  if (isNamed) return fields;
  takeLike("phone", (name, type) => type === "phone" && !isOfOthers(name));
  takeLike("phone", (name, type) => type === "number" && isNumber(name));
  const address = keys.findIndex(
    (key, i) => isFree[i] && !fields.has(i) && maybeAddress(key) && !rowColumn(key, header),
  );
  takeLike("email", (name, type) => address < 0 && type === "address" && !isOfOthers(name));
  if (address >= 0) fields.set(address, "email");
  return fields;
}
