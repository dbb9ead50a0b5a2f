// The audit trail (RDA-23): what its verification proves, and what a crash leaves of it.
import { describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { auditTrail } from "../../shared/store/audit/trail.ts";
import { secrets } from "../../shared/store/capabilities.ts";
import type { Change } from "../../shared/store/expressions.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { auditOf } from "../support/audit.ts";
import { wholeTable } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting(options: Parameters<typeof withTenant>[0] = {}) {
  const { world, tenant } = await withTenant(options);
  return { world, tenant, ...auditOf(world, tenant) };
}

describe("verification", () => {
  /** Six entries in one chain, and its rows by their numbers from 1. */
  async function chainOfSix() {
    const here = await setting();
    const { world, tenant, call } = here;
    for (let n = 0; n < 6; n++) await call("POST /api/v1/lists", { name: `n${n}` });
    const [firstRow] = (await wholeTable(world)).filter(({ pk }) => pk.S.startsWith(`T#${tenant.id}#AUDIT#`));
    const shard = Number(/#AUDIT#(\d)/.exec(firstRow!.pk.S)![1]);
    const key = (n: number) => ({ pk: `T#${tenant.id}#AUDIT#${shard}`, sk: String(n).padStart(12, "0") });
    const head = { pk: `T#${tenant.id}#AUDITHEADS`, sk: String(shard) };
    const change = (at: typeof head, set: NonNullable<Change["set"]>) => tenant.rows.update(at, { set });
    const remove = (at: typeof head) => tenant.rows.remove(at);
    const nameOf = (n: number) => `${shard}-${n}`;
    return { ...here, key, head, change, remove, nameOf };
  }
  type Chain = Awaited<ReturnType<typeof chainOfSix>>;

  it("an audit trail that nobody touched is verified whole (RDA-23)", async () => {
    const { verify } = await chainOfSix();

    expect(await verify()).toEqual({ valid: true, verified: 6, broken: null, next_cursor: "" });
  });

  const outcomes = toJson({ "3": { status: 409, code: "CONFLICT", mac: "0" } });
  /** The end is written as if the last row had never been. */
  const withoutLast = async ({ tenant, key, head, change }: Chain) => {
    const fifth = await tenant.rows.get(key(5));
    await change(head, { seq: 5, mac: fifth!.mac! });
  };

  it.each<[damage: string, reason: string, n: number | undefined, tamper: (chain: Chain) => Promise<unknown>]>([
    ["another action in a row", "changed", 3, ({ key, change }) => change(key(3), { action: "lists.delete" })],
    ["another actor in a row", "changed", 3, ({ key, change }) => change(key(3), { actor: "nobody" })],
    ["another time in a row", "changed", 3, ({ key, change }) => change(key(3), { at: "2026-01-01T00:00:00.000Z" })],
    ["another target in a row", "changed", 3, ({ key, change }) => change(key(3), { target: "x" })],
    ["another role in a row", "changed", 3, ({ key, change }) => change(key(3), { role: "viewer" })],
    ["another network address in a row", "changed", 3, ({ key, change }) => change(key(3), { ip: "192.0.2.1" })],
    ["another request in a row", "changed", 3, ({ key, change }) => change(key(3), { request_id: "x" })],
    ["another outcome in a row", "changed", undefined, ({ key, change }) => change(key(4), { outcomes })],
    [
      "another outcome at the end of the chain",
      "outcome_changed",
      undefined,
      ({ head, change }) => change(head, { "o:6": toJson({ status: 409, mac: "0" }) }),
    ],
    ["a row that was removed", "missing", 3, ({ key, remove }) => remove(key(3))],
    ["a last row that was removed", "end_missing", 6, ({ key, remove }) => remove(key(6))],
    ["an end that hides the last row", "end_missing", 5, withoutLast],
    ["an end that was removed", "end_missing", undefined, ({ head, remove }) => remove(head)],
  ])("a verification of the audit trail finds %s: %s (F22, RDA-23)", async (_, reason, n, tamper) => {
    const chain = await chainOfSix();

    await tamper(chain);

    const { valid, broken } = await chain.verify();
    expect(valid).toBe(false);
    expect(broken).toMatchObject({ reason, ...(n !== undefined && { id: chain.nameOf(n) }) });
  });
});

describe("crashes", () => {
  /** A workspace in which the writes of lists to these partitions of the trail may fail. */
  async function failingWrites(naming: "#AUDIT#" | "#AUDITHEADS") {
    const writing = requests({ of: "api-lists", operation: "UpdateItem", naming });
    const here = await setting({ hooks: writing.hooks });
    const fail = () => writing.fail(awsFailure("ServiceUnavailable", "broken"));
    return { ...here, fail, pass: writing.pass };
  }

  it("what cannot be written to the audit trail is not done (RDA-23)", async () => {
    const { call, fail } = await failingWrites("#AUDIT#");
    fail();

    expect((await call("POST /api/v1/lists", { name: "never" })).status).toBe(503);

    expect((await call("GET /api/v1/lists")).body.items).toEqual([]);
  });

  it("a change whose outcome could not be written is done, and `unknown` in the audit trail (RDA-23)", async () => {
    const { call, fail, list, verify } = await failingWrites("#AUDITHEADS");
    fail();

    expect((await call("POST /api/v1/lists", { name: "done" })).status).toBe(201);

    expect((await call("GET /api/v1/lists")).body.items).toHaveLength(1);
    expect(await list()).toMatchObject([{ action: "lists.create", outcome: "unknown", status: null }]);
    expect(await verify()).toMatchObject({ valid: true, verified: 1 });
  });

  /** Another environment that adds to the same chain, each time. */
  function environmentOf({ world, tenant }: Awaited<ReturnType<typeof setting>>, request_id = "r") {
    const id = tenant.id as TenantId;
    const deps = world.depsFor("test");
    const owner = { tenant: id, secrets: secrets.open(deps)(id) };
    const ids = { ...deps.ids, bytes: (n: number) => Buffer.alloc(n) };
    const trail = auditTrail.open({ ...deps, ids })(id);
    const entry = { action: "lists.create", actor_type: "user", actor: "ada", request_id, ip: "::1" } as const;
    return (run: () => Promise<unknown>) => trail.record(owner, entry, run, () => ({ status: 201 }));
  }

  it("the removal of the last row is found where a call of another environment, which had begun before it, ended after it (F22, RDA-23)", async () => {
    const here = await setting();
    const [one, other] = [environmentOf(here), environmentOf(here, "s")];
    await one(() => other(async () => undefined));
    await here.tenant.rows.remove({ pk: `T#${here.tenant.id}#AUDIT#0`, sk: "000000000002" });

    expect(await here.verify()).toMatchObject({ valid: false, broken: { id: "0-2", reason: "end_missing" } });
  });

  it("an environment that starts behind more rows than it would walk past goes on at the end of the chain (RDA-23)", async () => {
    const here = await setting();
    const [one, other] = [environmentOf(here), environmentOf(here, "s")];
    for (let n = 0; n < 201; n++) await one(async () => undefined);

    await other(async () => undefined);

    expect(await here.verify()).toMatchObject({ valid: true, verified: 202 });
  });

  it("an end of the trail that was removed is missed behind a call that began while another one ran (F22, RDA-23)", async () => {
    const here = await setting();
    const { world, tenant, verify } = here;
    const record = environmentOf(here);
    const one = () => record(async () => undefined);
    await one();
    // It takes over the outcome of the first, and leaves none for the call within it.
    await record(one);
    const [head] = (await wholeTable(world)).filter(({ pk }) => pk.S === `T#${tenant.id}#AUDITHEADS`);

    await tenant.rows.remove({ pk: head!.pk.S, sk: head!.sk.S });

    expect(await verify()).toMatchObject({ valid: false, verified: 3, broken: { reason: "end_missing" } });
  });

  it("the next changes of the same environment bring the outcomes that were `unknown` (RDA-23)", async () => {
    const { call, fail, pass, list, verify } = await failingWrites("#AUDITHEADS");
    fail();
    for (const name of ["done", "again"]) await call("POST /api/v1/lists", { name });
    pass();

    for (const name of ["next", "last"]) await call("POST /api/v1/lists", { name });

    expect((await list()).map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(await verify()).toMatchObject({ valid: true, verified: 4 });
  });
});
