// Checks the target of a webhook by the rules of the egress client.
import type { Egress } from "../egress/egress.ts";
import { invalid } from "../kernel/errors.ts";

/** Checks a target. @throws 422 if the service would never send to it (ARC-16) */
export function requireTarget(egress: Egress, url: string): void {
  const refusal = egress.refusal(url, "webhook");
  if (refusal !== undefined) throw invalid({ target_url: refusal });
}
