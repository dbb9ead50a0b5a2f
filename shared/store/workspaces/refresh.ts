// Refresh tokens: one row per family, which holds the hash of the token that is good now
// (docs/decisions/0021#identity).
import { createHmac } from "node:crypto";
import { DAY, SECOND } from "../../clock.ts";
import { hashOf } from "../../http/authenticate.ts";
import type { Platform } from "../../resources.ts";
import { is } from "../conditions.ts";
import { platformKeys } from "../keys.ts";
import type { Item } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";

/** How long a family lives after its last use. */
const LIFETIME_MS = 30 * DAY;
/** How long the token before the current one is still good: two tabs may refresh at once. */
const REUSE_GRACE_MS = 10 * SECOND;
const SECRET_BYTES = 32;

export interface Session {
  user: string;
  tenant: string;
  /** What it gives is read-only, as the token was that began it. */
  readOnly?: boolean;
}

/** Begins a family for a user in a workspace. @returns the token, `<family>.<secret>`, which is stored nowhere. */
export async function issueRefreshToken(platform: Platform, { user, tenant, readOnly }: Session): Promise<string> {
  const family = platform.ids.uuid();
  const secret = platform.ids.bytes(SECRET_BYTES).toString("base64url");
  const seed = platform.ids.bytes(SECRET_BYTES).toString("base64");
  const held = { user, tenant, seed, ...(readOnly && { read_only: true }) };
  await platform.put({ ...platformKeys.refresh(family), ...held, ...lease(platform), current: hashOf(secret) });
  return `${family}.${secret}`;
}

/**
 * Exchanges a token for its successor. The same token always has the same successor, so a race between two tabs ends
 * well; any older token of the family is a theft and ends the family.
 * @returns undefined for whatever is not a good token.
 */
export async function rotateRefreshToken(
  platform: Platform,
  token: string,
): Promise<(Session & { token: string }) | undefined> {
  const { family, secret } = partsOf(token);
  const row = family && secret ? await platform.get(platformKeys.refresh(family)) : undefined;
  if (!row || !family || !secret || Number(row.expires_at) <= platform.clock.now()) return undefined;
  const given = hashOf(secret);
  const successor = createHmac("sha256", Buffer.from(String(row.seed), "base64"))
    .update(secret)
    .digest("base64url");
  const held = { user: String(row.user), tenant: String(row.tenant), readOnly: row.read_only === true };
  const session = { ...held, token: `${family}.${successor}` };
  if (row.current === given && (await advance(platform, family, given, successor))) return session;
  const now = row.current === given ? await platform.get(platformKeys.refresh(family)) : row;
  if (now && isRace(now, given, platform.clock.now())) return session;
  await revokeRefreshToken(platform, token);
  return undefined;
}

/** Ends the family of a token, if there is one. */
export async function revokeRefreshToken(platform: Platform, token: string): Promise<void> {
  const { family } = partsOf(token);
  if (family) await platform.remove(platformKeys.refresh(family));
}

const advance = (platform: Platform, family: string, given: string, successor: string): Promise<boolean> =>
  platform
    .update(
      platformKeys.refresh(family),
      {
        set: {
          ...lease(platform),
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

const isRace = (row: Item, given: string, now: number) => row.previous === given && Number(row.previous_until) >= now;

function lease(platform: Platform) {
  const expires_at = platform.clock.now() + LIFETIME_MS;
  return { expires_at, expires: Math.ceil(expires_at / SECOND) };
}

const FAMILY = /^[0-9a-f-]{36}$/;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

function partsOf(token: string): { family: string | undefined; secret: string | undefined } {
  const [family = "", secret = "", more] = token.split(".");
  const isWhole = FAMILY.test(family) && SECRET.test(secret) && more === undefined;
  return isWhole ? { family, secret } : { family: undefined, secret: undefined };
}
