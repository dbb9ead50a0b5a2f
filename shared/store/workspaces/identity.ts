// Workspaces, users, members and their keys: everything that says who may come in (docs/decisions/0021#identity).
import { scrypt as scryptCallback, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { timestamp } from "../../clock.ts";
import { sdkKeyOf } from "../../http/authenticate.ts";
import { conflict } from "../../http/errors.ts";
import type { Role, Scope } from "../../http/roles.ts";
import type { PlanName } from "../../plans.ts";
import type { Platform, Store, StoreReader } from "../../resources.ts";
import { createDefaultChannel } from "../channels/channels.ts";
import { absent } from "../conditions.ts";
import { keys, platformKeys } from "../keys.ts";
import type { Item, Key, TenantId } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { chunksOf } from "../table.ts";

const scrypt = promisify(
  (password: string, salt: Buffer, length: number, options: object, done: (error: Error | null, key: Buffer) => void) =>
    scryptCallback(password, salt, length, options, done),
);

/** docs/decisions/0021#login. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1_048_576 };
const HASH_BYTES = 32;
const SERVER_KEY_BYTES = 24;
const PREFIX_CHARACTERS = 16;

export interface User {
  id: string;
  email: string;
  name: string;
}

export interface Registration {
  email: string;
  /** What `hashPassword` made of the password. */
  secret: string;
  name: string;
  workspace_name: string;
  plan: PlanName;
}

/** Makes a user, a workspace and its owner in one transaction. @throws 409 if the e-mail address is taken. */
export async function register(
  platform: Platform,
  storeOf: (tenant: TenantId) => Store,
  input: Registration,
): Promise<{ user: User; tenant: TenantId }> {
  const { email, secret, name, workspace_name, plan } = input;
  const now = platform.clock.now();
  const user: User = { id: platform.ids.uuid(), email, name };
  const tenant = platform.ids.uuid() as TenantId;
  const created_at = timestamp(now);
  const member = { user_id: user.id, tenant, role: "owner" satisfies Role, email, name, created_at };
  await createDefaultChannel(storeOf(tenant));
  await platform
    .transact([
      { put: { ...platformKeys.user(email), ...user, password: secret, created_at }, when: absent() },
      { put: newWorkspace({ id: tenant, name: workspace_name, plan, owners: 1, created_at }) },
      { put: { ...platformKeys.member(tenant, user.id), ...member } },
      { put: { ...platformKeys.membership(user.id, tenant), ...member } },
    ])
    .catch(
      onTransactionCanceled(() => {
        throw conflict("This e-mail address is already registered.");
      }),
    );
  return { user, tenant };
}

/** The row of a workspace that begins. */
export const newWorkspace = (given: {
  id: TenantId;
  name: string;
  plan: PlanName;
  owners: number;
  created_at: string;
}): Item => ({ ...platformKeys.tenant(given.id), ...given, status: "active", kind: "standard" });

export interface Membership {
  tenant: TenantId;
  role: Role;
}

/** The user with this password, or undefined; it takes as long either way. */
export async function findUser(platform: Platform, email: string, password: string): Promise<User | undefined> {
  const row = await platform.get(platformKeys.user(email));
  const matches = await verifyPassword(password, row ? String(row.password) : DECOY);
  return row && matches ? { id: String(row.id), email: String(row.email), name: String(row.name) } : undefined;
}

/** The workspaces of a user, oldest membership first. */
export async function membershipsOf(platform: Platform, user: string): Promise<Membership[]> {
  const { items } = await platform.query({ pk: platformKeys.membership(user, "").pk });
  return items
    .sort((a, b) => String(a.created_at).localeCompare(String(b.created_at)))
    .map((item) => ({ tenant: item.tenant as TenantId, role: item.role as Role }));
}

