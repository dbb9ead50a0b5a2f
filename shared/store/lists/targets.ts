// Targets of sends, campaigns, schedules and experiences: everybody, a list, or a segment.
import { invalid } from "../../http/errors.ts";
import type { StoreReader } from "../../resources.ts";
import { keys } from "../keys.ts";
import type { Target } from "../sends/jobs.ts";
import { countSubscribers } from "../subscribers/subscribers.ts";
import { countMembers, type Group } from "./memberships.ts";

/** The list or segment that a target means; undefined for everybody. */
export function groupOf(target: Target | null): Group | undefined {
  if (target?.type === "list") return { kind: "list", id: target.list_id };
  if (target?.type === "segment") return { kind: "segment", id: target.segment_id };
  return undefined;
}

/** Whether what the target means is there. */
export async function targetExists(store: StoreReader, target: Target | null): Promise<boolean> {
  const group = groupOf(target);
  return !group || (await store.get(keys.entity(store.tenant, group.kind, group.id))) !== undefined;
}

/** @throws 422 naming `<field>.list_id` or `<field>.segment_id` if there is no such thing in this workspace (AMB-93). */
export async function requireTarget(store: StoreReader, target: Target | null, field = "target"): Promise<void> {
  if (await targetExists(store, target)) return;
  const { kind } = groupOf(target)!;
  throw invalid({ [`${field}.${kind}_id`]: `no such ${kind} in this workspace` });
}

/** How many subscribers a target means, from the counts. */
export function countTarget(store: StoreReader, target: Target | null): Promise<number> {
  const group = groupOf(target);
  return group ? countMembers(store, group) : countSubscribers(store);
}
