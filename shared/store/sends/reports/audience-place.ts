// Whether a subscriber is in the audience of a send: as it was planned, or before that as it would be planned now.
import type { Target } from "../../../contract/send-input.ts";
import { isPseudonym } from "../../../kernel/ids.ts";
import { compilePredicate } from "../../../rules/predicates.ts";
import type { Unit } from "../../../rules/progress.ts";
import { comparisonIn } from "../../../rules/values.ts";
import { compileDevicePredicate } from "../../../rules/versions.ts";
import type { StoreReader } from "../../context.ts";
import { ref } from "../../item.ts";
import { fromJson } from "../../json-text.ts";
import { type Group, Member, memberKey } from "../../lists/items.ts";
import { enteredLeaf } from "../../lists/leaves.ts";
import { groupOf, targetExists } from "../../lists/targets.ts";
import { SegmentItem } from "../../segments/items.ts";
import { zoneFor } from "../../segments/rules.ts";
import { shardOf } from "../../shards.ts";
import { deviceRows } from "../../subscribers/devices.ts";
import { attributesForRules, type LivingProfile } from "../../subscribers/subscribers.ts";
import { ChunkItem, ClaimItem, RangeItem, SkippedIds } from "../audience/audience-items.ts";
import { givenIdsOf } from "../audience/audiences.ts";
import { devicesForFilters } from "../audience/candidates.ts";
import { chunkOf, SKIPPED_KEPT_MS } from "../chunks/chunks.ts";
import { waitsIn } from "../chunks/deferred.ts";
import { mayHold, sourceOf } from "../chunks/range-names.ts";
import type { Recipient } from "../chunks/recipients.ts";
import type { Job, JobRecord } from "../jobs/job-record.ts";
import type { ChunkRef } from "../ledger/touches.ts";

/**
 * Why a subscriber is outside. `joined_later`: was outside when the audience was planned, and would be in it now.
 * `not_at_step`: in a journey's send, no run of the subscriber was at its step then. `not_kept`: may have been skipped,
 * and the ids of skipped recipients are no longer kept.
 */
const outsideReasons = [
  "not_named",
  "not_at_step",
  "not_in_list",
  "not_in_segment",
  "subscriber_filters",
  "device_filters",
  "joined_later",
  "not_kept",
] as const;
type OutsideReason = (typeof outsideReasons)[number];

export type AudiencePlace =
  /** `waits`: what its chunk has still to do for it. */
  | { kind: "recipient"; recipient: Recipient; waits: readonly Unit[] }
  | { kind: "held_out" }
  | { kind: "skipped"; reason: string }
  /** The audience is not planned yet, and would have the subscriber now. */
  | { kind: "expected" }
  | { kind: "outside"; reason: OutsideReason }
  /** Neither the plan nor a profile knows the subscriber. */
  | { kind: "unknown" };

/** Chunks whose rows are read at once. */
const WINDOW = 50;
/** Of more chunks than this, the one with the subscriber is searched. */
const MAX_SCANNED = 4;

/** @param chunk where its rows say it is, of one that has rows */
export async function audiencePlaceOf(
  store: StoreReader,
  job: Job,
  subscriber: string,
  { profile, chunk }: { profile: LivingProfile | undefined; chunk: ChunkRef | undefined },
): Promise<AudiencePlace> {
  const { place, isPlanned } = await placeInPlan(store, job, subscriber, chunk);
  if (place) return place;
  if (!profile) return { kind: "unknown" };

  const reason = await exclusionNow(store, job, profile, isPlanned);
  if (reason) return { kind: "outside", reason };
  return isPlanned ? { kind: "outside", reason: sinceThen(store, job, profile) } : { kind: "expected" };
}

/** Why a subscriber who would be in the audience now is not in the plan. */
function sinceThen({ clock }: StoreReader, { dispatched_at, created_at }: Job, profile: LivingProfile): OutsideReason {
  const planned = dispatched_at ?? created_at;
  const isKept = clock.now() < Date.parse(planned) + SKIPPED_KEPT_MS;
  return isKept || profile.created_at > planned ? "joined_later" : "not_kept";
}

/** Where the plan of a send has a subscriber; `isPlanned`: no later part of it can have the subscriber. */
export async function placeInPlan(
  store: StoreReader,
  job: JobRecord,
  subscriber: string,
  chunk?: ChunkRef | undefined,
): Promise<{ place: AudiencePlace | undefined; isPlanned: boolean }> {
  if (job.direct) return { place: placeAmong(job.direct.recipients, subscriber, job.claim), isPlanned: true };
  if (chunk) return { place: await placeInChunks(store, [chunk], subscriber), isPlanned: true };
  const ranges = job.ranges?.filter((range) => mayHold(range, shardOf(subscriber))) ?? [];
  const keys = ranges.map((range) => ({ job: job.id, range }));
  const rows = await store.getAll(RangeItem, keys);
  for (const [i, range] of ranges.entries()) {
    const place = await placeInRange(store, { job: job.id, range }, rows[i]?.chunks ?? 0, subscriber);
    if (place) return { place, isPlanned: true };
  }
  return { place: undefined, isPlanned: job.ranges !== undefined && rows.every((row) => row?.planned) };
}

