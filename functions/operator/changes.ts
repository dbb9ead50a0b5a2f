// Changes by the operator: workspaces where registration is closed, invitations to register, plans, caps, statuses.
import * as v from "valibot";
import { Amount, OneOf } from "../../shared/contract/schemas.ts";
import { AccountEmail, createAccount, inviteToRegister, NewAccount } from "../../shared/http/registration.ts";
import { ApiError } from "../../shared/kernel/errors.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { planNames } from "../../shared/rules/plans.ts";
import { present } from "../../shared/store/conditions.ts";
import { clientsInNeed, lostAgencyOf } from "../../shared/store/workspaces/agencies.ts";
import { UserItem } from "../../shared/store/workspaces/identity-items.ts";
import { WorkspaceItem } from "../../shared/store/workspaces/items.ts";
import { changePlan } from "../../shared/store/workspaces/plan-changes.ts";
import { changeStatus, purgeTimer } from "../../shared/store/workspaces/purge.ts";
import { removeFactor } from "../../shared/store/workspaces/second-factors.ts";
import { usageOf } from "../../shared/store/workspaces/usage.ts";
import { setUsage } from "../../shared/store/workspaces/usage-correction.ts";
import {
  changeWorkspace,
  getWorkspace,
  presentWorkspace,
  type WorkspaceRecord,
} from "../../shared/store/workspaces/workspaces.ts";
import type { OperatorContext, Refusal } from "./context.ts";

export const Plan = OneOf(planNames);

export const OperatorChange = v.strictObject({
  tenant_id: v.string(),
  plan: v.optional(Plan),
  kind: v.optional(v.picklist(["standard", "agency"], "must be standard or agency")),
  status: v.optional(v.picklist(["active", "suspended", "deleted"], "must be active, suspended or deleted")),
  monthly_send_cap: v.optional(v.nullable(Amount)),
  usage: v.optional(v.strictObject({ sends: v.optional(Amount), events: v.optional(Amount) })),
});

export const Registration = v.strictObject({
  register: v.strictObject({ ...NewAccount.entries, plan: v.optional(Plan) }),
});
export const Invitation = v.strictObject({ invite: v.strictObject({ email: AccountEmail }) });

type ShownWorkspace = { workspace: WorkspaceRecord; usage: { sends: number; events: number } };

/** Makes a user with a workspace of their own, as `POST /api/v1/auth/register` does where it is open. */
export async function register(
  context: OperatorContext,
  { register }: v.InferOutput<typeof Registration>,
): Promise<ShownWorkspace | Refusal> {
  const { plan = context.defaultPlan, ...account } = register;
  try {
    const { tenant } = await createAccount(context, account, { plan, isConfirmed: true });
    return shownOf(context, tenant);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { fields } = error.details;
    return fields ? { error: "invalid", fields } : { error: "conflict", message: error.message };
  }
}

export async function inviteAddress(
  { platform, registration }: OperatorContext,
  { invite }: v.InferOutput<typeof Invitation>,
): Promise<{ invited: { email: string; until: string } } | Refusal> {
  if (registration === "closed")
    return { error: "conflict", message: "Registration is closed: nobody can register, also not who is invited." };
  return { invited: await inviteToRegister(platform, invite.email) };
}

export const ForgetSecondFactor = v.strictObject({ forget_second_factor: v.strictObject({ email: AccountEmail }) });

/** For a user who has lost the authenticator and the recovery codes: ends the second factor and every session. */
export async function forgetSecondFactor(
  { platform }: OperatorContext,
  { forget_second_factor: { email } }: v.InferOutput<typeof ForgetSecondFactor>,
): Promise<{ forgotten: { email: string } } | Refusal> {
  const user = await platform.get(UserItem, { email });
  if (!user) return { error: "not_found" };
  await removeFactor(platform, user, undefined);
  return { forgotten: { email } };
}

export const EndSignInDemand = v.strictObject({
  end_sign_in_demand: v.strictObject({ tenant_id: v.string() }),
});

