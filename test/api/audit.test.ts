// The audit trail (RDA-23): what is in it, its pages and filters, and what it costs.
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { auditOf, type Entry } from "../support/audit.ts";
import { entriesOf, pagesOf } from "../support/pages.ts";
import { wholeTable } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { spent } from "../support/spending.ts";
import type { Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting() {
  const { world, tenant } = await withTenant();
  return { world, tenant, ...auditOf(world, tenant) };
}

const NOTE = { occurred_at: "2026-11-01T00:00:00Z", text: "one" };

describe("what is in it", () => {
  it("an entry says what a user changed, and that it was done (RDA-23)", async () => {
    const { tenant, call, list } = await setting();
    const { body, headers } = await call("POST /api/v1/lists", { name: "first" });

    expect(await list()).toMatchObject([
      {
        action: "lists.create",
        target: body.id,
        actor: { type: "user", id: tenant.owner, role: "owner" },
        outcome: "ok",
        status: 201,
        code: null,
        request_id: headers["x-request-id"],
        ip: "203.0.113.7",
      },
    ]);
  });

  it("an entry says which server key made a change (RDA-23)", async () => {
    const { call, list } = await setting();
    const key = (await call("POST /api/v1/server-keys", { name: "backend", scopes: ["hooks:write"] })).body;
    const hook = { target_url: "https://example.com/hooks", events: ["subscriber.created"] };
    await call("POST /v1/hooks", hook, { authorization: `Bearer ${key.key}` });

    expect(await list("?action=hooks.create")).toMatchObject([
      { actor: { type: "server_key", id: key.id, name: key.name, role: null }, outcome: "ok" },
    ]);
  });

  it("a change that its handler refuses is in the audit trail with the code of the refusal (RDA-23)", async () => {
    const { world, call, list } = await setting();
    await call("POST /api/v1/lists", { name: "first" });
    await world.advance(1_000);
    await call("POST /api/v1/lists", { name: "first" });

    expect((await list())[0]).toMatchObject({ outcome: "refused", status: 409, code: "CONFLICT" });
  });

  it("a change that could not be made is in the audit trail as failed (RDA-23)", async () => {
    const writing = requests({ of: "api-lists", operation: "TransactWriteItems" });
    const { world, tenant } = await withTenant({ hooks: writing.hooks });
    const { call, list } = auditOf(world, tenant);
    writing.fail();
    const { status } = await call("POST /api/v1/lists", { name: "first" });

    expect(status).toBe(500);
    expect((await list())[0]).toMatchObject({ action: "lists.create", outcome: "failed", status: 500 });
  });

  it("a file that cannot be read is in the audit trail as refused (RDA-23)", async () => {
    const { call, list } = await setting();
    const { status } = await call("POST /api/v1/suppressions/import", { csv: "nothing\n" });

    expect(status).toBe(400);
    expect((await list())[0]).toMatchObject({ outcome: "refused", status: 400 });
  });

  it("the audit trail stores nothing of what was sent (RDA-23)", async () => {
    const { world, tenant, call, list } = await setting();
    const { id } = (await call("POST /api/v1/lists", { name: "secret list" })).body;
    await call(`PATCH /api/v1/lists/${id}`, { description: "a secret plan" });
    await call("POST /api/v1/notifications", { target: { type: "all" }, title: "secret words", body: "b" });
    const { key } = (await call("POST /api/v1/server-keys", { name: "secret backend", scopes: ["hooks:write"] })).body;

    const rows = (await wholeTable(world)).filter(({ pk }) => pk.S.startsWith(`T#${tenant.id}#AUDIT#`));
    const stored = JSON.stringify(rows);

    expect(rows.length).toBeGreaterThan(0);
    expect(await list()).toHaveLength(4);
    expect(stored).not.toContain("secret");
    expect(stored).not.toContain(key);
  });

  it("an entry names what was changed, and what is gone has no name (RDA-23)", async () => {
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

  const callers = {
    user: (tenant: Tenant) => tenant.dashboard(),
    viewer: (tenant: Tenant) => tenant.dashboard("viewer"),
    client: (tenant: Tenant) => tenant.sdk,
    "server key": (tenant: Tenant) => tenant.backend("subscribers:write", "messages:send", "events:write"),
  };
  type Caller = keyof typeof callers;
  const consent = { channel: "email", status: "opted_in" };
  const text = { title: "t", body: "b" };

  it.each<[Caller, route: string, body: object, action: string]>([
    ["server key", "POST /v1/subscribers/upsert", { external_id: "ada", consent }, "subscribers.upsertWithServerKey"],
    ["server key", "PUT /v1/preferences", { external_id: "ada", topics: { none: "opted_out" } }, "preferences.set"],
    ["client", "POST /api/v1/subscribers/upsert", { external_id: "ada", consent }, "subscribers.upsert"],
    ["user", "POST /api/v1/subscribers/:id/consents", consent, "subscribers.createConsent"],
  ])("a consent that a %s states by %s is in the audit trail (RDA-23)", async (caller, route, body, action) => {
    const { tenant, call, list } = await setting();
    const ada = await tenant.upsert({ external_id: "ada" });

    await call(route.replace(":id", ada), body, await callers[caller](tenant));

    expect((await list()).map((entry) => entry.action)).toEqual([action]);
  });

  it.each([
    ["their full name", { first_name: "Ada", last_name: "Larsen" }, "Ada Larsen"],
    ["the external id where no name is known", {}, "ada"],
  ])("an entry of preferences names the subscriber: %s (RDA-23, TPC-3)", async (_, attributes, name) => {
    const { tenant, call, list } = await setting();
    await call("POST /api/v1/topics", { key: "deals", name: "Deals" });
    const id = await tenant.upsert({ external_id: "ada", attributes });
    await call("PUT /v1/preferences", { external_id: "ada", topics: { deals: "opted_out" } }, tenant.sdk);

    const [entry] = await list("?action=preferences.set");
    expect(entry?.subject).toEqual({ kind: "subscriber", id, name });
  });

  it.each<[string, Caller, route: string, body?: object]>([
    ["a read", "user", "GET /api/v1/lists"],
    ["a body that is refused", "user", "POST /api/v1/lists", { name: "" }],
    ["a role that is refused", "viewer", "POST /api/v1/lists", { name: "l" }],
    ["a preview", "user", "POST /api/v1/notifications/preview", { target: { type: "all" }, ...text }],
    ["an upsert of a client", "client", "POST /api/v1/subscribers/upsert", { external_id: "ada" }],
    ["an upsert of a server key", "server key", "POST /v1/subscribers/upsert", { external_id: "ada" }],
    ["a send of a server key", "server key", "POST /v1/notifications", { external_ids: ["ada"], ...text }],
    ["an event", "server key", "POST /v1/events", { event_name: "e", anonymous_id: "visitor" }],
  ])("%s leaves no entry in the audit trail (RDA-23)", async (_, caller, route, body) => {
    const { world, tenant, call, list } = await setting();

    await call(route, body, await callers[caller](tenant));
    await world.settle();

    expect(await list()).toEqual([]);
  });
});

describe("its pages and filters", () => {
  /** 24 changes, one a minute: every third a template, the others lists; every second by a marketer. */
  async function withChanges() {
    const here = await setting();
    const content = { title: "t", body: "b" };
    const marketer = `marketer-${here.tenant.id}`;
    for (let n = 0; n < 24; n++) {
      const as = n % 2 ? await here.tenant.dashboard("marketer") : undefined;
      const [thing, body] = n % 3 ? ["lists", { name: `n${n}` }] : ["templates", { name: `n${n}`, content }];
      await here.call(`POST /api/v1/${thing}`, body as object, as);
      await here.world.advance(MINUTE);
    }
    return { ...here, marketer };
  }

  it("pages of the audit trail go from the newest entry to the oldest, each once (RDA-23)", async () => {
    const { call, list } = await withChanges();
    const all = await list("?limit=100");

    const pages = await pagesOf((page) => call(`GET /api/v1/audit${page}`), "limit=7");

    expect(pages.map(({ length }) => length)).toEqual([7, 7, 7, 3]);
    expect(pages.flat()).toEqual(all);
    expect(new Set(all.map(({ id }) => id)).size).toBe(24);
    const times = all.map(({ at }) => at);
    expect(times).toEqual([...times].sort().reverse());
  });

  it("the audit trail up to a time has all before it, behind more newer entries than are read at a time (RDA-23)", async () => {
    const { world, tenant, call } = await setting();
    for (let minute = 0; minute < 15; minute++) {
      await Promise.all(Array.from({ length: 50 }, () => tenant.call("POST /api/v1/annotations", NOTE)));
      await world.advance(MINUTE);
    }
    const read = (query: string) => entriesOf<Entry>((page) => call(`GET /api/v1/audit${page}`), `limit=100${query}`);

    const all = await read("");
    const to = all[600]!.at;
    const older = await read(`&to=${to}`);

    expect(new Set(all.map(({ id }) => id)).size).toBe(750);
    expect(older).toEqual(all.filter(({ at }) => at <= to));
  });

  it("the audit trail is filtered by action, actor and time (RDA-23)", async () => {
    const { world, list, labels, marketer } = await withChanges();
    const minute = (n: number) => new Date(world.clock.now() - (24 - n) * MINUTE).toISOString();

    const between = await list(`?from=${minute(10)}&to=${minute(11)}`);

    expect(await labels("?action=templates")).toEqual(Array(8).fill("templates.create ok"));
    expect(await labels("?action=templates.delete")).toEqual([]);
    expect(await labels("?action=templates.creat")).toEqual([]);
    expect(await list(`?actor=${marketer}`)).toHaveLength(12);
    expect(between).toHaveLength(2);
    expect(between.every(({ at }) => at >= minute(10) && at <= minute(11))).toBe(true);
  });

  it("a period of the audit trail that ends before it begins is refused with 422 (RDA-23)", async () => {
    const { call } = await setting();

    const { status, body } = await call("GET /api/v1/audit?from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z");

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual(["to"]);
  });

  it("a viewer may verify the audit trail (RDA-23)", async () => {
    const { tenant, call } = await setting();

    const { status } = await call("POST /api/v1/audit/verify", {}, await tenant.dashboard("viewer"));

    expect(status).toBe(200);
  });
});

describe("what it costs", () => {
  it("a change costs two writes for its entry in the audit trail (RDA-23)", async () => {
    const { world, tenant, call } = await setting();
    await call("POST /api/v1/annotations", { ...NOTE, text: "warm" });

    const { wcu } = await spent(world, () => tenant.call("POST /api/v1/annotations", NOTE));

    // The annotation, the row and its outcome; reads are those of the caller.
    expect(wcu).toBeLessThanOrEqual(4);
  });

  it("changes at the same moment are all in the audit trail, with their outcomes (RDA-23)", async () => {
    const { tenant, list, verify } = await setting();

    await Promise.all(Array.from({ length: 60 }, () => tenant.call("POST /api/v1/annotations", NOTE)));

    const entries = await list("?limit=100");
    expect(entries).toHaveLength(60);
    expect(entries.every(({ outcome }) => outcome === "ok")).toBe(true);
    expect(await verify()).toMatchObject({ valid: true, verified: 60 });
  });

  it("the end of a chain keeps the outcomes of the last two changes at most (RDA-23)", async () => {
    const { world, tenant, call } = await setting();

    for (let n = 0; n < 12; n++) await call("POST /api/v1/annotations", NOTE);

    const [head] = (await wholeTable(world)).filter(({ pk }) => pk.S === `T#${tenant.id}#AUDITHEADS`);
    expect(Object.keys(head!).filter((name) => name.startsWith("o:")).length).toBeLessThanOrEqual(2);
  });
});
