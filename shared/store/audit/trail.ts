// Writes the audit trail: a row before the handler runs, so that no change is lost by a crash, and its outcome after it
// (docs/decisions/0043). A row costs one write, an outcome another one.
import { timestamp } from "../../kernel/clock.ts";
import { type Context, type Deps, perEnvironment } from "../../kernel/deps.ts";
import { namedError } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { errorFields } from "../../kernel/log.ts";
import { secrets } from "../capabilities.ts";
import { absent, any, below } from "../conditions.ts";
import { familyOf } from "../families.ts";
import type { NewRowOf, RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { recent } from "../recent.ts";
import { inTheWayOf, onConditionFailed } from "../refusals.ts";
import type { Secrets } from "../secrets.ts";
import { openWorkspaceTable, type Table } from "../table.ts";
import { AUDIT_SHARDS, AuditHead, type AuditOutcome, AuditRow } from "./items.ts";
import { auditKey, GENESIS, headSeal, outcomeMac, rowMac } from "./macs.ts";

/** Workspaces whose chain an environment remembers. */
const MAX_REMEMBERED = 1_000;
/** The most outcomes that one row takes over: with one, as usual, it has half a KB. */
const MAX_OUTCOMES = 8;
/** The most rows of other environments that an append walks past. */
const MAX_ATTEMPTS = 200;

export type AuditEntry = Pick<
  NewRowOf<typeof AuditRow>,
  "action" | "actor_type" | "actor" | "role" | "target" | "request_id" | "ip" | "sends"
>;

interface BegunEntry {
  shard: number;
  seq: number;
  mac: string;
  /** The numbers of the outcomes that the row has taken over from the head. */
  taken: readonly string[];
}

export interface AuditTrail {
  /**
   * Notes a call, runs it, and notes its outcome. @throws the errors of `run`, and before that the errors of the table
   * @param outcomeOf makes the outcome of a result or an error
   */
  record<T>(
    owner: { tenant: TenantId; secrets: Secrets },
    entry: AuditEntry,
    run: () => Promise<T>,
    outcomeOf: (result: PromiseSettledResult<T>) => Omit<AuditOutcome, "mac">,
  ): Promise<T>;
}

/** The trail of every workspace: rows are put by updates, with the rights that the counters of requests need too. */
export const auditTrail = /* @__PURE__ */ perEnvironment(
  "auditTrail",
  { env: ["TABLE_NAME"], grants: [{ actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"], on: "table" }] },
  openTrail,
);

/** The capabilities of a worker that adds to the trail. */
export const sealing = [auditTrail, secrets] as const;
export type SealingContext = Context<typeof sealing>;

/** The end of a chain, as this environment knows it. */
interface Chain {
  shard: number;
  seq: number;
  mac: string;
  /** Outcomes that are in no row yet. */
  open: Map<string, AuditOutcome>;
  /**
   * The head was written. Rows take over outcomes only after that, so a row with outcomes proves that there was a head.
   */
  hasHead: boolean;
  /** The append in progress. Appends follow each other. */
  last: Promise<unknown>;
  /** Ended calls whose outcomes the head does not have yet: one write takes all of them. */
  ended: EndedEntry[];
  /** The write in progress, and the one after it. */
  flush: Promise<void>;
  next: Promise<void> | undefined;
}

interface EndedEntry extends BegunEntry {
  outcome: AuditOutcome;
}

interface WorkspaceTrail {
  table: Table<"workspace">;
  key: Buffer;
}

function openTrail({ clock, ids, log, ...deps }: Deps): AuditTrail {
  const bind = openWorkspaceTable({ clock, ids, log, ...deps });
  const chains = recent<Promise<Chain>>(MAX_REMEMBERED);
  // An environment uses one chain, so that it knows its end.
  const shard = (ids.bytes(1)[0] ?? 0) % AUDIT_SHARDS;

  const chainOf = (tenant: TenantId, owned: WorkspaceTrail): Promise<Chain> => {
    const known = chains.get(tenant);
    if (known) return known;
    const loading = loadChain(owned, shard).catch((error: unknown) => {
      chains.delete(tenant);
      throw error;
    });
    chains.set(tenant, loading);
    return loading;
  };

  return {
    record: async ({ tenant, secrets }, entry, run, outcomeOf) => {
      const owned = { table: bind(tenant), key: auditKey(await secrets.root(), tenant) };
      const chain = await chainOf(tenant, owned);
      const appended = chain.last.then(() => append(owned, chain, () => timestamp(clock.now()), entry));
      chain.last = appended.catch(() => chains.delete(tenant));
      const begun = await appended;
      const ended = async (result: Parameters<typeof outcomeOf>[0]): Promise<void> => {
        const said = outcomeOf(result);
        const outcome = { ...said, mac: outcomeMac(owned.key, begun, said) };
        chain.open.set(String(begun.seq), outcome);
        // The change itself is done. Without its outcome, the row says that the outcome is unknown.
        await finish(owned, chain, { ...begun, outcome }).catch((error: unknown) =>
          log({
            level: "warn",
            message: "an outcome was not audited",
            tenant,
            shard,
            seq: begun.seq,
            ...errorFields(error),
          }),
        );
      };
      const [result] = await Promise.allSettled([run()]);
      await ended(result);
      if (result.status === "rejected") throw result.reason;
      return result.value;
    },
  };
}

async function loadChain({ table }: WorkspaceTrail, shard: number): Promise<Chain> {
  const done = Promise.resolve();
  const chain: Chain = {
    shard,
    seq: 0,
    mac: GENESIS,
    open: new Map(),
    hasHead: false,
    last: done,
    ended: [],
    flush: done,
    next: undefined,
  };
  const head = await table.get(AuditHead, { shard });
  if (head) follow(chain, head);
  return chain;
}

/** Puts a row at the end of the chain, which another environment may have moved. */
async function append(
  { table, key }: WorkspaceTrail,
  chain: Chain,
  now: () => string,
  entry: AuditEntry,
): Promise<BegunEntry> {
  const { shard } = chain;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const seq = chain.seq + 1;
    const taken = chain.hasHead ? [...chain.open].slice(0, MAX_OUTCOMES) : [];
    const outcomes = taken.length > 0 ? toJson(Object.fromEntries(taken)) : undefined;
    const said = { seq, at: now(), ...entry, outcomes, prev: chain.mac };
    const mac = rowMac(key, { shard, ...said });
    const putting = table.change(AuditRow, { shard, seq }, { set: { ...said, mac } }, absent());
    const before = await inTheWayOf(AuditRow, putting);
    // A retry of the same write finds its own row.
    const isOwn = before === undefined || before.mac === mac;
    chain.seq = seq;
    chain.mac = before?.mac ?? mac;
    for (const name of isOwn ? taken.map(([name]) => name) : takenBy(before)) chain.open.delete(name);
    if (isOwn) return { shard, seq, mac, taken: taken.map(([name]) => name) };
    const head = await table.get(AuditHead, { shard });
    if (head) follow(chain, head);
  }
  throw namedError("ServiceUnavailable", "The audit trail is busy.");
}

/** Adds the outcome of a call to the head. Calls that end while a write is in progress share the next one. */
function finish(owned: WorkspaceTrail, chain: Chain, ended: EndedEntry): Promise<void> {
  chain.ended.push(ended);
  chain.next ??= chain.flush
    .catch(() => undefined)
    .then(() => {
      chain.next = undefined;
      chain.flush = writeHead(owned, chain.ended.splice(0)).then(() => {
        chain.hasHead = true;
      });
      return chain.flush;
    });
  return chain.next;
}

async function writeHead({ table, key }: WorkspaceTrail, batch: readonly EndedEntry[]): Promise<void> {
  const { shard, seq, mac } = batch.reduce((a, b) => (a.seq > b.seq ? a : b));
  const outcomes: { [name: `o:${string}`]: ReturnType<typeof toJson<AuditOutcome>> } = {};
  for (const record of batch) outcomes[`o:${record.seq}`] = toJson(record.outcome);
  const remove = [...new Set(batch.flatMap(({ taken }) => taken))]
    .map((name) => `o:${name}` as const)
    .filter((name) => !Object.hasOwn(outcomes, name));
  const sealed = { seq, mac, seal: headSeal(key, { shard, seq, mac }) };
  await table
    .change(AuditHead, { shard }, { set: { ...sealed, ...outcomes }, remove }, any(absent("seq"), below("seq", seq)))
    .catch(onConditionFailed(() => table.change(AuditHead, { shard }, { set: outcomes, remove })));
}

/** Takes over the end of the chain from the head. */
function follow(chain: Chain, head: RowOf<typeof AuditHead>): void {
  chain.hasHead = true;
  for (const [name, outcome] of familyOf(head, "o:")) chain.open.set(name, fromJson(outcome));
  if (head.seq === undefined || head.mac === undefined || head.seq <= chain.seq) return;
  chain.seq = head.seq;
  chain.mac = head.mac;
}

const takenBy = ({ outcomes }: RowOf<typeof AuditRow>): string[] => (outcomes ? Object.keys(fromJson(outcomes)) : []);
