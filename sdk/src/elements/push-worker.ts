// For a service worker: shows Web Push messages, opens what they name and reports it.

/** Where a page leaves the signed ids of its user: a worker has no other storage that pages write at once. */
export const SIGNED_IDS = "/engagement-signed-ids";

/** The data that the service puts into a message. */
interface Payload {
  title: string;
  body?: string;
  tag?: string;
  image?: string;
  actions?: { action: string; title: string }[];
  data: {
    notification_id: string;
    subscriber_id: string;
    variant_id?: string;
    url?: string;
    badge?: number;
    buttons?: { id: string; title: string; url: string }[];
  };
}

interface PushEvent extends Event {
  data: { json(): unknown } | null;
  waitUntil(work: Promise<unknown>): void;
}

interface ClickEvent extends Event {
  action: string;
  notification: { data: Payload["data"]; close(): void };
  waitUntil(work: Promise<unknown>): void;
}

/** The members of the worker's global scope that are used. */
interface WorkerScope {
  addEventListener(type: string, listener: (event: never) => void): void;
  location: { origin: string };
  caches?: { match(key: string): Promise<{ text(): Promise<string> } | undefined> };
  registration: { showNotification(title: string, options: object): Promise<void> };
  clients: {
    matchAll(options: object): Promise<readonly { url: string; focus(): Promise<unknown> }[]>;
    openWindow(url: string): Promise<unknown>;
  };
}

export interface PushSettings {
  /** The address of the service. */
  baseUrl: string;
  sdkKey: string;
  /** The address to open if a message names none. Default: `/`. */
  home?: string;
}

/** The signed ids that a page has left; undefined also if the browser refuses its cache. */
async function signedIdsIn(worker: WorkerScope): Promise<string | undefined> {
  try {
    return await (await worker.caches?.match(SIGNED_IDS))?.text();
  } catch {
    return undefined;
  }
}

/** In the worker: `handlePush(self, { baseUrl, sdkKey })`. */
export function handlePush(scope: unknown, { baseUrl, sdkKey, home = "/" }: PushSettings): void {
  const worker = scope as WorkerScope;
  worker.addEventListener("push", (event: PushEvent) => {
    const { title, ...options } = (event.data?.json() ?? { title: "" }) as Payload;
    // A push that shows nothing costs the site its permission.
    event.waitUntil(worker.registration.showNotification(title, options));
  });
  const report = async (interaction: string, data: Payload["data"], action: string) => {
    const { notification_id: job_id, subscriber_id, variant_id } = data;
    if (!job_id) return;
    const body = {
      job_id,
      interaction,
      platform: "web",
      subscriber_id,
      occurred_at: new Date().toISOString(),
      ...(variant_id && { variant_id }),
      ...(action && { action_id: action }),
    };
    const ids = await signedIdsIn(worker);
    await fetch(`${baseUrl.replace(/\/+$/, "")}/api/v1/notifications/interactions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-sdk-key": sdkKey, ...(ids && { "x-user-hash": ids }) },
      body: JSON.stringify(body),
      keepalive: true,
    }).catch(() => undefined);
  };
  const open = async (url: string) => {
    const { href } = new URL(url, worker.location.origin);
    if (!/^https?:/.test(href)) return;
    const windows = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
    const found = windows.find((client) => client.url === href);
    await (found ? found.focus() : worker.clients.openWindow(href));
  };
  worker.addEventListener("notificationclick", (event: ClickEvent) => {
    const { action, notification } = event;
    const { data } = notification;
    notification.close();
    const url = data.buttons?.find(({ id }) => id === action)?.url ?? data.url ?? home;
    event.waitUntil(Promise.all([open(url), report(action ? "action_tapped" : "tapped", data, action)]));
  });
  worker.addEventListener("notificationclose", (event: ClickEvent) => {
    event.waitUntil(report("dismissed", event.notification.data, ""));
  });
}
