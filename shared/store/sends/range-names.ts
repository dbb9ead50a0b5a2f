// The names of an audience's ranges: `s<shard>` of all subscribers, `list:<id>:<shard>` and `segment:<id>:<shard>` of
// members, `g<n>` of given ids, and `p` of an audience that was planned within the request.

import type { Group } from "../lists/items.ts";
import { groupOf } from "../lists/targets.ts";
import { SHARDS } from "../shards.ts";
import type { JobSpec } from "./job-spec.ts";

/** Ids in one row of given ids. */
export const GIVEN_PER_ROW = 1_000;

/** The range of an audience that was planned within the request. */
export const PLANNED_RANGE = "p";

/** The place of the only recipient of a job without ranges: it is on the job's row. */
export const SINGLE_RANGE = "solo";

export const shardRange = (shard: string) => `s${shard}`;
const givenRange = (n: number) => `g${n}`;
const memberRange = ({ kind, id }: Group, shard: string) => `${kind}:${id}:${shard}`;

/** Where the candidates of a range come from. */
export type RangeSource =
  | { from: "shard"; shard: string }
  | { from: "members"; group: Group; shard: string }
  | { from: "given"; n: number }
  | { from: "request" };

export function sourceOf(range: string): RangeSource {
  if (range === PLANNED_RANGE) return { from: "request" };
  const [kind, id, shard] = range.split(":");
  if ((kind === "list" || kind === "segment") && id !== undefined && shard !== undefined)
    return { from: "members", group: { kind, id }, shard };
  return range.startsWith("s")
    ? { from: "shard", shard: range.slice(1) }
    : { from: "given", n: Number(range.slice(1)) };
}

/** Whether subscribers of a shard can be in a range. */
export function mayHold(range: string, shard: string): boolean {
  const source = sourceOf(range);
  return !("shard" in source) || source.shard === shard;
}

/** The ranges of a job whose audience is planned by workers. */
export function rangesOf({ target, subscriber_ids_count }: Pick<JobSpec, "target" | "subscriber_ids_count">): string[] {
  if (target?.type === "all") return SHARDS.map(shardRange);
  const group = groupOf(target);
  if (group) return SHARDS.map((shard) => memberRange(group, shard));
  const rows = Math.ceil((subscriber_ids_count ?? 0) / GIVEN_PER_ROW);
  return Array.from({ length: rows }, (_, n) => givenRange(n));
}
