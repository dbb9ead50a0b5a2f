// The second factor of the caller: set up, required at sign-in, removed (ACC-10 to ACC-13).
import * as v from "valibot";
import { said } from "../../../shared/contract/schemas.ts";
import { ofOwnAccount } from "../../../shared/http/access.ts";
import { type Caller, requireUser } from "../../../shared/http/authenticate.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { Password } from "../../../shared/http/registration.ts";
import { conflict, unauthorized } from "../../../shared/kernel/errors.ts";
import { type PlatformReader, platformRead, platformWrite } from "../../../shared/store/context.ts";
import type { RowOf } from "../../../shared/store/item.ts";
import { countAttempt } from "../../../shared/store/workspaces/attempts.ts";
import { findUser } from "../../../shared/store/workspaces/identity.ts";
import { UserItem } from "../../../shared/store/workspaces/identity-items.ts";
import {
  confirmKey,
  factorKeys,
  offerKey,
  recoveryCodesLeft,
  removeFactor,
  renewRecoveryCodes,
} from "../../../shared/store/workspaces/second-factors.ts";
import { base32, totpUri } from "../../../shared/store/workspaces/totp.ts";
import { Code, countGuessedCode, proveSecondFactor } from "./codes.ts";
import { PASSWORDS_PER_USER } from "./limits.ts";

const ISSUER = "Engagement messaging";

type UserRow = RowOf<typeof UserItem>;

const RecoveryCodes = v.object({
  recovery_codes: said("Each signs in once without the authenticator", v.array(v.string())),
});

const endpoint = endpoints({ ...ofOwnAccount, effect: "own", uses: [] });

export const secondFactor = [
  endpoint(
    "GET /api/v1/auth/second-factor",
    { effect: "read", uses: [platformRead] },
    {
      summary: "Whether the caller has a second factor",
      returns: v.object({
        enabled: said("A code is asked for at every sign-in", v.boolean()),
        recovery_codes_left: said("How many recovery codes are not used yet", v.number()),
        required: said("The workspace demands one", v.boolean()),
      }),
    },
    async ({ platform, caller }) => {
      const { secondFactor, email, user } = requireUser(caller);
      const row = await platform.get(UserItem, { email });
      const userRow = row?.id === user ? row : undefined;
      return {
        enabled: userRow?.totp !== undefined,
        recovery_codes_left: userRow ? recoveryCodesLeft(userRow) : 0,
        required: secondFactor.isDemanded,
      };
    },
  ),

  endpoint(
    "POST /api/v1/auth/second-factor/begin",
    { uses: [platformWrite, factorKeys] },
    {
      summary: "Get a key for an authenticator; it counts once a code of it was confirmed",
      description: "TOTP: SHA-1, six digits, 30 seconds. Only this answer has the key.",
      body: v.strictObject({ current_password: said("The password that is valid now", Password) }),
      returns: v.object({
        key: said("In base32, to be typed", v.string()),
        uri: said("The same for a QR code", v.string()),
      }),
      status: 201,
      errors: ["CONFLICT", "RATE_LIMITED"],
    },
    async ({ body, caller, ...deps }) => {
      const { user: userId, email, session } = requireUser(caller);
      if (session === undefined) throw conflict("Another issuer signs you in: the second factor is set up there.");
      await countAttempt(deps.platform, PASSWORDS_PER_USER, userId);
      const user = await findUser(deps.platform, email, body.current_password);
      if (!user) throw unauthorized("The current password is wrong.");
      const key = await offerKey(deps, user);
      return { key: base32(key), uri: totpUri(key, ISSUER, email) };
    },
  ),

  endpoint(
    "POST /api/v1/auth/second-factor/confirm",
    { uses: [platformWrite, factorKeys] },
    {
      summary: "Put the key in force by a code of it; all other sessions end",
      description: "Only this answer has the recovery codes.",
      body: v.strictObject({ code: Code }),
      returns: RecoveryCodes,
      errors: ["CONFLICT", "RATE_LIMITED"],
    },
    async ({ body, caller, ...deps }) => {
      const { session } = requireUser(caller);
      const user = await ownRow(deps.platform, caller);
      if (session === undefined) throw conflict("No second factor is being set up. Begin again.");
      await countGuessedCode(deps.platform, user.id);
      return { recovery_codes: await confirmKey(deps, user, body.code, session) };
    },
  ),

  endpoint(
    "POST /api/v1/auth/second-factor/remove",
    { uses: [platformWrite, factorKeys] },
    {
      summary: "Remove the caller's second factor by a code of it; all other sessions end",
      body: v.strictObject({ code: Code }),
      errors: ["CONFLICT", "RATE_LIMITED"],
    },
    async ({ body, caller, ...deps }) => {
      const user = await provenRow(deps, caller, body.code);
      await removeFactor(deps.platform, user, requireUser(caller).session);
    },
  ),

  endpoint(
    "POST /api/v1/auth/recovery-codes/renew",
    { uses: [platformWrite, factorKeys] },
    {
      summary: "Get ten new recovery codes; the old ones end",
      body: v.strictObject({ code: Code }),
      returns: RecoveryCodes,
      errors: ["CONFLICT", "RATE_LIMITED"],
    },
    async ({ body, caller, ...deps }) => {
      const user = await provenRow(deps, caller, body.code);
      return { recovery_codes: await renewRecoveryCodes(deps.platform, user) };
    },
  ),
];

/** The caller's row, after a code proved its second factor. @throws 409 without a second factor */
async function provenRow(
  deps: Parameters<typeof proveSecondFactor>[0] & { platform: PlatformReader },
  caller: Caller,
  code: string,
): Promise<UserRow> {
  const user = await ownRow(deps.platform, caller);
  const isProven = await proveSecondFactor(deps, user, code);
  if (!isProven) throw conflict("There is no second factor.");
  return user;
}

async function ownRow(platform: PlatformReader, caller: Caller): Promise<UserRow> {
  const { user, email } = requireUser(caller);
  const row = await platform.get(UserItem, { email });
  if (!row || row.id !== user) throw conflict("Another issuer signs you in: the second factor is set up there.");
  return row;
}
