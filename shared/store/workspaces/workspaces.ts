// The workspace itself: its settings, its plan, its status (AMB-85, D-BILL, D-TENANT).
import type { PlanName } from "../../plans.ts";
import type { Platform } from "../../resources.ts";
import type { FrequencyCap } from "../../rules/caps.ts";
import type { QuietHours } from "../../rules/quiet-hours.ts";
import { absent, all, present } from "../conditions.ts";
import { platformKeys } from "../keys.ts";
import type { Item, TenantId, Value } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";

export interface QuietSettings extends QuietHours {
  timezone_mode: "subscriber" | "workspace";
}

export interface WorkspaceSettings {
  name: string;
  timezone: string;
  email_consent_mode: "opt_out" | "opt_in";
  quiet_hours: QuietSettings | null;
  frequency_caps: FrequencyCap[];
}

export interface WorkspaceRecord extends WorkspaceSettings {
  id: string;
  plan: PlanName;
  kind: "standard" | "agency";
  status: "active" | "suspended" | "deleted";
  monthly_send_cap: number | null;
  created_at: string;
}

type Change = { [K in keyof WorkspaceRecord]?: WorkspaceRecord[K] | undefined };

const RECORDED = ["quiet_hours", "frequency_caps"] as const;

/** A workspace that is being purged, or was, is none any more. */
export async function getWorkspace(
  platform: Pick<Platform, "get">,
  tenant: TenantId,
): Promise<WorkspaceRecord | undefined> {
  const item = await platform.get(platformKeys.tenant(tenant));
  return item && !item.purging_at ? workspaceRecordOf(item) : undefined;
}

/** Changes what is given. @returns the workspace as it was before and is now, or undefined if there is none. */
export async function changeWorkspace(
  platform: Platform,
  tenant: TenantId,
  change: Change,
): Promise<WorkspaceRecord | undefined> {
  const set: Record<string, Value | undefined> = {};
  const remove: string[] = [];
  for (const [name, value] of Object.entries(change))
    if (value === null) remove.push(name);
    else if (value !== undefined)
      set[name] = RECORDED.some((found) => found === name) ? JSON.stringify(value) : (value as Value);
  if (Object.keys(set).length + remove.length === 0) return getWorkspace(platform, tenant);
  return platform.update(platformKeys.tenant(tenant), { set, remove }, all(present(), absent("purging_at"))).then(
    workspaceRecordOf,
    onConditionFailed(() => undefined),
  );
}

function workspaceRecordOf(item: Item): WorkspaceRecord {
  const json = <T>(name: (typeof RECORDED)[number], fallback: T): T =>
    item[name] === undefined ? fallback : (JSON.parse(String(item[name])) as T);
  return {
    id: String(item.id),
    name: String(item.name),
    plan: item.plan as PlanName,
    kind: item.kind === "agency" ? "agency" : "standard",
    status: item.status as WorkspaceRecord["status"],
    timezone: String(item.timezone ?? "UTC"),
    email_consent_mode: item.email_consent_mode === "opt_in" ? "opt_in" : "opt_out",
    quiet_hours: json("quiet_hours", null),
    frequency_caps: json("frequency_caps", []),
    monthly_send_cap: item.monthly_send_cap === undefined ? null : Number(item.monthly_send_cap),
    created_at: String(item.created_at),
  };
}
