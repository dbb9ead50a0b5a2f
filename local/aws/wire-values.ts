// Values of requests as they are on the wire and in commands: bytes, dates and nested members, and the JavaScript
// values of the document client.
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { convertToAttr, convertToNative, type NativeAttributeValue } from "@aws-sdk/util-dynamodb";
import type { ServiceName, Wire } from "./stand-in.ts";

/** A value as the SDK serializes it: bytes as base64, dates as epoch seconds, without absent members. */
export function toWire(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return bufferOn(value).toString("base64");
  if (value instanceof Date) return value.getTime() / 1000;
  return withMembers(value, toWire);
}

/** Returns the same object unless a member changes or is left out: most wire values need no change. */
function withMembers(value: object, become: (member: unknown, name: string) => unknown): unknown {
  if (Array.isArray(value)) {
    let list = value;
    for (let at = 0; at < value.length; at++) {
      const member = become(value[at], "");
      if (member === value[at]) continue;
      if (list === value) list = [...value];
      list[at] = member;
    }
    return list;
  }
  let shaped = value as Wire;
  for (const name in value) {
    const given = (value as Wire)[name];
    const member = given === undefined ? undefined : become(given, name);
    if (member === given && given !== undefined) continue;
    if (shaped === value) shaped = { ...value };
    if (member === undefined) delete shaped[name];
    else shaped[name] = member;
  }
  return shaped;
}

const kmsBlobs = new Set(["CiphertextBlob", "Plaintext", "Signature", "PublicKey"]);
export const bufferOn = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const bytesOf = (base64: unknown) => new Uint8Array(Buffer.from(base64 as string, "base64"));

/** The inverse of `toWire` for outputs: a member's name and JSON type determine its original type. */
export function fromWire(service: ServiceName, value: unknown, name = ""): unknown {
  if (typeof value === "string") {
    const binary =
      (service === "dynamodb" && name === "B") ||
      (service === "sqs" && name === "BinaryValue") ||
      (service === "kms" && kmsBlobs.has(name));
    return binary ? bytesOf(value) : value;
  }
  if (typeof value === "number") return /Date(Time)?$/.test(name) ? new Date(value * 1000) : value;
  if (typeof value !== "object" || value === null) return value;
  if (service === "dynamodb" && name === "BS" && Array.isArray(value)) return value.map(bytesOf);
  return withMembers(value, (member, inner) => fromWire(service, member, inner));
}

/** Where a command has values: here, in every member, in each member further down, or in members of these names. */
type Nodes = null | { [name: string]: Nodes };

interface DocumentCommand {
  clientCommand: object;
  inputKeyNodes: Nodes;
  outputKeyNodes: Nodes;
}

/** The members are protected in the types of the SDK. */
export const isDocumentCommand = (command: object): command is DocumentCommand => "clientCommand" in command;

/** The values of an input in the form of the wire, without those that are `undefined`. */
export const marshalled = (input: Wire, { inputKeyNodes }: DocumentCommand): Wire =>
  converted(input, inputKeyNodes, attributeOf) as Wire;

/** The values of an output in the form of the wire. */
export const unmarshalled = (output: Wire, { outputKeyNodes }: DocumentCommand): Wire =>
  converted(output, outputKeyNodes, nativeOf) as Wire;

/** Converts the most common values in one step: the SDK compares the name of a constructor ten times. */
function attributeOf(value: unknown): unknown {
  if (typeof value === "string") return { S: value };
  if (typeof value === "boolean") return { BOOL: value };
  if (Number.isSafeInteger(value)) return { N: String(value) };
  return toWire(convertToAttr(value as NativeAttributeValue, { removeUndefinedValues: true }));
}

function nativeOf(attribute: unknown): unknown {
  const { S, N, BOOL } = attribute as { S?: string; N?: string; BOOL?: boolean };
  if (S !== undefined) return S;
  if (BOOL !== undefined) return BOOL;
  if (N !== undefined && Number.isSafeInteger(Number(N))) return Number(N);
  return convertToNative(fromWire("dynamodb", attribute) as AttributeValue);
}

function converted(value: unknown, nodes: Nodes, convert: (value: unknown) => unknown): unknown {
  if (nodes === null) return convert(value);
  const named = Object.keys(nodes);
  const every = named.length === 0 ? null : nodes["*"];
  if (Array.isArray(value)) return value.map((member) => converted(member, every ?? null, convert));

  const copy: Wire = {};
  for (const name in value as Wire) {
    const member = (value as Wire)[name];
    if (member === undefined) continue;
    const below = every === undefined ? nodes[name] : every;
    copy[name] = below === undefined ? member : converted(member, below, convert);
  }
  return copy;
}
