// Refresh tokens: one row per family, which holds the hash of the token that is valid now
// (docs/decisions/0021#identity).
import { createHmac } from "node:crypto";
import { DAY, SECOND } from "../../clock.ts";
import type { Platform } from "../../resources.ts";
import { is } from "../conditions.ts";
import { hashOf } from "../hash.ts";
import type { RowOf } from "../item.ts";
import type { TenantId } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";
import { RefreshFamily } from "./identity-items.ts";

/** How long a family lives after its last use. */
const LIFETIME_MS = 30 * DAY;
export const REFRESH_SECONDS = LIFETIME_MS / SECOND;
/** How long the previous token stays valid: two tabs may refresh at once. */
const REUSE_GRACE_MS = 10 * SECOND;
const SECRET_BYTES = 32;

export interface Session {
  user: string;
  tenant: TenantId;
  /** Its access tokens are read-only, as the one that it began with. */
  readOnly?: boolean;
}

/** Begins a family for a user in a workspace. @returns the token, `<family>.<secret>`, of which only a hash is stored. */
export async function issueRefreshToken(platform: Platform, { user, tenant, readOnly }: Session): Promise<string> {
  const family = platform.ids.uuid();
  const secret = platform.ids.bytes(SECRET_BYTES).toString("base64url");
  const seed = platform.ids.bytes(SECRET_BYTES).toString("base64");
  const current = hashOf(secret);
  const read_only = readOnly ? (true as const) : undefined;
  await platform.put(RefreshFamily, { family }, { user, tenant, seed, read_only, current, ...expiry(platform) });
  return `${family}.${secret}`;
}

/**
 * Exchanges a token for its successor. The same token always has the same successor, so two tabs that refresh at once
 * get the same one. The use of any older token of the family counts as theft and ends the family.
 * @returns undefined for an invalid token.
 */
export async function rotateRefreshToken(
  platform: Platform,
  token: string,
): Promise<(Session & { token: string }) | undefined> {
  const parts = partsOf(token);
  if (!parts) return undefined;
  const { family, secret } = parts;
  const row = await platform.get(RefreshFamily, { family });
  if (!row || row.expires_at <= platform.clock.now()) return undefined;
  const given = hashOf(secret);
  const successor = createHmac("sha256", Buffer.from(row.seed, "base64")).update(secret).digest("base64url");
  const { user, tenant, read_only: readOnly = false } = row;
  const session = { user, tenant, readOnly, token: `${family}.${successor}` };
  if (row.current === given && (await advance(platform, family, given, successor))) return session;
  const now = row.current === given ? await platform.get(RefreshFamily, { family }) : row;
  if (now && isRace(now, given, platform.clock.now())) return session;
  await platform.remove(RefreshFamily, { family });
  return undefined;
}

/** Ends the family of a token, if there is one. */
export async function revokeRefreshToken(platform: Platform, token: string): Promise<void> {
  const parts = partsOf(token);
  if (parts) await platform.remove(RefreshFamily, { family: parts.family });
}

const advance = (platform: Platform, family: string, given: string, successor: string): Promise<boolean> =>
  platform
    .change(
      RefreshFamily,
      { family },
      {
        set: {
          ...expiry(platform),
          current: hashOf(successor),
          previous: given,
          previous_until: platform.clock.now() + REUSE_GRACE_MS,
        },
      },
      is("current", given),
    )
    .then(
      () => true,
      onConditionFailed(() => false),
    );

/** Another request exchanged the same token a moment ago. */
const isRace = ({ previous, previous_until = 0 }: RowOf<typeof RefreshFamily>, given: string, now: number) =>
  previous === given && previous_until >= now;

function expiry(platform: Platform) {
  const expires_at = platform.clock.now() + LIFETIME_MS;
  return { expires_at, expires: Math.ceil(expires_at / SECOND) };
}

const FAMILY = /^[0-9a-f-]{36}$/;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

function partsOf(token: string): { family: string; secret: string } | undefined {
  const [family = "", secret = "", more] = token.split(".");
  return FAMILY.test(family) && SECRET.test(secret) && more === undefined ? { family, secret } : undefined;
}
