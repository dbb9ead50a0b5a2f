// Calls with the publishable key that name a user carry the user's signed id, where the workspace demands it.
import { expect, it } from "vitest";
import { subscriberHash, userHash } from "../../sdk/src/identity.ts";
import { openStream } from "../support/sse.ts";
import type { Answer, Headers, Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function withKey(): Promise<{ world: TestWorld; tenant: Tenant; owner: Headers; key: string; id: string }> {
  const { world, tenant } = await withTenant();
  const owner = await tenant.dashboard();
  const { body } = await world.call("POST /api/v1/identity-keys", { as: owner });
  return { world, tenant, owner, key: body.key, id: body.id };
}

const demand = (world: TestWorld, owner: Headers, identity_required = true): Promise<Answer> =>
  world.call("PATCH /api/v1/workspace", { as: owner, body: { identity_required } });

it("every call that names a user wants the hash of each id it names, and of no other workspace's key (ACC-8)", async () => {
  const { world, tenant, owner, key } = await withKey();
  const body = { external_id: "ada" };
  const upsert = (hash?: string) =>
    world.call("POST /api/v1/subscribers/upsert", {
      as: tenant.sdk,
      body,
      ...(hash && { headers: { "x-user-hash": hash } }),
    });
  expect(Object.keys((await upsert()).body)).not.toContain("user_hash");
  expect((await demand(world, owner)).body.identity_required).toBe(true);
  expect((await upsert()).body.code).toBe("FORBIDDEN");
  expect((await upsert(userHash(key, "eve"))).status).toBe(403);
  expect((await upsert(userHash("another key", "ada"))).status).toBe(403);
  const ada = await upsert(userHash(key, "ada").toUpperCase());
  expect([ada.status, ada.body.user_hash]).toEqual([200, subscriberHash(key, ada.body.id)]);
  // A user who chose it as an external id would get the hash that opens this inbox.
  expect(() => userHash(key, ada.body.id.toUpperCase())).toThrow("subscriberHash");
  const eve = (
    await world.call("POST /v1/subscribers/upsert", { as: await tenant.backend(), body: { external_id: "eve" } })
  ).body.id;
  const own = { "x-user-hash": `${userHash(key, "ada")},${ada.body.user_hash}` };
  const event = (subscriber_id: string) => ({ name: "opened", subscriber_id });
  const ask = async (route: string, content?: object) =>
    (await world.call(route, { as: tenant.sdk, headers: own, ...(content && { body: content }) })).status;
  const statuses = async (subscriber_id: string) => [
    (await openStream(world, `?subscriber_id=${subscriber_id}`, { ...tenant.sdk, ...own })).status,
    (await openStream(world, `?subscriber_id=${subscriber_id}&user_hash=${ada.body.user_hash}`, tenant.sdk)).status,
    await ask(`GET /v1/in-app/messages?subscriber_id=${subscriber_id}`),
    await ask("POST /v1/in-app/messages/read", { subscriber_id }),
    await ask("POST /v1/events", { events: [event(ada.body.id), event(subscriber_id)] }),
    await ask("POST /v1/events/identify", { anonymous_id: "a", subscriber_id }),
  ];
  expect(await statuses(eve)).toEqual([403, 403, 403, 403, 403, 403]);
  expect(await statuses(ada.body.id)).not.toContain(403);
  expect(await ask("POST /v1/events", { events: [{ name: "opened", anonymous_id: "a" }] })).not.toBe(403);
  expect((await world.call(`GET /v1/in-app/messages?subscriber_id=${eve}`, { as: owner })).status).toBe(200);
});

it("two keys are valid at once and a deleted one signs nothing; the last one stays while hashes are demanded (ACC-8)", async () => {
  const { world, tenant, owner, key, id } = await withKey();
  await demand(world, owner);
  const second = (await world.call("POST /api/v1/identity-keys", { as: owner })).body;
  expect((await world.call("POST /api/v1/identity-keys", { as: owner })).status).toBe(409);
  const upsert = async (with_: string) =>
    (
      await world.call("POST /api/v1/subscribers/upsert", {
        as: tenant.sdk,
        body: { external_id: "ada" },
        headers: { "x-user-hash": userHash(with_, "ada") },
      })
    ).status;
  expect([await upsert(key), await upsert(second.key)]).toEqual([200, 200]);
  expect((await world.call(`DELETE /api/v1/identity-keys/${id}`, { as: owner })).status).toBe(204);
  expect([await upsert(key), await upsert(second.key)]).toEqual([403, 200]);
  const remove = () => world.call(`DELETE /api/v1/identity-keys/${second.id}`, { as: owner });
  expect((await remove()).status).toBe(409);
  await demand(world, owner, false);
  expect((await remove()).status).toBe(204);
  expect((await demand(world, owner)).status).toBe(422);
  expect((await world.call("GET /api/v1/identity-keys", { as: owner })).body).toEqual({ items: [] });
  const { Items } = await world.dynamodb.operate("Scan", { TableName: world.env.TABLE_NAME });
  expect(JSON.stringify(Items)).not.toContain(second.key);
});
