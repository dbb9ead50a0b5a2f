// Attribute values: validation, size, equality and order.
import { invalidParameter, reworded, serialization, validation } from "./errors.ts";
import { compareNumbers, normalizeNumber, numberSize } from "./numbers.ts";

/** Exactly one member is set; binary is base64 text. */
export interface AttributeValue {
  S?: string;
  N?: string;
  B?: string;
  BOOL?: boolean;
  NULL?: boolean;
  SS?: string[];
  NS?: string[];
  BS?: string[];
  L?: AttributeValue[];
  M?: Item;
}

export type Item = Record<string, AttributeValue>;
export type ValueType = keyof AttributeValue;
export type KeyType = "S" | "N" | "B";

const TYPES = new Set<string>(["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"]);
const MAX_NESTING = 32;
export const MAX_NAME_BYTES = 65_535;
export const TOO_LONG = "Attribute name is too large, must be less than 65536 bytes";
export const MAX_ITEM_BYTES = 400 * 1024;

/** The attribute called `name`, never an inherited property. */
export const attributeOf = (item: Item, name: string): AttributeValue | undefined =>
  Object.hasOwn(item, name) ? item[name] : undefined;

export function typeOf(value: AttributeValue): ValueType {
  for (const type in value) return type as ValueType;
  throw validation("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
}

export const constantType = (value: AttributeValue | undefined): ValueType | undefined => value && typeOf(value);

const utf8Bytes = (text: string): number => Buffer.byteLength(text);

const base64Bytes = (text: string): number => Buffer.byteLength(text, "base64");

const sum = <T>(parts: readonly T[], size: (part: T) => number): number => {
  let total = 0;
  for (const part of parts) total += size(part);
  return total;
};

function sizeOfValue(value: AttributeValue): number {
  if (value.S !== undefined) return utf8Bytes(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B !== undefined) return base64Bytes(value.B);
  if (value.SS) return sum(value.SS, utf8Bytes);
  if (value.NS) return sum(value.NS, numberSize);
  if (value.BS) return sum(value.BS, base64Bytes);
  if (value.L) return 3 + sum(value.L, (member) => 1 + sizeOfValue(member));
  if (value.M) return 3 + Object.keys(value.M).length + sizeOfItem(value.M);
  return 1;
}

/** Bytes as DynamoDB counts and bills them: attribute names and values. */
export function sizeOfItem(item: Item): number {
  let size = 0;
  for (const name in item) size += utf8Bytes(name) + sizeOfValue(item[name]!);
  return size;
}

/** Validates a value of a request and returns it in its stored form (numbers normalized). */
export function normalizeValue(value: AttributeValue, depth = 1): AttributeValue {
  if (depth > MAX_NESTING)
    throw validation(
      "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
    );
  const type = onlyType(value);
  switch (type) {
    case "S":
      return value;
    case "N": {
      const number = normalizeNumber(value.N!);
      return number === value.N ? value : { N: number };
    }
    case "NULL":
      if (!value.NULL) throw invalidParameter("Null attribute value types must have the value of true");
      return value;
    case "SS":
    case "NS":
    case "BS":
      return normalizeSet(type, value);
    case "L":
      return { L: value.L!.map((member) => normalizeValue(member, depth + 1)) };
    case "M":
      return { M: normalizeItem(value.M!, depth + 1) };
    default:
      return value;
  }
}

export function normalizeItem(item: Item, depth = 1): Item {
  if (Object.hasOwn(item, "")) throw validation("Empty attribute name");
  let copy: Item | undefined;
  for (const name in item) {
    if (name.length > MAX_NAME_BYTES) throw validation(TOO_LONG);
    const value = item[name]!;
    const normal = normalizeValue(value, depth);
    if (normal !== value) {
      copy ??= { ...item };
      copy[name] = normal;
    }
  }
  return copy ?? item;
}

function onlyType(value: AttributeValue): ValueType {
  let found: ValueType | undefined;
  for (const type in value) {
    if (value[type as ValueType] === undefined) continue;
    if (!TYPES.has(type)) continue;
    if (found) throw severalTypes(value);
    found = type as ValueType;
    checkShape(found, value[found]);
  }
  if (!found) throw validation("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  return found;
}

/** An error of one type is reported before the error of having several types. */
function severalTypes(value: AttributeValue) {
  for (const type of Object.keys(value).filter((name) => TYPES.has(name)))
    normalizeValue({ [type]: value[type as ValueType] } as AttributeValue);
  return validation(
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
  );
}

const MISPLACED = "Start of structure or map found where not expected";

/** Rejects what the service's parser cannot read, before all other errors. */
export function checkShapes(value: unknown): void {
  if (typeof value !== "object" || value === null) throw serialization("Unexpected value type in payload");
  if (Array.isArray(value))
    throw serialization("Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue");
  for (const [type, held] of Object.entries(value)) {
    if (!TYPES.has(type) || held === undefined || held === null) continue;
    checkShape(type as ValueType, held);
    if (type === "L" || type === "M") for (const inner of Object.values(held)) checkShapes(inner);
  }
}

const isText = (value: unknown): value is string => typeof value === "string";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** The last character before the padding may contain no further bits. */
const STRAY = /(?:[^AQgw]==|[^AEIMQUYcgkosw048=]=)$/;
const isBytes = (value: unknown) => isText(value) && BASE64.test(value) && !STRAY.test(value);

const isFlag = (value: unknown) => typeof value === "boolean";
const isMap = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
const isSetOf = (isMember: (member: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isMember);

const fits: Record<ValueType, (held: unknown) => boolean> = {
  S: isText,
  N: isText,
  B: isBytes,
  BOOL: isFlag,
  NULL: isFlag,
  M: isMap,
  L: Array.isArray,
  SS: isSetOf(isText),
  NS: isSetOf(isText),
  BS: isSetOf(isBytes),
};

function checkShape(type: ValueType, held: unknown): void {
  if (!fits[type](held)) throw serialization(shapeMessage(type, held));
}

const COLLECTIONS = new Set<ValueType>(["SS", "NS", "BS", "L", "M"]);

function shapeMessage(type: ValueType, held: unknown): string {
  if (COLLECTIONS.has(type)) return collectionMessage(type, held);
  if (type === "B" && isText(held))
    return held.length % 4
      ? `Base64 encoded length is expected a multiple of 4 bytes but found: ${held.length}`
      : "Invalid last non-pad Base64 character dectected";
  const wanted = type === "BOOL" || type === "NULL" ? "Boolean" : "String";
  if (Array.isArray(held))
    return `Unrecognized collection type class java.${type === "B" ? "nio.ByteBuffer" : `lang.${wanted}`}`;
  if (typeof held === "object") return MISPLACED;
  if (type === "B") return "only base-64-encoded strings are convertible to bytes";
  if (typeof held === "number")
    return `${Number.isInteger(held) ? "NUMBER" : "DECIMAL"}_VALUE cannot be converted to ${wanted}`;
  if (typeof held === "boolean") return `${held ? "TRUE" : "FALSE"}_VALUE cannot be converted to ${wanted}`;
  return "Unexpected token received from parser";
}

function collectionMessage(type: ValueType, held: unknown): string {
  if (typeof held !== "object") return "Unexpected field type";
  if (!Array.isArray(held)) return MISPLACED;
  if (type === "M")
    return "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>";
  const wrong = held.find((member) => !(type === "BS" ? isBytes : isText)(member));
  return shapeMessage(type === "BS" ? "B" : "S", wrong);
}

function normalizeSet(type: "SS" | "NS" | "BS", value: AttributeValue): AttributeValue {
  const members = value[type]!;
  if (members.length === 0)
    throw invalidParameter(
      type === "BS"
        ? "Binary sets should not be empty"
        : `An ${type === "SS" ? "string" : "number"} set  may not be empty`,
    );
  const normal = type === "NS" ? members.map(normalizeNumber) : members;
  if (new Set(normal).size < normal.length) throw duplicateMembers(type, members);
  return setOf(type, normal);
}

const compareBytes = (left: string, right: string) =>
  Buffer.compare(Buffer.from(left, "base64"), Buffer.from(right, "base64"));
const COMPARE = { SS: compareText, NS: compareNumbers, BS: compareBytes } as const;

/** A set as it comes back: in the order of its members, not in that of the request. */
export const setOf = (type: "SS" | "NS" | "BS", members: Iterable<string>): AttributeValue => ({
  [type]: [...members].sort(COMPARE[type]),
});

const INVALID = "One or more parameter values were invalid: ";

/** The newer layer quotes the members: those before the first duplicate in order, then the others as received. */
function duplicateMembers(type: "SS" | "NS" | "BS", members: string[]) {
  if (type === "NS")
    return reworded(`${INVALID}Input collection contains duplicates.`, "Input collection contains duplicates");
  const repeat = members.findIndex((member, at) => members.indexOf(member) < at);
  const quoted = [...members.slice(0, repeat).sort(), ...members.slice(repeat)].map((member) => `"${member}"`);
  const [separator, ending] =
    type === "SS" ? [", ", " contains duplicates."] : [",", "of type BS contains duplicates."];
  return reworded(
    `${INVALID}Input collection [${quoted.join(separator)}]${ending}`,
    `${INVALID}Input collection [${members.join(", ")}]${ending}`,
  );
}

/** Deep equality: sets without order, lists with it; both sides normalised. */
export function equalValues(left: AttributeValue, right: AttributeValue): boolean {
  const type = typeOf(left);
  if (type !== typeOf(right)) return false;
  switch (type) {
    case "SS":
    case "NS":
    case "BS": {
      const [a, b] = [left[type]!, right[type]!];
      if (a.length !== b.length) return false;
      const members = new Set(a);
      return b.every((member) => members.has(member));
    }
    case "L":
      return left.L!.length === right.L!.length && left.L!.every((member, at) => equalValues(member, right.L![at]!));
    case "M":
      return equalItems(left.M!, right.M!);
    default:
      return left[type] === right[type];
  }
}

export function equalItems(left: Item, right: Item): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => {
    const other = attributeOf(right, name);
    return other !== undefined && equalValues(left[name]!, other);
  });
}

/** Order of two values of one comparable type (S, N, B); undefined when they cannot be ordered. */
export function compareValues(left: AttributeValue, right: AttributeValue): number | undefined {
  if (left.S !== undefined && right.S !== undefined) return compareText(left.S, right.S);
  if (left.N !== undefined && right.N !== undefined) return compareNumbers(left.N, right.N);
  if (left.B !== undefined && right.B !== undefined)
    return Buffer.compare(Buffer.from(left.B, "base64"), Buffer.from(right.B, "base64"));
  return undefined;
}

const ASTRAL_OR_PRIVATE = /[\ud800-\uffff]/;

/** Order of the UTF-8 bytes, which differs from UTF-16 order only beyond the surrogates. */
function compareText(left: string, right: string): number {
  if (ASTRAL_OR_PRIVATE.test(left) && ASTRAL_OR_PRIVATE.test(right))
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return Number(left > right) - Number(left < right);
}
