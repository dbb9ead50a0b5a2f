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
  it("a deletion is final after the purge: no key opens the workspace, no operator brings it back (D-TENANT, ERR-7)", async () => {
    const world = await fresh();
    const tenant = await world.tenant();
    await operate(world, tenant, { status: "deleted" });
    await pass30Days(world);
    const upsert = { as: tenant.sdk, body: { external_id: "ada" } };
    expect((await world.call("POST /api/v1/subscribers/upsert", upsert)).body.code).toBe("TENANT_DELETED");
    expect((await world.call("GET /v1/whoami", { as: tenant.server })).status).toBe(401);
    expect((await tenant.call("GET /api/v1/me")).status).toBe(401);
    for (const change of [{ status: "active" }, { plan: "free" }, { usage: { sends: 1 } }])
      expect(await operate(world, tenant, change)).toEqual({ error: "not_found" });
    await world.advance(5 * DAY);
    expect(await rowsOf(world, tenant)).toHaveLength(1);
  });

  it("a deletion reverted within 30 days keeps everything; the next one counts from its own start (D-TENANT)", async () => {
    const world = await fresh();
    const tenant = await world.tenant();
    await addPeople(world, tenant, 3);
    await operate(world, tenant, { status: "deleted" });
    await world.advance(29 * DAY);
    await operate(world, tenant, { status: "active" });
    await world.advance(2 * DAY);
    const people = async () => (await world.call("GET /v1/subscribers", { as: tenant.server })).body.items?.length;
    expect(await people()).toBe(3);
    await operate(world, tenant, { status: "deleted" });
    await world.advance(DAY);
    await operate(world, tenant, { status: "deleted" });
    await world.advance(28 * DAY);
    expect((await rowsOf(world, tenant)).length).toBeGreaterThan(5);
    await world.advance(DAY);
    await world.advance(3 * HOUR);
    expect(await rowsOf(world, tenant)).toHaveLength(1);
  });
});

describe("a worker", () => {
  it("a purge that is asked too early, of an open workspace or of none does nothing (D-TENANT)", async () => {
    const world = await fresh();
    const [tenant, open] = [await world.tenant(), await world.tenant()];
    await operate(world, tenant, { status: "deleted" });
    const before = await wholeTable(world);

    for (const one of [tenant, open, { ...tenant, id: "nobody" as TenantId }])
      expect(await wake(world, one)).toEqual({ batchItemFailures: [] });
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
