// Whether the user who is signed in may call an operation.
import { judge, no, type Verdict } from "./judge.ts";
import { me } from "./session.ts";

export function may(operation: string): Verdict {
  const user = me.value;
  if (!user) return no("You are not signed in.");
  return judge(operation, { role: user.role, readOnly: user.read_only, plan: user.tenant.plan });
}
