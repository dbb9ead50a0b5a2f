// The smart channel (SMA, D-ARB, AMB-96).
import { DAY } from "./kit.ts";
import type { World } from "./world.ts";

const ENGAGED = ["tapped", "action_tapped", "email_opened", "email_clicked", "inapp_click", "foreground_received"];
const DEFAULT_ORDER = ["push", "email", "web_push", "chat_app", "sms", "in_app"];
const WINDOW = 90 * DAY;

interface Ranking {
  class: string;
  source: "personal" | "tenant" | "default";
  score: number;
}

/** Deliveries of a class in the last 90 days, of one person or of all, and interactions that show engagement. */
function history(world: World, name: string, subscriber?: string): { delivered: number; engaged: number } {
  const since = world.now - WINDOW;
  const recipients = world.jobs.flatMap((job) => job.recipients.map((recipient) => ({ job, recipient })));
  const own = recipients.filter(({ recipient }) => subscriber === undefined || recipient.subscriber_id === subscriber);
  const hits = own.flatMap(({ job, recipient }) =>
    recipient.deliveries
      .filter((d) => d.class === name && d.delivered_at !== null && d.delivered_at >= since)
      .map(() => ({ job, recipient })),
  );
  const engaged = hits.filter(({ job, recipient }) =>
    world.interactions.some(
      ({ job_id, subscriber_id, interaction }) =>
        job_id === job.id && subscriber_id === recipient.subscriber_id && ENGAGED.includes(interaction),
    ),
  );
  return { delivered: hits.length, engaged: engaged.length };
}

/** SMA-4: personal from five deliveries, else the tenant's from a hundred, else the default order. */
function rank(world: World, subscriber: string, name: string): Ranking {
  const score = ({ delivered, engaged }: { delivered: number; engaged: number }) => (engaged + 1) / (delivered + 4);
  const personal = history(world, name, subscriber);
  if (personal.delivered >= 5) return { class: name, source: "personal", score: score(personal) };
  const tenant = history(world, name);
  if (tenant.delivered >= 100) return { class: name, source: "tenant", score: score(tenant) };
  return { class: name, source: "default", score: 0.25 - 0.001 * DEFAULT_ORDER.indexOf(name) };
}

/** Highest first; ties by the default order. */
export function classesInOrder(world: World, subscriber: string, classes: string[]): Ranking[] {
  const place = ({ class: name }: Ranking) => DEFAULT_ORDER.indexOf(name);
  return classes
    .map((name) => rank(world, subscriber, name))
    .toSorted((a, b) => b.score - a.score || place(a) - place(b));
}
