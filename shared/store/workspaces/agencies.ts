// The workspaces an agency keeps for its clients (D-AGENCY): each has a row of its own, and one under its agency.
import { timestamp } from "../../clock.ts";
import { ApiError } from "../../http/errors.ts";
import type { PlanName } from "../../plans.ts";
import type { Platform, Store } from "../../resources.ts";
import { createDefaultChannel } from "../channels/channels.ts";
import { absent, all, any, below, is } from "../conditions.ts";
import { platformKeys } from "../keys.ts";
import type { TenantId } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import { newWorkspace } from "./identity.ts";
import type { WorkspaceRecord } from "./workspaces.ts";

const MAX_CLIENTS = 10_000;

export type Client = Pick<WorkspaceRecord, "id" | "name" | "plan" | "status" | "created_at">;

/** Makes a workspace without members of its own. @throws 403 if `agency` is none, 429 beyond 10,000. */
export async function createClient(
  platform: Platform,
  storeOf: (tenant: TenantId) => Store,
  agency: TenantId,
  { name, plan }: { name: string; plan: PlanName },
): Promise<Client> {
  const now = platform.clock.now();
  const id = platform.ids.uuidAt(now) as TenantId;
  const created_at = timestamp(now);
  const hasRoom = any(absent("clients"), below("clients", MAX_CLIENTS));
  await createDefaultChannel(storeOf(id));
  await platform
    .transact([
      {
        update: platformKeys.tenant(agency),
        change: { add: { clients: 1 } },
        when: all(is("kind", "agency"), hasRoom),
      },
      { put: newWorkspace({ id, name, plan, owners: 0, created_at }), when: absent() },
      { put: { ...platformKeys.client(agency, id), tenant: id, created_at }, when: absent() },
    ])
    .catch(
      onTransactionCanceled(([refused]) => {
        if (refused?.old?.kind !== "agency") throw new ApiError("FORBIDDEN", "This workspace is no agency.");
        throw new ApiError("QUOTA_EXCEEDED", `An agency keeps at most ${MAX_CLIENTS} workspaces.`);
      }),
    );
  return { id, name, plan, status: "active", created_at };
}

/** A page of an agency's clients, newest first, and the client the next page begins after. */
export async function listClients(
  platform: Pick<Platform, "query" | "getAll">,
  agency: TenantId,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ clients: Client[]; next?: string }> {
  const { pk, sk } = platformKeys.client(agency, "");
  const page = await platform.query({
    ...{ pk, prefix: sk, newestFirst: true, limit },
    after: after === undefined ? undefined : platformKeys.client(agency, after),
  });
  const found = await platform.getAll(page.items.map(({ tenant }) => platformKeys.tenant(String(tenant))));
  const clients = found.flatMap((row) => (row && !row.purging_at ? [row as unknown as Client] : []));
  const last = page.items.at(-1);
  return page.next && last ? { clients, next: String(last.tenant) } : { clients };
}

/** The status of an agency's client, or undefined for whatever is none. */
export async function clientStatus(
  platform: Pick<Platform, "getAll">,
  agency: TenantId,
  tenant: string,
): Promise<Client["status"] | undefined> {
  const [client, workspace] = await platform.getAll([platformKeys.client(agency, tenant), platformKeys.tenant(tenant)]);
  return client && workspace && !workspace.purging_at ? (workspace.status as Client["status"]) : undefined;
}
