// Forgotten, reset and changed passwords, and the confirmation of an email address (ACC-1 to ACC-4).
import * as v from "valibot";
import { said, TrimmedTextUpTo } from "../../../shared/contract/schemas.ts";
import { ofOwnAccount } from "../../../shared/http/access.ts";
import { requireUser } from "../../../shared/http/authenticate.ts";
import { endpoints, withCookie } from "../../../shared/http/endpoint.ts";
import { Password, refuseWeak } from "../../../shared/http/registration.ts";
import { unauthorized } from "../../../shared/kernel/errors.ts";
import { mailing } from "../../../shared/providers/mailer.ts";
import { withAsciiDomain } from "../../../shared/rules/contacts.ts";
import { platformWrite } from "../../../shared/store/context.ts";
import { serviceUrl } from "../../../shared/store/workspaces/account-mails.ts";
import { countAttempt, countFrom } from "../../../shared/store/workspaces/attempts.ts";
import { findUser, userOf } from "../../../shared/store/workspaces/identity.ts";
import {
  changePassword,
  confirmAddress,
  requestMail,
  resetPassword,
  userOfToken,
} from "../../../shared/store/workspaces/passwords.ts";
import { factorKeys } from "../../../shared/store/workspaces/second-factors.ts";
import { begin, firstOpen, issuing, Session } from "./begin.ts";
import { isOwnPage } from "./browser.ts";
import { Code, proveSecondFactor } from "./codes.ts";
import { browserCookie, rememberBrowser } from "./known-browser.ts";
import { countConfirmation, countReset, LOGINS_PER_ADDRESS, PASSWORDS_PER_USER, sharedLimits } from "./limits.ts";

const Token = v.pipe(v.string(), v.maxLength(128));
const Email = v.pipe(TrimmedTextUpTo(320), v.transform(withAsciiDomain));

const endpoint = endpoints({ credentials: [], effect: "session", inRealTime: true, uses: [platformWrite] });

export const passwords = [
  endpoint(
    "POST /api/v1/auth/password/forgot",
    { uses: [mailing] },
    {
      summary: "Ask for a mail with a token that resets the password",
      description:
        "The answer is 202 for every address. If a user has it, a token is mailed that works once, within one hour. " +
        "Where the service has no mail domain no mail is sent.",
      body: v.strictObject({ email: Email }),
      status: 202,
      errors: ["RATE_LIMITED"],
    },
    async ({ platform, canMail, body, sourceIp }) => {
      await countFrom(platform, LOGINS_PER_ADDRESS, sourceIp);
      await countReset(platform, body.email);
      if (canMail) await requestMail(platform, body.email, "reset");
    },
  ),

  endpoint(
    "POST /api/v1/auth/password/reset",
    { uses: [...issuing, factorKeys, sharedLimits, serviceUrl] },
    {
      summary: "Set a new password by a mailed token",
      description:
        "All other sessions of the user end, and their access tokens with them. The address counts as confirmed. " +
        "A user with a second factor gives a code too.",
      body: v.strictObject({ token: Token, password: Password, code: v.optional(Code) }),
      returns: Session,
      errors: [
        "NOT_FOUND",
        "RATE_LIMITED",
        "UNAUTHORIZED",
        "SECOND_FACTOR_REQUIRED",
        "SIGN_IN_REQUIRED",
        "TENANT_DELETED",
        "CONFLICT",
      ],
    },
    async ({ body: { token, password, code }, ...call }) => {
      const { platform, sharedLimits, serviceUrl, headers, sourceIp } = call;
      await countFrom(platform, LOGINS_PER_ADDRESS, sourceIp);
      await sharedLimits.password(platform);
      const found = await userOfToken(platform, token, "reset");
      const { id, email, name, confirmed_at } = found;
      const isConfirmed = confirmed_at !== undefined;
      const hasOwnFactor = isConfirmed && found.totp !== undefined;
      const { workspace, ...membership } = await firstOpen(platform, id, { hasOwnFactor });
      refuseWeak(password, [email, name, workspace]);
      // The owner of the mailbox takes over an account whose address was never confirmed.
      const secondFactor = isConfirmed && (await proveSecondFactor(call, found, code));
      const user = await resetPassword(platform, token, password);
      const beginning = { ...membership, user: userOf(user), password: user.password, secondFactor };
      const session = await begin(call, call, beginning);
      return isOwnPage(headers)
        ? withCookie(session, browserCookie(serviceUrl, await rememberBrowser(platform, user)))
        : session;
    },
  ),

  endpoint(
    "POST /api/v1/auth/password/change",
    { ...ofOwnAccount, effect: "own", uses: [serviceUrl] },
    {
      summary: "Change the caller's password; all other sessions end",
      body: v.strictObject({
        current_password: said("The password that is valid until now", Password),
        password: Password,
      }),
      errors: ["RATE_LIMITED", "CONFLICT"],
    },
    async ({ platform, serviceUrl, headers, caller, body: { current_password, password } }) => {
      const { user: userId, email, name, session, workspace } = requireUser(caller);
      refuseWeak(password, [email, name, workspace.name]);
      await countAttempt(platform, PASSWORDS_PER_USER, userId);
      const user = await findUser(platform, email, current_password);
      if (!user) throw unauthorized("The current password is wrong.");
      const changed = await changePassword(platform, user, password, session);
      return isOwnPage(headers)
        ? withCookie(undefined, browserCookie(serviceUrl, await rememberBrowser(platform, changed)))
        : undefined;
    },
  ),

  endpoint(
    "POST /api/v1/auth/email/confirm",
    {},
    {
      summary: "Confirm an email address by a mailed token",
      body: v.strictObject({ token: Token }),
      errors: ["NOT_FOUND", "RATE_LIMITED"],
    },
    async ({ platform, body, sourceIp }) => {
      await countFrom(platform, LOGINS_PER_ADDRESS, sourceIp);
      await confirmAddress(platform, body.token);
    },
  ),

  endpoint(
    "POST /api/v1/auth/email/resend",
    { ...ofOwnAccount, effect: "own", uses: [mailing] },
    {
      summary: "Mail the caller another token to confirm the email address",
      description: "No mail is sent to an address that is confirmed already, or where the service has no mail domain.",
      errors: ["RATE_LIMITED"],
    },
    async ({ platform, canMail, caller }) => {
      const { email } = requireUser(caller);
      await countConfirmation(platform, email);
      if (canMail) await requestMail(platform, email, "confirm");
    },
  ),
];
