// docs/limits.md: what is limited by address, account and key, why, and what somebody does who is refused; from the code.
import { REGISTRATIONS_PER_ADDRESS, REGISTRATIONS_PER_DOMAIN } from "../../functions/api/auth/index.ts";
import { GUESSES_IN_BROWSER } from "../../functions/api/auth/known-browser.ts";
import {
  CODES_A_DAY,
  CODES_PER_USER,
  CONFIRMATIONS_PER_USER,
  GUESSES,
  GUESSES_FROM_ADDRESS,
  LOGINS_PER_ADDRESS,
  PASSWORDS_OF_ALL,
  PASSWORDS_OF_KNOWN,
  PASSWORDS_PER_USER,
  REFRESHES_OF_ALL,
  REFRESHES_PER_ADDRESS,
  RESETS_A_DAY,
  RESETS_AN_HOUR,
} from "../../functions/api/auth/limits.ts";
import { INVITATIONS_PER_EMAIL, INVITATIONS_PER_WORKSPACE } from "../../functions/api/team/index.ts";
import { STAGE_LIMIT } from "../../infra/limits.ts";
import { planNames, plans } from "../../shared/rules/plans.ts";
import type { AttemptLimit } from "../../shared/store/workspaces/attempts.ts";

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 1_440;

const count = (n: number) => n.toLocaleString("en-US");

function often({ max, windowMs }: AttemptLimit): string {
  const minutes = windowMs / MINUTE_MS;
  if (minutes === DAY_MINUTES) return `${count(max)} a day`;
  if (minutes === HOUR_MINUTES) return `${count(max)} an hour`;
  return minutes === 1 ? `${count(max)} a minute` : `${count(max)} in ${minutes} minutes`;
}

const WAIT = "waits until `Retry-After`";

interface Limit {
  of: string;
  what: string;
  most: string;
  why: string;
  remedy: string;
}

