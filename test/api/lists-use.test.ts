// Uses of a subscriber list (D-LIST, NTF-5): sends to it, and what its deletion removes or is refused for.
import { describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { removeItem } from "../../shared/store/item.ts";
import { ListItem } from "../../shared/store/lists/items.ts";
import { addMembers } from "../../shared/store/lists/lists.ts";
import { add, keysOfTable, named } from "../support/lists.ts";
import { inMs } from "../support/notify.ts";
import { addPeople, quickStore, send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

describe("deletion", () => {
  it("a deleted list has no members at once, and leaves none, also of those added at the last moment (D-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 30);
    const id = await named(tenant, "Readers");
    await add(tenant, id, people.slice(0, 25));
    await tenant.call(`DELETE /api/v1/lists/${id}`);
    expect((await tenant.call(`GET /api/v1/lists/${id}/subscribers`)).status).toBe(404);
    expect((await add(tenant, id, people)).status).toBe(404);
    await world.settle();
    const traces = async () =>
      (await keysOfTable(world)).filter(
        ({ pk, sk }) => !pk.startsWith("DUE#") && (pk.includes(id) || sk.includes(id)) && !sk.startsWith("list#"),
      );
    expect((await traces()).filter(({ pk }) => !pk.endsWith("list:counts"))).toEqual([]);
    await addMembers(tenant.store, id, people.slice(25));
    await world.advance(11 * MINUTE);
    expect(await traces()).toEqual([]);
  });
});

describe("sends", () => {
  const target = (list_id: string) => ({ target: { type: "list", list_id } });

  it("a send to a list reaches its members that pass the filters, and `sent` is their number (NTF-5, AMB-38)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 6, (n) => ({ attributes: { n } }));
    const id = await named(tenant, "Readers");
    await add(tenant, id, people.slice(0, 4));
    const all = await send(world, tenant, target(id));
    expect(all.answer.sent).toBe(4);
    expect(all.job.counts).toEqual(expect.objectContaining({ total: 4, delivered: 4 }));
    const some = await send(world, tenant, { ...target(id), subscriber_filters: { n: { $gte: 2 } } });
    expect(some.answer.sent).toBe(2);
    expect(some.job.counts.delivered).toBe(2);
  });

  it("beyond 1,000 members `sent` is the list's count, and each member is reached once (docs/decisions/0021#audience-size)", async () => {
    const { world, tenant } = await withTenant();
    const people = await fill(world, tenant, 1_200);
    const id = await named(tenant, "Readers");
    await addMembers(quickStore(world, tenant), id, people.slice(0, 1_050));
    const { answer, job } = await send(world, tenant, target(id));

    expect(answer.sent).toBe(1_050);
    expect(job.status).toBe("completed");
    expect(job.counts.delivered).toBe(1_050);
    expect(job.counts.total).toBe(1_050);
  });

  it("a scheduled send whose list was deleted fails and names the reason (D-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const id = await named(tenant, "Readers");
    const { body } = await tenant.call("POST /api/v1/notifications", {
      ...target(id),
      title: "t",
      body: "b",
      scheduled_at: inMs(world, 30 * MINUTE),
    });
    // As if the deletion had checked just before the send was scheduled.
    await tenant.store.writeAll([removeItem(ListItem, { id })]);
    await world.advance(31 * MINUTE);
    const job = (await tenant.call(`GET /api/v1/notifications/${body.id}`)).body;

    expect(job.status).toBe("failed");
    expect(job.error).toBe("the list no longer exists");
  });
});
