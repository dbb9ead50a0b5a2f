// The plan of an apply, with a step for each file (create, change, rename or leave alone), and its execution.
import { CommandError } from "../command.ts";
import type { Connection } from "../connection.ts";
import type { ListedKind } from "../names.ts";
import type { Resource } from "../resource.ts";
import { changesOf, completed } from "./compare.ts";
import type { FileDocument, Folder } from "./files.ts";
import { type Kind, kinds } from "./kinds.ts";
import { keysToIds, namedBy, type Target } from "./references.ts";
import type { ExistingResource, Workspace } from "./workspace.ts";

export interface Step {
  kind: Kind;
  key: string;
  file: string;
  /**
   * `same`: nothing to do. `left`: as it should be, but it cannot be changed any more. `blocked`: it differs and cannot
   * be changed now. `finish`: an earlier apply was interrupted after the change.
   */
  action: "create" | "update" | "finish" | "same" | "left" | "blocked";
  id?: string;
  /** The present name, if the file gives another one. */
  renames?: string;
  /** The paths that differ. */
  changes: string[];
  reason?: string;
  /** All fields: those of the file, and those that it leaves as they are. */
  document: Resource;
  found?: ExistingResource;
}

export interface Plan {
  steps: readonly Step[];
  /** Resources of the workspace without a file. They stay. */
  onlyInWorkspace: readonly { kind: ListedKind; key: string }[];
}

/** Old name → new name, for each rename by the files whose old name is still in the workspace. */
export const newNamesOf = (folder: Folder) => (kind: ListedKind, key: string) => {
  for (const { key: next, renamedFrom } of folder.get(kind)?.values() ?? []) if (renamedFrom === key) return next;
  return key;
};

/** @throws CommandError that names doubled names and unknown references. */
export function planOf(folder: Folder, workspace: Workspace): Plan {
  const problems: string[] = [];
  const steps = kinds.flatMap((kind) =>
    [...(folder.get(kind.name)?.values() ?? [])].map((file) => {
      problems.push(...problemsOf(kind, file, { folder, workspace }));
      return stepOf(kind, file, workspace);
    }),
  );
  if (problems.length > 0) throw new CommandError(`The configuration has problems.\n  ${problems.join("\n  ")}`);
  const used = new Set(steps.map(({ id }) => id));
  const onlyInWorkspace = kinds.flatMap(({ name }) =>
    (workspace.all.get(name) ?? [])
      .filter(
        ({ id, editability }) => !used.has(id) && (editability.kind === "editable" || editability.kind === "blocked"),
      )
      .map(({ key }) => ({ kind: name, key })),
  );
  return { steps, onlyInWorkspace };
}

function problemsOf(
  { name: kind }: Kind,
  { file, key, renamedFrom, document }: FileDocument,
  { folder, workspace }: { folder: Folder; workspace: Workspace },
): string[] {
  const doubles = (of: ListedKind, name: string) => {
    const found = workspace.doubles(of, name);
    const ids = found.map(({ id }) => id).join(", ");
    return found.length > 0 ? [`${file}: ${found.length} ${of} of the workspace have the name ${name} (${ids})`] : [];
  };
  const references = namedBy(kind, document).flatMap(({ target, name }) => {
    const isThere = folder.get(target)?.has(name) || workspace.find(target, name) !== undefined;
    return isThere ? doubles(target, name) : [`${file}: refers to ${name}, which is not among the ${target}`];
  });
  return [...doubles(kind, key), ...(renamedFrom === undefined ? [] : doubles(kind, renamedFrom)), ...references];
}

function stepOf(kind: Kind, { file, key, renamedFrom, document }: FileDocument, workspace: Workspace): Step {
  const sameKey = workspace.find(kind.name, key);
  const old = sameKey || renamedFrom === undefined ? undefined : workspace.find(kind.name, renamedFrom);
  const found =
    sameKey ?? (old?.editability.kind === "editable" || old?.editability.kind === "blocked" ? old : undefined);
  const step = { kind, key, file, changes: [], document: completed(document, found?.document ?? {}, kind) };
  if (!found) return { ...step, action: "create" };

  const { id, editability, resource } = found;
  const changes = changesOf(document, found.document, kind);
  const known = { ...step, id, found, changes };

  if (editability.kind === "left") return { ...known, changes: [], action: "left", reason: editability.reason };
  if (changes.length === 0) return { ...known, action: kind.isUnfinished?.(resource) ? "finish" : "same" };
  const fixed = changes.find((path) => kind.fixed.includes(path));
  if (fixed !== undefined) return { ...known, action: "blocked", reason: `${fixed} cannot be changed` };
  if (editability.kind === "blocked") return { ...known, action: "blocked", reason: editability.reason };
  return { ...known, action: "update", ...(found === old && renamedFrom !== undefined && { renames: renamedFrom }) };
}

interface Progress {
  /** Called before each step that is carried out. */
  begin(step: Step): void;
  /** Called after each step that was carried out. */
  done(step: Step): void;
  /** Called with the secret of a new webhook endpoint, which is shown only once. */
  secret(key: string, secret: string): void;
}

/**
 * Carries out a plan, in the order of references. Each step is one write: finished steps stay, and the next plan finds
 * them done.
 * @throws ServiceError at the first step that is refused; those before it are done
 */
export async function applyPlan(
  connection: Pick<Connection, "call">,
  { steps }: Plan,
  workspace: Workspace,
  { begin, done, secret }: Progress,
): Promise<void> {
  const ids = new Map<string, string>();
  for (const step of steps) if (step.id !== undefined) ids.set(`${step.kind.name} ${step.key}`, step.id);
  const idOfKey = (target: Target, key: string) => ids.get(`${target} ${key}`) ?? workspace.find(target, key)?.id;
  for (const step of steps) {
    if (!["create", "update", "finish"].includes(step.action)) continue;
    const { kind, key } = step;
    begin(step);
    const document = keysToIds(kind.name, step.document, idOfKey);
    if (step.id === undefined) {
      const created = await kind.create(connection, document);
      ids.set(`${kind.name} ${key}`, kind.idOf(created));
      if (typeof created.secret === "string") secret(key, created.secret);
    } else await change(connection, step, step.id, document);
    done(step);
  }
}

async function change(
  connection: Pick<Connection, "call">,
  { kind, action, changes, found }: Step,
  id: string,
  document: Resource,
): Promise<void> {
  if (action === "update") {
    const fields = [...new Set(changes.map((path) => path.split(".")[0]!))];
    await kind.update(connection, id, document, fields);
  }
  if (action === "finish" || (kind.finish && changes.includes("rule") && found?.resource.is_dynamic === false))
    await kind.finish?.(connection, id);
}
