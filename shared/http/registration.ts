// Registration on this deployment: open or closed by a setting, with the invitations of the operator.
import * as v from "valibot";
import { OwnName, said } from "../contract/schemas.ts";
import { DAY, SECOND, timestamp, ttl } from "../kernel/clock.ts";
import { type Context, perEnvironment, settingAmong } from "../kernel/deps.ts";
import { ApiError, invalid } from "../kernel/errors.ts";
import type { Ids, TenantId } from "../kernel/ids.ts";
import { isEmailAddress, withAsciiDomain } from "../rules/contacts.ts";
import { weaknessOf } from "../rules/passwords.ts";
import { type PlanName, planNames } from "../rules/plans.ts";
import type { Platform, PlatformReader, platformWrite } from "../store/context.ts";
import { hashPassword, register, requireFree, type User, workspaceKinds } from "../store/workspaces/identity.ts";
import { RegistrationInvite } from "../store/workspaces/identity-items.ts";
import type { anyStore, secretsMaker } from "./signing.ts";

/** Anyone; addresses that the operator invited; only through the operator. */
export const registrations = ["open", "invite", "closed"] as const;
type RegistrationMode = (typeof registrations)[number];

const SALT_BYTES = 16;
const INVITED_FOR_MS = 7 * DAY;

export const registrationMode = /* @__PURE__ */ perEnvironment("registration", { env: ["REGISTRATION"] }, (deps) =>
  settingAmong(deps, "REGISTRATION", registrations),
);

/** The largest plan that a workspace may choose by itself; with open registration, the plan of new ones. */
export const largestOwnPlan = /* @__PURE__ */ perEnvironment(
  "largestOwnPlan",
  { env: ["STRANGERS", "DEFAULT_PLAN"] },
  (deps) => (deps.env.STRANGERS === "1" ? settingAmong(deps, "DEFAULT_PLAN", planNames) : planNames.at(-1)!),
);

export const AccountEmail = v.pipe(
  v.string(),
  v.trim(),
  v.maxLength(254, "must be an email address"),
  v.transform(withAsciiDomain),
  v.check(isEmailAddress, "must be an email address"),
);
export const Password = v.pipe(v.string(), v.maxLength(1_024, "must have at most 1,024 characters"));
export const NewKind = said(
  "`sandbox`: the time of the workspace can be moved, and what it sends is recorded instead. It stays what it is. " +
    "Default: `standard`",
  v.optional(v.picklist(workspaceKinds, "must be standard or sandbox")),
);
export const NewAccount = v.strictObject({
  email: AccountEmail,
  password: Password,
  name: OwnName,
  workspace_name: OwnName,
  kind: NewKind,
});

type CreationContext = Context<readonly [typeof platformWrite, typeof anyStore, typeof secretsMaker]> & { ids: Ids };

/**
 * Makes a user with a workspace of their own, and the root secrets if this is the first one.
 * @throws 422 for a weak password, 409 if the email address is taken.
 */
export async function createAccount(
  { platform, storeOf, secretsMaker, ids }: CreationContext,
  { password, ...account }: v.InferOutput<typeof NewAccount>,
  { plan, isConfirmed }: { plan: PlanName; isConfirmed: boolean },
): Promise<{ user: User; tenant: TenantId; secret: string }> {
  refuseWeak(password, [account.email, account.workspace_name]);
  await requireFree(platform, account.email);
  await secretsMaker.ensure();
  const secret = await hashPassword(password, ids.bytes(SALT_BYTES));
  return { ...(await register(platform, storeOf, { ...account, secret, plan, isConfirmed })), secret };
}

/** Refuses a password that is easily guessed. @throws 422 with the reason */
export function refuseWeak(password: string, personal: readonly string[]): void {
  const weakness = weaknessOf(password, personal);
  if (weakness) throw invalid({ password: weakness });
}

/** Lets an address register on a deployment with registration by invitation, for 7 days. */
export async function inviteToRegister(platform: Platform, email: string): Promise<{ email: string; until: string }> {
  const at = platform.clock.now() + INVITED_FOR_MS;
  await platform.put(RegistrationInvite, { email }, { email, expires: ttl(at) });
  return { email, until: timestamp(at) };
}

/** Admits an address. @returns whether the operator invited it @throws 403 if it may not register on this deployment */
export async function admitRegistration(
  platform: PlatformReader,
  mode: RegistrationMode,
  email: string,
): Promise<boolean> {
  if (mode === "closed") throw new ApiError("FORBIDDEN", "Registration is closed. Ask the operator for a workspace.");
  const invite = await platform.get(RegistrationInvite, { email });
  const isInvited = invite !== undefined && invite.expires * SECOND > platform.clock.now();
  if (mode === "invite" && !isInvited)
    throw new ApiError("FORBIDDEN", "Registration is by invitation. Ask the operator to invite this address.");
  return isInvited;
}
