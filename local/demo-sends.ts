// What the demo workspace sends, and what its subscribers do with it.
import type { Client } from "./demo-client.ts";

interface Recipient {
  subscriber_id: string;
  state: string;
  /** The arm of the recipient, in a send with two arms. */
  variant_id: string | null;
}

export type Recipients = ReadonlyMap<string, Recipient>;

/** @returns all recipients of a send by their own ids. Reading outcomes is expensive, so it is done once. */
async function recipientsOf(client: Client, job: string): Promise<Recipients> {
  const found = new Map<string, Recipient>();
  let cursor = "";
  do {
    const page = (await client.owner(
      `GET /api/v1/notifications/${job}/recipients?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )) as { items: (Recipient & { external_id: string })[]; next_cursor: string };
    for (const item of page.items) found.set(item.external_id, item);
    cursor = page.next_cursor;
  } while (cursor);
  return found;
}

interface DemoCampaign {
  channels: readonly string[];
  name: string;
  target: object;
  holdout: number;
}

/** @returns the send of its message. */
export async function campaign(client: Client, { channels, name, target, holdout }: DemoCampaign): Promise<string> {
  const body = "The autumn sale has begun.";
  const content = { title: "{{ subscriber.first_name }}, 20% off until Sunday", body };
  const variant_b = { title: "Two days left: 20% off", body };
  const { id } = await client.owner("POST /api/v1/campaigns", {
    name,
    target,
    holdout_percentage: holdout,
    messages: [{ content, variant_b, channel_ids: channels }],
  });
  const released = (await client.owner(`POST /api/v1/campaigns/${id}/release`)) as { messages: { job_id: string }[] };
  return released.messages[0]!.job_id;
}

export async function send(
  client: Client,
  channel_ids: readonly string[],
  title: string,
  target: object,
): Promise<string> {
  const { id } = await client.owner("POST /api/v1/notifications", {
    target,
    title,
    body: "Hello {{ subscriber.first_name }}, three things that save you time.",
    name: title,
    channel_ids,
  });
  return String(id);
}

/** @returns the newest send that began with something of this kind. */
export async function sendOf(client: Client, type: string): Promise<string> {
  const { items } = (await client.owner(`GET /api/v1/notifications?limit=1&source_type=${type}`)) as {
    items: { id: string }[];
  };
  return items[0]!.id;
}

/** Some recipients see the message, and some of these follow its link. @returns all of its recipients */
export async function interact(
  client: Client,
  { job_id, occurred_at }: { job_id: string; occurred_at: string },
  random: () => number,
): Promise<Recipients> {
  const recipients = await recipientsOf(client, job_id);
  for (const [, { subscriber_id, variant_id, state }] of [...recipients].sort()) {
    if (state !== "delivered" || random() > 0.42) continue;
    const seen = { job_id, platform: "web", subscriber_id, occurred_at, ...(variant_id && { variant_id }) };
    await client.app("POST /api/v1/notifications/interactions", { ...seen, interaction: "inapp_impression" });
    // The draw is by the id: a random number for each would change the rest of the week.
    if (subscriber_id.charCodeAt(0) % 2 === 0)
      await client.app("POST /api/v1/notifications/interactions", { ...seen, interaction: "email_opened" });
    if (random() < 0.35)
      await client.app("POST /api/v1/notifications/interactions", { ...seen, interaction: "inapp_click" });
  }
  return recipients;
}
