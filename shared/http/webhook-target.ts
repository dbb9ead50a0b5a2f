// The target of a webhook, as the egress client allows it.
import type { Egress } from "../egress/egress.ts";
import { invalid } from "../kernel/errors.ts";

/** @throws 422 for a target that the service would never send to (ARC-16). */
export function requireTarget(egress: Egress, url: string): void {
  const refusal = egress.refusal(url, "webhook");
  if (refusal !== undefined) throw invalid({ target_url: refusal });
}
