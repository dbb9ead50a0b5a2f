// Commands of the document client, whose rows are JavaScript values where the table's own commands have attribute values.
import { convertToAttr, convertToNative, type NativeAttributeValue } from "@aws-sdk/util-dynamodb";
import type { Wire } from "./stand-in.ts";

/** Where a command has values: here, in every member, in each member further down, or in members of these names. */
type Nodes = null | { [name: string]: Nodes };

interface DocumentCommand {
  clientCommand: object;
  inputKeyNodes: Nodes;
  outputKeyNodes: Nodes;
}

/** The members are protected in the types of the SDK. */
export const isDocumentCommand = (command: object): command is DocumentCommand => "clientCommand" in command;

/** As a document client that leaves out what is `undefined`. */
export const marshalled = (input: Wire, { inputKeyNodes }: DocumentCommand): Wire =>
  converted(input, inputKeyNodes, (value) => convertToAttr(value, { removeUndefinedValues: true })) as Wire;

export const unmarshalled = (output: Wire, { outputKeyNodes }: DocumentCommand): Wire =>
  converted(output, outputKeyNodes, convertToNative as (value: unknown) => unknown) as Wire;

function converted(value: unknown, nodes: Nodes, convert: (value: NativeAttributeValue) => unknown): unknown {
  if (nodes === null) return convert(value);
  const named = Object.keys(nodes);
  const every = named.length === 0 ? null : nodes["*"];
  if (Array.isArray(value)) return value.map((member) => converted(member, every ?? null, convert));

  const copy = { ...(value as Wire) };
  for (const name of every === undefined ? named : Object.keys(copy))
    if (copy[name] !== undefined) copy[name] = converted(copy[name], every ?? nodes[name] ?? null, convert);
  return copy;
}
