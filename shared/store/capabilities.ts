// Capabilities of the table beside the store itself: secrets, timers, and the workspace's row.
import { MINUTE } from "../kernel/clock.ts";
import { type Capability, perEnvironment } from "../kernel/deps.ts";
import type { TenantId } from "../kernel/ids.ts";
import { openStore } from "./context.ts";
import { openSecrets } from "./secrets.ts";
import { nameLearner } from "./subscribers/names.ts";
import type { SubscriberCap } from "./subscribers/profile-writes.ts";
import { countSubscribers } from "./subscribers/subscribers.ts";
import { openPlatformTable } from "./table.ts";
import { openTimers, type Timers } from "./timers.ts";
import { getWorkspace, type WorkspaceRecord } from "./workspaces/workspaces.ts";

/** The settings and the status of the workspace that a worker acts for. */
export const workspaceRead: Capability<"workspace", () => Promise<WorkspaceRecord | undefined>> = {
  as: "workspace",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:GetItem"], on: "table" }],
  open: (deps) => {
    const bound = openPlatformTable(deps, "TENANT#");
    return (tenant) => () => getWorkspace(bound, tenant);
  },
};

/** Root secrets, read: SDK keys, subscriber ids, cursors. */
export const secrets = /* @__PURE__ */ perEnvironment(
  "secrets",
  {
    env: ["TABLE_NAME", "ENCRYPTION_KEY_ID"],
    grants: [
      { actions: ["dynamodb:GetItem"], on: "table" },
      { actions: ["kms:Decrypt"], on: "encryption-key" },
    ],
  },
  openSecrets,
);

export const timers: Capability<"timers", Timers> = {
  as: "timers",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:PutItem", "dynamodb:BatchWriteItem"], on: "table" }],
  open: openTimers,
};

interface AttributeKeys {
  learn(tenant: string, names: readonly string[]): Promise<void>;
}

/** Stores the attribute keys that occur; cached keys cost no request. */
export const attributeKeys = /* @__PURE__ */ perEnvironment(
  "attributeKeys",
  { env: ["TABLE_NAME"], grants: [{ actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"], on: "table" }] },
  (deps): AttributeKeys => {
    const bind = openStore(deps);
    const learn = nameLearner();
    return { learn: (tenant, names) => learn(bind(tenant as TenantId), "attributes", names) };
  },
);

/** The number of subscribers of a workspace: read at most once a minute per environment, more often near the cap. */
interface AudienceSize {
  capOf(max: number): Promise<SubscriberCap>;
  /** How many more subscribers the plan allows, read now. */
  room(max: number): Promise<number>;
}

export const audienceSize: Capability<"audienceSize", AudienceSize> = {
  as: "audienceSize",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:Query"], on: "table" }],
  open: (deps) => {
    const bind = openStore(deps);
    const cache = new Map<string, { count: number; at: number; asked: number; createdInRow: number }>();
    return (tenant) => ({
      capOf: async (max) => {
        const now = deps.clock.now();
        const last = cache.get(tenant);
        const isFresh = last && now - last.at < MINUTE && last.count + last.asked < max * NEAR_CAP;
        const counted = async () => ({ count: await countSubscribers(bind(tenant)), at: now, asked: 0 });
        const state = isFresh ? last : { ...(await counted()), createdInRow: last?.createdInRow ?? 0 };
        state.asked++;
        cache.set(tenant, state);
        return {
          mayCreate: state.count < max,
          used: state.count,
          limit: max,
          isLikelyNew: state.createdInRow >= LIKELY_AFTER,
          learn: (isNew) => {
            state.createdInRow = isNew ? state.createdInRow + 1 : 0;
          },
        };
      },
      room: async (max) => Math.max(0, max - (await countSubscribers(bind(tenant)))),
    });
  },
};

/** After this many creations in a row another one is expected: a wrong guess costs two units, a right one saves one. */
const LIKELY_AFTER = 8;
/** From this share of a cap on, the count is read every time. */
const NEAR_CAP = 0.9;
