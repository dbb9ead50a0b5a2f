// What clients of the dashboard do with campaigns.
import { insist, insistOpen } from "./actors.ts";
import type { Answer } from "./front-door.ts";
import type { Tenant } from "./tenants.ts";
import type { SimWorld } from "./world.ts";

const ROUTE = "/api/v1/campaigns";

/** A released campaign, as its owner knows it. */
export interface Campaign {
  tenant: string;
  id: string;
  jobs: string[];
  /** Since when nothing of it may be sent: a pause was answered, and no resumption was asked for since. */
  heldSince?: number;
  /** How many resumptions were asked for, and how many of them are not answered yet. */
  resumptions: { asked: number; open: number };
}

/** The id of a channel of a type: every workspace has an in-app channel. */
export async function channelOf(world: SimWorld, tenant: Tenant, type: string): Promise<string> {
  const { body } = await insistOpen(world, tenant, "dashboard", "GET /api/v1/channels", {});
  return body.channels.find((channel: { type: string }) => channel.type === type).id;
}

/** Creates a campaign and releases it. @returns undefined if it was refused. */
export async function releaseCampaign(world: SimWorld, tenant: Tenant, body: object): Promise<Campaign | undefined> {
  const made = await insist(world, tenant, "dashboard", `POST ${ROUTE}`, { body });
  if (made.status !== 201) return undefined;
  const { id } = made.body;
  world.name(id, `campaign-${world.ledger.campaigns.size + 1}`);
  const campaign: Campaign = { tenant: tenant.id, id, jobs: [], resumptions: { asked: 0, open: 0 } };
  world.ledger.campaigns.set(id, campaign);
  const request = { params: { id } };
  await insist(world, tenant, "dashboard", `POST ${ROUTE}/{id}/release`, request);
  const { body: shown } = await insist(world, tenant, "dashboard", `GET ${ROUTE}/{id}`, request);
  for (const { job_id } of shown?.messages ?? []) if (job_id) campaign.jobs.push(job_id);
  return campaign;
}

/**
 * Pauses, resumes, archives or unarchives. An answered pause is a promise until the next resumption is asked for. Of a pause
 * and a resumption that were under way together, either may be the last one.
 */
export async function actOnCampaign(
  world: SimWorld,
  tenant: Tenant,
  campaign: Campaign,
  action: "pause" | "resume" | "archive" | "unarchive",
): Promise<Answer> {
  const { resumptions } = campaign;
  const request = { params: { id: campaign.id }, body: { action } };
  const ask = () => insist(world, tenant, "dashboard", `PATCH ${ROUTE}/{id}`, request);
  if (action === "pause" || action === "archive") {
    const { asked, open } = resumptions;
    const answer = await ask();
    if (answer.status === 200 && open === 0 && asked === resumptions.asked) campaign.heldSince = world.kernel.now();
    return answer;
  }
  delete campaign.heldSince;
  resumptions.asked++;
  resumptions.open++;
  const answer = await ask();
  resumptions.open--;
  return answer;
}
