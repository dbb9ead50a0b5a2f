// The work of one message: a job, and what is to be done with it.
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
  /** This message comes again. */
  | { kind: "again"; message: Message<"fan-out">; delaySeconds: number }
  /** The job waits for this timer. */
  | { kind: "hold"; timer: Timer }
  /** Its workspace was deleted. */
  | { kind: "abandon" }
  | { kind: "fail"; failure: JobFailure }
  | { kind: "fire" }
  | { kind: "dispatch"; via: DeliverySettings["via"]; template: RowOf<typeof TemplateItem> | undefined }
  /** It was dispatched before, but its messages may be lost. */
  | { kind: "announce" }
  | { kind: "plan"; range: string; settings: DeliverySettings }
  /** Its recipients are on its row: it has one message. */
  | { kind: "deliver" }
  /** Messages of its ranges and chunks may be lost, or were dropped while it was held; with `endsWaits` also of those that wait. */
  | { kind: "rescue"; isOpen: boolean; mayBeLast: boolean; endsWaits?: boolean }
  /** The chunks that waited until now go on, of all ranges or of one. */
  | { kind: "release"; range: string | undefined }
  /** It was stopped: its chunks are closed with what is known of them. */
  | { kind: "wind up" }
  /** It is watched further, and this is done. */
  | { kind: "watch"; timer: Timer; next: Verdict };

export const chunkMessages = (tenant: string, job: string, range: string, chunks: number): Message<"deliver">[] =>
  Array.from({ length: chunks }, (_, chunk) => ({ tenant, job, range, chunk }));
