// Purge of a deleted workspace: unchanged for 30 days, then only a tombstone (D-TENANT).
import { describe, expect, it } from "vitest";
import { declaredItems } from "../../docs/generate/items.ts";
import { awsFailure } from "../../local/aws/index.ts";
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
import { lostReply, requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh } = worlds();

function busy(): never {
  throw awsFailure("ServiceUnavailable", "busy");
}

const nameOf = ({ pk, sk }: Record<string, { S: string }>) => `${pk?.S} ${sk?.S}`;

const isOfWorkspace = (item: AnyItem): item is AnyItem<"workspace"> => item.scope === "workspace";
const isOfPlatform = (item: AnyItem): item is AnyItem<"platform"> => item.scope === "platform";
const everyItem = async () => (await declaredItems()).items.map(({ item }) => item);

/** The parts of any key: that of the workspace, the others by their names. */
const partsOf = (tenant: TenantId): object =>
  new Proxy({}, { get: (_, part) => (part === "tenant" ? tenant : String(part)) });

const callerOf = (world: TestWorld, of: Tenant) => async (route: string, body?: object) =>
  world.call(route, { as: await of.dashboard(), ...(body && { body }) });

const login = (world: TestWorld, email: string) =>
  world.call("POST /api/v1/auth/login", { body: { email, password: "correct horse battery" } });

describe("a workspace with rows of every kind, deleted beside a neighbour that stays", () => {
  /** What there was before the deletion, an hour before the purge, and after it. */
  const purged = shared(async (own) => {
    const world = await own.fresh();
    const [tenant, neighbour] = [await world.tenant(), await world.tenant()];
    await fillWorkspace(world, tenant);
    await uploadFile(world, tenant, "external_id\nada\n");
    for (const noun of ["in-app/assets", "templates", "segments", "journeys", "notifications", "devices"])
      await foreignIds(world, neighbour, `GET /api/v1/${noun}/:id`);
    await world.settle();
    const look = async () => ({
      rows: await rowsOf(world, tenant),
      objects: await objectsOf(world),
      neighbours: (await rowsOf(world, neighbour)).filter(({ expires }) => !expires).map(nameOf),
    });
    const before = await look();
    const clients: Tenant[] = (await tenant.call("GET /api/v1/agency/workspaces")).body.items;
    for (const client of clients) await operate(world, client, { status: "deleted" });
    const deletion = await operate(world, tenant, { status: "deleted" });
    const deletedAt = timestamp(world.clock.now());
    await world.advance(30 * DAY - HOUR);
    const kept = await look();
    await world.advance(4 * HOUR);
    return { world, tenant, neighbour, deletion, deletedAt, before, kept, left: await look() };
  });

  it("a deleted workspace keeps its rows and its objects for 30 days (D-TENANT, AMB-86)", async () => {
    const { tenant, deletion, before, kept } = await purged();

    const kinds = before.rows.map((row) => nameOf(row).replaceAll(/[0-9a-f-]{36}|[0-9a-f]{64}/g, "‹›"));

    expect(new Set(kinds).size).toBeGreaterThan(100);
    expect(deletion).toMatchObject({ workspace: { status: "deleted" } });
    expect(kept.rows.length).toBeGreaterThan(before.rows.length / 2);
    expect(kept.objects.filter((key) => key.includes(tenant.id))).not.toEqual([]);
  });

  it("a purge leaves a tombstone of the workspace, with what it was and its times, and no object (D-TENANT, AMB-86)", async () => {
    const { tenant, deletedAt, left } = await purged();

    expect(left.rows).toHaveLength(1);
    const [{ usage_record, created_at, deleted_at, purging_at, purged_at, sk, ...what }] = left.rows as [
      Record<string, { S?: string; L?: object[] }>,
    ];
    expect(what).toEqual({
      pk: { S: `TENANT#${tenant.id}` },
      id: { S: tenant.id },
      status: { S: "deleted" },
      plan: { S: "enterprise" },
      kind: { S: "agency" },
    });
    expect(usage_record?.L).toHaveLength(1);
    expect(deleted_at?.S).toBe(deletedAt);
    for (const time of [created_at, purging_at, purged_at]) expect(time?.S).toBeDefined();
    expect(left.objects.filter((key) => key.includes(tenant.id))).toEqual([]);
  });

  it("a purge leaves the rows, the objects and the keys of another workspace (D-TENANT)", async () => {
    const { world, neighbour, kept, left } = await purged();

    expect(kept.neighbours.length).toBeGreaterThan(15);
    expect(kept.neighbours.filter((name) => !left.neighbours.includes(name))).toEqual([]);
    expect(left.objects).toHaveLength(1);
    expect((await neighbour.call("GET /api/v1/in-app/assets")).body.items).toHaveLength(1);
    expect((await world.call("GET /v1/whoami", { as: neighbour.server })).status).toBe(200);
  });
});

