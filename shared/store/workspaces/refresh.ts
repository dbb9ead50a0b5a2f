// Sessions and their refresh tokens: one row per session, and one per family of tokens, which holds the hash of the token
// that is valid now (docs/decisions/0021#identity, docs/decisions/0033).
import { createHmac } from "node:crypto";
import { DAY, SECOND, timestamp, ttl } from "../../kernel/clock.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { absent, all, is, present } from "../conditions.ts";
import type { Platform } from "../context.ts";
import { hashOf } from "../hash.ts";
import { changeItem, checkItem, type ItemWrite, putItem, type RowOf, removeItem } from "../item.ts";
import { happened, transacted, whereItHolds } from "../refusals.ts";
import { UserItem } from "./identity-items.ts";
import { endWithDerived, makeRoom } from "./session-ends.ts";
import { RefreshFamily, UserSession } from "./session-items.ts";

/** How long a session lives after its last use. */
const LIFETIME_MS = 30 * DAY;
export const REFRESH_SECONDS = LIFETIME_MS / SECOND;
/** A user who lost access at the provider is signed out by then, however often the session is used. */
const PROVIDED_LIFETIME_MS = 7 * DAY;
/** How long the previous token stays valid: two tabs may refresh at once. */
const REUSE_GRACE_MS = 10 * SECOND;
const SECRET_BYTES = 32;

interface Session {
  id: string;
  user: string;
  tenant: TenantId;
  /** Its access tokens are read-only, as the one that it began with. */
  readOnly?: boolean;
}

interface NewSession extends Omit<Session, "id"> {
  device?: string | undefined;
  address?: string | undefined;
  /** The user as authenticated: the session does not begin if the password has changed since, or the second factor. */
  login?: { email: string; password: string; isEnrolled?: boolean | undefined } | undefined;
  secondFactor?: boolean;
  /** The session that it is derived from: it does not begin if that one has ended. */
  parent?: string | undefined;
  /** The workspace at whose identity provider it begins, and which one that is. */
  provided?: TenantId | undefined;
  provider?: string | undefined;
  /** It begins at an identity provider: that of the workspace, or of the installation. */
  isProvided?: boolean;
}

interface IssuedSession extends Session {
  token: string;
}

interface RenewedSession extends IssuedSession {
  begunAt: string;
  /** The workspace at whose identity provider it began, and that provider. */
  provided?: TenantId | undefined;
  provider?: string | undefined;
}

/**
 * Begins a session of a user in a workspace.
 * @returns its refresh token, `<family>.<secret>`, of which only a hash is stored; undefined if the password or
 * the second factor has changed or the parent has ended meanwhile.
 */
export async function beginSession(
  platform: Platform,
  {
    user,
    tenant,
    readOnly = false,
    device,
    address,
    login,
    secondFactor = false,
    parent,
    provided,
    provider,
    isProvided = false,
  }: NewSession,
): Promise<IssuedSession | undefined> {
  const origin = parent === undefined ? undefined : await platform.get(UserSession, { user, id: parent });
  if (parent !== undefined && !isOpen(platform, origin)) return undefined;
  const first = origin && (origin.first ?? origin.parent);
  const origins = [parent, first].filter((origin) => origin !== undefined);

  const id = platform.ids.uuid();
  const session = { id, user, tenant, readOnly };
  const { token, write } = newFamily(platform, session);
  const now = timestamp(platform.clock.now());
  const until = isProvided ? ttl(platform.clock.now() + PROVIDED_LIFETIME_MS) : origin?.until;
  const row = {
    id,
    tenant,
    until,
    device,
    address,
    parent,
    first,
    provided,
    provider,
    ...(secondFactor && { second_factor: true as const }),
    created_at: now,
    last_used_at: now,
    expires: notLaterThan(origin, until ?? expiry(platform).expires),
  };

  const isUnchanged = (password: string, isEnrolled: boolean) =>
    all(present(), is("password", password), isEnrolled ? present("totp") : absent("totp"));
  const writes: ItemWrite<"platform">[] = [
    putItem(UserSession, { user, id }, row),
    write,
    ...(login
      ? [
          changeItem(
            UserItem,
            { email: login.email },
            { add: { logins: 1 } },
            isUnchanged(login.password, login.isEnrolled ?? secondFactor),
          ),
        ]
      : []),
    ...origins.map((session) => checkItem(UserSession, { user, id: session }, present())),
  ];

  await makeRoom(platform, user, origins);
  const hasBegun = await transacted(platform, writes);
  return hasBegun ? { ...session, token } : undefined;
}

function newFamily(platform: Platform, { id, user, tenant, readOnly }: Session) {
  const family = platform.ids.uuid();
  const secret = platform.ids.bytes(SECRET_BYTES).toString("base64url");
  const seed = platform.ids.bytes(SECRET_BYTES).toString("base64");
  const read_only = readOnly ? (true as const) : undefined;
  const row = { user, tenant, session: id, seed, read_only, current: hashOf(secret), ...expiry(platform) };
  return { token: `${family}.${secret}`, write: putItem(RefreshFamily, { family }, row) };
}

/**
 * Exchanges a token for its successor. The same token always has the same successor, so two tabs that refresh at once
 * get the same one. The use of any older token of the family counts as theft and ends the session.
 * @returns undefined for an invalid token, and for one of a session that has ended.
 */
