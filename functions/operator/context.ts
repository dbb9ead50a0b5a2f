// What the operator function may access, and how it refuses.
import { publishedParts } from "../../shared/contract/stream-sources.ts";
import { registrationMode } from "../../shared/http/registration.ts";
import { anyStore, defaultPlan, secretsMaker } from "../../shared/http/signing.ts";
import type { Clock } from "../../shared/kernel/clock.ts";
import { type Context, perEnvironment } from "../../shared/kernel/deps.ts";
import type { Ids, TenantId } from "../../shared/kernel/ids.ts";
import { deadLetters } from "../../shared/runtime/dead-letters.ts";
import { recountQueue } from "../../shared/runtime/resources.ts";
import { timers } from "../../shared/store/capabilities.ts";
import { platformWrite, type Store, storeWrite } from "../../shared/store/context.ts";
import { planWrites } from "../../shared/store/workspaces/plan-changes.ts";
import type { WorkspaceRow } from "../../shared/store/workspaces/workspaces.ts";

/** Whether the deployment has an event bus. */
const eventBusKnown = /* @__PURE__ */ perEnvironment(
  "hasEventBus",
  { env: ["EVENT_BUS"] },
  ({ env }) => publishedParts(env).bus,
);

export const uses = [
  platformWrite,
  storeWrite,
  planWrites,
  timers,
  anyStore,
  secretsMaker,
  defaultPlan,
  registrationMode,
  eventBusKnown,
  deadLetters,
  recountQueue,
] as const;

export type OperatorContext = Context<typeof uses> & {
  bind(tenant: TenantId): Context<typeof uses>;
  /** The store of a workspace on its own clock; the clock of a sandbox may be ahead. */
  storeIn(workspace: WorkspaceRow): Store;
  clock: Clock;
  ids: Ids;
};

export type Refusal =
  | { error: "conflict"; message: string }
  | { error: "not_found" }
  | { error: "invalid"; fields: Record<string, string> };
