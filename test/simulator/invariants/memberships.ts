// At rest, the members of a dynamic segment are the subscribers that match its rule, and every count is that of the rows.
import { compilePredicate } from "../../../shared/rules/predicates.ts";
import { compileRule } from "../../../shared/rules/segment-evaluation.ts";
import { actorsOf, actorText } from "../../../shared/store/events/actors.ts";
import type { StoredEvent } from "../../../shared/store/events/events.ts";
import { eventsIn, HISTORY } from "../../../shared/store/events/history.ts";
import { ActorEvents } from "../../../shared/store/events/items.ts";
import { rowOf } from "../../../shared/store/item.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { MemberCount, MemberLeaf, SegmentMembership } from "../../../shared/store/lists/items.ts";
import { unpackMembers } from "../../../shared/store/lists/leaves.ts";
import { SegmentItem, type SegmentRow } from "../../../shared/store/segments/items.ts";
import { Profile, SubscriberAlias } from "../../../shared/store/subscribers/items.ts";
import { attributesForRules, isLiving, type LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";
import { placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import type { Mirror } from "../mirror.ts";

interface Tenancy {
  profiles: LivingProfile[];
  segments: SegmentRow[];
  /** By actor, see `actorText`. */
  events: Map<string, StoredEvent[]>;
  /** By `<kind>#<id>`: the members in the shards of the group. */
  listed: Map<string, Set<string>>;
  /** The same by the rows of the subscribers. */
  owned: Map<string, Set<string>>;
  counted: Map<string, number>;
  /** Subscriber → its anonymous ids. */
  aliases: Map<string, string[]>;
}

export const memberships: Invariant = {
  name: "memberships",
  watch: ({ mirror, kernel }, broken) => ({
    end: () => {
      for (const [, rows] of tenanciesOf(mirror)) {
        const { listed, owned, counted, segments } = rows;
        for (const group of new Set([...listed.keys(), ...owned.keys(), ...counted.keys()])) {
          const [first, second] = [listed.get(group) ?? new Set<string>(), owned.get(group) ?? new Set<string>()];
          const differing = [...first, ...second].filter((one) => first.has(one) !== second.has(one));
          if (differing.length > 0) broken(`${group}: ${differing[0]} has one row of two`, differing[0]!, group);
          const count = counted.get(group) ?? 0;
          if (count !== first.size)
            broken(`${group} counts ${count}, its rows are ${first.size}`, group.split("#")[1]!);
          const isThere = group.startsWith("list#") || segments.some(({ id }) => `segment#${id}` === group);
          if (!isThere && first.size > 0) broken(`${group} is deleted and has members`, group.split("#")[1]!);
        }
        for (const segment of segments) {
          const { id } = segment;
          if (segment.computed !== segment.run_version) broken(`segment ${id} was never computed`, id);
          if (!segment.is_dynamic) continue;
          const members = listed.get(`segment#${id}`) ?? new Set();
          const rule = compileRule(fromJson(segment.rule));
          for (const profile of rows.profiles) {
            const subscriber = profile.id;
            const history = historyOf(rows, subscriber);
            const chosen = rule.judge({
              attributes: attributesForRules(profile),
              now: kernel.now(),
              times: ({ name, where = {} }) =>
                history
                  .filter(({ event_name, properties }) => event_name === name && compilePredicate(where)(properties))
                  .map(({ occurred_at }) => Date.parse(occurred_at))
                  .sort((a, b) => b - a),
            }).matches;
            if (chosen !== members.has(subscriber))
              broken(
                `${subscriber} is ${chosen ? "not in" : "in"} segment ${id}, whose rule is ${segment.rule}`,
                ...[id, subscriber, ...history.map((event) => event.id)],
              );
          }
        }
      }
    },
  }),
};

function historyOf({ events, aliases }: Tenancy, subscriber: string): StoredEvent[] {
  return actorsOf(subscriber, aliases.get(subscriber) ?? []).flatMap((actor) => events.get(actorText(actor)) ?? []);
}

function tenanciesOf(mirror: Mirror): Map<string, Tenancy> {
  const tenancies = new Map<string, Tenancy>();
  for (const pk of mirror.partitions()) {
    const place = placeOf(pk);
    if (!place) continue;
    const { tenant, kind, id } = place;
    const rows = tenancies.get(tenant) ?? empty();
    tenancies.set(tenant, rows);
    for (const [sk, item] of mirror.under(pk))
      if (/^S[0-9a-f]$/.test(kind) && sk.length === 36) {
        const profile = rowOf(Profile, item);
        if (isLiving(profile)) rows.profiles.push(profile);
      } else if ((kind === "U" || kind === "EH") && sk.startsWith(HISTORY)) {
        const row = rowOf(ActorEvents, item);
        rows.events.set(row.actor, [...(rows.events.get(row.actor) ?? []), ...eventsIn(row)]);
      } else if (pk.endsWith("#segment")) rows.segments.push(rowOf(SegmentItem, item));
      else if ((kind === "list" || kind === "segment") && pk.split("#").length === 5)
        add(rows.listed, `${kind}#${id}`, sk);
      else if (kind === "leaves")
        for (const { subscriber } of unpackMembers(rowOf(MemberLeaf, item).members))
          for (const found of [rows.listed, rows.owned]) add(found, `segment#${id}`, subscriber);
      else if (kind === "list:counts" || kind === "segment:counts") {
        const group = `${kind.split(":")[0]}#${sk.split("#")[0]}`;
        rows.counted.set(group, (rows.counted.get(group) ?? 0) + rowOf(MemberCount, item).n);
      } else if (kind === "U" && sk.startsWith("L#")) add(rows.owned, `list#${sk.slice(2)}`, id);
      else if (kind === "U" && sk.startsWith("G#") && rowOf(SegmentMembership, item).member)
        add(rows.owned, `segment#${sk.slice(2)}`, id);
      else if (kind === "U" && sk.startsWith("A#"))
        rows.aliases.set(id, [...(rows.aliases.get(id) ?? []), rowOf(SubscriberAlias, item).anonymous]);
  }
  return tenancies;
}

const empty = (): Tenancy => ({
  profiles: [],
  segments: [],
  events: new Map(),
  listed: new Map(),
  owned: new Map(),
  counted: new Map(),
  aliases: new Map(),
});

const add = (sets: Map<string, Set<string>>, name: string, member: string) =>
  void sets.set(name, (sets.get(name) ?? new Set()).add(member));
