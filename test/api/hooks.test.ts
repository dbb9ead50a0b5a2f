// Webhook endpoints of server keys: creation, limits and samples (HOK).
import { expect, it } from "vitest";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const target_url = "https://hooks.example.com/in";
const create = (world: TestWorld, tenant: Tenant, body: object = {}) =>
  world.call("POST /v1/hooks", { as: tenant.server, body: { target_url, events: ["subscriber.created"], ...body } });

it("a hook has its secret at its creation, one of its own, and never again (HOK-1, HOK-2, HOK-6)", async () => {
  const { world, tenant } = await withTenant();
  const events = ["subscriber.created", "notification.terminal"];

  const { status, body } = await create(world, tenant, { events });

  const secret = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(status).toBe(201);
  expect(body).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), target_url, events, secret });
  const listed = await world.call("GET /v1/hooks", { as: tenant.server });
  expect(listed.body).toEqual([{ id: body.id, target_url, events }]);
  expect((await create(world, tenant)).body.secret).not.toBe(body.secret);
});

it.each([["http://example.com/"], ["https://127.0.0.1/"]])(
  "a hook is refused with 422 for the target %s (HOK-3, ARC-16)",
  async (url) => {
    const { world, tenant } = await withTenant();

    const { status, body } = await create(world, tenant, { target_url: url });

    expect(status).toBe(422);
    expect(body.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(body.fields)).toEqual(["target_url"]);
  },
);

it("an event that a hook names twice is in it once (HOK-2)", async () => {
  const { world, tenant } = await withTenant();

  const { body } = await create(world, tenant, { events: ["subscriber.created", "subscriber.created"] });

  expect(body.events).toEqual(["subscriber.created"]);
});

it("the scheme of a hook's target may be in capitals, as RFC 3986 says (HOK-2)", async () => {
  const { world, tenant } = await withTenant();

  const { status, body } = await create(world, tenant, { target_url: "HTTPS://Hooks.Example.com/In" });

  expect(status).toBe(201);
  expect(body.target_url).toBe("https://hooks.example.com/In");
});

it("of twelve hooks that are made at once ten are there (HOK-5, LIM-5, AMB-30)", async () => {
  const { world, tenant } = await withTenant();

  const answers = await Promise.all(Array.from({ length: 12 }, () => create(world, tenant)));

  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 422, 422]);
});

it("the limit of ten hooks holds for both groups together, until one is deleted (HOK-5, LIM-5, AMB-100)", async () => {
  const { world, tenant } = await withTenant();
  const { id } = (await create(world, tenant)).body;
  for (let n = 1; n < 10; n++) await create(world, tenant);
  const body = { target_url, events: ["subscriber.created"] };

  const refused = await tenant.call("POST /api/v1/webhooks", body);
  await world.call(`DELETE /v1/hooks/${id}`, { as: tenant.server });

  expect(refused).toMatchObject({ status: 422, body: { code: "VALIDATION_ERROR" } });
  expect((await tenant.call("POST /api/v1/webhooks", body)).status).toBe(201);
});

it.each([
  ["subscriber.created", ["subscriber_id", "external_id", "email", "attributes", "created"]],
  ["notification.dispatched", ["job_id", "target_size_estimate", "scheduled_at"]],
  ["notification.terminal", ["job_id", "status", "delivered", "failed", "total"]],
  ["notification.interaction", ["job_id", "interaction_type", "platform", "variant_id"]],
])("the sample of %s is its data without the envelope (HOK-8, AMB-105)", async (event, fields) => {
  const { world, tenant } = await withTenant();

  const { body } = await world.call(`GET /v1/hooks/samples/${event}`, { as: tenant.server });

  expect(body).toHaveLength(1);
  expect(Object.keys(body[0])).toEqual(fields);
});

it("an unknown event type has no sample (HOK-8, AMB-31)", async () => {
  const { world, tenant } = await withTenant();

  expect((await world.call("GET /v1/hooks/samples/nothing", { as: tenant.server })).status).toBe(404);
});