describe("a purge", () => {
  it("a purge removes a row of every declared item, and none of another workspace (D-TENANT)", async () => {
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

  it("a purge finds the rows of the platform as their items declare (D-TENANT)", async () => {
    const world = await fresh();
    const { id: tenant } = await world.tenant();
    const items = (await everyItem()).filter(isOfPlatform);
    expect(items.filter(({ purge }) => purge === undefined).map(({ about }) => about)).toEqual([]);
    const platform = platformWrite.open(quickDeps(world))("" as TenantId);
    for (const item of items) await platform.put(item, partsOf(tenant), { ...(item.row.tenant && { tenant }) });

    const { found } = await workspaceRows.open(quickDeps(world))(tenant).find();

    const isFound = ({ pk, sk }: Key) => found.some((key) => key.pk === pk && key.sk === sk);
    for (const item of items) {
      const isOfTenant = item.purge === "by-key" || item.purge === "by-tenant-attribute";
      expect(isFound(fullKey(item, partsOf(tenant), "")), item.about).toBe(isOfTenant);
    }
    const byAttribute = items.filter(({ purge }) => purge === "by-tenant-attribute");
    expect(byAttribute.filter(({ row }) => row.tenant?.type === "optional")).toEqual([]);
  });

  it("a name in another workspace that looks like an id is not purged (D-TENANT)", async () => {
    const world = await fresh();
    const [tenant, neighbour] = [await world.tenant(), await world.tenant()];
    const body = { name: tenant.id, content: { title: `T#${tenant.id}#`, body: "b" } };
    const { id } = (await neighbour.call("POST /api/v1/templates", body)).body;

    await operate(world, tenant, { status: "deleted" });
    await pass30Days(world);

    expect((await neighbour.call(`GET /api/v1/templates/${id}`)).body.name).toBe(tenant.id);
    expect((await neighbour.call("GET /api/v1/templates")).body.total).toBe(1);
  });

  it("a purge leaves the agency that kept the workspace, with one client less (D-TENANT, D-AGENCY)", async () => {
    const world = await fresh();
    const agency = await world.tenant();
    await operate(world, agency, { kind: "agency" });
    const make = async (name: string) => (await agency.call("POST /api/v1/agency/workspaces", { name })).body as Tenant;
    const [gone, stays] = [await make("Gone"), await make("Stays")];

    await operate(world, gone, { status: "deleted" });
    await pass30Days(world);

    const { items } = (await agency.call("GET /api/v1/agency/workspaces")).body;
    expect(items).toMatchObject([{ id: stays.id }]);
    const platform = platformWrite.open(quickDeps(world))("" as TenantId);
    expect((await platform.get(WorkspaceItem, { tenant: agency.id }))?.clients).toBe(1);
    // What is left is the tombstone, and that the agency made the workspace.
    const left = (await rowsOf(world, gone)).map(({ pk }) => pk.S.replace(/#\d$/, ""));
    expect(left.toSorted()).toEqual([`T#${agency.id}#AUDIT`, `TENANT#${gone.id}`]);
  });

  /** Users of a workspace that was purged: one belonged to it alone, the other to the neighbour too. */
  async function purgedUsers() {
    const world = await fresh();
    const [tenant, neighbour] = [await world.tenant(), await world.tenant()];
    await join(world, callerOf(world, tenant), "only@team.example", "admin");
    for (const each of [tenant, neighbour]) await join(world, callerOf(world, each), "both@team.example", "viewer");
    await operate(world, tenant, { status: "deleted" });
    await pass30Days(world);
    return { world, neighbour };
  }

  it("a purge removes the users who belong to no other workspace, who may then join another (D-TENANT)", async () => {
    const { world, neighbour } = await purgedUsers();

    expect((await login(world, "only@team.example")).status).toBe(401);
    expect(JSON.stringify(await wholeTable(world))).not.toContain("only@team.example");
    expect((await join(world, callerOf(world, neighbour), "only@team.example", "admin")).status).toBe(201);
  });

  it("a purge leaves the users who belong to another workspace (D-TENANT)", async () => {
    const { world, neighbour } = await purgedUsers();

    expect(await login(world, "both@team.example")).toMatchObject({
      status: 200,
      body: { tenant: { id: neighbour.id } },
    });
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

  it.each([
    ["the reply to its claim is lost", "UpdateItem", "after", lostReply],
    ["its worker stopped after its claim", "PutItem", "before", busy],
  ] as const)("a purge goes on where %s (D-TENANT)", async (_, operation, moment, happens) => {
    const met = requests({ of: "purge", operation, naming: operation === "PutItem" ? "DUE#" : "purging_at", moment });
    const world = await fresh({ hooks: met.hooks });
    const tenant = await world.tenant();
    await deletedLongAgo(world, tenant);
    met.next(happens);

    await pass30Days(world);
    await world.advance(3 * HOUR);

    expect(met.isAwaited()).toBe(false);
    expect(await rowsOf(world, tenant)).toHaveLength(1);
  });

  it("a user who joins another workspace just when the purge would remove them stays (D-TENANT)", async () => {
    const naming = `"${UserItem.pk({ email: "ada@team.example" })}"`;
    const removal = requests({ of: "purge", operation: "DeleteItem", naming });
    const world = await fresh({ hooks: removal.hooks });
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const { user } = (await join(world, callerOf(world, tenant), "ada@team.example", "admin")).body;
    const platform = platformWrite.open(quickDeps(world))("" as TenantId);
    // What accepting an invitation writes, without the time that a password takes.
    removal.each(async () => {
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
    });

    await deletedLongAgo(world, tenant);
    await wake(world, tenant);

    expect(await login(world, "ada@team.example")).toMatchObject({ status: 200, body: { tenant: { id: other.id } } });
  });
});

it("what a purged workspace used in each month stays in the costs of that month (D-BILL, RDA-19)", async () => {
  const world = await fresh();
  const tenant = await world.tenant();
  await operate(world, tenant, { usage: { sends: 5, events: 16 } });
  await world.advance(14 * DAY);
  await operate(world, tenant, { usage: { sends: 7, events: 3 } });
  await deletedLongAgo(world, tenant);
  await pass30Days(world);
  const usedIn = async (period: string) => {
    const { workspaces } = (await world.host.invoke("operator", { cost: { period } })) as { workspaces: object[] };
    return workspaces;
  };

  expect(await rowsOf(world, tenant)).toHaveLength(1);
  expect(await usedIn("2026-11")).toMatchObject([{ id: tenant.id, sends: 5, events: 16 }]);
  expect(await usedIn("2026-12")).toMatchObject([{ id: tenant.id, sends: 7, events: 3 }]);
});
