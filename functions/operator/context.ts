// What the operator function may touch, and how it refuses.
import type { Clock, Ids } from "../../shared/clock.ts";
import { deadLetters } from "../../shared/dead-letters.ts";
import type { Context } from "../../shared/deps.ts";
import { platformWrite, recountQueue, storeWrite, timers } from "../../shared/resources.ts";
import { anyStore, defaultPlan, secretsMaker } from "../../shared/signing.ts";
import type { TenantId } from "../../shared/store/model.ts";

export const uses = [
  platformWrite,
  storeWrite,
  timers,
  anyStore,
  secretsMaker,
  defaultPlan,
  deadLetters,
  recountQueue,
] as const;

export type OperatorContext = Context<typeof uses> & {
  bind(tenant: TenantId): Context<typeof uses>;
  clock: Clock;
  ids: Ids;
};

export type Refusal =
  | { error: "conflict"; message: string }
  | { error: "not_found" }
  | { error: "invalid"; fields: Record<string, string> };
