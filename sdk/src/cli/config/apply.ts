// Carries out a plan, in the order of references. Each step is one write: what was done stays done, and a plan that is
// made again finds it.
import type { Connection, Resource } from "../connection.ts";
import type { Plan, Step } from "./plan.ts";
import { keysToIds, type Target } from "./references.ts";
import type { Workspace } from "./workspace.ts";

interface Progress {
  /** Called before each step that is carried out. */
  begin(step: Step): void;
  /** Called after each step that was carried out. */
  done(step: Step): void;
  /** A new webhook endpoint has a secret that is shown once. */
  secret(key: string, secret: string): void;
}

/** @throws ServiceError at the first step that is refused; those before it are done. */
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
