// The MACs that make the audit trail tamper-evident: every row, outcome and end of a chain has one under a key that is
// not in the table in clear text.
import { hmacUnder } from "../../kernel/hmac.ts";
import type { NewRowOf } from "../item.ts";
import type { RootSecrets } from "../secrets.ts";
import type { AuditOutcome, AuditRow, SealedSends } from "./items.ts";

/** The `prev` of the first row of a chain. */
export const GENESIS = "0";
const MAC_CHARACTERS = 32;

export const auditKey = ({ cursorKey }: Pick<RootSecrets, "cursorKey">, tenant: string): Buffer =>
  hmacUnder(cursorKey).update(`audit:v1:${tenant}`).digest();

/** A row as it is stored, with its place. */
type SealedRow = { shard: number } & Omit<NewRowOf<typeof AuditRow>, "mac">;

/** The fields of a row under its MAC, in their order. */
const SEALED_FIELDS = [
  ...(["shard", "seq", "at", "action", "actor_type", "actor", "role", "target"] as const),
  ...(["request_id", "ip", "outcomes", "sends", "prev"] as const),
] as const satisfies readonly (keyof SealedRow)[];

/** The MAC of a row, which covers that of the row before it in the chain (`prev`). */
export function rowMac(key: Buffer, row: SealedRow): string {
  const fields = SEALED_FIELDS.map((name) => row[name]);
  return macOf(key, "row", fields);
}

/** The MAC of a call's outcome, which is noted in its row afterwards. */
export const outcomeMac = (
  key: Buffer,
  place: { shard: number; seq: number },
  { status, code, created, dry_run }: Omit<AuditOutcome, "mac">,
): string => macOf(key, "outcome", [place.shard, place.seq, status, code, created, ...(dry_run ? [dry_run] : [])]);

/** The MAC of the newest row of a chain: the end of a chain cannot be cut off. */
export const headSeal = (key: Buffer, { shard, seq, mac }: { shard: number; seq: number; mac: string }): string =>
  macOf(key, "head", [shard, seq, mac]);

/** The sealed fields of a send, which no later step changes. */
export interface SealedSend {
  id: string;
  /** The server key that made it. */
  sent_by?: string | undefined;
  category: string;
  channel_ids: readonly string[];
  template_id?: string | null | undefined;
  scheduled_at?: string | null | undefined;
  created_at: string;
  recipients?: string | undefined;
  title?: string | null | undefined;
  body?: string | null | undefined;
  content?: string | undefined;
  details?: string | undefined;
}

/** The MAC of a send's texts and author. The texts of a send to many are set at its dispatch. */
export function sendMac(key: Buffer, row: SealedSend): string {
  const { id, sent_by, category, channel_ids, template_id, scheduled_at, created_at, recipients } = row;
  const texts = recipients === undefined ? [] : [row.title, row.body, row.content, row.details];
  return macOf(key, "send", [id, sent_by, category, channel_ids, template_id, scheduled_at, created_at, ...texts]);
}

/** The MAC of a key's sends in a quarter-hour. */
export const totalMac = (key: Buffer, actor: string, { quarter, count, sum }: SealedSends): string =>
  macOf(key, "sends", [actor, quarter, count, sum]);

/** A field without a value counts as `null`, as in all JSON. */
const macOf = (key: Buffer, kind: string, fields: readonly unknown[]): string =>
  hmacUnder(key)
    .update(JSON.stringify([kind, ...fields]))
    .digest("hex")
    .slice(0, MAC_CHARACTERS);
