// The names of an audience's ranges: `all/<shards>` of all subscribers, `list/<id>/<shards>` and `segment/<id>/<shards>` of
// members, where `<shards>` is the first and the last one (`0-f`), `given/<n>` of given ids, and `request` of an audience
// that was planned within the request.
import type { Group } from "../../lists/items.ts";
import { groupOf } from "../../lists/targets.ts";
import { SHARDS } from "../../shards.ts";
import type { JobSpec } from "../jobs/job-spec.ts";

export const GIVEN_PER_ROW = 1_000;
/** Each range costs some ten write units, whatever its size. */
const SUBSCRIBERS_PER_RANGE = 2_000;
/** Two workers plan also the smallest audience. */
const MIN_RANGES = 2;

/** The range of an audience that was planned within the request. */
export const REQUEST_RANGE = "request";

/** The range of a journey's send: one chunk, planned with its job, in the partition of the job. */
export const PLANNED_RANGE = "p";

/** The place of the only recipient of a job without ranges: it is on the job's row. */
export const SINGLE_RANGE = "solo";

/** Whether a chunk is on the row of its job, and not in a range. */
export const isOnJob = ({ range }: { range: string }): boolean => range === SINGLE_RANGE;

const givenRange = (n: number) => `given/${n}`;

/** Where the candidates of a range come from; `group` of members, else all subscribers of the shards. */
type RangeSource =
  | { from: "shards"; shards: readonly string[]; group?: Group }
  | { from: "given"; n: number }
  | { from: "request" };

export function sourceOf(range: string): RangeSource {
  const [kind = "", id = "", ofMembers = ""] = range.split("/");
  if (kind === "all") return { from: "shards", shards: shardsIn(id) };
  if (kind === "list" || kind === "segment")
    return { from: "shards", shards: shardsIn(ofMembers), group: { kind, id } };
  if (kind === "given") return { from: "given", n: Number(id) };
  return { from: "request" };
}

function shardsIn(name: string): string[] {
  const [first = "", last = ""] = name.split("-");
  return SHARDS.slice(SHARDS.indexOf(first), SHARDS.indexOf(last) + 1);
}

export function mayHold(range: string, shard: string): boolean {
  const source = sourceOf(range);
  return source.from !== "shards" || source.shards.includes(shard);
}

/** The ranges of a job whose audience is planned by workers. @param audience the approximate size of its target */
export function rangesOf(
  { target, subscriber_ids_count }: Pick<JobSpec, "target" | "subscriber_ids_count">,
  audience: number,
): string[] {
  if (target) {
    const group = groupOf(target);
    const source = group ? `${group.kind}/${group.id}` : "all";
    return shardNames(audience).map((shards) => `${source}/${shards}`);
  }
  const rows = Math.ceil((subscriber_ids_count ?? 0) / GIVEN_PER_ROW);
  return Array.from({ length: rows }, (_, n) => givenRange(n));
}

/** All shards, in as many groups as an audience needs: 2, 4, 8 or 16. */
function shardNames(audience: number): string[] {
  const groups = 2 ** Math.ceil(Math.log2(Math.max(MIN_RANGES, audience / SUBSCRIBERS_PER_RANGE)));
  const size = Math.max(1, SHARDS.length / groups);
  return SHARDS.flatMap((first, i) => (i % size === 0 ? [`${first}-${SHARDS[i + size - 1]}`] : []));
}
