// How every send begins, whoever asks for it: audience planned or kept for later, and last of all the job row.
import { MINUTE } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { isHeldOut } from "../../rules/split.ts";
import { absent } from "../conditions.ts";
import { countTarget } from "../lists/targets.ts";
import type { Item } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";
import type { Timers } from "../timers.ts";
import { useWrites } from "../uses.ts";
import { type Allowance, reservation, usageRefusal, warnOfUsage } from "../workspaces/usage.ts";
import { givenRows, PLANNED_RANGE, planSmall, SMALL_AUDIENCE } from "./audiences.ts";
import { chunkItems, type PlannedChunk } from "./chunks.ts";
import { type JobSpec, newJobItem } from "./jobs.ts";
import { planningRules, selectedChannels } from "./planning.ts";
import { rangeItem } from "./ranges.ts";

const WATCH_AFTER_MS = 15 * MINUTE;

export interface Send {
  /** A UUIDv7 of now, or one derived from what the send belongs to. */
  id: string;
  /** The id is derived: a repeat meets its own job, so the audience is left to the workers, who settle it once. */
  isRepeatable?: boolean;
  spec: JobSpec;
  /** Ids of the recipients, each once; absent for a send to a target. */
  given?: readonly string[] | undefined;
}

export type Started = { id: string; sent: number } | { refused: (Item | undefined)[] };

/**
 * Starts a send, now or at its `scheduled_at`. The job row, its share of the quota and the steps `extraItems` (what names
 * the job elsewhere: an idempotency key, a campaign's message, an experience) are one transaction.
 * @returns the job's id and `sent`; or, if a step of `extraItems` refused, its items as they were (undefined: it passed).
 * If the job is there already, a repeat of the same id, its answer is given again.
 * @throws 402 beyond the quota or the workspace's own cap.
 */
export async function startSend(
  store: Store,
  timers: Timers,
  allowance: Allowance,
  { id, spec, given, isRepeatable = false }: Send,
  extraItems: readonly TransactItem[] | ((answer: { id: string; sent: number }) => readonly TransactItem[]) = [],
): Promise<Started> {
  const at = spec.scheduled_at === null ? store.clock.now() : Date.parse(spec.scheduled_at);
  const audience: Audience =
    spec.scheduled_at !== null || isRepeatable
      ? { rows: given ? givenRows(store, id, given, at) : [], sent: 0 }
      : await prepareAudience(store, id, spec, given, allowance.emailConsent ?? "opt_out");
  await store.writeAll(audience.rows.map((put) => ({ put })));
  await timers.set([
    spec.scheduled_at === null
      ? { kind: "job-watch", id, at: store.clock.now() + WATCH_AFTER_MS }
      : { kind: "job", id, at: Date.parse(spec.scheduled_at) },
  ]);
  const answer = { id, sent: audience.sent };
  const job: TransactItem = { put: newJobItem(store, id, spec, audience), when: absent() };
  const taken = audience.sent > 0 ? [reservation(store, "sends", audience.sent, allowance)] : [];
  const others = typeof extraItems === "function" ? extraItems(answer) : extraItems;
  const uses = spec.scheduled_at
    ? useWrites(store, spec.target, { kind: "notification", id, until: spec.scheduled_at })
    : [];
  const started = await store.transact([job, ...taken, ...others, ...uses]).then(
    (): Started => answer,
    onTransactionCanceled(async ([existing, ...failures]): Promise<Started> => {
      if (existing?.old) return { id, sent: Number(existing.old.sent) };
      if (!isRepeatable) await store.writeAll(audience.rows.map(({ pk, sk }) => ({ remove: { pk, sk } })));
      const [usage, refusals] = taken.length > 0 ? [failures[0], failures.slice(1)] : [undefined, failures];
      if (refusals.some(Boolean)) return { refused: refusals.map((failure) => failure?.old) };
      throw usageRefusal("sends", audience.sent, usage?.old, allowance);
    }),
  );
  if (!("refused" in started) && audience.sent > 0) await warnOfUsage(store, "sends", allowance);
  return started;
}

interface Audience {
  rows: Item[];
  sent: number;
  /** Taken from the quota now; else the job takes it when it is dispatched. */
  reserved?: number;
  ranges?: string[];
}

/** Small: planned now, so `sent` is exact (AMB-38). Else kept for the workers, `sent` from the counts. */
async function prepareAudience(
  store: Store,
  job: string,
  spec: JobSpec,
  given: readonly string[] | undefined,
  emailConsent: "opt_out" | "opt_in",
): Promise<Audience> {
  const estimate = given ? given.length : await countTarget(store, spec.target);
  const chunks =
    estimate <= SMALL_AUDIENCE
      ? await planSmall(store, spec, await rulesNow(store, job, spec, emailConsent), given)
      : undefined;
  if (chunks) return planned(store, job, chunks);
  const size = given ? given.length : Math.max(estimate, SMALL_AUDIENCE);
  const treated = given
    ? given.filter((id) => !isHeldOut(job, id, spec.holdout_percentage)).length
    : Math.round(size * (1 - spec.holdout_percentage / 100));
  return { rows: given ? givenRows(store, job, given, store.clock.now()) : [], sent: treated, reserved: treated };
}

const rulesNow = async (store: Store, job: string, spec: JobSpec, emailConsent: "opt_out" | "opt_in") =>
  planningRules(store, job, spec, { via: await selectedChannels(store, spec), emailConsent });

function planned(store: Store, job: string, chunks: readonly PlannedChunk[]): Audience {
  const sent = chunks.reduce((sum, { chunk }) => sum + chunk.recipients.length, 0);
  const rows = chunks.flatMap((chunk, n) => chunkItems(store, job, PLANNED_RANGE, n, chunk));
  return {
    rows: [...rows, rangeItem(store, job, PLANNED_RANGE, chunks.length)],
    sent,
    reserved: sent,
    ranges: [PLANNED_RANGE],
  };
}
