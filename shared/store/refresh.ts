// Refresh tokens: one row per family, which holds the hash of the token that is good now (decision 9).
import { DAY, SECOND } from "../clock.ts";
import { hashOf } from "../http/authenticate.ts";
import type { Platform } from "../resources.ts";
import { platform as rows } from "./keys.ts";

/** How long a family lives after its last use. */
const REFRESH_DAYS = 30;
const SECRET_BYTES = 32;

/** Begins a family for a user in a workspace. @returns the token, `<family>.<secret>`, which is stored nowhere. */
export async function issueRefreshToken(
  platform: Platform,
  { user, tenant }: { user: string; tenant: string },
): Promise<string> {
  const family = platform.ids.uuid();
  const secret = platform.ids.bytes(SECRET_BYTES).toString("base64url");
  const expiresAt = platform.clock.now() + REFRESH_DAYS * DAY;
  await platform.put({
    ...rows.refresh(family),
    user,
    tenant,
    current: hashOf(secret),
    expires_at: expiresAt,
    expires: Math.ceil(expiresAt / SECOND),
  });
  return `${family}.${secret}`;
}
