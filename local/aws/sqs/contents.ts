// Contents of a message: its size, permitted characters and attributes, and the MD5 sums that the SDK verifies.
import { createHash } from "node:crypto";
import { isRecord, readers, refuseOthers } from "../members.ts";
import { awsFailure, type Wire } from "../stand-in.ts";

export const read = readers("MissingParameter", "InvalidParameterValue");

interface Attribute {
  DataType: string;
  StringValue?: string;
  /** Base64. */
  BinaryValue?: string;
}
export type Attributes = Record<string, Attribute>;

const attributeMembers = new Set(["DataType", "StringValue", "BinaryValue"]);
const attributeName = /^(?!\.)(?!.*\.\.)[A-Za-z0-9_.-]{1,256}(?<!\.)$/;
const attributeType = /^(String|Number|Binary)(\..{1,200})?$/;

export const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

/** Length-prefixed name, type, a byte for the kind of transport, and value, in order of the names. */
export function md5OfAttributes(attributes: Attributes): string | undefined {
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const hash = createHash("md5");
  const part = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const name of names) {
    const { DataType, StringValue, BinaryValue } = attributes[name]!;
    part(Buffer.from(name));
    part(Buffer.from(DataType));
    hash.update(Buffer.from([BinaryValue === undefined ? 1 : 2]));
    part(BinaryValue === undefined ? Buffer.from(StringValue ?? "") : Buffer.from(BinaryValue, "base64"));
  }
  return hash.digest("hex");
}

/** The attributes of a message to send, each checked. */
export function readAttributes(input: Wire): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(read.record(input, "MessageAttributes") ?? {})) {
    if (!attributeName.test(name) || /^(aws|amazon)\./i.test(name)) {
      throw read.refuse(`The message attribute name '${name}' is invalid.`);
    }
    attributes[name] = readAttribute(name, value);
  }
  if (Object.keys(attributes).length > 10) {
    throw read.refuse("Number of message attributes exceeds the allowed maximum [10].");
  }
  return attributes;
}

function readAttribute(name: string, value: unknown): Attribute {
  if (!isRecord(value)) throw read.refuse(`The message attribute '${name}' must be a structure.`);
  refuseOthers(value, attributeMembers, "a message attribute");
  const type = read.needed(value, "DataType");
  if (!attributeType.test(type)) {
    throw read.refuse(
      `The message attribute '${name}' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.`,
    );
  }
  const member = type.startsWith("Binary") ? "BinaryValue" : "StringValue";
  const content = read.text(value, member);
  const other = read.text(value, member === "BinaryValue" ? "StringValue" : "BinaryValue");
  if (!content || other !== undefined) {
    throw read.refuse(`The message attribute '${name}' must contain a non-empty ${member} and nothing else.`);
  }
  if (type.startsWith("Number") && !Number.isFinite(Number(content))) {
    throw read.refuse(`Can't cast the value of message (user) attribute '${name}' to a number.`);
  }
  return { DataType: type, [member]: content };
}

export function sizeOf(body: string, attributes: Attributes): number {
  let size = Buffer.byteLength(body);
  for (const [name, { DataType, StringValue, BinaryValue }] of Object.entries(attributes)) {
    size += Buffer.byteLength(name) + Buffer.byteLength(DataType);
    size += BinaryValue === undefined ? Buffer.byteLength(StringValue ?? "") : Buffer.byteLength(BinaryValue, "base64");
  }
  return size;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters SQS refuses.
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udfff]/u;

export function checkBody(body: string): void {
  if (forbidden.test(body)) {
    throw awsFailure(
      "InvalidMessageContents",
      "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.",
    );
  }
}

/** The attributes that a receiver requested: by name, `All`, `.*` or `prefix.*`. */
export function selectAttributes(attributes: Attributes, names: string[]): Attributes {
  const asks = (pattern: string, name: string) =>
    ["All", ".*", name].includes(pattern) || (pattern.endsWith(".*") && name.startsWith(pattern.slice(0, -1)));
  return Object.fromEntries(
    Object.entries(attributes).filter(([name]) => names.some((pattern) => asks(pattern, name))),
  );
}
