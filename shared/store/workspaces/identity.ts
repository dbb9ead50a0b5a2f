// Workspaces, users, members and their keys: what decides who may call (docs/decisions/0021#identity).
import { scrypt as scryptCallback, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import * as v from "valibot";
import type { Role } from "../../contract/roles.ts";
import { timestamp } from "../../kernel/clock.ts";
import { conflict } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { byText } from "../../kernel/order.ts";
import type { PlanName } from "../../rules/plans.ts";
import { createDefaultChannel } from "../channels/channels.ts";
import { absent } from "../conditions.ts";
import type { Platform, PlatformReader, Store } from "../context.ts";
import { fieldsOf, type NewRowOf, putItem, type RowOf } from "../item.ts";
import { orRefuse } from "../refusals.ts";
import { sandboxId } from "../sandbox/sandbox.ts";
import { MemberItem, MembershipItem, UserItem, userFields } from "./identity-items.ts";
import { WorkspaceEntry, WorkspaceId, WorkspaceItem } from "./items.ts";

const scrypt = promisify(
  (password: string, salt: Buffer, length: number, options: object, done: (error: Error | null, key: Buffer) => void) =>
    scryptCallback(password, salt, length, options, done),
);

/** docs/decisions/0021#login. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1_048_576 };
const HASH_BYTES = 32;

export const User = v.object(userFields);
export type User = v.InferOutput<typeof User>;

/** The kinds that a workspace may have from the beginning: a sandbox stays one, and no other becomes one. */
export const workspaceKinds = ["standard", "sandbox"] as const;
export type WorkspaceKind = (typeof workspaceKinds)[number];

interface Registration {
  email: string;
  /** The result of `hashPassword`. */
  secret: string;
  name: string;
  workspace_name: string;
  plan: PlanName;
  /** Whether it is a sandbox. */
  kind?: WorkspaceKind | undefined;
  /** The mailbox is known to be the user's. */
  isConfirmed: boolean;
}

const isTaken = () => conflict("This email address is already registered.");

/** Asked before a password is hashed, which costs most of a registration. @throws 409 if the email address is taken. */
export async function requireFree(platform: PlatformReader, email: string): Promise<void> {
  if (await platform.get(UserItem, { email })) throw isTaken();
}

/** Makes a user, a workspace and its owner in one transaction. @throws 409 if the email address is taken. */
export async function register(
  platform: Platform,
  storeOf: (tenant: TenantId) => Store,
  input: Registration,
): Promise<{ user: User; tenant: TenantId }> {
  const { email, secret, name, workspace_name, plan, kind, isConfirmed } = input;
  const now = platform.clock.now();
  const user: User = { id: platform.ids.uuid(), email, name };
  const tenant = v.parse(WorkspaceId, kind === "sandbox" ? sandboxId(platform.ids, now) : platform.ids.uuid());
  const created_at = timestamp(now);
  const member = { user_id: user.id, tenant, role: "owner" as const, email, name, created_at };
  const owner = { ...user, password: secret, created_at, ...(isConfirmed && { confirmed_at: created_at }) };
  const workspace = newWorkspace({ id: tenant, name: workspace_name, plan, kind, owners: 1, created_at });
  const unconfirmed = isConfirmed ? {} : { unconfirmed: true as const };
  await prepareWorkspace(storeOf(tenant));
  await platform
    .transact([
      putItem(UserItem, { email }, owner, absent()),
      putItem(WorkspaceItem, { tenant }, workspace),
      putItem(WorkspaceEntry, { tenant }, { created_at }),
      putItem(MemberItem, { tenant, user: user.id }, { ...member, ...unconfirmed }),
      putItem(MembershipItem, { user: user.id, tenant }, member),
    ])
    .catch(orRefuse(isTaken));
  return { user, tenant };
}

/** Prepares a new workspace before its row is written: a channel, and the register of its erasures. */
export async function prepareWorkspace(store: Store): Promise<void> {
  await createDefaultChannel(store);
}

export const newWorkspace = ({
  kind = "standard",
  ...others
}: Required<Pick<NewRowOf<typeof WorkspaceItem>, "id" | "name" | "plan" | "owners" | "created_at">> & {
  kind?: WorkspaceKind | undefined;
  agency?: TenantId;
}): NewRowOf<typeof WorkspaceItem> => ({ ...others, status: "active", kind });

export interface Membership {
  tenant: TenantId;
  role: Role;
}

/** The user with this password, or undefined; it takes as long either way. */
export async function findUser(
  platform: PlatformReader,
  email: string,
  password: string,
): Promise<RowOf<typeof UserItem> | undefined> {
  const row = await platform.get(UserItem, { email });
  const matches = await verifyPassword(password, row?.password ?? DECOY);
  return row && matches ? row : undefined;
}

/** The fields of a user in the API. */
export const userOf = (row: RowOf<typeof UserItem>): User => fieldsOf(userFields, row);

/** The workspaces of a user, oldest membership first. */
export async function membershipsOf(platform: PlatformReader, user: string): Promise<Membership[]> {
  const { items } = await platform.query(MembershipItem, { user });
  return items.sort(byText(({ created_at }) => created_at)).map(({ tenant, role }) => ({ tenant, role }));
}

/** scrypt of a password; `salt` is 16 random bytes. */
export async function hashPassword(password: string, salt: Buffer): Promise<string> {
  const hash = await scrypt(password, salt, HASH_BYTES, SCRYPT);
  return `scrypt$${SCRYPT.N}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, , salt = "", hash = ""] = stored.split("$");
  const expected = Buffer.from(hash, "base64");
  const actual = await scrypt(password, Buffer.from(salt, "base64"), HASH_BYTES, SCRYPT);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Verified where there is no such user, so that the time taken does not reveal it. */
const DECOY = `scrypt$${SCRYPT.N}$${Buffer.alloc(16).toString("base64")}$${Buffer.alloc(HASH_BYTES).toString("base64")}`;
