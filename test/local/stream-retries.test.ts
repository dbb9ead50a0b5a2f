// How long the local service tries again what follows from a write.
import { expect, it } from "vitest";
import { testWorld } from "../support/world.ts";

it("a send that was accepted while no message could be sent for half an hour starts afterwards, as on a deployment (F5)", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  const id = await tenant.upsert({ external_id: "ada" });
  await world.call("POST /_local/faults", { body: { channel: "aws:sqs" } });
  const { status } = await tenant.call("POST /api/v1/notifications", {
    subscriberIds: [id],
    title: "Hello",
    body: "b",
  });
  expect(status).toBe(201);
  await world.call("POST /_local/clock", { body: { advance: "30m" } });
  await world.call("DELETE /_local/faults");

  await world.call("POST /_local/clock", { body: { advance: "2m" } });

  const { messages } = (await tenant.call(`GET /v1/in-app/messages?subscriber_id=${id}`)).body;
  expect(messages).toMatchObject([{ content: { title: "Hello" } }]);
});
