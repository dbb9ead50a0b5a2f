// Traits of many messages of one user in a batch of Segment's libraries.
import { expect, it } from "vitest";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const traits = (from: number, to: number) =>
  Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`t${from + n}`, n]));

const setting = async () => {
  const { world, tenant } = await withTenant();
  const identify = (key: string, ...all: object[]) =>
    world.call("POST /v1/segment/batch", {
      body: { writeKey: key, batch: all.map((one) => ({ type: "identify", userId: "ada", traits: one })) },
    });
  const ada = async () => {
    const [one] = (await tenant.call("GET /api/v1/subscribers?external_id=ada")).body.items;
    return { email: one.email, attributes: Object.keys(JSON.parse(one.attributes)) };
  };
  const server = String(tenant.server.authorization).slice("Bearer ".length);
  return { identify, ada, sdk: String(tenant.sdk["x-sdk-key"]), server };
};

it("a profile that a batch of the publishable key makes has at most 64 attributes, and its address (AMB-146)", async () => {
  const { identify, ada, sdk } = await setting();
  const answer = await identify(sdk, { email: "ada@example.com", ...traits(0, 50) }, traits(50, 100), traits(100, 150));
  const { email, attributes } = await ada();

  expect(answer.body).toMatchObject({ success: true, accepted: 3, omitted: 1 });
  expect(email).toBe("ada@example.com");
  expect(attributes).toHaveLength(64);
});

it("a batch with more traits of a known user than one write takes is kept whole (CLI-1)", async () => {
  const { identify, ada, server } = await setting();
  await identify(server, { plan: "pro" });
  const answer = await identify(server, traits(0, 150), traits(150, 300), traits(300, 450));

  expect(answer).toMatchObject({ status: 200, body: { success: true, accepted: 3 } });
  expect((await ada()).attributes).toHaveLength(451);
});

it("of several addresses of one user in a batch the last one is kept (CLI-1)", async () => {
  const { identify, ada, sdk } = await setting();

  await identify(sdk, { email: "old@example.com" }, { email: "new@example.com" }, { plan: "pro" });

  expect((await ada()).email).toBe("new@example.com");
});
