// Browsers in which a user signed in before. They have a limit of their own, so that guesses from elsewhere never lock
// them out.
import type { Cookie } from "../../../shared/http/cookies.ts";
import { isSecureOrigin } from "../../../shared/http/cookies.ts";
import { DAY, MINUTE, SECOND, ttl } from "../../../shared/kernel/clock.ts";
import type { Platform } from "../../../shared/store/context.ts";
import { hashOf } from "../../../shared/store/hash.ts";
import { ref } from "../../../shared/store/item.ts";
import { type AttemptLimit, countAttempt } from "../../../shared/store/workspaces/attempts.ts";
import { KnownBrowser, UserItem } from "../../../shared/store/workspaces/identity-items.ts";
import { countGuess } from "./limits.ts";

export const GUESSES_IN_BROWSER: AttemptLimit = { kind: "login-browser", max: 10, windowMs: 15 * MINUTE };

const COOKIE = "b";
const KEPT_SECONDS = (180 * DAY) / SECOND;
const TOKEN_BYTES = 24;
const TOKEN = /^[\w-]{32}$/;

type BrowserPlatform = Pick<Platform, "getEach" | "put" | "change" | "clock" | "ids">;

/** Makes the cookie of a browser: sent with sign-ins alone. */
export const browserCookie = (origin: string, value: string): Cookie => ({
  name: COOKIE,
  value,
  path: "/api/v1/auth/login",
  maxAgeSeconds: KEPT_SECONDS,
  isSecure: isSecureOrigin(origin),
});

interface SignIn {
  email: string;
  sourceIp: string;
  cookies: Readonly<Record<string, string>>;
}

/**
 * Counts a guess at the password of an account. A known browser counts by itself; any other counts for its network and
 * the account.
 * @returns the token of a known browser
 * @throws 429
 */
export async function countSignIn(
  platform: BrowserPlatform,
  { email, sourceIp, cookies }: SignIn,
): Promise<string | undefined> {
  const token = await knownToken(platform, email, cookies[COOKIE] ?? "");
  if (token === undefined) await countGuess(platform, email, sourceIp);
  else await countAttempt(platform, GUESSES_IN_BROWSER, `${email} ${token}`);
  return token;
}

async function knownToken(platform: BrowserPlatform, email: string, token: string): Promise<string | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const [row, user] = await platform.getEach([
    ref(KnownBrowser, { email: email.toLowerCase(), token }),
    ref(UserItem, { email }),
  ]);
  const isCurrent = row !== undefined && user !== undefined && row.password === hashOf(user.password);
  return isCurrent && row.expires * SECOND > platform.clock.now() ? token : undefined;
}

/**
 * Notes that a user signed in here or chose the password.
 * @param known the token of a known browser
 * @returns the browser's token
 */
export async function rememberBrowser(
  platform: BrowserPlatform,
  { email, password }: { email: string; password: string },
  known?: string,
): Promise<string> {
  const token = known ?? platform.ids.bytes(TOKEN_BYTES).toString("base64url");
  const expires = ttl(platform.clock.now()) + KEPT_SECONDS;
  await platform.put(KnownBrowser, { email: email.toLowerCase(), token }, { password: hashOf(password), expires });
  return token;
}
