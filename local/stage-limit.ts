// The limit of a gateway's stage, as API Gateway counts it: a bucket of requests, which fills by the second.
import { type Clock, SECOND } from "../shared/kernel/clock.ts";

/** @returns whether a request is let in now. At once there may be as many as in half a second. */
export function openStageLimit({ now }: Pick<Clock, "now">, perSecond: number): () => boolean {
  const burst = Math.ceil(perSecond / 2);
  let left = burst;
  let filledAt = now();
  return () => {
    const at = now();
    left = Math.min(burst, left + ((at - filledAt) / SECOND) * perSecond);
    filledAt = at;
    if (left < 1) return false;
    left--;
    return true;
  };
}