/** For a workspace whose identity provider fails: opens it to passwords again. */
export async function endSignInDemand(
  { platform }: OperatorContext,
  { end_sign_in_demand: { tenant_id } }: v.InferOutput<typeof EndSignInDemand>,
): Promise<{ ended: { tenant_id: string } } | Refusal> {
  const workspace = await getWorkspace(platform, tenant_id);
  if (!workspace) return { error: "not_found" };
  await platform.change(WorkspaceItem, { tenant: tenant_id }, { set: { sign_in_required: false } }, present());
  return { ended: { tenant_id } };
}

export const EventsOnBus = v.strictObject({
  events_on_bus: v.strictObject({
    tenant_id: v.string(),
    on: v.boolean(),
  }),
});

/** Sets whether the events that a workspace receives go to the event bus, if the deployment has one. */
export async function chooseEventsOnBus(
  { platform, hasEventBus }: OperatorContext,
  { events_on_bus: { tenant_id, on } }: v.InferOutput<typeof EventsOnBus>,
): Promise<{ events_on_bus: { tenant_id: string; on: boolean } } | Refusal> {
  const workspace = await getWorkspace(platform, tenant_id);
  if (!workspace) return { error: "not_found" };
  if (on && !hasEventBus)
    return { error: "conflict", message: "The deployment has no event bus: the setting eventBus is off." };
  await platform.change(WorkspaceItem, { tenant: tenant_id }, { set: { events_on_bus: on } }, present());
  return { events_on_bus: { tenant_id, on } };
}

const MAX_NAMED = 5;

const keepsClients = (clients: readonly { id: string }[]): Refusal => ({
  error: "conflict",
  message:
    `It keeps workspaces of clients that have no owner of their own, and nobody would reach them: delete them before, or suspend ` +
    `the agency. Among them: ${clients
      .slice(0, MAX_NAMED)
      .map(({ id }) => id)
      .join(", ")}.`,
});

/** Changes a workspace for the operator: its plan, status, kind, or what it has used of the month. */
export async function changeOne(
  { platform, bind, storeIn, clock }: OperatorContext,
  { tenant_id, usage, status, plan, ...change }: v.InferOutput<typeof OperatorChange>,
): Promise<ShownWorkspace | Refusal> {
  const row = await platform.get(WorkspaceItem, { tenant: tenant_id });
  const before = presentWorkspace(row);
  if (!row || !before) return { error: "not_found" };
  if (change.kind !== undefined && before.kind === "sandbox")
    return { error: "conflict", message: "A sandbox stays one: its kind cannot be changed." };
  const store = storeIn(row);
  const isLost = (status === "deleted" && before.status !== status) || change.kind === "standard";
  const left = isLost ? await clientsInNeed(platform, store.tenant) : [];
  if (left.length > 0) return keepsClients(left);
  if (status !== undefined && status !== before.status) {
    const now = clock.now();
    const agency = before.status === "deleted" ? await lostAgencyOf(platform, row) : undefined;
    if (agency !== undefined)
      return {
        error: "conflict",
        message: `Nobody would reach it: restore its agency ${agency} before, or make it one again.`,
      };
    if (status === "deleted") await bind(before.id).timers.set([purgeTimer(store.tenant, now)]);
    const isChanged = await changeStatus(platform, store.tenant, status, now);
    if (!isChanged) return { error: "not_found" };
  }
  if (usage) await setUsage(store, usage);
  if (plan) await changePlan({ platform, store, planWrites: bind(before.id).planWrites }, plan);
  const changed = await changeWorkspace(platform, store.tenant, change);
  return { workspace: changed.kind === "changed" ? changed.workspace : before, usage: await usageOf(store) };
}

async function shownOf({ platform, bind }: OperatorContext, tenant: TenantId): Promise<ShownWorkspace | Refusal> {
  const workspace = await getWorkspace(platform, tenant);
  return workspace ? { workspace, usage: await usageOf(bind(tenant).store) } : { error: "not_found" };
}
