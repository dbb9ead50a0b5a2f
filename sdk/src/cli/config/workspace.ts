// The configuration that a workspace has, and the names and ids of its things.
import type { Connection } from "../connection.ts";
import { type ListedKind, listAll } from "../names.ts";
import { objectIn, objectsIn, type Resource } from "../resource.ts";
import { documentOf, type Editability, type Kind, kinds } from "./kinds.ts";
import { idsToKeys, type Target } from "./references.ts";

export interface ExistingResource {
  id: string;
  key: string;
  editability: Editability;
  resource: Resource;
  /** The resource in the form of a file. */
  document: Resource;
}

export interface Workspace {
  /** Everything of a kind, newest first. */
  all: ReadonlyMap<ListedKind, readonly ExistingResource[]>;
  /** The resource of a name: one that can be changed, else the newest. */
  find(kind: ListedKind, key: string): ExistingResource | undefined;
  /** The resources that share a name, if it matters which one is meant. */
  doubles(kind: ListedKind, key: string): readonly ExistingResource[];
}

/** Reads all configuration of a workspace. @param newNames old name → new name, for renames by files */
export async function readWorkspace(
  connection: Pick<Connection, "call">,
  newNames: (kind: ListedKind, key: string) => string = (_, key) => key,
): Promise<Workspace> {
  const read = await Promise.all(kinds.map(async (kind) => [kind, await allOf(connection, kind)] as const));
  const names = new Map<string, string>();
  for (const [kind, resources] of read)
    for (const resource of resources)
      names.set(`${kind.name} ${kind.idOf(resource)}`, newNames(kind.name, kind.keyOf(resource)));
  const keyOfId = (target: Target, id: string) => names.get(`${target} ${id}`);
  const all = new Map(
    read.map(([kind, resources]) => [kind.name, resources.map((resource) => foundOf(kind, resource, keyOfId))]),
  );
  const withKey = (kind: ListedKind, key: string) =>
    (all.get(kind) ?? []).filter((resource) => resource.key === key && resource.editability.kind !== "ignored");
  const editable = (kind: ListedKind, key: string) =>
    withKey(kind, key).filter(({ editability }) => editability.kind !== "left");
  return {
    all,
    find: (kind, key) => editable(kind, key)[0] ?? withKey(kind, key)[0],
    doubles: (kind, key) => (editable(kind, key).length > 1 ? editable(kind, key) : []),
  };
}

/** Whether a large mail is left out, as in lists, or because it is not stored any more. */
export const isAbridged = (resource: Resource): boolean =>
  [resource, ...objectsIn(resource.messages)].some(({ content, variant_b }) =>
    [content, variant_b].some((said) => objectIn(said).left_out !== undefined),
  );

/** Everything of a kind. Mails that its list leaves out are read, where files have or change them. */
async function allOf(connection: Pick<Connection, "call">, kind: Kind): Promise<Resource[]> {
  const all: Resource[] = [];
  for (const listed of await listAll(connection, kind.name)) {
    const { kind: state } = kind.editability(listed);
    const isWhole = state === "left" || state === "ignored" || !isAbridged(listed);
    const found = isWhole ? listed : await connection.call(`${kind.name}.get`, kind.idOf(listed));
    // The answer for one resource may have more fields than the list.
    all.push(Object.fromEntries(Object.keys(listed).map((name) => [name, found[name]])));
  }
  return all;
}

function foundOf(
  kind: Kind,
  resource: Resource,
  keyOfId: (target: Target, id: string) => string | undefined,
): ExistingResource {
  return {
    id: kind.idOf(resource),
    key: kind.keyOf(resource),
    editability: kind.editability(resource),
    resource,
    document: idsToKeys(kind.name, documentOf(kind, resource), keyOfId),
  };
}
