// The context of the worker of long jobs.
import type { Context } from "../../../shared/kernel/deps.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { importRowsQueue } from "../../../shared/runtime/resources.ts";
import type { RuntimeContext } from "../../../shared/runtime/worker.ts";
import { audienceSize, secrets, timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { exportWriting } from "../../../shared/store/files/exports.ts";
import { importReading } from "../../../shared/store/files/imports.ts";

export const uses = [
  storeWrite,
  secrets,
  timers,
  workspaceRead,
  audienceSize,
  importReading,
  exportWriting,
  importRowsQueue,
] as const;

export type WorkerContext = Context<typeof uses> & RuntimeContext & { tenant: TenantId };
