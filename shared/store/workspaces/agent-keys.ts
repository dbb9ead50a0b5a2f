// Agent keys (D-MCP): made with scopes and an end, shown once, listed, revoked at once.
import * as v from "valibot";
import type { AgentScope } from "../../contract/roles.ts";
import { Timestamp } from "../../contract/schemas.ts";
import { DAY, timestamp } from "../../kernel/clock.ts";
import type { Platform, PlatformReader, Store, StoreReader } from "../context.ts";
import { hashOf } from "../hash.ts";
import { fieldsOf, type RowOf } from "../item.ts";
import { AgentCredential, AgentKeyItem, agentKeyFields } from "./identity-items.ts";

const KEY_BYTES = 24;
const PREFIX_CHARACTERS = 16;

type AgentKeyFields = Pick<RowOf<typeof AgentKeyItem>, keyof typeof agentKeyFields>;

export const AgentKey = v.object({
  ...agentKeyFields,
  last_used_at: v.nullable(Timestamp),
  revoked_at: v.nullable(Timestamp),
});

const credentialKeyOf = ({ credential }: { credential: string }) => ({ hash: credential.slice("AGENT#".length) });

/** Only this response contains the key itself; the table holds its hash. */
export async function createAgentKey(
  store: Store,
  platform: Platform,
  { name, scopes, days }: { name: string; scopes: readonly AgentScope[]; days: number },
): Promise<AgentKeyFields & { key: string }> {
  const now = store.clock.now();
  const key = `service_mcp_${store.ids.bytes(KEY_BYTES).toString("base64url")}`;
  const shown = {
    id: store.ids.uuidAt(now),
    name,
    prefix: key.slice(0, PREFIX_CHARACTERS),
    scopes: [...new Set(scopes)],
    created_at: timestamp(now),
    expires_at: timestamp(now + days * DAY),
  };
  const { id, expires_at } = shown;
  const hash = hashOf(key);
  await store.put(AgentKeyItem, { id }, { ...shown, credential: AgentCredential.pk({ hash }) });
  await platform.put(AgentCredential, { hash }, { tenant: store.tenant, id, scopes: shown.scopes, expires_at });
  return { ...shown, key };
}

/** Newest first. */
export async function listAgentKeys(
  store: StoreReader,
  platform: PlatformReader,
): Promise<v.InferOutput<typeof AgentKey>[]> {
  const rows = await store.queryAll(AgentKeyItem, {}, { newestFirst: true });
  const credentials = await platform.getAll(AgentCredential, rows.map(credentialKeyOf));
  return rows.map((row, i) => ({
    ...fieldsOf(agentKeyFields, row),
    last_used_at: credentials[i]?.last_used_at ?? null,
    revoked_at: credentials[i]?.revoked_at ?? null,
  }));
}

/** @returns false if there is no such key. */
export async function revokeAgentKey(store: StoreReader, platform: Platform, id: string): Promise<boolean> {
  const row = await store.get(AgentKeyItem, { id });
  if (!row) return false;
  await platform.change(AgentCredential, credentialKeyOf(row), {
    initial: { revoked_at: timestamp(store.clock.now()) },
  });
  return true;
}
