// The work of one message: a job, and the decision about it.
import type { Message } from "../../../shared/contract/messages.ts";
import type { Clock } from "../../../shared/kernel/clock.ts";
import type { Context, Deps } from "../../../shared/kernel/deps.ts";
import { deliverQueue, fanOutQueue } from "../../../shared/runtime/resources.ts";
import { sealing } from "../../../shared/store/audit/trail.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import type { RowOf } from "../../../shared/store/item.ts";
import type { JobFailure, JobRecord } from "../../../shared/store/sends/jobs/job-record.ts";
import type { DeliverySettings } from "../../../shared/store/sends/jobs/job-spec.ts";
import type { TemplateItem } from "../../../shared/store/templates/items.ts";
import type { Timer } from "../../../shared/store/timers.ts";

export const uses = [storeWrite, timers, workspaceRead, fanOutQueue, deliverQueue, ...sealing] as const;
export type WorkerContext = Context<typeof uses> & { clock: Clock; log: Deps["log"] };

export interface Work extends WorkerContext {
  job: JobRecord;
}

export type Verdict =
  | { kind: "drop"; why: string }
  /** The message is sent again. */
  | { kind: "again"; message: Message<"fan-out">; delaySeconds: number }
  /** The job waits for this timer. */
  | { kind: "hold"; timer: Timer }
  /** Its workspace was deleted. */
  | { kind: "abandon" }
  | { kind: "fail"; failure: JobFailure }
  | { kind: "fire" }
  | { kind: "dispatch"; via: DeliverySettings["via"]; template: RowOf<typeof TemplateItem> | undefined }
  /** The job was dispatched before, but its messages may be lost. */
  | { kind: "announce" }
  | { kind: "plan"; range: string; settings: DeliverySettings }
  /** The recipients are on the row of the job: it has one message. */
  | { kind: "deliver" }
  /**
   * Messages of its ranges and chunks may be lost, or were dropped while it was held; with `endsWaits` also messages of
   * waiting chunks.
   */
  | { kind: "rescue"; isOpen: boolean; mayBeLast: boolean; endsWaits?: boolean }
  /** The chunks that waited until now go on, of all ranges or of one. */
  | { kind: "release"; range: string | undefined }
  /** The job was stopped: its chunks are closed with the known outcomes. */
  | { kind: "wind up" }
  /** The job is watched further, and this is done. */
  | { kind: "watch"; timer: Timer; next: Verdict };

export const chunkMessages = (tenant: string, job: string, range: string, chunks: number): Message<"deliver">[] =>
  Array.from({ length: chunks }, (_, chunk) => ({ tenant, job, range, chunk }));
