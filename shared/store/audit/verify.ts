// Verifies the audit trail: every row is as it was written, none is missing, and the ends of the chains are there.
import * as v from "valibot";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import type { StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import type { RowOf } from "../item.ts";
import { fromJson } from "../json-text.ts";
import { directLanes, sealsOfQuarter } from "../sends/chunks/quarters.ts";
import { AUDIT_SHARDS, AuditHead, AuditRow } from "./items.ts";
import { auditId } from "./list.ts";
import { GENESIS, headSeal, outcomeMac, rowMac } from "./macs.ts";
import { isWhole } from "./sealed-sends.ts";
import { addedSeals } from "./seals.ts";

/**
 * The most rows that one call checks: entries, and the sends that they seal. The call then ends long before the request
 * must.
 */
const MAX_ROWS = 10_000;
/**
 * The further rows that the sends of a quarter-hour count as, because reading them takes several calls of the table.
 */
const QUARTER_ROWS = 100;
const PAGE_ROWS = 1_000;

const faults = ["changed", "missing", "end_missing", "outcome_changed", "sends_changed"] as const;

export const AuditVerdict = titled("AuditVerdict", {
  valid: said("Nothing that was verified is broken", v.boolean()),
  verified: said("How many rows were verified", v.number()),
  broken: said(
    "`null` if nothing is broken",
    v.nullable(
      v.object({
        id: said("The first broken row", v.string()),
        reason: said(
          "`changed`: it is not as it was written. `missing`: there are rows after it. `end_missing`: the sealed end " +
            "of the chain is not there. `outcome_changed`: an outcome that it holds is not as it was written. " +
            "`sends_changed`: sends of its quarter-hour are not as they were made, or are missing",
          v.picklist(faults),
        ),
        at: v.nullable(Timestamp),
        action: said("What the row says now; `null` if it is missing", v.nullable(v.string())),
      }),
    ),
  ),
  next_cursor: said("For the next call, where more rows are left; else empty", v.string()),
});
type Verdict = v.InferOutput<typeof AuditVerdict>;
type Broken = NonNullable<Verdict["broken"]>;

/** The position of a verification: the row before the next one. */
export const VerifyPosition = v.object({ shard: v.number(), seq: v.number(), mac: v.string(), tookOver: v.boolean() });
type Position = v.InferOutput<typeof VerifyPosition>;

const BEGINNING = { seq: 0, mac: GENESIS, tookOver: false };

/** Verifies chain by chain. It stops at the first broken row, and after 10,000 checked rows. */
export async function verifyAudit(
  store: StoreReader,
  key: Buffer,
  from: Position = { shard: 0, ...BEGINNING },
): Promise<{ verified: number; broken: Broken | null; next: Position | undefined }> {
  let verified = 0;
  let looked = 0;
  for (let at = from; ; ) {
    const first = { from: String(at.seq + 1).padStart(12, "0") };
    const page = await store.query(AuditRow, { shard: at.shard }, { ...first, limit: PAGE_ROWS });
    for (const row of page.items) {
      const { broken, rows } = await judged(store, key, at, row);
      if (broken) return { verified, broken, next: undefined };
      verified++;
      looked += rows;
      at = { shard: at.shard, seq: row.seq, mac: row.mac, tookOver: at.tookOver || row.outcomes !== undefined };
      if (looked >= MAX_ROWS) return { verified, broken: null, next: at };
    }
    if (!page.next) {
      const broken = await faultOfEnd(store, key, at);
      if (broken) return { verified, broken, next: undefined };
      if (at.shard + 1 === AUDIT_SHARDS) return { verified, broken: null, next: undefined };
      at = { shard: at.shard + 1, ...BEGINNING };
    }
  }
}

type Row = RowOf<typeof AuditRow>;

function faultOf(key: Buffer, { shard, seq, mac }: Position, row: Row): Broken | undefined {
  const expected = seq + 1;
  const says = { at: row.at, action: row.action };
  const isAtItsPlace = row.sk === String(row.seq).padStart(12, "0");
  if (isAtItsPlace && row.seq > expected)
    return { id: auditId(shard, expected), reason: "missing", at: null, action: null };
  if (!isAtItsPlace || row.prev !== mac || row.mac !== rowMac(key, { shard, ...row }))
    return { id: auditId(shard, Number(row.sk)), reason: "changed", ...says };
  for (const [of, outcome] of Object.entries(row.outcomes ? fromJson(row.outcomes) : {}))
    if (outcome.mac !== outcomeMac(key, { shard, seq: Number(of) }, outcome))
      return { id: auditId(shard, row.seq), reason: "outcome_changed", ...says };
  return undefined;
}

/** The fault of a row, and the number of rows checked for it. */
async function judged(
  store: StoreReader,
  key: Buffer,
  position: Position,
  row: Row,
): Promise<{ broken: Broken | undefined; rows: number }> {
  const { seq, at, action, actor, sends: text } = row;
  const broken = faultOf(key, position, row);
  if (broken || text === undefined) return { broken, rows: 1 };

  const sends = fromJson(text);
  const lanes = await directLanes(store);
  const now = addedSeals(await Promise.all(lanes.map((lane) => sealsOfQuarter(store, key, sends.quarter, lane))));
  const isAsMade = await isWhole(store, key, { actor, sends, now, lanes });
  const changed = { id: auditId(position.shard, seq), reason: "sends_changed", at, action } as const;
  const sent = Object.values(now).reduce((sum, { count }) => sum + count, QUARTER_ROWS);
  return { broken: isAsMade ? undefined : changed, rows: sent };
}

/** The fault of a chain's end. After a crash the head may be behind the rows, but never ahead of them. */
async function faultOfEnd(
  store: StoreReader,
  key: Buffer,
  { shard, seq, tookOver }: Position,
): Promise<Broken | undefined> {
  const head = await store.get(AuditHead, { shard });
  const missing = (of: number): Broken => ({ id: auditId(shard, of), reason: "end_missing", at: null, action: null });
  // A row takes over an outcome only after a head.
  if (head?.seq === undefined || head.mac === undefined) return tookOver ? missing(seq) : undefined;
  if (head.seal !== headSeal(key, { shard, seq: head.seq, mac: head.mac })) return missing(head.seq);
  if (head.seq > seq) {
    // The row may have been appended since the rows were read.
    const since = await store.get(AuditRow, { shard, seq: seq + 1 });
    if (!since) return missing(seq + 1);
  }
  for (const [of, outcome] of familyOf(head, "o:")) {
    const said = fromJson(outcome);
    if (said.mac !== outcomeMac(key, { shard, seq: Number(of) }, said))
      return { id: auditId(shard, Number(of)), reason: "outcome_changed", at: null, action: null };
  }
  return undefined;
}
