// A workspace that tests its sends.
import { expect } from "vitest";
import { addPeople } from "./people.ts";
import { addPhone, openChannels } from "./reached.ts";
import type { Tenant, TestWorld } from "./world.ts";

export const testSend = (tenant: Tenant, more: object = {}) =>
  tenant.call("POST /api/v1/notifications/test", { content: { title: "t", body: "b" }, ...more });

/** Gives it channels and two people; Ada, with a phone and an address, is its test subscriber. */
export async function withTester({ world, tenant }: { world: TestWorld; tenant: Tenant }) {
  const channels = await openChannels(world, tenant, "ios-push", "email", "sms");
  const [ada, bob] = (await addPeople(world, tenant, 2, (n) => ({
    email: `p${n}@example.com`,
    attributes: { first_name: ["Ada", "Bob"][n]!, phone: "+4915112345678" },
  }))) as [string, string];
  await addPhone(world, tenant, ada, "ios");
  const configure = async (settings: object) =>
    expect((await tenant.call("PATCH /api/v1/workspace", settings)).status).toBe(200);
  await configure({ test_subscriber_ids: [ada] });
  return { world, tenant, channels, ada, bob, configure };
}
