// Campaigns of several messages that are paused, resumed and archived while they go out.
import { MINUTE, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { populate } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import { actOnCampaign, type Campaign, channelOf, releaseCampaign } from "../marketers.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";
import { equip } from "./pushes.ts";

const BUSY_MS = 14 * MINUTE;
/** By then everything is released, so that the run ends. */
const RESUMED_MS = 30 * MINUTE;

export const campaigns: Scenario = {
  name: "campaigns",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    const hasPush = random.chance(0.6);
    if (hasPush) await tenant.addChannel("ios");
    const people = await populate(world, tenant, random.between(2, 14));
    if (hasPush) for (const { id } of people) if (random.chance(0.7)) await equip(world, tenant, id);
    for (let n = random.between(1, 2); n > 0; n--)
      world.act(random.between(SECOND, BUSY_MS), () => run(world, tenant, people.length, hasPush));
  },
};

async function run(world: SimWorld, tenant: Tenant, size: number, hasPush: boolean): Promise<void> {
  const { random, kernel } = world;
  const inApp = await channelOf(world, tenant, "in_app");
  const push = hasPush ? await channelOf(world, tenant, "ios") : undefined;
  const withPush = (ios: string) => (random.chance(0.5) ? [ios] : [ios, inApp]);
  const messages = Array.from({ length: random.between(1, 3) }, (_, n) => ({
    content: { title: `M${n}`, body: "Hello {{ subscriber.name }}" },
    channel_ids: push && random.chance(0.7) ? withPush(push) : [inApp],
    ...(random.chance(0.5) && { scheduled_at: timestamp(kernel.now() + random.between(SECOND, 6 * MINUTE)) }),
  }));
  const campaign = await releaseCampaign(world, tenant, {
    name: `Campaign ${size}`,
    messages,
    ...(random.chance(0.3) && { holdout_percentage: random.between(20, 60) }),
  });
  if (!campaign) return;
  const act = (action: Parameters<typeof actOnCampaign>[3]) => () =>
    actOnCampaign(world, tenant, campaign, action).then(() => undefined);
  for (let n = random.between(0, 2); n > 0; n--) {
    const at = random.between(0, 5 * MINUTE);
    world.act(at, act("pause"));
    world.act(at + random.between(SECOND, 8 * MINUTE), act("resume"));
  }
  if (random.chance(0.4)) holdAtStart(world, tenant, campaign);
  if (random.chance(0.15)) world.act(random.between(0, 5 * MINUTE), act("archive"));
  world.act(RESUMED_MS, async () => {
    const status = world.mirror.get(`T#${tenant.id}#campaign`, campaign.id)?.status;
    if (status !== "paused" && status !== "archived") return;
    for (const action of ["unarchive", "pause", "resume"] as const)
      await actOnCampaign(world, tenant, campaign, action);
  });
}

/** Trace point: a campaign is paused exactly when one of its jobs is planned or delivered. */
function holdAtStart(world: SimWorld, tenant: Tenant, campaign: Campaign): void {
  const { random } = world;
  let left = 1;
  world.onStart((queue, messages) => {
    const isOurs = messages.some(({ body }) => campaign.jobs.includes(String(body.job)));
    if ((queue !== "deliver" && queue !== "fan-out") || !isOurs || left === 0 || !random.chance(0.5)) return;
    left--;
    const at = random.between(0, 200);
    world.act(at, () => actOnCampaign(world, tenant, campaign, "pause").then(() => undefined));
    world.act(at + random.between(MINUTE, 6 * MINUTE), () =>
      actOnCampaign(world, tenant, campaign, "resume").then(() => undefined),
    );
  });
}
