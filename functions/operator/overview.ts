// The operator's view of all workspaces: their usage and nearest limit, and the cost of a month.
import * as v from "valibot";
import { costOfUsage } from "../../shared/rules/month-cost.ts";
import { type PlanName, plans } from "../../shared/rules/plans.ts";
import type { StoreReader } from "../../shared/store/context.ts";
import { storedBytes } from "../../shared/store/experiences/assets.ts";
import { fullKey } from "../../shared/store/item.ts";
import { countDynamicSegments } from "../../shared/store/segments/segments.ts";
import { countSubscribers } from "../../shared/store/subscribers/subscribers.ts";
import { WorkspaceEntry, WorkspaceItem } from "../../shared/store/workspaces/items.ts";
import { limitOf, usageOf } from "../../shared/store/workspaces/usage.ts";
import type { WorkspaceRow } from "../../shared/store/workspaces/workspaces.ts";
import type { OperatorContext } from "./context.ts";

/** Workspaces of one answer: each takes about ten reads. */
const PAGE = 50;

const After = v.optional(v.pipe(v.string(), v.maxLength(64, "must be a workspace's id")));
export const WorkspacesRequest = v.strictObject({ workspaces: v.strictObject({ after: After }) });
export const CostRequest = v.strictObject({
  cost: v.strictObject({
    period: v.pipe(v.string(), v.regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, "must be a month, as 2026-10")),
    after: After,
  }),
});

type Amounts = Record<"sends" | "events" | "subscribers" | "asset_bytes" | "dynamic_segments", number>;
type Limits = { [N in keyof Amounts]: number };

interface Nearest {
  limit: keyof Amounts;
  used: number;
  max: number;
  percent: number;
}

export interface SeenWorkspace extends Pick<WorkspaceRow, "id" | "plan" | "status" | "kind" | "created_at"> {
  name: string;
  usage: Amounts;
  /** The limit with the largest share used; null without limits. */
  nearest: Nearest | null;
}

export interface WorkspaceCost {
  id: string;
  name: string;
  sends: number;
  events: number;
  /** The cost if all sends went to many. */
  dollars: number;
  /** The cost if each send went to one. */
  dollars_at_most: number;
}

/** A page of all workspaces by id, without those whose data is removed. */
export async function seeWorkspaces(
  context: OperatorContext,
  { workspaces: { after } }: v.InferOutput<typeof WorkspacesRequest>,
): Promise<{ workspaces: SeenWorkspace[]; next: string | undefined }> {
  const { rows, next } = await pageOf(context, after);
  const open = rows.filter(({ purging_at }) => !purging_at);
  const workspaces = await Promise.all(open.map((row) => workspaceSeen(row, context.storeIn(row))));
  return { workspaces, next };
}

/** The usage of workspaces in a calendar month, and its cost by the rates of docs/deploy.md. */
export async function costOf(
  context: OperatorContext,
  { cost: { period, after } }: v.InferOutput<typeof CostRequest>,
): Promise<{ period: string; workspaces: WorkspaceCost[]; next: string | undefined }> {
  const { rows, next } = await pageOf(context, after);
  const workspaces = await Promise.all(
    rows.map(async (row): Promise<WorkspaceCost> => {
      // A purged workspace has only the usage record in its tombstone.
      const { sends, events } = row.usage_record
        ? (row.usage_record.find((record) => record.period === period) ?? { sends: 0, events: 0 })
        : await usageOf(context.storeIn(row), period);
      const { least: dollars, most: dollars_at_most } = costOfUsage({ sends, events });
      return { id: row.id, name: row.name ?? "", sends, events, dollars, dollars_at_most };
    }),
  );
  return { period, workspaces, next };
}

async function pageOf({ platform }: OperatorContext, after: string | undefined) {
  const position = after === undefined ? undefined : fullKey(WorkspaceEntry, { tenant: after }, "");
  const page = await platform.query(WorkspaceEntry, {}, { limit: PAGE, after: position });
  const keys = page.items.map(({ sk }) => ({ tenant: sk }));
  const found = await platform.getAll(WorkspaceItem, keys);
  return { rows: found.filter((row) => row !== undefined), next: page.next?.sk };
}

async function workspaceSeen(row: WorkspaceRow, store: StoreReader): Promise<SeenWorkspace> {
  const [{ sends, events }, subscribers, asset_bytes, dynamic_segments] = await Promise.all([
    usageOf(store),
    countSubscribers(store),
    storedBytes(store),
    countDynamicSegments(store),
  ]);
  const usage = { sends, events, subscribers, asset_bytes, dynamic_segments };
  const { id, name = "", plan, status, kind, created_at } = row;
  return { id, name, plan, status, kind, created_at, usage, nearest: nearestOf(usage, limitsOf(plan, row)) };
}

function limitsOf(plan: PlanName, { monthly_send_cap }: WorkspaceRow): Limits {
  const { events, subscribers, assetBytes, dynamicSegments } = plans[plan];
  return {
    sends: limitOf("sends", { plan, sendCap: monthly_send_cap ?? null }),
    events,
    subscribers,
    asset_bytes: assetBytes,
    dynamic_segments: dynamicSegments,
  };
}

/** A limit of 0 means that the plan does not have the feature. */
function nearestOf(usage: Amounts, limits: Limits): Nearest | null {
  const shares = (Object.keys(usage) as (keyof Amounts)[])
    .filter((limit) => limits[limit] > 0 && Number.isFinite(limits[limit]))
    .map((limit) => ({
      limit,
      used: usage[limit],
      max: limits[limit],
      percent: Math.floor((usage[limit] / limits[limit]) * 100),
    }));
  return shares.reduce<Nearest | null>((most, share) => (most && most.percent >= share.percent ? most : share), null);
}