/** scrypt of a password; `salt` is 16 random bytes. */
export async function hashPassword(password: string, salt: Buffer): Promise<string> {
  const hash = await scrypt(password, salt, HASH_BYTES, SCRYPT);
  return `scrypt$${SCRYPT.N}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, , salt = "", hash = ""] = stored.split("$");
  const expected = Buffer.from(hash, "base64");
  const given = await scrypt(password, Buffer.from(salt, "base64"), HASH_BYTES, SCRYPT);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Compared with where no user is, so that the time taken tells nothing. */
const DECOY = `scrypt$${SCRYPT.N}$${Buffer.alloc(16).toString("base64")}$${Buffer.alloc(HASH_BYTES).toString("base64")}`;

export interface ServerKey {
  id: string;
  name: string;
  prefix: string;
  scopes: readonly Scope[];
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}

/** A key made without explicit scopes holds events:write and passes on the surfaces of rule 4 (AMB-27). */
const DEFAULT_SCOPES: readonly Scope[] = ["events:write"];

/** ATH-2: the key itself is in this answer and nowhere else; the table holds its hash. */
export async function createServerKey(
  store: Store,
  platform: Platform,
  { name, scopes }: { name: string; scopes?: readonly Scope[] | undefined },
): Promise<Omit<ServerKey, "last_used_at" | "revoked_at"> & { key: string }> {
  const now = store.clock.now();
  const key = `service_srv_${store.ids.bytes(SERVER_KEY_BYTES).toString("base64url")}`;
  const shown = {
    id: store.ids.uuidAt(now),
    name,
    prefix: key.slice(0, PREFIX_CHARACTERS),
    scopes: [...(scopes ?? DEFAULT_SCOPES)],
    created_at: timestamp(now),
  };
  const credential = platformKeys.credential(key);
  await store.put({ ...keys.entity(store.tenant, "server-key", shown.id), ...shown, credential: credential.pk });
  await platform.put({
    ...credential,
    kind: "server",
    tenant: store.tenant,
    id: shown.id,
    scopes: shown.scopes,
    explicit: scopes !== undefined,
  });
  return { ...shown, key };
}

/** What a key that was found by its hash is called. */
export async function describeServerKey(
  store: StoreReader,
  id: string,
): Promise<Omit<ServerKey, "last_used_at" | "revoked_at"> | undefined> {
  const item = await store.get(keys.entity(store.tenant, "server-key", id));
  return item && shownOf(item);
}

const shownOf = (item: Item) => ({
  id: String(item.id),
  name: String(item.name),
  prefix: String(item.prefix),
  scopes: item.scopes as Scope[],
  created_at: String(item.created_at),
});

export async function listServerKeys(store: Store, platform: Platform): Promise<ServerKey[]> {
  const items: Item[] = [];
  let after: Key | undefined;
  do {
    const page = await store.query({ pk: keys.entities(store.tenant, "server-key"), newestFirst: true, after });
    items.push(...page.items);
    after = page.next;
  } while (after);
  const credentials: (Item | undefined)[] = [];
  for (const batch of chunksOf(items, 100))
    credentials.push(
      ...(await platform.getAll(batch.map(({ credential }) => ({ pk: String(credential), sk: String(credential) })))),
    );
  return items.map((item, i) => ({
    ...shownOf(item),
    last_used_at: text(credentials[i]?.last_used_at),
    revoked_at: text(credentials[i]?.revoked_at ?? item.revoked_at),
  }));
}

/** Revokes at once on every surface that reads the key row. @returns false if there is no such key. */
export async function revokeServerKey(store: Store, platform: Platform, id: string): Promise<boolean> {
  const item = await store.get(keys.entity(store.tenant, "server-key", id));
  if (!item) return false;
  const credential = { pk: String(item.credential), sk: String(item.credential) };
  const now = timestamp(store.clock.now());
  await platform.update(credential, { initial: { revoked_at: now } });
  return true;
}

const text = (value: Item[string]): string | null => (value === undefined ? null : String(value));

/** ATH-1: stable for the workspace's life. */
export const sdkKeyFor = ({ sdkKeyRoots }: RootSecrets, tenant: TenantId): string => sdkKeyOf(sdkKeyRoots[0]!, tenant);
