// Web Push in a browser whose storage is full, whose device is gone, and whose service demands signed ids.
import { afterEach, expect, it, vi } from "vitest";
import { createBrowserClient } from "../../sdk/src/browser.ts";
import { handlePush } from "../../sdk/src/elements/push-worker.ts";
import { userHash } from "../../sdk/src/identity.ts";
import { BASE_URL, fetchOf } from "../support/embedded-fetch.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** Of a name that the compiler does not follow: its types are those of browsers. */
const ELEMENT = "../../sdk/src/elements/web-push.ts";
interface Element {
  registerWebPush(client: object, options: object): Promise<{ status: string; deviceId: string }>;
}

afterEach(() => void vi.unstubAllGlobals());

const KEYS = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};

/** What a browser has for it: a push service, an answer of its user, a storage, and a cache that its workers see too. */
function browserOf(setItem: (stored: Map<string, string>, key: string, value: string) => void) {
  const stored = new Map<string, string>();
  let current: object | undefined;
  const pushManager = {
    getSubscription: async () => current,
    subscribe: async (options: object) => {
      const toJSON = () => ({ endpoint: "https://push.example.com/send/1", keys: KEYS });
      const unsubscribe = async () => {
        current = undefined;
      };
      current = { options, toJSON, unsubscribe };
      return current;
    },
  };
  const registration = { pushManager };
  const serviceWorker = {
    register: async () => registration,
    getRegistration: async () => registration,
    ready: registration,
  };
  const cached = new Map<string, string>();
  const caches = {
    open: async () => ({ put: async (key: string, answer: Response) => void cached.set(key, await answer.text()) }),
    match: async (key: string) => (cached.has(key) ? new Response(cached.get(key)) : undefined),
    delete: async () => cached.clear(),
  };
  vi.stubGlobal("caches", caches);
  vi.stubGlobal("navigator", { serviceWorker });
  vi.stubGlobal("PushManager", {});
  vi.stubGlobal("Notification", { permission: "granted", requestPermission: async () => "granted" });
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    removeItem: (key: string) => stored.delete(key),
    setItem: (key: string, value: string) => setItem(stored, key, value),
  });
  return { caches };
}

async function pushing() {
  const { world, tenant } = await withTenant();
  const fetch = fetchOf(world);
  const client = createBrowserClient({ baseUrl: BASE_URL, sdkKey: tenant.sdkKey, fetch });
  const { registerWebPush } = (await import(/* @vite-ignore */ ELEMENT)) as Element;
  const options = { externalId: "ada", vapidPublicKey: KEYS.p256dh, worker: "/worker.js" };
  return { client, register: (hasConsent: boolean) => registerWebPush(client, { ...options, hasConsent }) };
}

it("web push is registered also where the storage of the browser is full", async () => {
  browserOf(() => {
    throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
  });
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  const { register } = await pushing();

  expect(await register(true)).toMatchObject({ status: "registered" });
  expect(warn).toHaveBeenCalledOnce();
});

it("web push is taken back also where its device has been removed meanwhile", async () => {
  browserOf((stored, key, value) => void stored.set(key, value));
  const { client, register } = await pushing();
  const { id: subscriber_id } = await client.subscribers.upsert({ external_id: "ada" });
  const { deviceId } = await register(true);
  await client.devices.delete(deviceId, { subscriber_id });

  expect([await register(false), await register(false)]).toEqual([{ status: "no_consent" }, { status: "no_consent" }]);
});

/** As browsers refuse it where site data are blocked or damaged. */
const refused = () => Promise.reject(new DOMException("The operation is insecure.", "SecurityError"));
const REFUSING = { open: refused, match: refused, delete: refused };

it("web push is registered and taken back also where the browser refuses its cache", async () => {
  browserOf((stored, key, value) => void stored.set(key, value));
  vi.stubGlobal("caches", REFUSING);
  vi.spyOn(console, "warn").mockReturnValue();
  const { world, tenant } = await withTenant();
  const { key } = (await tenant.call("POST /api/v1/identity-keys")).body;
  const settings = { baseUrl: BASE_URL, sdkKey: tenant.sdkKey, fetch: fetchOf(world) };
  const client = createBrowserClient({ ...settings, userHash: userHash(key, "ada") });
  const { registerWebPush } = (await import(/* @vite-ignore */ ELEMENT)) as Element;
  const options = { externalId: "ada", vapidPublicKey: KEYS.p256dh, worker: "/worker.js" };
  const { id } = await client.subscribers.upsert({ external_id: "ada" });
  const devices = async () => (await tenant.call(`GET /api/v1/subscribers/${id}/devices`)).body.items;

  expect(await registerWebPush(client, { ...options, hasConsent: true })).toMatchObject({ status: "registered" });
  expect(await devices()).toHaveLength(1);
  expect(await registerWebPush(client, { ...options, hasConsent: false })).toEqual({ status: "no_consent" });
  expect(await devices()).toEqual([]);
});

it("what is tapped is reported also where the browser refuses the cache of signed ids", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return new Response();
  });
  const listeners = new Map<string, (event: object) => void>();
  const addEventListener = (type: string, listener: (event: object) => void) => void listeners.set(type, listener);
  handlePush({ addEventListener, caches: REFUSING }, { baseUrl: BASE_URL, sdkKey: "key" });

  const work: Promise<unknown>[] = [];
  const data = { notification_id: "one", subscriber_id: "ada" };
  const waitUntil = (one: Promise<unknown>) => work.push(one);
  listeners.get("notificationclose")?.({ notification: { data }, waitUntil });
  await Promise.all(work);

  expect(asked).toEqual([`${BASE_URL}/api/v1/notifications/interactions`]);
});

it("what is tapped is reported with the signed id of its user, where the workspace demands it, until the registration ends (ACC-8)", async () => {
  const { caches } = browserOf((stored, key, value) => void stored.set(key, value));
  const { world, tenant } = await withTenant();
  const { key } = (await tenant.call("POST /api/v1/identity-keys")).body;
  await tenant.call("PATCH /api/v1/workspace", { identity_required: true });
  const fetch = fetchOf(world);
  const settings = { baseUrl: BASE_URL, sdkKey: tenant.sdkKey };
  const client = createBrowserClient({ ...settings, userHash: userHash(key, "ada"), fetch });
  const { registerWebPush } = (await import(/* @vite-ignore */ ELEMENT)) as Element;
  const options = { externalId: "ada", vapidPublicKey: KEYS.p256dh, worker: "/worker.js" };
  await registerWebPush(client, { ...options, hasConsent: true });
  const { id } = await client.subscribers.upsert({ external_id: "ada" });
  const send = await tenant.call("POST /api/v1/notifications", { subscriberIds: [id], title: "t", body: "b" });
  const answers: number[] = [];
  vi.stubGlobal("fetch", async (...given: Parameters<typeof fetch>) => {
    const answer = await fetch(...given);
    answers.push(answer.status);
    return answer;
  });
  const listeners = new Map<string, (event: object) => void>();
  const addEventListener = (type: string, listener: (event: object) => void) => void listeners.set(type, listener);
  handlePush({ addEventListener, caches }, settings);
  const close = async () => {
    const work: Promise<unknown>[] = [];
    const data = { notification_id: send.body.id, subscriber_id: id };
    listeners.get("notificationclose")?.({
      notification: { data },
      waitUntil: (one: Promise<unknown>) => work.push(one),
    });
    await Promise.all(work);
  };

  await close();
  await registerWebPush(client, { ...options, hasConsent: false });
  await close();

  expect(answers).toEqual([202, 403]);
});
