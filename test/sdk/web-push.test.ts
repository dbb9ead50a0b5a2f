// Web Push in a browser whose storage is full, and whose device is gone.
import { afterEach, expect, it, vi } from "vitest";
import { createBrowserClient } from "../../sdk/src/browser.ts";
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

/** What a browser has for it: a push service, an answer of its user, and a storage. */
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
  vi.stubGlobal("navigator", { serviceWorker });
  vi.stubGlobal("PushManager", {});
  vi.stubGlobal("Notification", { permission: "granted", requestPermission: async () => "granted" });
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    removeItem: (key: string) => stored.delete(key),
    setItem: (key: string, value: string) => setItem(stored, key, value),
  });
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
