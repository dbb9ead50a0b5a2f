// Import jobs that were just made.
import type { Context } from "../../../shared/deps.ts";
import { importRowsQueue } from "../../../shared/resources.ts";
import { type Changes, isNew } from "./change.ts";

export const importUses = [importRowsQueue] as const;

export async function startImports(
  changes: Changes,
  { importRowsQueue: queue }: Context<typeof importUses>,
): Promise<void> {
  const jobs = changes.of("import").filter(isNew);
  await queue.send(jobs.map(({ tenant, after }) => ({ tenant, import: String(after.id) })));
}
