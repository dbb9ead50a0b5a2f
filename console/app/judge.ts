// Whether a role and a plan may call an operation, by the API's own table, and the reason where not.
import { access, permissions, plans } from "./access.gen.ts";
import { listed } from "./time.ts";

export interface Verdict {
  allowed: boolean;
  /** One sentence, where it is not allowed. */
  reason: string;
}

const YES: Verdict = { allowed: true, reason: "" };
export const no = (reason: string): Verdict => ({ allowed: false, reason });

const ACTIONS: Record<string, string> = {
  "content:write": "change content",
  send: "send",
  "subscribers:write": "change subscribers",
  "channels:write": "change channels",
  "credentials:manage": "manage credentials",
  "insights:write": "change insights",
  "team:manage": "manage the team",
  "billing:manage": "change the plan",
};

const FEATURES: Record<string, string> = {
  in_app: "In-app messages",
  webhooks: "Webhooks",
  smart_channel: "Smart channels",
  schedules: "Schedules",
  agency: "Client workspaces",
};

interface Subject {
  role: string;
  readOnly: boolean;
  plan: string;
  isSuspended?: boolean;
}

export function judge(operation: string, { role, readOnly, plan, isSuspended }: Subject): Verdict {
  const { permission, feature, effect, openWhileSuspended } = access[operation] ?? {};
  if (effect && isSuspended && !openWhileSuspended) return no("This workspace is suspended.");
  if (effect && readOnly) return no("This session may only read.");
  if (permission && !permissions[permission]?.includes(role))
    return no(`Only ${holdersOf(permission)} may ${ACTIONS[permission]}.`);
  if (feature && !plans[plan]?.features.includes(feature))
    return no(`${FEATURES[feature]} are not part of the plan ${plan}.`);
  return YES;
}

const holdersOf = (permission: string): string => listed((permissions[permission] ?? []).map((role) => `${role}s`));
