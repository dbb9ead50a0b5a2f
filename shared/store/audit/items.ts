// The stored form of the audit trail (RDA-23, docs/decisions/0043).
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { item } from "../item.ts";
import { json } from "../json-text.ts";

/** Chains of a workspace. A row belongs to one of them, so that concurrent writers rarely meet. */
export const AUDIT_SHARDS = 8;

export const actorTypes = ["user", "server_key", "agent_key", "publishable_key"] as const;

/** The number of sends, and the sum of their MACs: it needs no order and no memory, and can be added up. */
interface Seal {
  count: number;
  /** Hexadecimal, modulo 2^128. */
  sum: string;
}

/** By the id of the server key. */
export type Seals = Readonly<Record<string, Seal>>;

/** The sends in an entry of the trail. */
export interface SealedSends extends Seal {
  quarter: number;
}

/** The end of a call, with the MAC of its fields. */
export interface AuditOutcome {
  status: number;
  code?: string | undefined;
  created?: string | undefined;
  /** Nothing was written: the call only reported what it would write. */
  dry_run?: true | undefined;
  mac: string;
}

/** Outcomes of earlier rows of the chain, by their numbers. */
type Outcomes = Readonly<Record<string, AuditOutcome>>;

export const AuditRow = item({
  about: "A management write that was begun, in one of the chains of the audit trail; it never changes.",
  pk: ({ shard }: { shard: number }) => `AUDIT#${shard}`,
  sk: ({ seq }: { seq: number }) => String(seq).padStart(12, "0"),
  row: {
    seq: v.number(),
    at: Timestamp,
    action: v.string(),
    actor_type: v.picklist(actorTypes),
    actor: v.string(),
    role: v.optional(v.string()),
    target: v.optional(v.string()),
    request_id: v.string(),
    ip: v.optional(v.string()),
    /** The outcomes of earlier rows that ended since the row before. */
    outcomes: v.optional(json<Outcomes>()),
    /** The sends of a server key in a quarter-hour, in place of a call. */
    sends: v.optional(json<SealedSends>()),
    /** The MAC of the row before, and of this row. */
    prev: v.string(),
    mac: v.string(),
  },
  writers: ["api-*", "fan-out", "recount"],
});

export const AuditHead = item({
  about: "The end of a chain of the audit trail, sealed, with outcomes that no row holds yet.",
  pk: () => "AUDITHEADS",
  sk: ({ shard }: { shard: number }) => String(shard),
  row: {
    seq: v.optional(v.number()),
    mac: v.optional(v.string()),
    seal: v.optional(v.string()),
    "o:*": json<AuditOutcome>(),
  },
  writers: ["api-*", "fan-out", "recount"],
});
