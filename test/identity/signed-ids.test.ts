// Calls with the publishable key that name a user carry the user's signed id, where the workspace demands it.
import { describe, expect, it } from "vitest";
import { subscriberHash, userHash } from "../../sdk/src/identity.ts";
import { wholeTable } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { openStream } from "../support/sse.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A workspace with a key that signs ids, where they are not demanded yet. */
async function signing({ world, tenant }: Awaited<ReturnType<typeof withTenant>>) {
  const { key, id } = (await tenant.call("POST /api/v1/identity-keys")).body;
  const demand = (identity_required: boolean) => tenant.call("PATCH /api/v1/workspace", { identity_required });
  const upsertAda = (hash?: string) =>
    world.call("POST /api/v1/subscribers/upsert", {
      as: tenant.sdk,
      body: { external_id: "ada" },
      ...(hash !== undefined && { headers: { "x-user-hash": hash } }),
    });
  return { world, tenant, key, id, demand, upsertAda };
}

const setting = async () => signing(await withTenant());

describe("where signed ids are demanded", () => {
  /** Ada, whose app has her hashes, and Eve, who is unknown to it. */
  const demanded = shared(async (own) => {
    const found = await signing(await own.withTenant());
    const { world, tenant, key, demand, upsertAda } = found;
    await demand(true);
    const ada = (await upsertAda(userHash(key, "ada").toUpperCase())).body;
    const as = await tenant.backend();
    const eve = (await world.call("POST /v1/subscribers/upsert", { as, body: { external_id: "eve" } })).body.id;
    const hashes = { "x-user-hash": `${userHash(key, "ada")},${ada.user_hash}` };
    const ask = async (route: string, body?: object) =>
      (await world.call(route, { as: tenant.sdk, headers: hashes, ...(body && { body }) })).status;
    return { ...found, ada: ada as { id: string; user_hash: string }, eve, hashes, ask };
  });
  type DemandedSetting = Awaited<ReturnType<typeof demanded>>;

  it.each<[what: string, hash: (key: string) => string | undefined]>([
    ["without a hash", () => undefined],
    ["with the hash of another user", (key) => userHash(key, "eve")],
    ["with a hash by another key", () => userHash("another key", "ada")],
  ])("an upsert %s is refused with 403 (ACC-8)", async (_, hash) => {
    const { key, upsertAda } = await demanded();

    expect(await upsertAda(hash(key))).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  });

  it("of four hashes any may be that of the user, and no later one (ACC-8)", async () => {
    const { key, upsertAda } = await demanded();
    const others = (n: number) => Array.from({ length: n }, (_, i) => userHash(key, `other${i}`));

    expect((await upsertAda([...others(3), userHash(key, "ada")].join())).status).toBe(200);
    expect((await upsertAda([...others(4), userHash(key, "ada")].join())).status).toBe(403);
  });

  it("an upsert with the user's hash is answered with the hash of the subscriber (ACC-8)", async () => {
    const { key, ada } = await demanded();

    expect(ada.user_hash).toBe(subscriberHash(key, ada.id));
  });

  it("the id of a subscriber is not signed as an external id: that hash would open the inbox (ACC-8)", async () => {
    const { key, ada } = await demanded();

    expect(() => userHash(key, ada.id.toUpperCase())).toThrow("subscriberHash");
  });

  const event = (subscriber_id: string) => ({ name: "opened", subscriber_id });

  it.each<[what: string, act: (at: DemandedSetting, id: string) => Promise<number>]>([
    [
      "to open a stream with the hash in a header",
      async ({ world, tenant, hashes }, id) =>
        (await openStream(world, `?subscriber_id=${id}`, { ...tenant.sdk, ...hashes })).status,
    ],
    [
      "to open a stream with the hash in the address",
      async ({ world, tenant, ada }, id) =>
        (await openStream(world, `?subscriber_id=${id}&user_hash=${ada.user_hash}`, tenant.sdk)).status,
    ],
    ["to list an inbox", ({ ask }, id) => ask(`GET /v1/in-app/messages?subscriber_id=${id}`)],
    ["to read an inbox", ({ ask }, subscriber_id) => ask("POST /v1/in-app/messages/read", { subscriber_id })],
    ["to send events", ({ ask, ada }, id) => ask("POST /v1/events", { events: [event(ada.id), event(id)] })],
    [
      "to identify a visitor",
      ({ ask }, subscriber_id) => ask("POST /v1/events/identify", { anonymous_id: "a", subscriber_id }),
    ],
  ])("every call that names a user wants the hash of each id it names: %s (ACC-8)", async (_, act) => {
    const found = await demanded();

    expect(await act(found, found.eve)).toBe(403);
    expect(await act(found, found.ada.id)).not.toBe(403);
  });

  it("events of nobody who is known take no hash (ACC-8)", async () => {
    const { ask } = await demanded();

    expect(await ask("POST /v1/events", { events: [{ name: "opened", anonymous_id: "a" }] })).not.toBe(403);
  });

  it("the dashboard takes no hash (ACC-8)", async () => {
    const { tenant, eve } = await demanded();

    expect((await tenant.call(`GET /v1/in-app/messages?subscriber_id=${eve}`)).status).toBe(200);
  });
});

