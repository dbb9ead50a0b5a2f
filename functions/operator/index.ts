// Changes of a workspace by the operator of the service: invoked with IAM rights, never through the gateway (D-TENANT).
import * as v from "valibot";
import type { Clock, Ids } from "../../shared/clock.ts";
import { type Context, type Deps, NO_TENANT, openAll, type Uses } from "../../shared/deps.ts";
import { ApiError } from "../../shared/http/errors.ts";
import { fieldsOf } from "../../shared/http/input.ts";
import { Amount } from "../../shared/http/schemas.ts";
import { planNames } from "../../shared/plans.ts";
import { AccountEmail, createAccount, inviteToRegister, NewAccount } from "../../shared/registration.ts";
import { platformWrite, storeWrite, timers } from "../../shared/resources.ts";
import { anyStore, defaultPlan, secretsMaker } from "../../shared/signing.ts";
import { annotate } from "../../shared/store/insights/annotations.ts";
import type { TenantId } from "../../shared/store/model.ts";
import { changeStatus, purgeTimer } from "../../shared/store/workspaces/purge.ts";
import { setUsage, usageOf } from "../../shared/store/workspaces/usage.ts";
import { changeWorkspace, getWorkspace, type WorkspaceRecord } from "../../shared/store/workspaces/workspaces.ts";

const OperatorChange = v.strictObject({
  tenant_id: v.string("must be a string"),
  plan: v.optional(v.picklist(planNames, `must be one of ${planNames.join(", ")}`)),
  kind: v.optional(v.picklist(["standard", "agency"], "must be standard or agency")),
  status: v.optional(v.picklist(["active", "suspended", "deleted"], "must be active, suspended or deleted")),
  monthly_send_cap: v.optional(v.nullable(Amount)),
  usage: v.optional(v.strictObject({ sends: v.optional(Amount), events: v.optional(Amount) })),
});

const Registration = v.strictObject({
  register: v.strictObject({
    ...NewAccount.entries,
    plan: v.optional(v.picklist(planNames, `must be one of ${planNames.join(", ")}`)),
  }),
});
const Invitation = v.strictObject({ invite: v.strictObject({ email: AccountEmail }) });

export type OperatorAnswer =
  | { invited: { email: string; until: string } }
  | { error: "conflict"; message: string }
  | { workspace: WorkspaceRecord; usage: { sends: number; events: number } }
  | { error: "not_found" }
  | { error: "invalid"; fields: Record<string, string> };

export interface OperatorFunction {
  name: "operator";
  about: string;
  /** The event it takes. */
  input: typeof OperatorChange;
  uses: Uses;
  create(deps: Deps): (event: unknown) => Promise<OperatorAnswer>;
}

const uses = [platformWrite, storeWrite, timers, anyStore, secretsMaker, defaultPlan] as const;

export const operator: OperatorFunction = {
  name: "operator",
  about:
    "Changes a workspace's plan, kind, status, cap or usage; 30 days after a deletion its data goes. Makes workspaces " +
    "where registration is closed, and invites to register.",
  input: OperatorChange,
  uses,
  create: (deps) => {
    const bind = openAll(uses, deps);
    return async (event) => {
      const action = Object.hasOwn(Object(event), "register")
        ? add
        : Object.hasOwn(Object(event), "invite")
          ? invite
          : change;
      return action({ ...bind(NO_TENANT), bind, clock: deps.clock, ids: deps.ids }, event);
    };
  },
};

type OperatorContext = Context<typeof uses> & {
  bind(tenant: TenantId): Context<typeof uses>;
  clock: Clock;
  ids: Ids;
};

/** Makes a user with a workspace of their own, as `POST /api/v1/auth/register` does where it is open. */
async function add(context: OperatorContext, event: unknown): Promise<OperatorAnswer> {
  const parsed = v.safeParse(Registration, event);
  if (!parsed.success) return { error: "invalid", fields: fieldsOf(parsed.issues) };
  const { plan = context.defaultPlan, ...account } = parsed.output.register;
  try {
    const { tenant } = await createAccount(context, account, plan);
    return shownOf(context, tenant);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { fields } = error.details;
    return fields ? { error: "invalid", fields } : { error: "conflict", message: error.message };
  }
}

async function invite({ platform }: OperatorContext, event: unknown): Promise<OperatorAnswer> {
  const parsed = v.safeParse(Invitation, event);
  if (!parsed.success) return { error: "invalid", fields: fieldsOf(parsed.issues) };
  return { invited: await inviteToRegister(platform, parsed.output.invite.email) };
}

async function change(context: OperatorContext, event: unknown): Promise<OperatorAnswer> {
  const { platform, bind, clock } = context;
  const parsed = v.safeParse(OperatorChange, event);
  if (!parsed.success) return { error: "invalid", fields: fieldsOf(parsed.issues) };
  const { tenant_id, usage, status, ...change } = parsed.output;
  const before = await getWorkspace(platform, tenant_id);
  if (!before) return { error: "not_found" };
  const { store, timers } = bind(before.id);
  if (status !== undefined && status !== before.status) {
    const now = clock.now();
    if (status === "deleted") await timers.set([purgeTimer(store.tenant, now)]);
    if (!(await changeStatus(platform, store.tenant, status, now))) return { error: "not_found" };
  }
  if (usage) await setUsage(store, usage);
  const workspace = (await changeWorkspace(platform, store.tenant, change)) ?? before;
  if (workspace.plan !== before.plan)
    await annotate(store, {
      kind: "plan_change",
      text: `The plan changed from ${before.plan} to ${workspace.plan}.`,
    });
  return { workspace, usage: await usageOf(store) };
}

async function shownOf({ platform, bind }: OperatorContext, tenant: TenantId): Promise<OperatorAnswer> {
  const workspace = await getWorkspace(platform, tenant);
  return workspace ? { workspace, usage: await usageOf(bind(tenant).store) } : { error: "not_found" };
}
