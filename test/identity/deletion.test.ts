// What a deleted workspace still does until its purge, and what its workers leave undone (D-TENANT).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { mortal } from "../support/mortal.ts";
import { addPeople, wholeTable } from "../support/people.ts";
import { formOf, pictures } from "../support/pictures.ts";
import { deletedLongAgo, objectsOf, operate, pass30Days, rowsOf, wake } from "../support/purge.ts";
import type { Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

describe("a deletion", () => {
  /** A workspace that was deleted and purged. */
  async function purged() {
    const world = await fresh();
    const tenant = await world.tenant();
    await operate(world, tenant, { status: "deleted" });
    await pass30Days(world);
    return { world, tenant };
  }

  it("no key and no session opens a workspace that was purged (D-TENANT, ERR-7)", async () => {
    const { world, tenant } = await purged();
    const upsert = { as: tenant.sdk, body: { external_id: "ada" } };

    expect((await world.call("POST /api/v1/subscribers/upsert", upsert)).body.code).toBe("TENANT_DELETED");
    expect((await world.call("GET /v1/whoami", { as: tenant.server })).status).toBe(401);
    expect((await tenant.call("GET /api/v1/me")).status).toBe(401);
  });

  it.each([{ status: "active" }, { plan: "free" }, { usage: { sends: 1 } }])(
    "no operator brings back a workspace that was purged: %j (D-TENANT)",
    async (change) => {
      const { world, tenant } = await purged();

      expect(await operate(world, tenant, change)).toEqual({ error: "not_found" });
    },
  );

  it("of a workspace that was purged one row is left (D-TENANT)", async () => {
    const { world, tenant } = await purged();

    await world.advance(5 * DAY);

    expect(await rowsOf(world, tenant)).toHaveLength(1);
  });

  it("a deletion that is reverted within 30 days keeps everything (D-TENANT)", async () => {
    const world = await fresh();
    const tenant = await world.tenant();
    await addPeople(world, tenant, 3);
    await operate(world, tenant, { status: "deleted" });
    await world.advance(29 * DAY);

    await operate(world, tenant, { status: "active" });
    await world.advance(2 * DAY);

    expect((await world.call("GET /v1/subscribers", { as: tenant.server })).body.items).toHaveLength(3);
  });

  it("a deletion counts its 30 days from its own start: not from one that was reverted, nor from a repeat (D-TENANT)", async () => {
    const world = await fresh();
    const tenant = await world.tenant();
    await operate(world, tenant, { status: "deleted" });
    await world.advance(29 * DAY);
    await operate(world, tenant, { status: "active" });
    await operate(world, tenant, { status: "deleted" });
    await world.advance(DAY);
    await operate(world, tenant, { status: "deleted" });

    await world.advance(28 * DAY);
    expect((await rowsOf(world, tenant)).length).toBeGreaterThan(5);
    await world.advance(DAY + 3 * HOUR);

    expect(await rowsOf(world, tenant)).toHaveLength(1);
  });
});

describe("a worker", () => {
  it.each<[of: string, change: object]>([
    ["of a workspace that was just deleted", { status: "deleted" }],
    ["of an open workspace", {}],
    ["of no workspace", { id: "nobody" as TenantId }],
  ])("a purge %s does nothing (D-TENANT)", async (_, { id, ...change }: { id?: TenantId }) => {
    const world = await fresh();
    const tenant = await world.tenant();
    await operate(world, tenant, change);
    const before = await wholeTable(world);

    expect(await wake(world, { ...tenant, ...(id && { id }) })).toEqual({ batchItemFailures: [] });

    expect(await wholeTable(world)).toEqual(before);
  });

  it("a purge works alone, although others are started too (D-TENANT)", async () => {
    const world = await fresh();
    const tenant = await world.tenant();
    await deletedLongAgo(world, tenant);
    await Promise.all([wake(world, tenant), wake(world, tenant), wake(world, tenant)]);
    const AttributeNames = ["ApproximateNumberOfMessagesDelayed"];
    const asked = { QueueUrl: world.env.PURGE_QUEUE_URL, AttributeNames };
    const { Attributes } = await world.sqs.operate("GetQueueAttributes", asked);

    expect(Attributes).toEqual({ ApproximateNumberOfMessagesDelayed: "1" });
  });

  it("a purge that falls at any step is followed by one that goes on, however many messages there are (D-TENANT)", async () => {
    const purging = mortal("purge");
    const world = await fresh({ hooks: purging.hooks });
    const deleted = async () => {
      const tenant = await world.tenant();
      const image = formOf({ file: pictures.png });
      const as = await tenant.dashboard();
      await world.call("POST /api/v1/in-app/assets", { as, raw: image.body, headers: image.headers });
      await deletedLongAgo(world, tenant);
      return tenant;
    };
    await wake(world, await deleted());
    const steps = purging.steps();
    expect(steps).toBeGreaterThan(20);
    const all: Tenant[] = [];
    for (let n = 1; n <= steps; n++) {
      const tenant = await deleted();
      purging.dieAt(n, n % 2 ? "before" : "after");
      const { batchItemFailures } = await wake(world, tenant);
      expect(batchItemFailures).toHaveLength(1);
      purging.revive();
      all.push(tenant);
    }
    await world.advance(2 * MINUTE);
    for (const tenant of all) await Promise.all([wake(world, tenant), wake(world, tenant)]);
    await world.advance(4 * HOUR);
    const left = (await wholeTable(world)).filter(
      ({ pk }) => !/^(DUE#|WORKSPACES|SECRETS|SWEEP|JWK|LIMIT#)/.test(pk.S),
    );
    expect(left.filter(({ purged_at }) => !purged_at)).toEqual([]);
    expect(left).toHaveLength(all.length + 1);
    expect(await objectsOf(world)).toEqual([]);
  });
});
