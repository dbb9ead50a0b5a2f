// The stored form of lists, and of memberships in lists and segments (D-LIST).
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { counterRow } from "../counters.ts";
import { entity, item } from "../item.ts";
import { shardOf } from "../shards.ts";

const groupKinds = ["list", "segment"] as const;

/** A list or a segment. */
export interface Group {
  kind: (typeof groupKinds)[number];
  id: string;
}

export const listGroup = (id: string): Group => ({ kind: "list", id });

/** The fields of a list that are stored as the API returns them. */
export const listFields = {
  id: v.string(),
  name: v.string(),
  description: v.nullable(v.string()),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const ListItem = entity("list", {
  about: "A list of subscribers.",
  row: {
    ...listFields,
    /** Added people confirm first, by the link of a mail (AMB-129); absent: no. */
    double_opt_in: v.optional(v.boolean()),
  },
  writers: ["api-lists"],
});

export interface GroupMember {
  subscriber: string;
  /** RFC 3339. */
  entered_at: string;
  /** It entered a static segment by historical events or an import that starts no journeys (AMB-133, AMB-134). */
  historical?: true | undefined;
}

const groupWriters = [
  "api-lists",
  "api-mail",
  "ask-confirmation",
  "import-rows",
  "segment",
  "recompute-segment",
  "delete-memberships",
  "erase",
];

export const ListMembership = item({
  about: "The membership of a subscriber in a list, stored with the subscriber.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ list }: { list: string }) => `L#${list}`,
  prefix: "L#",
  row: {
    list_id: v.string(),
    subscriber_id: v.string(),
    entered_at: v.string(),
    /** The pack of the import that wrote it: until that is sealed, its counter does not have it. */
    pack: v.optional(v.string()),
  },
  writers: ["api-lists", "api-mail", "ask-confirmation", "import-rows", "delete-memberships", "erase"],
  personal: "removed",
});

export const SegmentMembership = item({
  about: "The membership of a subscriber in a segment, stored with the subscriber; after an exit, `member` is false.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ segment }: { segment: string }) => `G#${segment}`,
  prefix: "G#",
  row: {
    react: v.literal("membership"),
    segment_id: v.string(),
    subscriber_id: v.string(),
    member: v.boolean(),
    entered_at: v.string(),
    exited_at: v.optional(v.string()),
    /** Its last change followed from historical events or imports: it starts no journey (AMB-133, AMB-134). */
    historical: v.optional(v.literal(true)),
    /** So did its last entry. */
    entered_by_history: v.optional(v.literal(true)),
    expires: v.optional(v.number()),
  },
  writers: ["segment", "recompute-segment", "delete-memberships", "erase"],
  lifetime: "30 days after an exit",
  personal: "removed",
});

export const Member = item({
  about: "A member in a shard of its list or segment.",
  pk: ({ kind, id, shard }: Group & { shard: string }) => `${kind}#${id}#${shard}`,
  sk: ({ subscriber }: { subscriber: string }) => subscriber,
  row: { entered_at: v.string(), pack: v.optional(v.string()) },
  writers: [...groupWriters, "recount"],
  personal: "removed",
});

/** Packed members, see `packMembers`. */
const packed = () => v.custom<Uint8Array>((value) => value instanceof Uint8Array);

export const MemberLeaf = item({
  about:
    "Members of a static segment, packed with when they entered: those whose ids are in a range that begins at the sort " +
    "key. The leaves of a shard are in the order of the ids, and together they cover the shard.",
  pk: ({ segment, shard }: { segment: string; shard: string }) => `leaves#${segment}#${shard}`,
  sk: ({ low }: { low: string }) => low,
  row: {
    react: v.literal("leaf"),
    /** When it was last changed, in milliseconds: raised by each change. */
    at: v.number(),
    /** Where the next leaf begins; absent in the last one. */
    high: v.optional(v.string()),
    members: packed(),
    /** Its last change removed an erased subscriber. */
    forgets: v.optional(v.literal(true)),
    /** The ids of people who left with its last change by historical events or such an import. */
    left: v.optional(v.array(v.string())),
  },
  writers: ["recompute-segment", "delete-memberships", "erase"],
  personal: "removed",
});

/** The key of a member, in the shard of its subscriber. */
export const memberKey = (group: Group, subscriber: string) => ({
  kind: group.kind,
  id: group.id,
  shard: shardOf(subscriber),
  subscriber,
});

export const MemberCount = item({
  about: "The number of members in a shard of a list or segment, changed in the transactions that change the members.",
  pk: ({ kind }: { kind: Group["kind"] }) => `${kind}:counts`,
  sk: ({ id, shard }: { id: string; shard: string }) => `${id}#${shard}`,
  row: {
    ...counterRow,
    /** The value of `changes` when a recount last compared the counter with the members. */
    recounted: v.optional(v.number()),
  },
  writers: [...groupWriters, "recount"],
});

export const DeletedMemberships = item({
  about: "A deleted list or segment whose members are still to be removed.",
  pk: () => "DISBAND",
  sk: ({ kind, id }: Group) => `${kind}#${id}`,
  row: { react: v.literal("disband"), kind: v.picklist(groupKinds), id: v.string(), at: v.number() },
  writers: ["api-lists", "api-segments", "delete-memberships"],
});

/** The resources that can refer to a list or segment. */
export type UserKind = "notification" | "experience";

export const Use = item({
  about: "A notification or experience that names a list or segment, which cannot be deleted while it waits.",
  pk: ({ kind, id }: Group) => `${kind}#${id}:uses`,
  sk: ({ user, user_id }: { user: UserKind; user_id: string }) => `${user}#${user_id}`,
  row: { expires: v.optional(v.number()) },
  writers: ["api-notifications", "api-campaigns", "api-experiences", "end-experience", "run-campaign"],
  lifetime: "7 days after its time",
});
