// The brake of a send (F21, docs/decisions/0052): its settings, its figures, and how it halts and goes on.
import { timestamp } from "../../../kernel/clock.ts";
import {
  type Breach,
  DEFAULT_CANARY_WAIT_MINUTES,
  DEFAULT_SAFETY,
  type DefaultSafety,
  type Figures,
  type Halt,
  type RangeSize,
  type Safety,
  textOf,
} from "../../../rules/brake.ts";
import { absent, all, asRead, oneOf, present } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { annotationWrite } from "../../insights/annotations.ts";
import { type ConditionOf, changeItem } from "../../item.ts";
import { toJson } from "../../json-text.ts";
import { countTarget } from "../../lists/targets.ts";
import { madeOnce, whereItHolds } from "../../refusals.ts";
import { RangeItem } from "../audience/audience-items.ts";
import { sumOf, tallyOf } from "../chunks/tallies.ts";
import { JobItem, type LateResult } from "./job-items.ts";
import type { JobRecord } from "./job-record.ts";
import type { DeliverySettings } from "./job-spec.ts";

/** The limits of a send that is dispatched now: its own, on top of the workspace's, or the workspace's for a large one. */
export async function brakeFor(
  store: StoreReader,
  job: Pick<JobRecord, "safety" | "reserved" | "sent" | "subscriber_ids_count" | "target">,
  via: DeliverySettings["via"],
  workspace: { safety: DefaultSafety | null } | undefined,
): Promise<Safety | undefined> {
  const { safety } = job;
  const byDefault = workspace?.safety === undefined ? DEFAULT_SAFETY : workspace.safety;
  if (safety === "off") return undefined;
  const { min_audience, ...limits } = byDefault ?? DEFAULT_SAFETY;
  if (safety) return withWait({ ...limits, ...safety });
  const leavesTheService = via.some(({ type }) => type !== "in_app");
  if (!byDefault || !leavesTheService) return undefined;
  const audience = job.subscriber_ids_count ?? job.reserved ?? (await countTarget(store, job.target));
  return Math.max(audience, job.sent) > min_audience ? withWait(limits) : undefined;
}

const withWait = (safety: Safety): Safety =>
  safety.canary_percent === undefined ? safety : { canary_wait_minutes: DEFAULT_CANARY_WAIT_MINUTES, ...safety };

/** The figures of a send, and the sizes of its ranges. */
export interface BrakeView {
  figures: Figures;
  sizes: RangeSize[];
  /** When a chunk was worked through last, in milliseconds. */
  passedAt: number;
}

/** Reads the totals of the ranges, which may be a moment old: late figures allow less, never more. */
export async function brakeView(store: StoreReader, { id, ranges = [] }: JobRecord): Promise<BrakeView> {
  const keys = ranges.map((range) => ({ job: id, range }));
  const [rows, job] = await Promise.all([
    store.getAll(RangeItem, keys, { eventual: true }),
    store.get(JobItem, { job: id }, { eventual: true }),
  ]);
  const { attempts } = sumOf(rows.flatMap((row) => (row ? [tallyOf(row)] : [])));
  const late = (kind: LateResult["kind"]) => job?.[`late:${kind}`] ?? 0;
  return {
    figures: { ...attempts, bounced: late("bounced"), complained: late("complained"), opted_out: late("unsubscribed") },
    sizes: rows.map((row) => ({ chunks: row?.chunks ?? 0, planned: row?.planned === true })),
    passedAt: Math.max(0, ...rows.map((row) => row?.passed_at ?? 0)),
  };
}

const inProgress = oneOf("status", ["queued", "processing"]);

/** Halts a send, once, unless it was resumed since it was read. */
export async function haltJob(
  store: Store,
  { id, name, releasedAt }: Pick<JobRecord, "id" | "name" | "releasedAt">,
  breach: Breach,
): Promise<void> {
  const halted: Halt = { ...breach, at: timestamp(store.clock.now()) };
  const isAsRead = asRead("released_at", releasedAt);
  const text = `The send ${name ?? id} halted: ${textOf(breach)}.`;
  const mayHalt = all(inProgress, absent("halted"), isAsRead);
  await whereItHolds(
    store.transact([
      changeItem(JobItem, { job: id }, { set: { halted: toJson(halted) } }, mayHalt),
      annotationWrite(store, { kind: "blast_halted", text, ref_id: id }),
    ]),
  );
}

/**
 * Resumes a halted send: its figures until now no longer count. @param safety other limits from now on; `off`: none
 * @returns false if it is not halted
 */
export async function resumeHalted(store: Store, job: JobRecord, safety: Safety | "off" | undefined): Promise<boolean> {
  const { figures } = await brakeView(store, job);
  const { brake, ...settings } = job.deliverySettings ?? { via: [], emailConsent: "opt_out" as const };
  const changed = safety === "off" ? undefined : { ...brake, ...safety };
  const set = {
    released_at: store.clock.now(),
    resumed_with: toJson(figures),
    ...(safety !== undefined && { settings: toJson({ ...settings, ...(changed && { brake: changed }) }) }),
  };
  const when: ConditionOf<typeof JobItem> = all(inProgress, present("halted"));
  const resuming = store.change(JobItem, { job: job.id }, { set, remove: ["halted"] }, when);
  return madeOnce(JobItem, resuming, (old) => old?.halted === undefined && old?.released_at === set.released_at);
}
