// Keys of a workspace, for its servers and for agents (D-MCP): made with scopes, shown once, listed, revoked at once.
import * as v from "valibot";
import type { AgentScope, Scope } from "../../contract/roles.ts";
import { Timestamp } from "../../contract/schemas.ts";
import { DAY, timestamp } from "../../kernel/clock.ts";
import { requireFound } from "../../kernel/errors.ts";
import type { Platform, PlatformReader, Store, StoreReader } from "../context.ts";
import { type EntityPage, type EntityRange, entityPage } from "../entity-pages.ts";
import { hashOf } from "../hash.ts";
import { fieldsOf, type RowOf } from "../item.ts";
import {
  AgentCredential,
  AgentKeyItem,
  agentKeyFields,
  ServerCredential,
  ServerKeyItem,
  serverKeyFields,
} from "./identity-items.ts";

const KEY_BYTES = 24;
const PREFIX_CHARACTERS = 16;

type ServerKeyFields = Pick<RowOf<typeof ServerKeyItem>, keyof typeof serverKeyFields>;
type AgentKeyFields = Pick<RowOf<typeof AgentKeyItem>, keyof typeof agentKeyFields>;

const use = { last_used_at: v.nullable(Timestamp), revoked_at: v.nullable(Timestamp) };
export const ServerKey = v.object({ ...serverKeyFields, ...use });
export const AgentKey = v.object({ ...agentKeyFields, ...use });

/**
 * Only the response to its creation contains the key itself; the table holds its hash (ATH-2). What it opens is written before it
 * is listed: of a creation that failed half-way nobody has the key, and none is listed that opens nothing.
 */
function newKey({ ids, clock }: Store, kind: "srv" | "mcp") {
  const now = clock.now();
  const key = `service_${kind}_${ids.bytes(KEY_BYTES).toString("base64url")}`;
  const made = { id: ids.uuidAt(now), prefix: key.slice(0, PREFIX_CHARACTERS), created_at: timestamp(now) };
  return { now, key, hash: hashOf(key), made };
}

/** The listed scopes of a key that is created without scopes; it passes every check of a scope (AMB-27). */
const DEFAULT_SCOPES: readonly Scope[] = ["events:write"];

export async function createServerKey(
  store: Store,
  platform: Platform,
  { name, scopes }: { name: string; scopes?: readonly Scope[] | undefined },
): Promise<ServerKeyFields & { key: string }> {
  const { key, hash, made } = newKey(store, "srv");
  const shown = { ...made, name, scopes: [...(scopes ?? DEFAULT_SCOPES)] };
  const { id } = shown;
  const opens = { tenant: store.tenant, id, scopes: shown.scopes, explicit: scopes !== undefined };
  await platform.put(ServerCredential, { hash }, { kind: "server", ...opens });
  await store.put(ServerKeyItem, { id }, { ...shown, credential: ServerCredential.pk({ hash }) });
  return { ...shown, key };
}

export async function createAgentKey(
  store: Store,
  platform: Platform,
  { name, scopes, days }: { name: string; scopes: readonly AgentScope[]; days: number },
): Promise<AgentKeyFields & { key: string }> {
  const { now, key, hash, made } = newKey(store, "mcp");
  const shown = { ...made, name, scopes: [...new Set(scopes)], expires_at: timestamp(now + days * DAY) };
  const { id, expires_at } = shown;
  await platform.put(AgentCredential, { hash }, { tenant: store.tenant, id, scopes: shown.scopes, expires_at });
  await store.put(AgentKeyItem, { id }, { ...shown, credential: AgentCredential.pk({ hash }) });
  return { ...shown, key };
}

/** The key of the credential of a key, whose row holds its whole partition key. */
const credentialKeyOf = ({ credential }: { credential: string }) => ({
  hash: credential.slice(credential.indexOf("#") + 1),
});

const useOf = (row: { last_used_at?: string | undefined; revoked_at?: string | undefined } | undefined) => ({
  last_used_at: row?.last_used_at ?? null,
  revoked_at: row?.revoked_at ?? null,
});

/** A page of server keys, newest first. */
export async function listServerKeys(
  store: StoreReader,
  platform: PlatformReader,
  range: EntityRange,
): Promise<EntityPage<v.InferOutput<typeof ServerKey>>> {
  const { items, next } = await entityPage(store, ServerKeyItem, range, { read: (row) => row });
  const credentials = await platform.getAll(ServerCredential, items.map(credentialKeyOf));
  return { items: items.map((row, i) => ({ ...fieldsOf(serverKeyFields, row), ...useOf(credentials[i]) })), next };
}

/** A page of agent keys, newest first. */
export async function listAgentKeys(
  store: StoreReader,
  platform: PlatformReader,
  range: EntityRange,
): Promise<EntityPage<v.InferOutput<typeof AgentKey>>> {
  const { items, next } = await entityPage(store, AgentKeyItem, range, { read: (row) => row });
  const credentials = await platform.getAll(AgentCredential, items.map(credentialKeyOf));
  return { items: items.map((row, i) => ({ ...fieldsOf(agentKeyFields, row), ...useOf(credentials[i]) })), next };
}

/** The server key that a caller presented, found by its id. */
export async function describeServerKey(store: StoreReader, id: string): Promise<ServerKeyFields | undefined> {
  const row = await store.get(ServerKeyItem, { id });
  return row && fieldsOf(serverKeyFields, row);
}

/** Revokes a key at once for every endpoint that reads its credential. @throws 404 */
export async function revokeKey(
  store: StoreReader,
  platform: Platform,
  kind: "server" | "agent",
  id: string,
): Promise<void> {
  const [listed, credential] =
    kind === "server" ? ([ServerKeyItem, ServerCredential] as const) : ([AgentKeyItem, AgentCredential] as const);
  const row = requireFound(await store.get(listed, { id }), `${kind} key`);
  await platform.change(credential, credentialKeyOf(row), { initial: { revoked_at: timestamp(store.clock.now()) } });
}
