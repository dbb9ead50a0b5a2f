// Interaction reports (INT, AMB-41, AMB-106).
import type { Operation } from "./access.ts";
import { notifyHooks } from "./hooks.ts";
import { instant, invalid, isUuid, type Request, same } from "./kit.ts";
import type { Job } from "./records/sends.ts";
import { armIn } from "./sending.ts";
import { found, type World } from "./world.ts";

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

  const { job_id, interaction, platform } = body;
  // AMB-106: a report equal in every field is a duplicate and counts once.
  if (world.interactions.some(({ said }) => same(said, { ...body, occurred_at }))) return { status: 202 };
  const { id: subscriber_id = null, email = null } = found(world.subscribers, body.subscriber_id) ?? {};
  const variant_id = armFor(world, job, body.variant_id, subscriber_id);
  const row = { job_id, interaction, platform, subscriber_id, variant_id, occurred_at, received_at: world.now, email };
  world.interactions.push({ ...row, said: { ...body, occurred_at } });

  // WEV-9: the arm only for A/B sends.
  const variant = variant_id === null ? {} : { variant_id };
  notifyHooks(world, "notification.interaction", { job_id, interaction_type: interaction, platform, ...variant });
  return { status: 202 };
}

/** ABH-1, INT-8: the arm that a report names, else that of the recipient that it names. */
function armFor(world: World, job: Job, told: unknown, subscriber: string | null): string | null {
  if (job.spec.variant_b && (told === "a" || told === "b")) return told;
  return subscriber === null ? null : armIn(world, job, subscriber);
}

/** AMB-68: how many people did one of these, for each send. A report's subscriber is believed. */
export function peopleWho(world: World, jobs: Job[], kinds: string[]): number {
  const rows = world.interactions.filter(
    ({ job_id, subscriber_id, interaction }) =>
      subscriber_id !== null && kinds.includes(interaction) && jobs.some(({ id }) => id === job_id),
  );
  return new Set(rows.map(({ job_id, subscriber_id }) => `${job_id} ${subscriber_id}`)).size;
}

const OF_PLATFORM: Record<string, string> = { ios: "ios", android: "android", web: "web_push", email: "email" };

/** The type of the channel that an interaction came by, where it is known. */
export const channelOf = ({ interaction, platform }: { interaction: string; platform: string }): string | undefined => {
  if (interaction.startsWith("inapp_")) return "in_app";
  return interaction.startsWith("email_") ? "email" : OF_PLATFORM[platform];
};

export const interactionOperations: Operation[] = [
  { route: "POST /api/v1/notifications/interactions", who: ["sdk"], run: report },
];
