// The plan of a workspace: changed and noted at once, so that neither is there without the other (ANN-6, D-BILL).
import type { Capability } from "../../kernel/deps.ts";
import { requireFound } from "../../kernel/errors.ts";
import type { PlanName } from "../../rules/plans.ts";
import { absent, all, is } from "../conditions.ts";
import type { PlatformReader, StoreContext } from "../context.ts";
import { anotherEdit } from "../edits.ts";
import { annotationWrite } from "../insights/annotations.ts";
import { changeItem } from "../item.ts";
import { busy, contended, done, transacted, untilUncontended } from "../refusals.ts";
import { type JointWrite, openJointWrites } from "../table.ts";
import { WorkspaceItem } from "./items.ts";
import { getWorkspace } from "./workspaces.ts";

/** Writes the row of the workspace together with rows in it. */
export const planWrites: Capability<"planWrites", JointWrite> = {
  as: "planWrites",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:UpdateItem", "dynamodb:PutItem"], on: "table" }],
  open: (deps) => openJointWrites(deps, (tenant) => WorkspaceItem.pk({ tenant })),
};

interface PlanContext {
  platform: PlatformReader;
  planWrites: JointWrite;
  /** Its clock dates the note, which in a sandbox may be ahead. */
  store: Pick<StoreContext, "tenant" | "clock" | "ids">;
}

/**
 * Changes the plan where it is another one, and notes it once.
 * @param requireAllowed throws where it may not follow the plan that the workspace has at the change
 * @throws 404 for a workspace that is gone; 409
 */
export function changePlan(
  { platform, planWrites, store }: PlanContext,
  plan: PlanName,
  requireAllowed: (held: PlanName) => void = () => undefined,
): Promise<void> {
  const { tenant } = store;
  return untilUncontended(busy.conflict("The plan is being changed at the moment. Try again."), async () => {
    const { plan: before } = requireFound(await getWorkspace(platform, tenant), "workspace");
    if (before === plan) return done(undefined);
    requireAllowed(before);
    const isChanged = await transacted(planWrites, [
      changeItem(
        WorkspaceItem,
        { tenant },
        { set: { plan }, add: anotherEdit },
        all(is("plan", before), absent("purging_at")),
      ),
      annotationWrite(store, { kind: "plan_change", text: `The plan changed from ${before} to ${plan}.` }),
    ]);
    return isChanged ? done(undefined) : contended;
  });
}
