// A site with the elements of the SDK, and what tests run in its page.
export const PAGE = `<!doctype html><html lang="en"><title>A site</title><main><h1>A site</h1>
<engagement-inbox></engagement-inbox></main><script src="/sdk.js"></script></html>`;

/** In the page: messages that arrive at its word. */
export const FAKE_FEED = `const fake = { messages: [], state: "live", report() {}, subscribe: (tell) => { fake.tell = tell; tell(); } };
  const messageOf = (id) => ({ id, status: "unread", content: { title: id, format: "banner" } });
  globalThis.arrive = (ids) => fake.tell((fake.messages = ids.map(messageOf)));
  sdk.showInApp(fake);`;

/** In the page: what axe finds. */
export const AXE_RUN = `async (source) => {
  if (!globalThis.axe) Object.assign(globalThis, new Function("module", source + ";return { axe: module.exports }")({ exports: {} }));
  const { violations } = await axe.run();
  return violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).join(" "));
}`;

/** A push service and the answer of its user: a browser without a screen has neither. */
export const FAKE_PUSH = `
  Object.defineProperty(Notification, "permission", { get: () => "granted" });
  Notification.requestPermission = async () => "granted";
  let current = globalThis.subscription;
  const keys = {
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  };
  const bytes = (key) => Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)).buffer;
  PushManager.prototype.getSubscription = async () => globalThis.subscription;
  PushManager.prototype.subscribe = async ({ applicationServerKey }) =>
    (globalThis.subscription = {
      options: { applicationServerKey: bytes(applicationServerKey) },
      toJSON: () => ({ endpoint: "https://push.example.com/send/1", keys }),
      unsubscribe: async () => { globalThis.subscription = undefined; },
    });
`;
