// Purge of a deleted workspace: unchanged for 30 days, then only a tombstone (D-TENANT).
import { describe, expect, it } from "vitest";
import { declaredItems } from "../../docs/generate/items.ts";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { type AnyItem, fullKey, prefixOf, putItem } from "../../shared/store/item.ts";
import type { Key } from "../../shared/store/model.ts";
import { MemberItem, MembershipItem, UserItem } from "../../shared/store/workspaces/identity-items.ts";
import { Usage, WorkspaceItem } from "../../shared/store/workspaces/items.ts";
import { workspaceRows } from "../../shared/store/workspaces/rows.ts";
import { foreignIds } from "../support/foreign.ts";
import { fillWorkspace, join } from "../support/full-workspace.ts";
import { uploadFile } from "../support/imports.ts";
import { quickDeps, quickStore, wholeTable } from "../support/people.ts";
import { deletedLongAgo, objectsOf, operate, pass30Days, rowsOf, wake } from "../support/purge.ts";
import type { Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const nameOf = ({ pk, sk }: Record<string, { S: string }>) => `${pk?.S} ${sk?.S}`;

const isOfWorkspace = (item: AnyItem): item is AnyItem<"workspace"> => item.scope === "workspace";
const isOfPlatform = (item: AnyItem): item is AnyItem<"platform"> => item.scope === "platform";
const everyItem = async () => (await declaredItems()).items.map(({ item }) => item);

/** The parts of any key: that of the workspace, the others by their names. */
const partsOf = (tenant: TenantId): object =>
  new Proxy({}, { get: (_, part) => (part === "tenant" ? tenant : String(part)) });

describe("a purge", () => {
  it("leaves nothing of a deleted workspace after 30 days but a tombstone, and its neighbour alone (D-TENANT, AMB-86)", async () => {
    const world = await fresh();
    const [tenant, neighbour] = [await world.tenant(), await world.tenant()];
    await fillWorkspace(world, tenant);
    await uploadFile(world, tenant, "external_id\nada\n");
    for (const noun of ["in-app/assets", "templates", "segments", "journeys", "notifications", "devices"])
      await foreignIds(world, neighbour, `GET /api/v1/${noun}/:id`);
    await world.settle();
    const before = await rowsOf(world, tenant);
    const kinds = new Set(before.map((row) => nameOf(row).replaceAll(/[0-9a-f-]{36}|[0-9a-f]{64}/g, "‹›")));
    expect(kinds.size).toBeGreaterThan(100);
    expect((await operate(world, tenant, { status: "deleted" })) as object).toMatchObject({
      workspace: { status: "deleted" },
    });
    const deletedAt = world.clock.now();
    await world.advance(30 * DAY - HOUR);
    expect((await rowsOf(world, tenant)).length).toBeGreaterThan(before.length / 2);
    const objects = await objectsOf(world);
    expect(objects.filter((key) => key.includes(tenant.id)).length).toBeGreaterThan(0);
    const lasting = (await rowsOf(world, neighbour)).filter(({ expires }) => !expires).map(nameOf);
    expect(lasting.length).toBeGreaterThan(15);

    await world.advance(HOUR);
    await world.advance(3 * HOUR);
    const left = await rowsOf(world, tenant);
    expect(left).toHaveLength(1);
    const { pk, id, status, plan, kind, usage_record, ...times } = left[0] as Record<string, { S?: string; L?: [] }>;
    expect([pk?.S, id?.S, status?.S]).toEqual([`TENANT#${tenant.id}`, tenant.id, "deleted"]);
    expect([plan?.S, kind?.S, usage_record?.L?.length]).toEqual(["enterprise", "agency", 1]);
    expect(Object.keys(times).sort()).toEqual(["created_at", "deleted_at", "purged_at", "purging_at", "sk"]);
    expect(times.deleted_at?.S).toBe(new Date(deletedAt).toISOString());
    const kept = await objectsOf(world);
    expect([kept.length, kept.filter((key) => key.includes(tenant.id))]).toEqual([1, []]);
    const stillThere = new Set((await rowsOf(world, neighbour)).map(nameOf));
    expect(lasting.filter((name) => !stillThere.has(name))).toEqual([]);
    expect((await world.call("GET /v1/whoami", { as: neighbour.server })).status).toBe(200);
    const images = await neighbour.call("GET /api/v1/in-app/assets");
    expect(images.body.items).toHaveLength(1);
  });

  it("removes a row of every declared item, and none of another workspace (D-TENANT)", async () => {
    // The rows of this test have none of the attributes that their items declare.
    const world = await fresh({ onRead: () => undefined });
    const [tenant, neighbour] = [await world.tenant(), await world.tenant()];
    const items = await everyItem();
    const platform = platformWrite.open(quickDeps(world))("" as TenantId);
    const made = new Map<string, number>();
    for (const { id } of [tenant, neighbour]) {
      const distinct = new Map(
        items.filter(isOfWorkspace).map((item) => {
          const { pk, sk } = fullKey(item, partsOf(id), prefixOf(id));
          return [`${pk} ${sk}`, putItem(item, partsOf(id), { note: "x", name: "x", tenant: tenant.id })];
        }),
      );
      made.set(id, distinct.size);
      await quickStore(world, { ...tenant, id }).writeAll([...distinct.values()]);
    }
    expect(made.get(tenant.id)).toBeGreaterThan(50);
    for (const item of items.filter(isOfPlatform))
      if (item.purge === "by-tenant-attribute") await platform.put(item, partsOf(tenant.id), { tenant: tenant.id });
    await operate(world, tenant, { status: "deleted" });
    await pass30Days(world);
    const left = await rowsOf(world, tenant);
    const [own, others] = [`TENANT#${tenant.id}`, prefixOf(neighbour.id)];
    expect(left.map(({ pk }) => pk.S).filter((pk) => !pk.startsWith(others))).toEqual([own]);
    const kept = left.filter(({ pk, note }) => pk.S.startsWith(others) && note?.S === "x");
    expect(kept.length).toBeGreaterThan(made.get(neighbour.id)! - 5);
  });

  it("finds the rows of the platform as their items declare (D-TENANT)", async () => {
    const world = await fresh();
    const { id: tenant } = await world.tenant();
    const items = (await everyItem()).filter(isOfPlatform);
    expect(items.filter(({ purge }) => purge === undefined).map(({ about }) => about)).toEqual([]);
    const platform = platformWrite.open(quickDeps(world))("" as TenantId);
    for (const item of items) await platform.put(item, partsOf(tenant), { ...(item.row.tenant && { tenant }) });
    const { found } = await workspaceRows.open(quickDeps(world))(tenant).find();
    const isFound = ({ pk, sk }: Key) => found.some((key) => key.pk === pk && key.sk === sk);
    expect(items.map((item) => [item.about, isFound(fullKey(item, partsOf(tenant), ""))])).toEqual(
      items.map(({ about, purge }) => [about, purge === "by-key" || purge === "by-tenant-attribute"]),
    );
    const byAttribute = items.filter(({ purge }) => purge === "by-tenant-attribute");
    expect(byAttribute.filter(({ row }) => row.tenant?.type === "optional")).toEqual([]);
  });

  it("a name in another workspace that looks like an id is not purged (D-TENANT)", async () => {
    const world = await fresh();
    const [tenant, neighbour] = [await world.tenant(), await world.tenant()];
    const body = { name: tenant.id, content: { title: `T#${tenant.id}#`, body: "b" } };
    const as = () => neighbour.dashboard();
    const { id } = (await world.call("POST /api/v1/templates", { as: await as(), body })).body;
    await operate(world, tenant, { status: "deleted" });
    await pass30Days(world);
    expect((await world.call(`GET /api/v1/templates/${id}`, { as: await as() })).body.name).toBe(tenant.id);
    expect((await world.call("GET /api/v1/templates", { as: await as() })).body.total).toBe(1);
  });

  it("leaves the agency that kept it, which has one client less (D-TENANT, D-AGENCY)", async () => {
    const world = await fresh();
    const agency = await world.tenant();
    await operate(world, agency, { kind: "agency" });
    const as = async () => ({ as: await agency.dashboard() });
    const route = "/api/v1/agency/workspaces";
    const make = async (name: string) =>
      (await world.call(`POST ${route}`, { ...(await as()), body: { name } })).body as Tenant;
    const [gone, stays] = [await make("Gone"), await make("Stays")];
    await operate(world, gone, { status: "deleted" });
    await pass30Days(world);
    const { items } = (await world.call(`GET ${route}`, await as())).body;
    expect(items.map(({ id }: { id: string }) => id)).toEqual([stays.id]);
    const platform = platformWrite.open(quickDeps(world))("" as TenantId);
    expect((await platform.get(WorkspaceItem, { tenant: agency.id }))?.clients).toBe(1);
    // What is left is the tombstone, and that the agency made the workspace.
    const left = (await rowsOf(world, gone)).map(({ pk }) => pk.S.replace(/#\d$/, ""));
    expect(left.toSorted()).toEqual([`T#${agency.id}#AUDIT`, `TENANT#${gone.id}`]);
  });

  it("takes users who belong to no other workspace with it, and no others (D-TENANT)", async () => {
    const world = await fresh();
    const [tenant, neighbour] = [await world.tenant(), await world.tenant()];
    const caller = (of: Tenant) => async (route: string, body?: object) =>
      world.call(route, { as: await of.dashboard(), ...(body && { body }) });
    await join(world, caller(tenant), "only@team.example", "admin");
    for (const each of [tenant, neighbour]) await join(world, caller(each), "both@team.example", "viewer");
    await operate(world, tenant, { status: "deleted" });
    await pass30Days(world);
    const login = async (email: string) => {
      const body = { email, password: "correct horse battery" };
      return world.call("POST /api/v1/auth/login", { body });
    };
    const answers = [await login("only@team.example"), await login("both@team.example")];
    expect(answers.map(({ status }) => status)).toEqual([401, 200]);
    expect(answers[1]!.body.tenant.id).toBe(neighbour.id);
    expect(JSON.stringify(await wholeTable(world))).not.toContain("only@team.example");
    expect((await join(world, caller(neighbour), "only@team.example", "admin")).status).toBe(201);
  });
});

describe("concurrent work", () => {
  it("what is written while a purge is going on goes with its next pass (D-TENANT)", async () => {
    const world = await fresh();
    const tenant = await world.tenant();
    await operate(world, tenant, { status: "deleted" });
    await world.advance(30 * DAY);
    await quickStore(world, tenant).put(Usage, { period: "2026-12" }, { sends: 1 });
    expect((await rowsOf(world, tenant)).length).toBeGreaterThan(1);
    await world.advance(3 * HOUR);
    expect(await rowsOf(world, tenant)).toHaveLength(1);
  });

  it("a user who joins another workspace just when the purge would remove them stays (D-TENANT)", async () => {
    let meanwhile = async () => {};
    const before = async (_: string, operation: string, input: { Key?: { pk?: { S?: string } } }) => {
      if (operation === "DeleteItem" && input.Key?.pk?.S === UserItem.pk({ email: "ada@team.example" }))
        await meanwhile();
    };
    const world = await fresh({ hooks: (name) => (name === "purge" ? { before } : {}) });
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const caller = (of: Tenant) => async (route: string, body?: object) =>
      world.call(route, { as: await of.dashboard(), ...(body && { body }) });
    const { user } = (await join(world, caller(tenant), "ada@team.example", "admin")).body;
    const platform = platformWrite.open(quickDeps(world))("" as TenantId);
    // What accepting an invitation writes, without the time that a password takes.
    meanwhile = async () => {
      const member = {
        user_id: user.id,
        tenant: other.id,
        role: "viewer" as const,
        email: user.email,
        name: user.name,
      };
      const created_at = timestamp(world.clock.now());
      const keys = { user: user.id, tenant: other.id };
      await platform.change(UserItem, { email: user.email }, { add: { joined: 1 } });
      await platform.put(MemberItem, keys, { ...member, created_at });
      await platform.put(MembershipItem, keys, { ...member, created_at });
    };
    await deletedLongAgo(world, tenant);
    await wake(world, tenant);
    const body = { email: "ada@team.example", password: "correct horse battery" };
    const login = await world.call("POST /api/v1/auth/login", { body });
    expect([login.status, login.body.tenant.id]).toEqual([200, other.id]);
  });
});
