// Whether a subscriber is in the audience of a send: as it was planned, or before that as it would be planned now.

import type { Target } from "../../../contract/send-input.ts";
import { isPseudonym } from "../../../kernel/ids.ts";
import { comparisonIn, compilePredicate } from "../../../rules/predicates.ts";
import { compileDevicePredicate } from "../../../rules/versions.ts";
import type { StoreReader } from "../../context.ts";
import { ref } from "../../item.ts";
import { fromJson } from "../../json-text.ts";
import { type Group, Member, memberKey } from "../../lists/items.ts";
import { enteredLeaf } from "../../lists/leaves.ts";
import { groupOf } from "../../lists/targets.ts";
import { SegmentItem } from "../../segments/items.ts";
import { zoneFor } from "../../segments/rules.ts";
import { shardOf } from "../../shards.ts";
import { deviceRows } from "../../subscribers/devices.ts";
import { attributesForRules, type LivingProfile } from "../../subscribers/subscribers.ts";
import { ChunkItem, RangeItem, SkippedIds } from "../audience/audience-items.ts";
import { givenIdsOf } from "../audience/audiences.ts";
import { deviceForFilters } from "../audience/candidates.ts";
import { chunkOf } from "../chunks/chunks.ts";
import { mayHold } from "../chunks/range-names.ts";
import type { Recipient } from "../chunks/recipients.ts";
import type { Job } from "../jobs/job-record.ts";

/**
 * Why somebody is outside. `joined_later`: was outside when the audience was planned, and would be in it now.
 * `not_at_step`: of a journey's send, no run of the subscriber was at its step then.
 */
export const outsideReasons = [
  "not_named",
  "not_at_step",
  "not_in_list",
  "not_in_segment",
  "subscriber_filters",
  "device_filters",
  "joined_later",
] as const;
export type OutsideReason = (typeof outsideReasons)[number];

export type AudiencePlace =
  | { kind: "recipient"; recipient: Recipient }
  | { kind: "held_out" }
  | { kind: "skipped"; reason: string }
  /** The audience is not planned yet, and would have the subscriber now. */
  | { kind: "expected" }
  | { kind: "outside"; reason: OutsideReason }
  /** Neither the plan nor a profile knows the subscriber. */
  | { kind: "unknown" };

/** Chunks whose rows are read at once. */
const WINDOW = 50;

export async function audiencePlaceOf(
  store: StoreReader,
  job: Job,
  subscriber: string,
  profile: LivingProfile | undefined,
): Promise<AudiencePlace> {
  const { place, isPlanned } = await placeInPlan(store, job, subscriber);
  if (place) return place;
  if (!profile) return { kind: "unknown" };

  const reason = await exclusionNow(store, job, profile, isPlanned);
  if (reason) return { kind: "outside", reason };
  return isPlanned ? { kind: "outside", reason: "joined_later" } : { kind: "expected" };
}

/** Where the plan has a subscriber; `isPlanned`: no later part of it can have the subscriber. */
async function placeInPlan(
  store: StoreReader,
  job: Job,
  subscriber: string,
): Promise<{ place: AudiencePlace | undefined; isPlanned: boolean }> {
  if (job.direct) {
    const recipient = job.direct.recipients.find((one) => one.subscriber === subscriber);
    return { place: recipient && { kind: "recipient", recipient }, isPlanned: true };
  }
  const ranges = job.ranges?.filter((range) => mayHold(range, shardOf(subscriber))) ?? [];
  const rows = await store.getAll(
    RangeItem,
    ranges.map((range) => ({ job: job.id, range })),
  );
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
  for (let from = 0; from < chunks; from += WINDOW) {
    const keys = Array.from({ length: Math.min(WINDOW, chunks - from) }, (_, i) => ({ ...part, n: from + i }));
    const rows = await store.getEach(keys.flatMap((key) => [ref(ChunkItem, key), ref(SkippedIds, key)]));
    for (const row of rows) {
      if (!row) continue;
      const place = "ids" in row ? placeAmongSkipped(row, subscriber) : placeInChunk(row, subscriber);
      if (place) return place;
    }
  }
  return undefined;
}

function placeInChunk(row: Parameters<typeof chunkOf>[0], subscriber: string): AudiencePlace | undefined {
  const { recipients, heldOut } = chunkOf(row);
  const recipient = recipients.find((one) => one.subscriber === subscriber);
  if (recipient) return { kind: "recipient", recipient };
  return heldOut.includes(subscriber) ? { kind: "held_out" } : undefined;
}

function placeAmongSkipped(
  { ids }: { ids: Parameters<typeof fromJson<Record<string, string[]>>>[0] },
  subscriber: string,
): AudiencePlace | undefined {
  const found = Object.entries(fromJson(ids)).find(([, skipped]) => skipped.includes(subscriber));
  return found && { kind: "skipped", reason: found[0] };
}

/** Why an audience that is planned now would not have a subscriber. */
async function exclusionNow(
  store: StoreReader,
  job: Job,
  profile: LivingProfile,
  isPlanned: boolean,
): Promise<OutsideReason | undefined> {
  const { target, subscriber_filters, device_filters, source } = job;
  if (source.type === "journey") return "not_at_step";
  const missing = target ? await missingFrom(store, target, profile.id) : await notAmongKept(store, job.id, profile.id);
  if (missing) return missing;
  if (subscriber_filters) {
    const comparison = comparisonIn(await zoneFor(store, subscriber_filters));
    if (!compilePredicate(subscriber_filters, comparison)(attributesForRules(profile))) return "subscriber_filters";
  }
  const devices = device_filters ? await deviceRows(store, profile.id) : [];
  const shown = devices.filter(({ status }) => status !== "invalid").map(deviceForFilters);
  if (device_filters && !shown.some(compileDevicePredicate(device_filters))) return "device_filters";
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