it("an upsert is answered without a hash where none is demanded (ACC-8)", async () => {
  const { upsertAda } = await setting();

  expect((await upsertAda()).body).not.toHaveProperty("user_hash");
});

describe("keys that sign ids", () => {
  /** Two keys of a workspace that demands signed ids. */
  async function two() {
    const found = await setting();
    await found.demand(true);
    const second = (await found.tenant.call("POST /api/v1/identity-keys")).body;
    const remove = async (id: string) => (await found.tenant.call(`DELETE /api/v1/identity-keys/${id}`)).status;
    const statusWith = async (key: string) => (await found.upsertAda(userHash(key, "ada"))).status;
    return { ...found, second, remove, statusWith };
  }

  it("two keys sign ids at once, and a third is refused with 409 (ACC-8)", async () => {
    const { tenant, key, second, statusWith } = await two();

    expect(await statusWith(key)).toBe(200);
    expect(await statusWith(second.key)).toBe(200);
    expect((await tenant.call("POST /api/v1/identity-keys")).status).toBe(409);
  });

  it("a deleted key signs no id (ACC-8)", async () => {
    const { key, id, second, remove, statusWith } = await two();

    expect(await remove(id)).toBe(204);

    expect(await statusWith(key)).toBe(403);
    expect(await statusWith(second.key)).toBe(200);
  });

  it("an upsert is answered with a hash by the newest key, which holds when the older one is deleted (ACC-8)", async () => {
    const { upsertAda, key, id, second, remove } = await two();
    const ada = (await upsertAda(userHash(key, "ada"))).body;

    await remove(id);

    expect(ada.user_hash).toBe(subscriberHash(second.key, ada.id));
  });

  it("the last key stays while signed ids are demanded: 409 (ACC-8)", async () => {
    const { id, second, remove, demand } = await two();
    await remove(id);

    expect(await remove(second.id)).toBe(409);

    await demand(false);
    expect(await remove(second.id)).toBe(204);
  });

  it("signed ids are not demanded without a key: 422 (ACC-8)", async () => {
    const { tenant } = await withTenant();

    expect((await tenant.call("PATCH /api/v1/workspace", { identity_required: true })).status).toBe(422);
  });

  it("signed ids are not demanded where the last key is deleted meanwhile: 422 (ACC-8)", async () => {
    const writing = requests({ operation: "TransactWriteItems", naming: "identity_required" });
    const { tenant, id, demand } = await signing(await withTenant({ hooks: writing.hooks }));
    writing.next(() => tenant.call(`DELETE /api/v1/identity-keys/${id}`));

    expect((await demand(true)).status).toBe(422);

    expect((await tenant.call("GET /api/v1/workspace")).body.identity_required).toBe(false);
  });

  it("the keys that sign ids are listed without their secrets, which the table does not hold (ACC-8)", async () => {
    const { world, tenant, id, key } = await setting();

    const { items } = (await tenant.call("GET /api/v1/identity-keys")).body;

    expect(items).toMatchObject([{ id }]);
    expect(JSON.stringify(items)).not.toContain(key);
    expect(JSON.stringify(await wholeTable(world))).not.toContain(key);
  });
});
