// Jobs that are to be dispatched.
import type { Context } from "../../../shared/parts.ts";
import { fanOutQueue } from "../../../shared/resources.ts";
import { becomes, type Changes } from "./change.ts";

export const sendUses = [fanOutQueue] as const;

export async function dispatchQueued(changes: Changes, { fanOutQueue }: Context<typeof sendUses>): Promise<void> {
  const jobs = changes.of("job").filter(becomes("queued"));
  await fanOutQueue.send(jobs.map(({ tenant, after }) => ({ tenant, job: String(after.id) })));
}
