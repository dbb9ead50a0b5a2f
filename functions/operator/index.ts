// Changes of a workspace by the operator of the service: invoked with IAM rights, never through the gateway (D-TENANT).
import * as v from "valibot";
import { type Deps, NO_TENANT, type Uses } from "../../shared/deps.ts";
import { fieldsOf } from "../../shared/http/input.ts";
import { planNames } from "../../shared/plans.ts";
import { platformWrite, storeWrite, timers } from "../../shared/resources.ts";
import { annotate } from "../../shared/store/insights/annotations.ts";
import { changeStatus, purgeTimer } from "../../shared/store/workspaces/purge.ts";
import { setUsage, usageOf } from "../../shared/store/workspaces/usage.ts";
import { changeWorkspace, getWorkspace, type WorkspaceRecord } from "../../shared/store/workspaces/workspaces.ts";

const Amount = v.pipe(
  v.number("must be a number"),
  v.integer("must be a whole number"),
  v.minValue(0, "must not be negative"),
);

const OperatorChange = v.strictObject({
  tenant_id: v.string("must be a string"),
  plan: v.optional(v.picklist(planNames, `must be one of ${planNames.join(", ")}`)),
  kind: v.optional(v.picklist(["standard", "agency"], "must be standard or agency")),
  status: v.optional(v.picklist(["active", "suspended", "deleted"], "must be active, suspended or deleted")),
  monthly_send_cap: v.optional(v.nullable(Amount)),
  usage: v.optional(v.strictObject({ sends: v.optional(Amount), events: v.optional(Amount) })),
});

export type OperatorAnswer =
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

export const operator: OperatorFunction = {
  name: "operator",
  about: "Changes a workspace's plan, kind, status, cap or usage; 30 days after a deletion its data goes.",
  input: OperatorChange,
  uses: [platformWrite, storeWrite, timers],
  create: (deps) => {
    const platform = platformWrite.open(deps)(NO_TENANT);
    const bindStore = storeWrite.open(deps);
    const bindTimers = timers.open(deps);
    return async (event) => {
      const parsed = v.safeParse(OperatorChange, event);
      if (!parsed.success) return { error: "invalid", fields: fieldsOf(parsed.issues) };
      const { tenant_id, usage, status, ...change } = parsed.output;
      const before = await getWorkspace(platform, tenant_id);
      if (!before) return { error: "not_found" };
      const store = bindStore(before.id);
      if (status !== undefined && status !== before.status) {
        const now = deps.clock.now();
        if (status === "deleted") await bindTimers(store.tenant).set([purgeTimer(store.tenant, now)]);
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
    };
  },
};
