// Registers a browser for Web Push where its user agreed, and takes the registration back where the user no longer does.
import type { BrowserClient } from "../browser.ts";
import { ServiceError } from "../errors.ts";
import { SIGNED_IDS } from "./push-worker.ts";

export interface WebPushOptions {
  /** Your own id of the user. */
  externalId: string;
  /** The public key of the channel, as `channels.vapidCredentials` returns it. */
  vapidPublicKey: string;
  /** The address of your service worker, which calls `handlePush`. */
  worker: string;
  /** Whether the worker is a module. Default: true. */
  isModule?: boolean;
  /** What you know of the user's consent. Without it nobody is asked for a permission. */
  hasConsent: boolean;
}

export type WebPushResult =
  | { status: "registered"; deviceId: string }
  /** There was no consent; an earlier registration was removed. */
  | { status: "no_consent" }
  /** The user refused in the browser: it will not ask again. */
  | { status: "denied" }
  | { status: "unsupported" };

const KEY = "engagement:push-device";

interface Registered {
  id: string;
  subscriber: string;
}

function registered(): Registered | undefined {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** If the storage is closed or full, the registration ends with the subscription of the browser. */
function remember(device: Registered): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(device));
  } catch (error) {
    console.warn("The registration for push messages could not be stored.", error);
  }
}

/** A browser that refuses its cache gets messages anyway: their reports go without signed ids. */
async function inCache(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.warn("The signed ids for reports of push messages could not be stored or removed.", error);
  }
}

/** Keeps the signed ids for the reports of the worker, if the workspace demands them. */
async function keepSignedIds(client: Pick<BrowserClient, "subscribers" | "signedIds">, external_id: string) {
  if ((await client.signedIds()) === undefined) return;
  // The answer signs the id of the subscriber, which reports name.
  await client.subscribers.upsert({ external_id });
  const ids = await client.signedIds();
  await inCache(async () => (await caches.open(KEY)).put(SIGNED_IDS, new Response(ids)));
}

const isSupported = () => "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;

/**
 * Call it in answer to a click: browsers ask for the permission only then. Call it again at each start, and after a logout
 * with `hasConsent: false`.
 * @throws ServiceError if the service refuses the device
 */
export async function registerWebPush(
  client: Pick<BrowserClient, "devices" | "subscribers" | "signedIds">,
  options: WebPushOptions,
): Promise<WebPushResult> {
  if (!isSupported()) return { status: "unsupported" };
  if (!options.hasConsent || Notification.permission === "denied") {
    await unregister(client, options.worker);
    return { status: options.hasConsent ? "denied" : "no_consent" };
  }
  if ((await Notification.requestPermission()) !== "granted") return { status: "denied" };

  const type = options.isModule === false ? "classic" : "module";
  await navigator.serviceWorker.register(options.worker, { type });
  const { pushManager } = await navigator.serviceWorker.ready;
  const subscription = await subscriptionOf(pushManager, options.vapidPublicKey);
  const { endpoint, keys } = subscription.toJSON();

  const { id, subscriber_id } = await client.devices.create({
    external_id: options.externalId,
    platform: "web",
    subscription: { endpoint: endpoint!, keys: { p256dh: keys!.p256dh!, auth: keys!.auth! } },
  });

  remember({ id, subscriber: subscriber_id });
  await keepSignedIds(client, options.externalId);
  return { status: "registered", deviceId: id };
}

/** The subscription of this browser; one with another key cannot be used any more. */
async function subscriptionOf(manager: PushManager, key: string): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const found = await manager.getSubscription();
  const ownKey = found?.options.applicationServerKey;
  if (found && ownKey && base64Of(ownKey) === key.replace(/=+$/, "")) return found;
  await found?.unsubscribe();
  return manager.subscribe(options);
}

const base64Of = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

async function unregister(client: Pick<BrowserClient, "devices">, worker: string): Promise<void> {
  await inCache(() => caches.delete(KEY));
  const registration = await navigator.serviceWorker.getRegistration(worker);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  const device = registered();
  if (!device) return;
  await client.devices.delete(device.id, { subscriber_id: device.subscriber }).catch((error: unknown) => {
    // It was removed meanwhile, by hand or with its subscriber.
    if (!(error instanceof ServiceError) || error.status !== 404) throw error;
  });
  localStorage.removeItem(KEY);
}
