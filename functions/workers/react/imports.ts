// Import jobs that were just made, or canceled: their file is deleted.
import type { Context } from "../../../shared/kernel/deps.ts";
import { importRowsQueue } from "../../../shared/runtime/resources.ts";
import { ImportItem } from "../../../shared/store/subscribers/import-items.ts";
import { becomes, type Changes, isNew } from "./change.ts";

export const importUses = [importRowsQueue] as const;

export async function queueImports(
  changes: Changes,
  { importRowsQueue: queue }: Context<typeof importUses>,
): Promise<void> {
  const jobs = changes.of(ImportItem, "import").filter((change) => isNew(change) || becomes("canceled")(change));
  await queue.send(jobs.map(({ tenant, after }) => ({ tenant, import: after.id })));
}
