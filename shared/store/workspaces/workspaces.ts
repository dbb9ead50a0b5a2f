// The workspace itself: its settings, its plan, its status (AMB-85, D-BILL, D-TENANT).
import { withoutNulls } from "../../kernel/objects.ts";
import { DEFAULT_SAFETY } from "../../rules/brake.ts";
import { above, absent, all, present } from "../conditions.ts";
import type { Platform, PlatformReader } from "../context.ts";
import { anotherEdit, isStill, versionOf } from "../edits.ts";
import { changeItem, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { transacted } from "../refusals.ts";
import { WorkspaceItem, type workspaceFields } from "./items.ts";
import type { SendingSettings, WorkspaceSettings } from "./settings.ts";

export type WorkspaceRow = RowOf<typeof WorkspaceItem>;

export interface WorkspaceRecord extends WorkspaceSettings, Pick<WorkspaceRow, "id" | keyof typeof workspaceFields> {
  monthly_send_cap: number | null;
  version: number;
}

type Change = { [N in keyof Omit<WorkspaceRecord, "id" | "created_at" | "version">]?: WorkspaceRecord[N] | undefined };

/** A workspace that is being purged, or was, counts as missing. */
export async function getWorkspace(
  platform: Pick<PlatformReader, "get">,
  tenant: string,
): Promise<WorkspaceRecord | undefined> {
  return presentWorkspace(await platform.get(WorkspaceItem, { tenant }));
}

/** A workspace by its row, where that was read with others. */
export const presentWorkspace = (row: WorkspaceRow | undefined): WorkspaceRecord | undefined =>
  row && !row.purging_at ? workspaceRecordOf(row) : undefined;

const removable = [
  "quiet_hours",
  "monthly_send_cap",
  "region",
  "currency",
  "sender_name",
  "postal_address",
  "utm_defaults",
] as const;

/** `refused`: there is no such workspace, it has another version than was seen, or no key for the ids that it demands. */
type ChangedWorkspace = { kind: "changed"; workspace: WorkspaceRecord } | { kind: "refused" };

/** A list in JSON is after the empty one. */
const hasIdentityKey = () => above("identity_keys", toJson([]));

/**
 * Changes the given settings; null removes one.
 * @param seen only if it still has this version
 */
export async function changeWorkspace(
  platform: Platform,
  tenant: string,
  change: Change,
  seen?: number,
): Promise<ChangedWorkspace> {
  const current = async (): Promise<ChangedWorkspace> => {
    const workspace = await getWorkspace(platform, tenant);
    return workspace ? { kind: "changed", workspace } : { kind: "refused" };
  };
  if (Object.values(change).every((value) => value === undefined)) return current();

  const { quiet_hours, frequency_caps, safety, utm_defaults, ...plain } = change;
  const set = {
    ...withoutNulls(plain),
    quiet_hours: quiet_hours ? toJson(quiet_hours) : undefined,
    frequency_caps: frequency_caps && toJson(frequency_caps),
    safety: safety === undefined ? undefined : toJson(safety),
    utm_defaults: utm_defaults ? toJson(utm_defaults) : undefined,
  };
  const remove = removable.filter((name) => change[name] === null);
  const when = all<"pk" | "purging_at" | "edits" | "identity_keys">(
    present(),
    absent("purging_at"),
    ...(seen === undefined ? [] : [isStill(seen)]),
    ...(change.identity_required ? [hasIdentityKey()] : []),
  );
  const edit = { set, add: anotherEdit, remove };
  const isChanged = await transacted(platform, [changeItem(WorkspaceItem, { tenant }, edit, when)]);
  return isChanged ? current() : { kind: "refused" };
}

export const sendingSettingsOf = (row: WorkspaceRow): SendingSettings => ({
  timezone: row.timezone ?? "UTC",
  email_consent_mode: row.email_consent_mode ?? "opt_out",
  quiet_hours: row.quiet_hours ? fromJson(row.quiet_hours) : null,
  frequency_caps: row.frequency_caps ? fromJson(row.frequency_caps) : [],
});

const workspaceRecordOf = (row: WorkspaceRow): WorkspaceRecord => ({
  id: row.id,
  name: row.name ?? "",
  version: versionOf(row),
  plan: row.plan,
  kind: row.kind,
  status: row.status,
  ...sendingSettingsOf(row),
  safety: row.safety === undefined ? DEFAULT_SAFETY : fromJson(row.safety),
  identity_required: row.identity_required ?? false,
  double_opt_in: row.double_opt_in ?? false,
  second_factor_required: row.second_factor_required ?? false,
  approval_required: row.approval_required ?? false,
  region: row.region ?? null,
  currency: row.currency ?? null,
  sender_name: row.sender_name ?? null,
  postal_address: row.postal_address ?? null,
  utm_defaults: row.utm_defaults ? fromJson(row.utm_defaults) : null,
  test_subscriber_ids: row.test_subscriber_ids ?? [],
  agent_attributes: row.agent_attributes ?? [],
  monthly_send_cap: row.monthly_send_cap ?? null,
  created_at: row.created_at,
});

/**
 * Whether members of an agency may act in the workspaces of its clients: not while it is suspended, deleted or no agency any more.
 * On a smaller plan it keeps those that it has (AMB-87): nobody else might reach them.
 */
export const keepsClients = ({ status, kind }: WorkspaceRow): boolean => status === "active" && kind === "agency";

interface ProvidedSession {
  /** The workspace at whose provider it began, and that provider. */
  provided?: string | undefined;
  provider?: string | undefined;
  created_at: string;
}

/** Whether a session began at a provider that its workspace has replaced or removed since, also where it named the same one again. */
export const hasLostProvider = (
  { provided, provider, created_at }: ProvidedSession,
  workspaces: readonly (WorkspaceRow | undefined)[],
): boolean => {
  const ownWorkspace = workspaces.find((workspace) => workspace !== undefined && workspace.id === provided);
  return (
    ownWorkspace !== undefined &&
    (ownWorkspace.sign_in_client !== provider || created_at <= (ownWorkspace.sign_in_ended_at ?? ""))
  );
};