async function placeInRange(
  store: StoreReader,
  part: { job: string; range: string },
  chunks: number,
  subscriber: string,
): Promise<AudiencePlace | undefined> {
  if (chunks > MAX_SCANNED && sourceOf(part.range).from === "shards") {
    const n = await chunkFor(store, part, chunks, subscriber);
    return placeInChunks(store, [{ ...part, n }], subscriber);
  }
  for (let from = 0; from < chunks; from += WINDOW) {
    const keys = Array.from({ length: Math.min(WINDOW, chunks - from) }, (_, i) => ({ ...part, n: from + i }));
    const place = await placeInChunks(store, keys, subscriber);
    if (place) return place;
  }
  return undefined;
}

/** The chunk that would have a subscriber: those of a range of shards are in the order of the ids. */
async function chunkFor(
  store: StoreReader,
  part: { job: string; range: string },
  chunks: number,
  subscriber: string,
): Promise<number> {
  let low = 0;
  let high = chunks - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { next } = (await store.get(ChunkItem, { ...part, n: middle }, { eventual: true })) ?? {};
    if (next === undefined || next >= subscriber) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function placeInChunks(
  store: StoreReader,
  keys: readonly ChunkRef[],
  subscriber: string,
): Promise<AudiencePlace | undefined> {
  const [chunks, skipped] = await Promise.all([store.getAll(ChunkItem, keys), store.getAll(SkippedIds, keys)]);
  for (const [i, key] of keys.entries()) {
    const chunk = chunks[i] && chunkOf(chunks[i]);
    if (chunk?.heldOut.includes(subscriber)) return { kind: "held_out" };
    if (chunk?.recipients.some((recipient) => recipient.subscriber === subscriber))
      return placeAmong(chunk.recipients, subscriber, await store.get(ClaimItem, key));
    const reasons = skipped[i] ? Object.entries(fromJson(skipped[i].ids)) : [];
    const [reason] = reasons.find(([, ids]) => ids.includes(subscriber)) ?? [];
    if (reason !== undefined) return { kind: "skipped", reason };
  }
  return undefined;
}

function placeAmong(
  recipients: readonly Recipient[],
  subscriber: string,
  claim: Parameters<typeof waitsIn>[0],
): AudiencePlace | undefined {
  const i = recipients.findIndex((candidate) => candidate.subscriber === subscriber);
  const recipient = recipients[i];
  return recipient && { kind: "recipient", recipient, waits: waitsIn(claim).get(i) ?? [] };
}

/** Why an audience that is planned now would not have a subscriber. */
async function exclusionNow(
  store: StoreReader,
  job: Job,
  profile: LivingProfile,
  isPlanned: boolean,
): Promise<OutsideReason | undefined> {
  const { status, target, subscriber_filters, device_filters, source } = job;
  if (source.type === "journey") return "not_at_step";
  // One that failed because its list or segment was deleted asked nobody for it.
  if (status === "failed" && !isPlanned && !(await targetExists(store, target))) return undefined;
  const missing = target ? await missingFrom(store, target, profile.id) : await notAmongKept(store, job.id, profile.id);
  if (missing) return missing;
  if (subscriber_filters) {
    const comparison = comparisonIn(await zoneFor(store, subscriber_filters));
    if (!compilePredicate(subscriber_filters, comparison)(attributesForRules(profile))) return "subscriber_filters";
  }
  const devices = device_filters ? await deviceRows(store, profile.id) : [];
  if (device_filters && !devicesForFilters(devices).some(compileDevicePredicate(device_filters)))
    return "device_filters";
  return isPlanned && !target ? "not_named" : undefined;
}

async function missingFrom(
  store: StoreReader,
  target: Target,
  subscriber: string,
): Promise<"not_in_list" | "not_in_segment" | undefined> {
  const group = groupOf(target);
  if (!group || (await isMember(store, group, subscriber))) return undefined;
  return group.kind === "list" ? "not_in_list" : "not_in_segment";
}

async function isMember(store: StoreReader, group: Group, subscriber: string): Promise<boolean> {
  if (isPseudonym(subscriber)) return false;
  const member = ref(Member, memberKey(group, subscriber));
  const [row, segment] = await store.getEach([member, ref(SegmentItem, { id: group.id })]);
  if (row) return true;
  const hasLeaves = group.kind === "segment" && segment?.is_dynamic === false;
  return hasLeaves && (await enteredLeaf(store, group.id, subscriber)) !== undefined;
}

/** Where given ids are kept: those of an audience that was planned within the request are not. */
async function notAmongKept(store: StoreReader, job: string, subscriber: string): Promise<"not_named" | undefined> {
  const given = await givenIdsOf(store, job);
  return given.length === 0 || given.includes(subscriber) ? undefined : "not_named";
}
