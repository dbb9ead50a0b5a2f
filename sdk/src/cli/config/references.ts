// References between things: by id in the API, by name in files.
import { isObject, type Resource } from "../resource.ts";

/** Kinds that others refer to. */
export type Target = "topics" | "templates" | "channels" | "segments" | "lists";

/** Each reference: the field of the API, the field of a file, and the kind that both name. */
const references: readonly { id: string; key: string; target: Target }[] = [
  { id: "template_id", key: "template", target: "templates" },
  { id: "channel_ids", key: "channels", target: "channels" },
  { id: "segment_id", key: "segment", target: "segments" },
  { id: "list_id", key: "list", target: "lists" },
  // The API refers to topics by their keys as well.
  { id: "topic", key: "topic", target: "topics" },
];

/** @returns undefined to leave the value as it is */
type Translate = (target: Target, value: string) => string | undefined;

const eachOf = (value: unknown, change: (node: Resource) => Resource): unknown =>
  Array.isArray(value) ? value.map((member) => (isObject(member) ? change(member) : member)) : value;

/** The parts of a document that refer to others; texts, rules and properties with the same field names are not among them. */
function withNodes(kind: string, document: Resource, change: (node: Resource) => Resource): Resource {
  const at = (value: unknown) => (isObject(value) ? change(value) : value);
  if (kind === "campaigns")
    return {
      ...change(document),
      ...("target" in document && { target: at(document.target) }),
      ...("messages" in document && { messages: eachOf(document.messages, change) }),
    };
  if (kind !== "journeys") return document;
  const { steps } = document;
  const nodes = isObject(steps) && isObject(steps.steps) ? steps.steps : undefined;
  const changed = Object.entries(nodes ?? {}).map(([id, node]) => [
    id,
    isObject(node) && isObject(node.send) ? { ...node, send: change(node.send) } : node,
  ]);
  return {
    ...document,
    ...("trigger" in document && { trigger: at(document.trigger) }),
    ...(nodes && isObject(steps) && { steps: { ...steps, steps: Object.fromEntries(changed) } }),
  };
}

function translated(value: unknown, target: Target, translate: Translate): unknown {
  if (typeof value === "string") return translate(target, value);
  if (!Array.isArray(value)) return undefined;
  const all = value.map((reference) => (typeof reference === "string" ? translate(target, reference) : undefined));
  return all.every((id) => id !== undefined) ? all : undefined;
}

function renamed(node: Resource, way: "toKeys" | "toIds", translate: Translate): Resource {
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => {
      const found = references.find(({ id, key }) => name === (way === "toKeys" ? id : key));
      const result = found && translated(value, found.target, translate);
      return result === undefined ? [name, value] : [way === "toKeys" ? found!.key : found!.id, result];
    }),
  );
}

/** Ids become names; an id without a name stays. */
export const idsToKeys = (kind: string, document: Resource, translate: Translate): Resource =>
  withNodes(kind, document, (node) => renamed(node, "toKeys", translate));

/** Names become ids. */
export const keysToIds = (kind: string, document: Resource, translate: Translate): Resource =>
  withNodes(kind, document, (node) => renamed(node, "toIds", translate));

/** The names that a document refers to. */
export function namedBy(kind: string, document: Resource): { target: Target; name: string }[] {
  const found: { target: Target; name: string }[] = [];
  keysToIds(kind, document, (target, name) => {
    found.push({ target, name });
    return undefined;
  });
  return found;
}

/** The ids that a document still refers to: they are those of one workspace. */
export function idsIn(kind: string, document: Resource): string[] {
  const found: string[] = [];
  withNodes(kind, document, (node) => {
    for (const { id, key } of references)
      if (id !== key && node[id] !== undefined) found.push(`${id} ${String(node[id])}`);
    if (node.chat_app_template_id !== undefined)
      found.push(`chat_app_template_id ${String(node.chat_app_template_id)}`);
    return node;
  });
  return found;
}
