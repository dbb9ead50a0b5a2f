// Exports and simulations on history that were just asked for.
import type { Context } from "../../../shared/kernel/deps.ts";
import { importRowsQueue } from "../../../shared/runtime/resources.ts";
import { ExportItem } from "../../../shared/store/exports/items.ts";
import { SimulationItem } from "../../../shared/store/journeys/simulation-items.ts";
import { type Changes, isNew } from "./change.ts";

export const exportUses = [importRowsQueue] as const;

export async function queueExports(
  changes: Changes,
  { importRowsQueue: queue }: Context<typeof exportUses>,
): Promise<void> {
  const jobs = changes.of(ExportItem, "export").filter(isNew);
  const simulations = changes.of(SimulationItem, "simulation").filter(isNew);
  await queue.send([
    ...jobs.map(({ tenant, after }) => ({ tenant, import: after.id, export: true })),
    ...simulations.map(({ tenant, after }) => ({ tenant, import: after.id, simulation: true })),
  ]);
}
