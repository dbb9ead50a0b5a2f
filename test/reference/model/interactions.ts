// Interaction reports (INT, AMB-41, AMB-106).
import type { Operation } from "./access.ts";
import { notifyHooks } from "./hooks.ts";
import { instant, invalid, isUuid, type Request, same } from "./kit.ts";
import { found, type Interaction, type World } from "./world.ts";

const KINDS = [
  ...["foreground_received", "tapped", "action_tapped", "dismissed", "email_opened", "email_clicked"],
  ...["inapp_impression", "inapp_click", "inapp_dismiss"],
];
const PLATFORMS = ["ios", "android", "web", "email", "server"];

/** AMB-68. */
export const OPENS = ["email_opened", "inapp_impression", "foreground_received"];
export const CLICKS = ["email_clicked", "inapp_click", "tapped", "action_tapped"];

function report(world: World, { body }: Request) {
  if (!isUuid(body.job_id)) invalid("job_id");
  if (!KINDS.includes(body.interaction)) invalid("interaction");
  if (!PLATFORMS.includes(body.platform)) invalid("platform");
  const occurred_at = instant(body.occurred_at) ?? invalid("occurred_at");
  const job = found(world.jobs, body.job_id) ?? invalid("job_id");

  const { job_id, interaction, platform, subscriber_id = null, variant_id = null, action_id = null, url = null } = body;
  const row = { job_id, interaction, platform, subscriber_id, variant_id, occurred_at, action_id, url };
  // AMB-106: a report equal in every field is a duplicate and counts once.
  const isRepeated = world.interactions.some(({ received_at, ...other }) => same(other, row));
  if (isRepeated) return { status: 202 };
  world.interactions.push({ ...row, received_at: world.now } as Interaction);

  // WEV-9: the arm only for A/B sends.
  const variant = job.spec.variant_b && variant_id !== null ? { variant_id } : {};
  notifyHooks(world, "notification.interaction", { job_id, interaction_type: interaction, platform, ...variant });
  return { status: 202 };
}

/** AMB-68: distinct recipients of a send who did one of these. */
export const didOne = (world: World, job: string, subscriber: string, kinds: string[]): boolean =>
  world.interactions.some(
    (row) => row.job_id === job && row.subscriber_id === subscriber && kinds.includes(row.interaction),
  );

export const interactionOperations: Operation[] = [
  { route: "POST /api/v1/notifications/interactions", who: ["sdk"], run: report },
];
