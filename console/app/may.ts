// Whether the user who is signed in may call an operation.
import { judge, no, type Verdict } from "./judge.ts";
import { me } from "./session.ts";

export function may(operation: string): Verdict {
  const user = me.value;
  if (!user) return no("You are not signed in.");
  const { role, read_only: readOnly, tenant } = user;
  return judge(operation, { role, readOnly, plan: tenant.plan, isSuspended: tenant.status === "suspended" });
}