const limits: readonly Limit[] = [
  {
    of: "network address",
    what: "sign-ins, resets, invitations accepted, addresses confirmed",
    most: often(LOGINS_PER_ADDRESS),
    why: "one machine tries the passwords of many",
    remedy: `${WAIT}, or signs in from elsewhere`,
  },
  {
    of: "network address and account",
    what: "passwords",
    most: often(GUESSES_FROM_ADDRESS),
    why: "one machine guesses the password of one user; the user goes on elsewhere",
    remedy: `${WAIT}, or has the password reset by mail`,
  },
  {
    of: "known browser and account",
    what: "passwords, instead of the limits beside this one",
    most: often(GUESSES_IN_BROWSER),
    why: "guesses of others, even behind the same address, do not keep a user out of the own browser",
    remedy: `${WAIT}, or has the password reset by mail`,
  },
  {
    of: "account",
    what: "passwords, from all addresses together",
    most: often(GUESSES),
    why: "guessing that is spread over many machines",
    remedy: "stays in open sessions, and signs in in a known browser, at the identity provider, or when it is over",
  },
  {
    of: "account",
    what: "current passwords, by somebody signed in",
    most: often(PASSWORDS_PER_USER),
    why: "an open browser that is not its user's; nobody outside uses it up",
    remedy: WAIT,
  },
  {
    of: "account",
    what: "codes of the authenticator, after the right password",
    most: `${often(CODES_PER_USER)}, ${often(CODES_A_DAY)}`,
    why: "six digits are guessed in a year without it",
    remedy: "signs in with a recovery code: these are not limited",
  },
  {
    of: "e-mail address",
    what: "mails that reset a password",
    most: `${often(RESETS_AN_HOUR)}, ${often(RESETS_A_DAY)}`,
    why: "a mailbox is not flooded by strangers",
    remedy: "uses the newest of the mails, which is good for an hour",
  },
  {
    of: "account",
    what: "mails that confirm the address",
    most: often(CONFIRMATIONS_PER_USER),
    why: "as above",
    remedy: "uses the newest of the mails",
  },
  {
    of: "network address; domain of the address",
    what: "registrations",
    most: `${often(REGISTRATIONS_PER_ADDRESS)}; ${often(REGISTRATIONS_PER_DOMAIN)}`,
    why: "workspaces by the thousand",
    remedy: `${WAIT}, or is invited by the operator`,
  },
  {
    of: "workspace; e-mail address",
    what: "invitations",
    most: `${often(INVITATIONS_PER_WORKSPACE)}; ${often(INVITATIONS_PER_EMAIL)}`,
    why: "a workspace is no way to mail strangers",
    remedy: WAIT,
  },
  {
    of: "network address",
    what: "refreshes of sessions",
    most: often(REFRESHES_PER_ADDRESS),
    why: "a client that refreshes in a loop; an office behind one address fits in",
    remedy: `${WAIT}: the session goes on`,
  },
  {
    of: "everybody together",
    what: "passwords that are checked",
    most: often(PASSWORDS_OF_ALL),
    why: "the last resort: a password costs a tenth of a second of processor time. Who is refused by an address is not counted",
    remedy: "stays in open sessions, or signs in in a known browser or at the identity provider",
  },
  {
    of: "all known browsers together",
    what: "passwords that are checked",
    most: often(PASSWORDS_OF_KNOWN),
    why: "as above, and apart: who guesses has no known browser of the account, so guesses do not use it up",
    remedy: "stays in open sessions, or signs in at the identity provider",
  },
  {
    of: "everybody together",
    what: "refreshes",
    most: often(REFRESHES_OF_ALL),
    why: "the last resort, apart from the one above: guesses end no session",
    remedy: WAIT,
  },
  {
    of: "network address; publishable key",
    what: "requests with a publishable key, and four write units for each",
    most: "`sdkRequestsPerAddress` and `sdkRequestsPerKey` a minute ([deploy.md](deploy.md))",
    why: "the key is in every app, and one request may cost as much as hundreds",
    remedy: `the SDK ${WAIT}; the operator raises the setting`,
  },
  {
    of: "network address",
    what: "changes by the links of mails",
    most: "`sdkRequestsPerAddress` a minute",
    why: "whoever has a mail can change the choices of its recipient, at 50 units each; a provider of mailboxes that opts out for its users stays far below",
    remedy: `${WAIT}; the choice before stays`,
  },
  {
    of: "workspace",
    what: "requests with dashboard tokens and agent keys",
    most: `${planNames.map((name) => `${name} ${count(plans[name].requestsPerMinute)}`).join(", ")} a minute`,
    why: "one workspace leaves the others their share",
    remedy: `${WAIT}, or takes a larger plan`,
  },
  {
    of: "everybody together",
    what: "requests to the gateway",
    most: `${count(STAGE_LIMIT.throttlingRateLimit)} a second`,
    why: "the bill of a flood; a web ACL with a rate rule stops one machine before it (`webAclArn`)",
    remedy: "the SDK tries again; the operator raises `STAGE_LIMIT`",
  },
];

export const limitsPage = (): string => `<!-- Generated by \`npm run docs\`; never edited. -->

# Limits

What is counted, why, and what somebody does who is refused. A refusal is a 429 with \`Retry-After\`, from the gateway one without.
The network address is that of the connection, as the edge saw it (E8 in [edge.md](edge.md)); of an IPv6 address it is the /64, of
which one machine has every address. Write units are those that the table billed; 8 KB of answers are counted as one. Limits of an address come before those that others share, so one machine uses up its own share alone. A limit of everybody, and of keys and refreshes, is counted in memory
and written for several at once, so it is reached somewhat late. Limits of sizes and amounts are in the reference at \`/docs\`.

| of | what | at most | why | who is refused |
|---|---|---|---|---|
${limits.map(({ of, what, most, why, remedy }) => `| ${of} | ${what} | ${most} | ${why} | ${remedy} |`).join("\n")}

A browser is known where somebody signed in with the password before, by a cookie that only sign-ins get, for 180 days. No limit ends
an open session.
`;
