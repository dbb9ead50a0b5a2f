// Writes the configuration of a workspace into a folder.
import { existsSync } from "node:fs";
import type { ListedKind } from "../names.ts";
import type { Resource } from "../resource.ts";
import { changesOf } from "./compare.ts";
import { type FileDocument, type Folder, fileNameOf, readFolder, writeDocument } from "./files.ts";
import { type Kind, kinds } from "./kinds.ts";
import { idsIn } from "./references.ts";
import { type ExistingResource, isAbridged, type Workspace } from "./workspace.ts";

export interface ExportSummary {
  written: string[];
  unchanged: number;
  /** The resources that were left out, with the reasons. */
  leftOut: string[];
  /** The references that were written as ids, which another workspace does not have. */
  withIds: string[];
  /** Files whose resource the workspace does not have. They stay. */
  onlyInFolder: string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A file that agrees with the workspace is not touched: it may say the same in another way. */
export function exportTo(folder: string, workspace: Workspace, env: Environment): ExportSummary {
  const present: Folder = existsSync(folder) ? readFolder(folder, env) : new Map();
  const result: ExportSummary = { written: [], unchanged: 0, leftOut: [], withIds: [], onlyInFolder: [] };
  for (const kind of kinds) {
    const files = present.get(kind.name) ?? new Map();
    const exportable = exportableOf(kind, workspace, result);
    const taken = new Set([...files.values()].map(({ file }) => file.slice(kind.name.length + 1)));
    for (const { key, document } of exportable) {
      const before = files.get(key);
      for (const id of idsIn(kind.name, document)) result.withIds.push(`${kind.name} ${key}: ${id}`);
      const covers = before && Object.keys(document).every((field) => field in before.document);
      if (before && covers && changesOf(before.document, document, kind).length === 0) {
        result.unchanged++;
        continue;
      }
      const name = before ? before.file.slice(kind.name.length + 1) : fileNameOf(key, taken);
      taken.add(name);
      writeDocument(folder, `${kind.name}/${name}`, { ...document, ...ownOf(before, document) });
      result.written.push(`${kind.name}/${name}`);
    }
    const keys = new Set((workspace.all.get(kind.name) ?? []).map(({ key }) => key));
    for (const { key, file } of files.values()) if (!keys.has(key)) result.onlyInFolder.push(file);
  }
  return result;
}

/**
 * The file's own fields that stay when it is written anew. An address does not stay if the workspace has another one.
 */
const ownOf = (before: FileDocument | undefined, { target_url }: Resource): Resource =>
  Object.fromEntries(
    Object.entries(before?.own ?? {}).filter(
      ([name]) => name !== "target_url" || before?.document.target_url === target_url,
    ),
  );

/**
 * The resources of a kind to write, by name. The oldest is first, so that file names do not depend on later resources.
 */
function exportableOf(
  { name: kind, editability }: Kind,
  workspace: Workspace,
  { leftOut }: ExportSummary,
): ExistingResource[] {
  const all = [...(workspace.all.get(kind) ?? [])].reverse();
  const doubled = new Set<string>();
  return all.filter((found) => {
    const { kind: state } = editability(found.resource);
    if (state === "ignored" || state === "left") return false;
    if (kind === "segments" && found.document.rule === undefined) {
      leftOut.push(`segments ${found.key}: has no rule`);
      return false;
    }
    if (isAbridged(found.resource)) {
      leftOut.push(`${kind} ${found.key}: its large mail is stored no more`);
      return false;
    }
    const doubles = workspace.doubles(kind as ListedKind, found.key);
    if (doubles.length > 0 && !doubled.has(found.key)) {
      doubled.add(found.key);
      leftOut.push(
        `${kind} ${found.key}: ${doubles.length} have this name (${doubles.map(({ id }) => id).join(", ")})`,
      );
    }
    return doubles.length === 0;
  });
}
