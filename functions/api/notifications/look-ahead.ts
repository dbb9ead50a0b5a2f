// What a send to one subscriber needs by keys that its request names, read in one request.
import type { NewNotification } from "../../../shared/contract/notification-input.ts";
import { ChannelItem } from "../../../shared/store/channels/items.ts";
import type { Store } from "../../../shared/store/context.ts";
import { ref } from "../../../shared/store/item.ts";
import { readAhead } from "../../../shared/store/read-ahead.ts";
import type { Secrets } from "../../../shared/store/secrets.ts";
import { hashOfLong } from "../../../shared/store/sends/jobs/job-content.ts";
import { ContentItem } from "../../../shared/store/sends/jobs/job-items.ts";
import { saidIn } from "../../../shared/store/sends/jobs/one-off.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { subscriberId } from "../../../shared/store/subscribers/subscribers.ts";
import { WebhookCount } from "../../../shared/store/webhooks/items.ts";

interface Ahead {
  /** Answers reads of what was read. */
  store: Store;
  /** The workspace has no webhook endpoints, which are told of a send. */
  noWebhooks?: boolean;
}

/** Reads the recipient, its channels, its text if that is stored, and whether anybody is told of it. */
export async function lookAhead(store: Store, secrets: Secrets, input: NewNotification): Promise<Ahead> {
  const id = input.scheduled_at === undefined ? await onlyRecipient(store, secrets, input) : undefined;
  if (id === undefined) return { store };
  const content = input.template_id === undefined ? hashOfLong(saidIn(input)) : undefined;
  const ahead = await readAhead(store, [
    ref(Profile, { id }),
    ref(WebhookCount, {}),
    ...[...new Set(input.channel_ids)].map((channel) => ref(ChannelItem, { id: channel })),
    ...(content === undefined ? [] : [ref(ContentItem, { hash: content })]),
  ]);
  const webhooks = await ahead.get(WebhookCount, {});
  return { store: ahead, noWebhooks: (webhooks?.n ?? 0) <= 0 };
}

/** The only subscriber that a request names; one that was erased is found in its next generation by later reads. */
async function onlyRecipient(store: Store, secrets: Secrets, { subscriberIds, external_ids }: NewNotification) {
  const [id, ...others] = new Set(subscriberIds ?? external_ids);
  if (id === undefined || others.length > 0) return undefined;
  return subscriberIds ? id : subscriberId(await secrets.root(), store.tenant, id, 0);
}
