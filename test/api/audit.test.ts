// The audit trail (RDA-23): what is in it, what it proves, and what a crash leaves of it.
import { describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { auditOf, type Entry } from "../support/audit.ts";
import { wholeTable } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import { type Tenant, type TestWorld, testWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting() {
  const { world, tenant } = await withTenant();
  return { world, tenant, ...auditOf(world, tenant) };
}

/** The chain that the functions of this world write most of their rows to, as it is stored. */
const rowsOf = async (world: TestWorld, tenant: Tenant) =>
  (await wholeTable(world)).filter(({ pk }) => pk.S.startsWith(`T#${tenant.id}#AUDIT#`));

describe("the audit trail", () => {
  it("has a consent that a server key or a client states with an upsert or as a preference (RDA-23)", async () => {
    const { world, tenant, call, list } = await setting();
    const server = await tenant.backend("subscribers:write");
    const consent = { channel: "email", status: "opted_in" };
    await call("POST /v1/subscribers/upsert", { external_id: "ben", consent }, server);
    await world.advance(1_000);
    await call("POST /api/v1/subscribers/upsert", { external_id: "ada", consent }, tenant.sdk);
    await world.advance(1_000);
    await call("PUT /v1/preferences", { external_id: "ada", topics: { none: "opted_out" } }, server);
    expect((await list()).map(({ action, actor }) => `${action} ${actor.type}`)).toEqual([
      "preferences.set server_key",
      "subscribers.upsert publishable_key",
      "subscribers.upsertWithServerKey server_key",
    ]);
  });

  it("has what users, agent keys and server keys change, with its outcome; never what they sent (RDA-23)", async () => {
    const { world, tenant, call, list, verify } = await setting();
    const { id } = (await call("POST /api/v1/lists", { name: "first" })).body;
    expect((await call("POST /api/v1/lists", { name: "first" })).status).toBe(409);
    await world.advance(1_000);
    await call(`PATCH /api/v1/lists/${id}`, { description: "a secret plan" });
    await world.advance(1_000);
    const key = (await call("POST /api/v1/server-keys", { name: "backend", scopes: ["hooks:write"] })).body;
    await world.advance(1_000);
    const hook = { target_url: "https://example.com/hooks", events: ["subscriber.created"] };
    await call("POST /v1/hooks", hook, { authorization: `Bearer ${key.key}` });
    await world.advance(1_000);
    const send = { target: { type: "all" }, title: "secret words", body: "b" };
    const sent = (await call("POST /api/v1/notifications", send)).body.id;
    const entries = await list();
    expect(entries).toMatchObject([
      { action: "notifications.create", target: sent, outcome: "ok", status: 201 },
      { action: "hooks.create", actor: { type: "server_key", id: key.id, name: key.name, role: null }, outcome: "ok" },
      { action: "account.createServerKey", target: key.id, outcome: "ok", code: null },
      { action: "lists.update", target: id, actor: { type: "user", id: tenant.owner, role: "owner" }, status: 200 },
      expect.objectContaining({ action: "lists.create" }),
      expect.objectContaining({ action: "lists.create" }),
    ]);
    expect(
      entries
        .slice(4)
        .map(({ outcome, code }) => `${outcome} ${code}`)
        .sort(),
    ).toEqual(["ok null", "refused CONFLICT"]);
    const stored = JSON.stringify(await rowsOf(world, tenant));
    for (const text of ["secret", key.key, "first", "example.com"]) expect(stored).not.toContain(text);
    expect(await verify()).toEqual({ valid: true, verified: 6, broken: null, next_cursor: "" });
  });

  it("leaves out reads, calls that checks refuse, clients, and the sends and upserts of server keys (RDA-23)", async () => {
    const { world, tenant, call, list } = await setting();
    const server = await tenant.backend("subscribers:write", "messages:send");
    await call("GET /api/v1/lists");
    await call("POST /api/v1/lists", { name: "" });
    await call("POST /api/v1/lists", { name: "l" }, await tenant.dashboard("viewer"));
    await call("POST /api/v1/notifications/preview", { target: { type: "all" }, title: "t", body: "b" });
    await call("POST /api/v1/subscribers/upsert", { external_id: "ada" }, tenant.sdk);
    const { id } = (await call("POST /v1/subscribers/upsert", { external_id: "ben" }, server)).body;
    await call("POST /v1/notifications", { external_ids: ["ben"], title: "t", body: "b" }, server);
    await world.settle();
    await call("POST /v1/in-app/messages/read", { subscriber_id: id });
    await call("POST /v1/events", { event_name: "e", external_id: "ben" }, tenant.server);
    expect(await list()).toEqual([]);
    const consent = { channel: "sms", status: "opted_out" };
    await call(`POST /api/v1/subscribers/${id}/consents`, consent);
    expect(await list()).toMatchObject([{ action: "subscribers.createConsent", target: id }]);
  });

  it("names who called and what was changed; what is gone has no name (RDA-23)", async () => {
    const { call, list } = await setting();
    const kept = (await call("POST /api/v1/lists", { name: "Kept" })).body;
    const gone = (await call("POST /api/v1/lists", { name: "Gone" })).body;
    await call(`DELETE /api/v1/lists/${gone.id}`);
    const entries = await list("?action=lists.create");
    const subjects = entries.map(({ subject }) => subject);
    expect(subjects).toContainEqual({ kind: "list", id: kept.id, name: "Kept" });
    expect(subjects).toContainEqual({ kind: "list", id: gone.id, name: null });
    expect(entries.every(({ actor }) => actor.name)).toBe(true);
  });

  it("is filtered and paged, for every role, and is of one workspace (RDA-23)", async () => {
    const { world, tenant, call, list, labels } = await setting();
    const other = await world.tenant();
    await call("POST /api/v1/lists", { name: "x" }, await other.dashboard());
    const noon = world.clock.now();
    const content = { title: "t", body: "b" };
    for (let n = 0; n < 24; n++) {
      const as = n % 2 ? await tenant.dashboard("marketer") : undefined;
      if (n % 3) await call("POST /api/v1/lists", { name: `n${n}` }, as);
      else await call("POST /api/v1/templates", { name: `n${n}`, content }, as);
      await world.advance(MINUTE);
    }
    const seen: string[] = [];
    for (let cursor: string | undefined; cursor !== ""; ) {
      const page = (await call(`GET /api/v1/audit?limit=7${cursor ? `&cursor=${cursor}` : ""}`)).body;
      expect(page.items.length).toBeLessThanOrEqual(7);
      seen.push(...page.items.map(({ id }: Entry) => id));
      cursor = page.next_cursor;
    }
    const all = await list("?limit=100");
    expect(seen).toEqual(all.map(({ id }) => id));
    expect(new Set(seen).size).toBe(24);
    const times = all.map(({ at }) => at);
    expect(times).toEqual([...times].sort().reverse());
    expect(all.every(({ outcome }) => outcome === "ok")).toBe(true);
    expect(new Set(await labels("?action=templates"))).toEqual(new Set(["templates.create ok"]));
    expect(await labels("?action=templates.delete")).toEqual([]);
    const own = await list(`?actor=marketer-${tenant.id}`);
    expect(own).toHaveLength(12);
    const from = new Date(noon + 10 * MINUTE).toISOString();
    const to = new Date(noon + 11 * MINUTE).toISOString();
    expect((await list(`?from=${from}&to=${to}`)).every(({ at }) => at >= from && at <= to)).toBe(true);
    expect(await list(`?from=${from}&to=${to}`)).toHaveLength(2);
    expect((await call("POST /api/v1/audit/verify", {}, await tenant.dashboard("viewer"))).status).toBe(200);
    expect(await auditOf(world, other).list()).toHaveLength(1);
    const foreign = (await call("GET /api/v1/audit?limit=3")).body.next_cursor;
    expect((await call(`GET /api/v1/audit?cursor=${foreign}`, undefined, await other.dashboard())).status).toBe(422);
  });

  it("verify names the first row that was changed, removed or cut off, in each chain (F22, RDA-23)", async () => {
    const { world, tenant, call, verify } = await setting();
    for (let n = 0; n < 6; n++) await call("POST /api/v1/lists", { name: `n${n}` });
    const shard = Number(/#AUDIT#(\d)/.exec((await rowsOf(world, tenant))[0]!.pk.S)![1]);
    const key = (seq: number) => ({ pk: `T#${tenant.id}#AUDIT#${shard}`, sk: String(seq).padStart(12, "0") });
    const head = { pk: `T#${tenant.id}#AUDITHEADS`, sk: String(shard) };
    const row = async (at: { pk: string; sk: string }) => (await tenant.rows.get(at))!;
    const restored = async (at: { pk: string; sk: string }, tamper: () => Promise<unknown>) => {
      const before = await row(at);
      await tamper();
      const { broken } = await verify();
      await tenant.rows.put(before);
      expect(await verify()).toMatchObject({ valid: true, verified: 6 });
      return broken;
    };
    for (const set of [
      { action: "lists.delete" },
      { actor: "nobody" },
      { at: "2026-01-01T00:00:00.000Z" },
      { target: "x" },
    ])
      expect(await restored(key(3), () => tenant.rows.update(key(3), { set }))).toMatchObject({
        id: `${shard}-3`,
        reason: "changed",
      });
    expect(await restored(key(3), () => tenant.rows.remove(key(3)))).toMatchObject({
      id: `${shard}-3`,
      reason: "missing",
    });
    expect(await restored(key(6), () => tenant.rows.remove(key(6)))).toMatchObject({
      id: `${shard}-6`,
      reason: "end_missing",
    });
    // Another outcome: where a row holds it, and where only the end of the chain does.
    const outcomes = toJson({ "3": { status: 409, code: "CONFLICT", mac: "0" } });
    expect((await restored(key(4), () => tenant.rows.update(key(4), { set: { outcomes } })))?.reason).toBe("changed");
    const open = toJson({ status: 409, mac: "0" });
    expect((await restored(head, () => tenant.rows.update(head, { set: { "o:6": open } })))?.reason).toBe(
      "outcome_changed",
    );
    // The last row goes, and the end is written as if it had never been.
    const fifth = await row(key(5));
    const cut = async () => {
      await tenant.rows.update(head, { set: { seq: 5, mac: fifth.mac! } });
    };
    expect(await restored(head, cut)).toMatchObject({ id: `${shard}-5`, reason: "end_missing" });
    expect((await restored(head, () => tenant.rows.remove(head)))?.reason).toBe("end_missing");
  });

  it("costs two writes a call, and calls at the same moment are all in it, with their outcomes (RDA-23)", async () => {
    const { world, tenant, call, list, verify } = await setting();
    await call("POST /api/v1/annotations", { occurred_at: "2026-11-01T00:00:00Z", text: "warm" });
    const body = { occurred_at: "2026-11-01T00:00:00Z", text: "one" };
    const one = await spent(world, () => tenant.call("POST /api/v1/annotations", body));
    // The annotation, the row and its outcome; reads are those of the caller.
    expect(one.wcu).toBeLessThanOrEqual(4);
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => tenant.call("POST /api/v1/annotations", { ...body, text: `${n}` })),
    );
    const entries = await list("?limit=100");
    expect(entries).toHaveLength(62);
    expect(entries.every(({ outcome }) => outcome === "ok")).toBe(true);
    expect(await verify()).toMatchObject({ valid: true, verified: 62 });
    // What the end of the chain held is in rows by now, but for the last calls.
    for (let n = 0; n < 12; n++) await call("POST /api/v1/annotations", body);
    const heads = (await wholeTable(world)).filter(({ pk }) => pk.S === `T#${tenant.id}#AUDITHEADS`);
    expect(Object.keys(heads[0]!).filter((name) => name.startsWith("o:")).length).toBeLessThanOrEqual(2);
  });
});

it("nothing is changed that is not in the trail; what was interrupted is `unknown` (RDA-23)", async () => {
  let failing: "AUDIT#" | "AUDITHEADS" | undefined;
  const before = (service: string, operation: string, input: unknown) => {
    if (
      failing &&
      service === "dynamodb" &&
      operation === "UpdateItem" &&
      JSON.stringify(input).includes(`#${failing}`)
    )
      throw awsFailure("ServiceUnavailable", "broken", { status: 400 });
  };
  const world = await testWorld({ hooks: (name) => (name === "api-lists" ? { before } : {}) });
  const tenant = await world.tenant();
  const { call, list, verify } = auditOf(world, tenant);
  failing = "AUDIT#";
  expect((await call("POST /api/v1/lists", { name: "never" })).status).toBe(503);
  failing = "AUDITHEADS";
  for (const name of ["done", "again"]) expect((await call("POST /api/v1/lists", { name })).status).toBe(201);
  failing = undefined;
  expect((await call("GET /api/v1/lists")).body.items).toHaveLength(2);
  const unknown = { action: "lists.create", outcome: "unknown", status: null };
  expect(await list()).toMatchObject([unknown, unknown]);
  expect(await verify()).toMatchObject({ valid: true, verified: 2 });
  for (const name of ["next", "last"]) await call("POST /api/v1/lists", { name });
  // Once its end is written, a row has what the environment still knew.
  expect((await list()).map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok", "ok"]);
  expect(await verify()).toMatchObject({ valid: true, verified: 4 });
});
