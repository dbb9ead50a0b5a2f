// One message said to each channel in its own way, and a subscriber who is reached by all of them.
import type { UploadPath } from "./channels.ts";
import { mailOf } from "./mails.ts";
import { addPeople, send } from "./people.ts";
import { addPhone, openChannels, outboxOf } from "./reached.ts";
import type { worlds } from "./worlds.ts";

export const SHOP = "https://shop.example.com";

export const by_channel = {
  email: {
    subject: "Mail for {{ subscriber.first_name }}",
    preheader: "Until <Sunday>",
    html: `<p><a href="${SHOP}/m">Go</a></p>`,
  },
  sms: { body: "SMS for {{ subscriber.first_name }}" },
  push: {
    title: "Push for {{ subscriber.first_name }}",
    image_url: `${SHOP}/{{ subscriber.first_name | downcase }}.png`,
    url: "myapp://sale",
    buttons: [
      { id: "yes", title: "Yes, {{ subscriber.first_name }}", url: `${SHOP}/yes` },
      { id: "no", title: "No", url: "myapp://no" },
    ],
    sound: "chime.caf",
    badge: 3,
    collapse_key: "sale",
    ttl_seconds: 3_600,
  },
  web_push: {
    body: "Browser",
    image_url: `${SHOP}/w.png`,
    buttons: [{ id: "open", title: "Open", url: SHOP }],
    ttl_seconds: 60,
  },
  in_app: { title: "Inbox", actions: [{ id: "x", title: "Not now", url: "" }] },
};
export const CONTENT = { title: "T", body: "B", by_channel };

const platforms = { "ios-push": "ios", "android-push": "android", vapid: "web" } as const;

/** A workspace with these channels and its inbox, and one subscriber who is reached by every one of them. */
export async function withChannels(withTenant: ReturnType<typeof worlds>["withTenant"], ...paths: UploadPath[]) {
  const { world, tenant } = await withTenant();
  const { call } = tenant;
  const ids = (await openChannels(world, tenant, ...paths)) as Record<string, string>;
  const { channels } = (await call("GET /api/v1/channels")).body;
  ids.in_app = channels.find(({ type }: { type: string }) => type === "in_app").id;
  const person = { email: "ada@example.com", attributes: { first_name: "Ada", phone: "+4915112345678" } };
  const [ada] = (await addPeople(world, tenant, 1, () => person)) as [string];
  for (const path of paths) if (path in platforms) await addPhone(world, tenant, ada, platforms[path as "vapid"]);
  const everyChannel = { subscriberIds: [ada], channel_ids: Object.values(ids) };
  /** Sends a content by every channel. */
  const say = (content: object, more: object = {}) =>
    send(world, tenant, { ...everyChannel, content, title: undefined, body: undefined, ...more });
  /** What the provider of a channel was given last. */
  const given = async (channel: string) =>
    (await outboxOf(world, `?channel=${channel}`)).at(-1) as unknown as {
      title: string;
      body: string;
      // biome-ignore lint/suspicious/noExplicitAny: the request of a provider, as it is
      payload: any;
      headers: Record<string, string>;
    };
  const mail = async () => mailOf(String((await given("email")).payload));
  return { world, tenant, ids, ada, call, everyChannel, say, given, mail };
}
