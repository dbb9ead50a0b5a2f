// The list of in-app experiences: order, filters and pages (INX).
import { expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { draft, listExperiences as list, take } from "../support/experiences.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const idsOf = ({ body }: Awaited<ReturnType<typeof list>>) => body.items.map(({ id }: { id: string }) => id);

it("experiences are listed newest first, 20 on a page, with their number (INX-23)", async () => {
  const { world, tenant } = await withTenant();
  const newestFirst: string[] = [];
  for (let n = 0; n < 25; n++) {
    newestFirst.unshift(await draft(tenant, { name: `e${n}` }));
    await world.advance(SECOND);
  }

  const [first, second] = [await list(tenant), await list(tenant, "?page=2")];

  expect(first.body).toEqual({ total: 25, page: 1, page_size: 20, items: expect.anything() });
  expect(second.body).toEqual({ total: 25, page: 2, page_size: 20, items: expect.anything() });
  expect(idsOf(first)).toEqual(newestFirst.slice(0, 20));
  expect(idsOf(second)).toEqual(newestFirst.slice(20));
});

it("experiences are listed by one status, with their number (INX-23)", async () => {
  const { world, tenant } = await withTenant();
  const make = async (...actions: string[]) => {
    const id = await draft(tenant);
    await take(world, tenant, id, ...actions);
    return id;
  };
  const byStatus = {
    draft: [await make()],
    live: [await make("publish")],
    paused: [await make("publish", "pause")],
    archived: [await make("archive")],
    ended: [],
  };

  for (const [status, ids] of Object.entries(byStatus)) {
    const answer = await list(tenant, `?status=${status}`);
    expect(idsOf(answer), status).toEqual(ids);
    expect(answer.body.total, status).toBe(ids.length);
  }
});

it("a page of experiences has at most 100 (INX-23, LIM-8)", async () => {
  const { tenant } = await withTenant();

  expect((await list(tenant, "?page_size=101")).body.page_size).toBe(100);
});
