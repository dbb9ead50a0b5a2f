// A chunk that is delivered late does not restore what an erasure removed.
import { expect, test } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { wholeTable } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

test.each(["Hello", "Hello {{ subscriber.id }}"])(
  "a subscriber who is erased between the plan and a late delivery of %j leaves no row (SUB-9)",
  async (title) => {
    const writing = requests({ of: "deliver", operation: "BatchWriteItem" });
    const { world, tenant } = await withTenant({ hooks: writing.hooks });
    writing.fail();
    const ids: string[] = [];
    for (const external_id of ["ada", "bob"]) ids.push(await tenant.upsert({ external_id }));
    const body = { title, body: "World", subscriberIds: ids };
    const { id } = (await tenant.call("POST /api/v1/notifications", body)).body;
    await world.settle();
    expect((await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`)).status).toBe(204);
    await world.advance(5 * MINUTE);
    writing.pass();
    await world.advance(5 * MINUTE);
    const rows = (await wholeTable(world)).map(({ pk, sk }) => `${pk.S} ${sk.S}`);
    expect(rows.filter((row) => row.includes(`#U#${ids[0]}`))).toEqual([]);
    expect(rows.filter((row) => row.includes(`#U#${ids[1]} I#`))).toHaveLength(1);
    const job = (await tenant.call(`GET /api/v1/notifications/${id}`)).body;
    expect(job).toMatchObject({ status: "completed", counts: { sent: 2, delivered: 1, failed: 1 } });
  },
);
