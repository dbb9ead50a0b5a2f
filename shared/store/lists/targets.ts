// Targets of sends, campaigns, schedules and experiences: all subscribers, a list, or a segment.
import type { Target } from "../../contract/send-input.ts";
import { invalid } from "../../kernel/errors.ts";
import type { StoreReader } from "../context.ts";
import { SegmentItem } from "../segments/items.ts";
import { countSubscribers } from "../subscribers/subscribers.ts";
import { type Group, ListItem } from "./items.ts";
import { countMembers } from "./member-counts.ts";

/** The list or segment of a target; undefined for all subscribers. */
export function groupOf(target: Target | null): Group | undefined {
  if (target?.type === "list") return { kind: "list", id: target.list_id };
  if (target?.type === "segment") return { kind: "segment", id: target.segment_id };
  return undefined;
}

export const groupExists = async (store: StoreReader, { kind, id }: Group): Promise<boolean> =>
  (await (kind === "list" ? store.get(ListItem, { id }) : store.get(SegmentItem, { id }))) !== undefined;

export async function targetExists(store: StoreReader, target: Target | null): Promise<boolean> {
  const group = groupOf(target);
  return !group || groupExists(store, group);
}

/**
 * Requires the target of a send. @throws 422 naming `target.list_id` or `target.segment_id` if the workspace has no
 * such list or segment (AMB-93)
 */
export async function requireTarget(store: StoreReader, target: Target | null): Promise<void> {
  const group = groupOf(target);
  if (!group || (await groupExists(store, group))) return;
  throw invalid({ [`target.${group.kind}_id`]: `no such ${group.kind} in this workspace` });
}

/** The number of subscribers in a target, from the counters. */
export function countTarget(store: StoreReader, target: Target | null): Promise<number> {
  const group = groupOf(target);
  return group ? countMembers(store, group) : countSubscribers(store);
}
