// Reads the audit trail: the newest calls of all chains, each with its outcome.
import * as v from "valibot";
import { Named } from "../../contract/named.ts";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import type { StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { idKeys, type RowOf } from "../item.ts";
import { fromJson } from "../json-text.ts";
import { isNamedKind, type NamedKind, namedKinds, namesOf } from "../names.ts";
import { ImportItem } from "../subscribers/import-items.ts";
import { AUDIT_SHARDS, AuditHead, type AuditOutcome, AuditRow, actorTypes } from "./items.ts";
import { SealedSendsShape, shownSends } from "./sealed-sends.ts";

/** Rows of a chain that are read at a time. */
const PAGE_ROWS = 40;
/**
 * Rows after a page that are read too, because the outcome of a call may be in one of them. Outcomes in the rows before
 * it are known.
 */
const LOOK_AHEAD = 40;
/** The most rows that one page looks at, if a filter leaves most out. */
const MAX_LOOKED_AT = 1_000;

/** Its name is the invited address while it is open, and then the name of the member. */
const INVITATION = "invitation";
/** Its name is that of its list. */
const IMPORT = "import";

const outcomes = ["ok", "refused", "failed", "unknown"] as const;

export const AuditEntryShape = titled("AuditEntry", {
  id: said("The chain and the number of the row in it", v.string()),
  at: Timestamp,
  action: said("The operation, as the SDK names it", v.string()),
  actor: said(
    "The user or key that called",
    v.object({
      type: v.picklist(actorTypes),
      ...Named.entries,
      role: v.nullable(v.string()),
    }),
  ),
  target: said("The id of what it changed or created", v.nullable(v.string())),
  subject: said(
    "The same with its kind and name, where it is a thing with a name",
    v.nullable(v.object({ kind: v.picklist([...namedKinds, INVITATION, IMPORT]), ...Named.entries })),
  ),
  outcome: said("`unknown`: it was interrupted or has not ended, and may have had its effect", v.picklist(outcomes)),
  dry_run: said("It was a dry run, which writes nothing but its report", v.boolean()),
  status: said("The status of the answer", v.nullable(v.number())),
  code: said("The code of the refusal", v.nullable(v.string())),
  request_id: said("The `X-Request-Id` of the answer", v.string()),
  ip: said("The network address of the caller", v.nullable(v.string())),
  sends: said(
    "All sends of a server key in a quarter-hour, which are one entry; else `null`",
    v.nullable(SealedSendsShape),
  ),
});
export type AuditEntryShape = v.InferOutput<typeof AuditEntryShape>;

interface AuditFilter {
  actor?: string | undefined;
  /** An operation, or the first word of its name for all of a group. */
  action?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** The number of the next row of each chain; 0 if it was read to its beginning. */
export const AuditPosition = v.array(v.number());

type Row = RowOf<typeof AuditRow>;

interface Chain {
  shard: number;
  rows: { row: Row; outcome: AuditOutcome | undefined }[];
  /** The next row to read; 0 at the end. */
  next: number;
  /** The outcomes of calls in newer rows and the head, by the number of the row. */
  known: Map<string, AuditOutcome>;
}

interface TeamNames {
  memberName(user: string): Promise<string | undefined>;
  /** The invited addresses, by the id of the invitation. */
  invited(): Promise<ReadonlyMap<string, string>>;
}

/** Lists calls, newest first, within the difference of the writers' clocks. A page may be short. */
export async function listAudit(
  store: StoreReader,
  filter: AuditFilter,
  {
    position,
    limit,
    ...team
  }: {
    position: readonly number[] | undefined;
    limit: number;
  } & TeamNames,
): Promise<{ items: AuditEntryShape[]; next: number[] | undefined }> {
  const { items, next } = await collect(store, filter, { position, limit });
  return { items: await named(store, items, team), next };
}

async function collect(
  store: StoreReader,
  filter: AuditFilter,
  { position, limit }: { position: readonly number[] | undefined; limit: number },
): Promise<{ items: AuditEntryShape[]; next: number[] | undefined }> {
  const shards = Array.from({ length: AUDIT_SHARDS }, (_, shard) => shard);
  const chains = await Promise.all(shards.map((shard) => readChain(store, shard, position?.[shard])));
  const items: AuditEntryShape[] = [];
  for (let looked = 0; looked < MAX_LOOKED_AT && items.length < limit; looked++) {
    for (const [i, chain] of chains.entries())
      if (chain.rows.length === 0 && chain.next > 0) chains[i] = await readOn(store, chain);
    const newest = chains
      .filter(({ rows }) => rows.length > 0)
      .reduce<Chain | undefined>((a, b) => (a && timeOf(a) >= timeOf(b) ? a : b), undefined);
    const found = newest?.rows.shift();
    if (!newest || !found) return { items, next: undefined };
    if (filter.from !== undefined && found.row.at < filter.from) return { items, next: undefined };
    if (matches(found.row, filter)) items.push(shownOf(newest.shard, found.row, found.outcome));
  }
  const next = chains.map(({ rows, next }) => rows[0]?.row.seq ?? next);
  return { items, next: next.some((seq) => seq > 0) ? next : undefined };
}

const timeOf = ({ rows }: Chain): string => rows[0]?.row.at ?? "";

/** Reads the rows of a chain. @param upTo the number of the first row; undefined: from the end of the chain */
async function readChain(store: StoreReader, shard: number, upTo: number | undefined): Promise<Chain> {
  const known = new Map<string, AuditOutcome>();
  if (upTo === 0) return { shard, rows: [], next: 0, known };
  const from = upTo === undefined ? undefined : upTo + LOOK_AHEAD;
  const [rows, head] = await Promise.all([
    newestRows(store, { shard, from, limit: PAGE_ROWS + LOOK_AHEAD }),
    store.get(AuditHead, { shard }),
  ]);
  for (const [seq, outcome] of head ? familyOf(head, "o:") : []) known.set(seq, fromJson(outcome));
  const chain = chainOf(shard, known, rows);
  return { ...chain, rows: chain.rows.filter(({ row }) => upTo === undefined || row.seq <= upTo) };
}

/** Reads the older rows of a chain, whose outcomes are in newer rows or among them. */
async function readOn(store: StoreReader, { shard, next, known }: Chain): Promise<Chain> {
  return chainOf(shard, known, await newestRows(store, { shard, from: next, limit: PAGE_ROWS }));
}

type Rows = Awaited<ReturnType<typeof newestRows>>;

const newestRows = (
  store: StoreReader,
  { shard, from, limit }: { shard: number; from: number | undefined; limit: number },
) => {
  const bound = from === undefined ? {} : { to: String(from).padStart(12, "0") };
  return store.query(AuditRow, { shard }, { ...bound, newestFirst: true, limit });
};

function chainOf(shard: number, known: Chain["known"], { items, next }: Rows): Chain {
  for (const { outcomes } of items)
    for (const [seq, outcome] of Object.entries(outcomes ? fromJson(outcomes) : {})) known.set(seq, outcome);
  const rows = items.map((row) => ({ row, outcome: known.get(String(row.seq)) }));
  const last = items.at(-1)?.seq ?? 1;
  return { shard, rows, next: next ? last - 1 : 0, known };
}

const matches = (row: Row, { actor, action, to }: AuditFilter): boolean =>
  (actor === undefined || row.actor === actor) &&
  (action === undefined || row.action === action || row.action.startsWith(`${action}.`)) &&
  (to === undefined || row.at <= to);

const shownOf = (shard: number, row: Row, outcome: AuditOutcome | undefined): AuditEntryShape => ({
  id: auditId(shard, row.seq),
  at: row.at,
  action: row.action,
  actor: { type: row.actor_type, id: row.actor, name: null, role: row.role ?? null },
  target: row.target ?? outcome?.created ?? null,
  subject: subjectOf(row.action, row.target ?? outcome?.created),
  outcome: wordOf(outcome),
  dry_run: outcome?.dry_run ?? false,
  status: outcome?.status ?? null,
  code: outcome?.code ?? null,
  request_id: row.request_id,
  ip: row.ip ?? null,
  sends: row.sends ? shownSends(fromJson(row.sends)) : null,
});

function wordOf(outcome: AuditOutcome | undefined): AuditEntryShape["outcome"] {
  if (!outcome) return "unknown";
  if (outcome.status < 400) return "ok";
  return outcome.status < 500 ? "refused" : "failed";
}

/** The kind of resource that the operations of a group are about. A halted step is named by its journey. */
const kindsOfGroups: Record<string, NamedKind | typeof IMPORT> = {
  campaigns: "campaign",
  journeys: "journey",
  brakes: "journey",
  notifications: "notification",
  templates: "template",
  experiences: "experience",
  assets: "image",
  schedules: "schedule",
  lists: "list",
  segments: "segment",
  channels: "channel",
  subscribers: "subscriber",
  preferences: "subscriber",
  topics: "topic",
  webhooks: "webhook",
  hooks: "webhook",
  imports: IMPORT,
};

/** Operations of a group that are not about its kind: their targets have no name. */
const unnamed = new Set(["imports.createExport", "imports.createListsImportUpload"]);

/** The kind of an operation in a group with several kinds. */
function kindOfOperation(operation: string): "agent_key" | "server_key" | typeof INVITATION | undefined {
  if (operation.endsWith("Invitation")) return INVITATION;
  if (operation.endsWith("AgentKey")) return "agent_key";
  return operation.endsWith("ServerKey") ? "server_key" : undefined;
}

function subjectOf(action: string, target: string | undefined): AuditEntryShape["subject"] {
  const [group = "", operation = ""] = action.split(".");
  const [id = ""] = target?.split("/") ?? [];
  if (unnamed.has(action)) return null;
  const kind = kindsOfGroups[group] ?? (["account", "team"].includes(group) ? kindOfOperation(operation) : undefined);
  return kind && id ? { kind, id, name: null } : null;
}

/** Adds the names of the callers and of the changed things. */
async function named(
  store: StoreReader,
  entries: readonly AuditEntryShape[],
  { memberName, invited }: TeamNames,
): Promise<AuditEntryShape[]> {
  const users = [...new Set(entries.flatMap(({ actor }) => (actor.type === "user" ? [actor.id] : [])))];
  const lists = await listsOf(
    store,
    entries.flatMap(({ subject }) => (subject?.kind === IMPORT ? [subject.id] : [])),
  );
  const wanted = entries.flatMap(({ actor, subject }) => [
    ...(isNamedKind(actor.type) ? [{ kind: actor.type, id: actor.id }] : []),
    ...(subject && isNamedKind(subject.kind) ? [{ kind: subject.kind, id: subject.id }] : []),
    ...[...lists.values()].map((id) => ({ kind: "list" as const, id })),
  ]);
  const hasInvitation = entries.some(({ subject }) => subject?.kind === INVITATION);
  const [names, invitations, members] = await Promise.all([
    namesOf(store, wanted),
    hasInvitation ? invited() : new Map<string, string>(),
    Promise.all(users.map(async (id): Promise<[string, string | undefined]> => [id, await memberName(id)])),
  ]);
  const byUser = new Map(members);
  const nameOf = ({ kind, id }: NonNullable<AuditEntryShape["subject"]>): string | null => {
    if (kind === INVITATION) return invitations.get(id) ?? null;
    return kind === IMPORT ? names.of("list", lists.get(id) ?? "") : names.of(kind, id);
  };
  return entries.map(({ actor, subject, ...rest }) => ({
    ...rest,
    actor: {
      ...actor,
      name: isNamedKind(actor.type) ? names.of(actor.type, actor.id) : (byUser.get(actor.id) ?? null),
    },
    subject: subject && { ...subject, name: nameOf(subject) },
  }));
}

/** The list of each of these imports; an import is kept for 30 days. */
async function listsOf(store: StoreReader, imports: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await store.getAll(ImportItem, idKeys([...new Set(imports)]), { eventual: true });
  return new Map(rows.flatMap((row): [string, string][] => (row ? [[row.id, row.list]] : [])));
}

export const auditId = (shard: number, seq: number): string => `${shard}-${seq}`;
