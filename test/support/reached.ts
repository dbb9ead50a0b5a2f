// A workspace that can send by every channel, subscribers with addresses, and the messages that providers received.
import type { OutboxItem } from "../../local/outbox.ts";
import { acceptChannel, findVerification } from "../../shared/store/channels/verifications.ts";
import type { Device } from "../../shared/store/subscribers/devices.ts";
import { channelCalls, kinds, type UploadPath } from "./channels.ts";
import type { Tenant, TestWorld } from "./world.ts";

/** Makes channels ready to send, with keys that the embedded providers take. @returns their ids by type. */
export async function openChannels(
  world: TestWorld,
  tenant: Tenant,
  ...paths: UploadPath[]
): Promise<Record<string, string>> {
  const { create, upload } = await channelCalls(world, tenant);
  const ids: Record<string, string> = {};
  for (const path of paths) {
    const { type } = kinds[path];
    ids[type] = await create(type);
    await upload(ids[type], path);
  }
  await world.settle();
  // What no worker has asked the provider about by now is taken for right.
  for (const id of Object.values(ids)) {
    const open = await findVerification(tenant.store, id, undefined);
    if (open) await acceptChannel(tenant.store, open);
  }
  return ids;
}

export const BROWSER_KEYS = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};

/** Registers a device of a platform. */
export async function addPhone(
  world: TestWorld,
  tenant: Tenant,
  subscriber_id: string,
  platform: "ios" | "android" | "web",
  more: object = {},
): Promise<Device> {
  const address =
    platform === "web"
      ? { subscription: { endpoint: `https://push.example.com/${subscriber_id}`, keys: BROWSER_KEYS } }
      : { token: `${platform}-${world.ids.uuid()}` };
  const body = { subscriber_id, platform, ...address, ...more };
  return (await world.call("POST /api/v1/devices", { as: tenant.sdk, body })).body;
}

/** What the embedded providers were given, oldest first. */
export const outboxOf = async (world: TestWorld, query = ""): Promise<OutboxItem[]> =>
  (await world.call(`GET /_local/outbox${query}`)).body.items;

export const spoil = (world: TestWorld, fault: object) => world.call("POST /_local/faults", { body: fault });
export const mend = (world: TestWorld) => world.call("DELETE /_local/faults");

/** The ledger rows of a subscriber. */
export async function ledgerOf(tenant: Tenant, subscriber: string) {
  return (await tenant.rows.query({ pk: `T#${tenant.id}#U#${subscriber}`, prefix: "R#" })).items;
}
