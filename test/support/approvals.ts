// A workspace that asks a second person: how a marketer asks for a release, and others decide.
import type { Role } from "../../shared/contract/roles.ts";
import { withCampaigns } from "./campaigns.ts";
import type { TestWorld } from "./world.ts";

export interface AskedApproval {
  id: string;
  approval: { id: string };
}

export async function withApprovals(of: TestWorld) {
  const found = await withCampaigns(of);
  const { world, tenant, create, call } = found;
  const as = async (role: Role, route: string, body?: object) =>
    world.call(route, { as: await tenant.dashboard(role), ...(body && { body }) });
  const require = (approval_required: boolean) => call("PATCH /api/v1/workspace", { approval_required });
  await require(true);
  /** Asked for by a marketer. */
  const ask = (id: string) => as("marketer", `POST /api/v1/campaigns/${id}/release`);
  const decide = (action: "approve" | "decline", { id, approval }: AskedApproval, role: Role = "admin", more = {}) =>
    as(role, `POST /api/v1/campaigns/${id}/${action}`, { approval_id: approval.id, ...more });
  const withdraw = (id: string, role: Role) => as(role, `POST /api/v1/campaigns/${id}/withdraw`);
  const asked = async (body: object = {}): Promise<AskedApproval> => (await ask((await create(body)).body.id)).body;
  return { ...found, as, require, ask, decide, withdraw, asked };
}
