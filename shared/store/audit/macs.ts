// What makes the audit trail tamper-evident: every row, outcome and end of a chain has a MAC under a key that is not in
// the table in clear text.
import { createHmac } from "node:crypto";
import type { RootSecrets } from "../secrets.ts";

/** The `prev` of the first row of a chain. */
export const GENESIS = "0";
const MAC_CHARACTERS = 32;

/** The key of a workspace's trail. */
export const auditKey = ({ cursorKey }: Pick<RootSecrets, "cursorKey">, tenant: string): Buffer =>
  createHmac("sha256", cursorKey).update(`audit:v1:${tenant}`).digest();

/** What a row says, and where it stands. */
export interface SealedRow {
  shard: number;
  seq: number;
  at: string;
  action: string;
  actor_type: string;
  actor: string;
  role?: string | undefined;
  target?: string | undefined;
  request_id: string;
  ip?: string | undefined;
  /** As it is stored. */
  outcomes?: string | undefined;
  prev: string;
}

export const rowMac = (key: Buffer, row: SealedRow): string => {
  const { shard, seq, at, action, actor_type, actor, role, target, request_id, ip, outcomes, prev } = row;
  const said = [shard, seq, at, action, actor_type, actor, role, target, request_id, ip, outcomes, prev];
  return macOf(
    key,
    "row",
    said.map((one) => one ?? null),
  );
};

export const outcomeMac = (
  key: Buffer,
  place: { shard: number; seq: number },
  { status, code, created }: { status: number; code?: string | undefined; created?: string | undefined },
): string => macOf(key, "outcome", [place.shard, place.seq, status, code ?? null, created ?? null]);

export const headSeal = (key: Buffer, { shard, seq, mac }: { shard: number; seq: number; mac: string }): string =>
  macOf(key, "head", [shard, seq, mac]);

const macOf = (key: Buffer, kind: string, said: readonly unknown[]): string =>
  createHmac("sha256", key)
    .update(JSON.stringify([kind, ...said]))
    .digest("hex")
    .slice(0, MAC_CHARACTERS);
