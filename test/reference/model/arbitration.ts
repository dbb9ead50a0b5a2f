// The smart channel (SMA, D-ARB, AMB-96).
import { DAY } from "./kit.ts";
import type { Interaction } from "./records/sends.ts";
import type { World } from "./world.ts";

const ENGAGED = ["tapped", "action_tapped", "email_opened", "email_clicked", "inapp_click", "foreground_received"];
const PUSH = ["tapped", "action_tapped", "foreground_received"];
const PUSH_CLASSES: Record<string, string> = { ios: "push", android: "push", web: "web_push" };
const DEFAULT_ORDER = ["push", "email", "web_push", "chat_app", "sms", "in_app"];
const WINDOW = 90 * DAY;

interface RankedChannel {
  class: string;
  source: "personal" | "tenant" | "default";
  score: number;
}

/** The class that an interaction is an answer in. */
function answeredClass({ interaction, platform }: Interaction): string | undefined {
  if (!ENGAGED.includes(interaction)) return undefined;
  if (PUSH.includes(interaction)) return PUSH_CLASSES[platform];
  return interaction.startsWith("email_") ? "email" : "in_app";
}

/** Sends that reached somebody by a class in the last 90 days, of one person or of all, and those that were answered in it. */
function history(world: World, name: string, subscriber?: string): { delivered: number; engaged: number } {
  const since = world.now - WINDOW;
  const isOne = ({ subscriber_id }: { subscriber_id: string | null }) =>
    subscriber === undefined || subscriber_id === subscriber;
  const delivered = world.jobs.flatMap((job) =>
    job.recipients
      .filter(isOne)
      .filter(({ deliveries }) =>
        deliveries.some((d) => d.class === name && d.delivered_at !== null && d.delivered_at >= since),
      ),
  );
  const answers = world.interactions.filter(
    (row) => isOne(row) && row.subscriber_id !== null && row.received_at >= since && answeredClass(row) === name,
  );
  const engaged = new Set(answers.map(({ job_id, subscriber_id }) => `${job_id} ${subscriber_id}`));
  return { delivered: delivered.length, engaged: engaged.size };
}

/** SMA-4: personal from five deliveries, else the tenant's from a hundred, else the default order. */
function rank(world: World, subscriber: string, name: string): RankedChannel {
  const score = ({ delivered, engaged }: { delivered: number; engaged: number }) => (engaged + 1) / (delivered + 4);
  const personal = history(world, name, subscriber);
  if (personal.delivered >= 5) return { class: name, source: "personal", score: score(personal) };
  const tenant = history(world, name);
  if (tenant.delivered >= 100) return { class: name, source: "tenant", score: score(tenant) };
  return { class: name, source: "default", score: 0.25 - 0.001 * DEFAULT_ORDER.indexOf(name) };
}

/** Highest first; ties by the default order. */
export function classesInOrder(world: World, subscriber: string, classes: string[]): RankedChannel[] {
  const place = ({ class: name }: RankedChannel) => DEFAULT_ORDER.indexOf(name);
  return classes
    .map((name) => rank(world, subscriber, name))
    .toSorted((a, b) => b.score - a.score || place(a) - place(b));
}
