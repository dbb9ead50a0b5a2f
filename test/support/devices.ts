// Devices for tests: registered by their subscribers, and read as the dashboard lists them.
import type { Answer } from "./world.ts";
import type { worlds } from "./worlds.ts";

export const phone = (subscriber_id: string, more: object = {}) => ({
  subscriber_id,
  platform: "ios",
  token: "token-1",
  ...more,
});
export const subscription = {
  endpoint: "https://push.example.com/1",
  expirationTime: null,
  keys: { p256dh: "BPk", auth: "aaa" },
};
export const browser = (subscriber_id: string) => ({ subscriber_id, platform: "web", subscription });

/** A workspace with two subscribers, and what their apps do. */
export const withDevices =
  ({ withPeople }: Pick<ReturnType<typeof worlds>, "withPeople">) =>
  async (options: Parameters<typeof withPeople>[1] = {}) => {
    const { world, tenant, ids } = await withPeople(2, options);
    const [ada, bob] = ids as [string, string];
    const register = (body: object, of = tenant): Promise<Answer> =>
      world.call("POST /api/v1/devices", { as: of.sdk, body });
    const devicesOf = async (id: string) => (await tenant.call(`GET /api/v1/subscribers/${id}/devices`)).body.items;
    return { world, tenant, ada, bob, register, devicesOf };
  };
