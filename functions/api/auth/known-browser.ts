// Browsers in which a user signed in before. Guesses of others never keep such a browser out: it has a limit of its own.
import type { Cookie } from "../../../shared/http/cookies.ts";
import { isSecureOrigin } from "../../../shared/http/cookies.ts";
import { DAY, MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import type { Platform } from "../../../shared/store/context.ts";
import { type AttemptLimit, countAttempt } from "../../../shared/store/workspaces/attempts.ts";
import { KnownBrowser } from "../../../shared/store/workspaces/identity-items.ts";
import { countGuess } from "./limits.ts";

export const GUESSES_IN_BROWSER: AttemptLimit = { kind: "login-browser", max: 10, windowMs: 15 * MINUTE };

const COOKIE = "b";
const KEPT_SECONDS = (180 * DAY) / SECOND;
const TOKEN_BYTES = 24;
const TOKEN = /^[\w-]{32}$/;

type Platformed = Pick<Platform, "get" | "put" | "change" | "clock" | "ids">;

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
 * Counts a guess at the password of an account: in a browser that is known there, as one of that browser, else as one
 * from its network and of the account. @returns the token of a known browser @throws 429
 */
export async function countSignIn(
  platform: Platformed,
  { email, sourceIp, cookies }: SignIn,
): Promise<string | undefined> {
  const token = await knownToken(platform, email, cookies[COOKIE] ?? "");
  if (token === undefined) await countGuess(platform, email, sourceIp);
  else await countAttempt(platform, GUESSES_IN_BROWSER, `${email} ${token}`);
  return token;
}

async function knownToken(platform: Platformed, email: string, token: string): Promise<string | undefined> {
  const row = TOKEN.test(token) ? await platform.get(KnownBrowser, { email: email.toLowerCase(), token }) : undefined;
  return row && row.expires * SECOND > platform.clock.now() ? token : undefined;
}

/** Notes that a user signed in here. @param known its token, if it was known @returns its token */
export async function rememberBrowser(platform: Platformed, email: string, known: string | undefined): Promise<string> {
  const token = known ?? platform.ids.bytes(TOKEN_BYTES).toString("base64url");
  const expires = Math.ceil(platform.clock.now() / SECOND) + KEPT_SECONDS;
  await platform.put(KnownBrowser, { email: email.toLowerCase(), token }, { expires });
  return token;
}
