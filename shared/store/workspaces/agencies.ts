// The workspaces an agency keeps for its clients (D-AGENCY): each has a row of its own, and one under its agency.
import * as v from "valibot";
import { MAX_PER_PAGE } from "../../contract/paging.ts";
import { timestamp } from "../../kernel/clock.ts";
import { ApiError, beingChanged } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import type { PlanName } from "../../rules/plans.ts";
import { absent, all, any, below, is } from "../conditions.ts";
import type { Platform, PlatformReader, Store } from "../context.ts";
import { changeItem, fullKey, putItem, ref } from "../item.ts";
import type { Key } from "../model.ts";
import { failuresOf, oldRow } from "../refusals.ts";
import { sandboxId } from "../sandbox/sandbox.ts";
import { newWorkspace, prepareWorkspace, type WorkspaceKind } from "./identity.ts";
import { ClientItem, WorkspaceEntry, WorkspaceId, WorkspaceItem, workspaceFields } from "./items.ts";
import type { WorkspaceRow } from "./workspaces.ts";

const MAX_CLIENTS = 10_000;

/** A client's workspace, as its agency sees it. */
export const Client = v.object({
  id: v.string(),
  name: v.string(),
  plan: workspaceFields.plan,
  status: workspaceFields.status,
  kind: workspaceFields.kind,
  created_at: workspaceFields.created_at,
});
export type Client = v.InferOutput<typeof Client>;

/** Makes a workspace without members of its own. @throws 403 if `agency` is none, 429 beyond 10,000. */
export async function createClient(
  platform: Platform,
  storeOf: (tenant: TenantId) => Store,
  agency: TenantId,
  { name, plan, kind = "standard" }: { name: string; plan: PlanName; kind?: WorkspaceKind | undefined },
): Promise<Client> {
  // Checked before anything is written: rows of a workspace that is then refused would never be found.
  const refusal = refusalOf(await platform.get(WorkspaceItem, { tenant: agency }));
  if (refusal) throw refusal;
  const now = platform.clock.now();
  const tenant = v.parse(WorkspaceId, kind === "sandbox" ? sandboxId(platform.ids, now) : platform.ids.uuidAt(now));
  const created_at = timestamp(now);
  const isOpen = is("status", "active");
  const hasRoom = any(absent("clients"), below("clients", MAX_CLIENTS));
  const client = newWorkspace({ id: tenant, agency, name, plan, kind, owners: 0, created_at });
  await prepareWorkspace(storeOf(tenant));
  const failures = await failuresOf(platform, [
    changeItem(WorkspaceItem, { tenant: agency }, { add: { clients: 1 } }, all(is("kind", "agency"), isOpen, hasRoom)),
    putItem(WorkspaceItem, { tenant }, client, absent()),
    putItem(ClientItem, { agency, tenant }, { tenant, created_at }, absent()),
    putItem(WorkspaceEntry, { tenant }, { created_at }),
  ]);
  if (failures.length > 0) throw refusalOf(oldRow(WorkspaceItem, failures[0])) ?? beingChanged();
  return { id: tenant, name, plan, kind, status: "active", created_at };
}

function refusalOf(agency: WorkspaceRow | undefined): ApiError | undefined {
  if (agency?.kind !== "agency") return new ApiError("FORBIDDEN", "This workspace is no agency.");
  if ((agency.clients ?? 0) < MAX_CLIENTS) return undefined;
  return new ApiError("QUOTA_EXCEEDED", `An agency keeps at most ${MAX_CLIENTS} workspaces.`);
}

/** A page of an agency's clients, newest first, and the client the next page begins after. */
export async function listClients(
  platform: Pick<PlatformReader, "query" | "getAll">,
  agency: TenantId,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ clients: Client[]; next?: string }> {
  const position = after === undefined ? undefined : fullKey(ClientItem, { agency, tenant: after }, "");
  const page = await platform.query(ClientItem, { agency }, { newestFirst: true, limit, after: position });
  const keys = page.items.map(({ tenant }) => ({ tenant }));
  const found = await platform.getAll(WorkspaceItem, keys);
  const clients = found.flatMap((row) => (row && !row.purging_at ? [clientOf(row)] : []));
  const last = page.items.at(-1);
  return page.next && last ? { clients, next: last.tenant } : { clients };
}

/**
 * The first clients of an agency, at most a hundred, that remain after it and have no owner of their own, so that no
 * user could sign in.
 */
export async function clientsInNeed(
  platform: Pick<PlatformReader, "query" | "getAll">,
  agency: TenantId,
): Promise<Client[]> {
  let after: Key | undefined;
  do {
    const page = await platform.query(ClientItem, { agency }, { limit: MAX_PER_PAGE, after });
    const rows = await platform.getAll(
      WorkspaceItem,
      page.items.map(({ tenant }) => ({ tenant })),
    );
    const found = rows.filter((row) => row !== undefined && row.status !== "deleted" && !row.owners);
    if (found.length > 0) return found.flatMap((row) => (row ? [clientOf(row)] : []));
    after = page.next;
  } while (after !== undefined);
  return [];
}

/**
 * The agency of a client without an owner of its own, if it is deleted or no longer an agency: then no user can reach
 * the client.
 */
export async function lostAgencyOf(
  platform: Pick<PlatformReader, "get">,
  { agency, owners }: WorkspaceRow,
): Promise<TenantId | undefined> {
  if (agency === undefined || owners) return undefined;
  const row = await platform.get(WorkspaceItem, { tenant: agency });
  return row?.status === "deleted" || row?.kind !== "agency" ? agency : undefined;
}

/** The status of an agency's client, or undefined if the agency has no such client. */
export async function clientStatus(
  platform: Pick<PlatformReader, "getEach">,
  agency: TenantId,
  tenant: string,
): Promise<Client["status"] | undefined> {
  const [client, workspace] = await platform.getEach([
    ref(ClientItem, { agency, tenant }),
    ref(WorkspaceItem, { tenant }),
  ]);
  return client && workspace && !workspace.purging_at ? workspace.status : undefined;
}

const clientOf = ({ id, name = "", plan, kind, status, created_at }: WorkspaceRow): Client => ({
  id,
  name,
  plan,
  kind,
  status,
  created_at,
});
