// The leaves of a static segment are sorted, disjoint and cover their shard. At rest, its members are the
// subscribers that match its rule where neither they nor it changed after the last computation began.
import { compileRule } from "../../../shared/rules/segment-evaluation.ts";
import { type RowOf, rowOf } from "../../../shared/store/item.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { MemberLeaf } from "../../../shared/store/lists/items.ts";
import { unpackMembers } from "../../../shared/store/lists/leaves.ts";
import { SegmentItem } from "../../../shared/store/segments/items.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { attributesForRules, isLiving } from "../../../shared/store/subscribers/subscribers.ts";
import { itemsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import type { Mirror } from "../mirror.ts";

export const leaves: Invariant = {
  name: "leaves",
  watch: ({ mirror, kernel, ledger }, broken) => {
    /** By workspace, when a profile changed last. */
    const changedAt = new Map<string, number>();
    /** By segment, when its last computation began. */
    const begunAt = new Map<string, number>();
    /** By segment, when it got another rule last: it applies from the next computation on. */
    const ruledAt = new Map<string, number>();
    return {
      commit: ({ pk, sk, before, after }) => {
        const place = placeOf(pk);
        if (!place) return;
        if (/^S[0-9a-f]$/.test(place.kind)) changedAt.set(place.tenant, kernel.now());
        if (place.kind === "segment" && before?.run !== after?.run) begunAt.set(sk, kernel.now());
        if (place.kind === "segment" && before?.rule !== after?.rule) ruledAt.set(sk, kernel.now());
      },
      end: () => {
        for (const pk of mirror.partitions()) {
          const place = placeOf(pk);
          if (place?.kind !== "leaves") continue;
          const problem = problemOf(leavesIn(mirror, pk));
          if (problem !== undefined) broken(`the leaves ${pk}: ${problem}`, place.id);
        }
        for (const { tenant, item } of itemsOf(mirror, "segment")) {
          const { id, is_dynamic, rule } = rowOf(SegmentItem, item);
          if (is_dynamic !== false) continue;
          const members = new Set(
            [..."0123456789abcdef"].flatMap((shard) =>
              leavesIn(mirror, `T#${tenant}#leaves#${id}#${shard}`).flatMap(idsIn),
            ),
          );
          for (const one of members)
            if (ledger.people.get(one)?.erasedAt !== undefined)
              broken(`${one} is erased and in segment ${id}`, id, one);
          const { events, judge } = compileRule(fromJson(rule));
          const begun = begunAt.get(id) ?? 0;
          if (events.length > 0 || begun <= (changedAt.get(tenant) ?? 0) || begun < (ruledAt.get(id) ?? 0)) continue;
          for (const profile of profilesOf(mirror, tenant)) {
            const facts = { attributes: attributesForRules(profile), now: kernel.now(), times: () => [] };
            const { matches } = judge(facts);
            if (matches !== members.has(profile.id))
              broken(
                `${profile.id} is ${matches ? "not " : ""}in segment ${id}, whose rule is ${rule}`,
                id,
                profile.id,
              );
          }
        }
      },
    };
  },
};

type LeafRow = RowOf<typeof MemberLeaf>;

const leavesIn = (mirror: Mirror, pk: string): LeafRow[] =>
  [...mirror.under(pk).values()].map((item) => rowOf(MemberLeaf, item)).sort((a, b) => (a.sk < b.sk ? -1 : 1));

const idsIn = ({ members }: LeafRow): string[] => unpackMembers(members).map(({ subscriber }) => subscriber);

/** What is wrong with the leaves of a shard; undefined if nothing is. */
function problemOf(sorted: readonly LeafRow[]): string | undefined {
  for (const [i, leaf] of sorted.entries()) {
    const { sk: low, high } = leaf;
    const next = sorted[i + 1]?.sk;
    if (high !== next) return `${low} ends at ${high}, the next one begins at ${next}`;
    const ids = idsIn(leaf);
    if (ids.some((id, n) => n > 0 && id <= ids[n - 1]!)) return `${low} is not sorted`;
    if (ids.some((id) => id < low || (high !== undefined && id >= high))) return `${low} has ids of another leaf`;
  }
  return undefined;
}

function profilesOf(mirror: Mirror, tenant: string) {
  const rows = [..."0123456789abcdef"].flatMap((shard) => [...mirror.under(`T#${tenant}#S${shard}`).values()]);
  return rows
    .filter(({ sk }) => String(sk).length === 36)
    .map((row) => rowOf(Profile, row))
    .filter(isLiving);
}