export async function rotateRefreshToken(platform: Platform, token: string): Promise<RenewedSession | undefined> {
  const parts = partsOf(token);
  if (!parts) return undefined;
  const { family, secret } = parts;
  const row = await platform.get(RefreshFamily, { family });
  if (!row || row.expires_at <= platform.clock.now()) return undefined;
  const presented = hashOf(secret);
  const successor = createHmac("sha256", Buffer.from(row.seed, "base64")).update(secret).digest("base64url");
  const { user, tenant, session: id, read_only: readOnly = false } = row;
  const renewed = { id, user, tenant, readOnly, token: `${family}.${successor}` };

  const exchange = await exchangeSecret(platform, family, row.current, { presented, successor });
  const use = exchange.kind === "reused" ? undefined : await noteUse(platform, renewed);
  if (use?.kind === "noted") {
    const { begunAt, provided, provider } = use;
    return { ...renewed, begunAt, provided, provider };
  }

  // The family last: where this fails half-way, the next use of the token ends the rest.
  await endWithDerived(platform, user, id);
  await platform.remove(RefreshFamily, { family });
  return undefined;
}

/**
 * Exchanges a token for one of a new family: the old family ends, the session goes on.
 * @returns undefined for an invalid token.
 */
export async function replaceRefreshToken(platform: Platform, token: string): Promise<RenewedSession | undefined> {
  const session = await rotateRefreshToken(platform, token);
  const family = session && partsOf(session.token)?.family;
  if (!family) return undefined;
  const { token: replacement, write } = newFamily(platform, session);
  const { user, id } = session;
  const ending = removeItem(RefreshFamily, { family }, present());
  const isReplaced = await transacted(platform, [ending, write, checkItem(UserSession, { user, id }, present())]);
  return isReplaced ? { ...session, token: replacement } : undefined;
}

/** Ends the session of a token, if there is one. */
export async function revokeRefreshToken(platform: Platform, token: string): Promise<void> {
  const parts = partsOf(token);
  const row = parts && (await platform.get(RefreshFamily, { family: parts.family }));
  if (!row) return;
  await endWithDerived(platform, row.user, row.session);
  await platform.remove(RefreshFamily, { family: parts.family });
}

type Exchange =
  | { kind: "advanced" }
  /** Another request exchanged the same token a moment ago. */
  | { kind: "raced" }
  /** An older token: it was stolen, or its thief uses it. */
  | { kind: "reused" };

async function exchangeSecret(
  platform: Platform,
  family: string,
  current: string,
  { presented, successor }: { presented: string; successor: string },
): Promise<Exchange> {
  const hasAdvanced = current === presented ? await advance(platform, family, presented, successor) : false;
  if (hasAdvanced) return { kind: "advanced" };
  return (await isRaced(platform, family, presented)) ? { kind: "raced" } : { kind: "reused" };
}

function advance(platform: Platform, family: string, presented: string, successor: string): Promise<boolean> {
  const previous_until = platform.clock.now() + REUSE_GRACE_MS;
  const set = { ...expiry(platform), current: hashOf(successor), previous: presented, previous_until };
  return happened(platform.change(RefreshFamily, { family }, { set }, is("current", presented)));
}

async function isRaced(platform: Platform, family: string, presented: string): Promise<boolean> {
  const row = await platform.get(RefreshFamily, { family });
  return row?.previous === presented && (row.previous_until ?? 0) >= platform.clock.now();
}

/** Notes the use of a session, unless it has ended, or the one that it came from. */
async function noteUse(
  platform: Platform,
  { user, id }: Pick<Session, "user" | "id">,
): Promise<({ kind: "noted" } & Pick<RenewedSession, "begunAt" | "provided" | "provider">) | { kind: "ended" }> {
  const { expires } = expiry(platform);
  const set = { last_used_at: timestamp(platform.clock.now()), expires };
  const row = await whereItHolds(platform.change(UserSession, { user, id }, { set }, present()));
  if (!row) return { kind: "ended" };
  const { parent, first = parent } = row;
  const ids = [parent, first].filter((sessionId) => sessionId !== undefined);
  const origins = await platform.getAll(
    UserSession,
    ids.map((sessionId) => ({ user, id: sessionId })),
  );
  if (![row, ...origins].every((session) => isOpen(platform, session))) {
    // The one between was taken out of the line a moment ago: this one comes from another since.
    const now = await platform.get(UserSession, { user, id });
    return now && now.parent !== parent ? noteUse(platform, { user, id }) : { kind: "ended" };
  }

  const latest = Math.min(endOf(row), notLaterThan(origins[0], expires));
  if (latest < expires)
    await whereItHolds(platform.change(UserSession, { user, id }, { set: { expires: latest } }, present()));
  return { kind: "noted", begunAt: row.created_at, provided: row.provided, provider: row.provider };
}

type SessionRow = RowOf<typeof UserSession>;

/** When it ends, in seconds, also where a use has moved `expires` and not cut it yet. */
const endOf = ({ expires, until = expires }: SessionRow): number => Math.min(expires, until);

const isOpen = ({ clock }: Pick<Platform, "clock">, row: SessionRow | undefined): row is SessionRow =>
  row !== undefined && endOf(row) * SECOND > clock.now();

/** A session ends with the one that it came from, which ends with its own: none outlives the first. */
const notLaterThan = (origin: SessionRow | undefined, expires: number): number =>
  origin ? Math.min(endOf(origin), expires) : expires;

function expiry(platform: Platform) {
  const expires_at = platform.clock.now() + LIFETIME_MS;
  return { expires_at, expires: ttl(expires_at) };
}

const FAMILY = /^[0-9a-f-]{36}$/;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

function partsOf(token: string): { family: string; secret: string } | undefined {
  const [family = "", secret = "", more] = token.split(".");
  return FAMILY.test(family) && SECRET.test(secret) && more === undefined ? { family, secret } : undefined;
}
