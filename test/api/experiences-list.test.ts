// The list of in-app experiences: order, filters and pages (INX).
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { draft, listExperiences as list, take } from "../support/experiences.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

describe("list", () => {
  it("pages newest first with a total, one status or all; sizes are clamped, invalid values are 400 (INX-23, LIM-8, AMB-29)", async () => {
    const { world, tenant } = await withTenant();
    const ids: string[] = [];
    for (let n = 0; n < 25; n++) {
      ids.unshift(await draft(tenant, { name: `e${n}` }));
      await world.advance(SECOND);
    }
    const pages = [await list(tenant), await list(tenant, "?page=2")];
    expect(pages.map(({ body }) => [body.total, body.page, body.page_size, body.items.length])).toEqual([
      [25, 1, 20, 20],
      [25, 2, 20, 5],
    ]);
    expect(pages.flatMap(({ body }) => body.items.map(({ id }: { id: string }) => id))).toEqual(ids);
    expect(Object.keys(pages[0]!.body).sort()).toEqual(["items", "page", "page_size", "total"]);

    await take(world, tenant, ids[3]!, "publish");
    await take(world, tenant, ids[7]!, "publish", "pause");
    await take(world, tenant, ids[9]!, "archive");
    for (const [status, expected] of Object.entries({ live: [3], paused: [7], archived: [9], ended: [] })) {
      const { body } = await list(tenant, `?status=${status}`);
      expect([status, body.total, body.items.map(({ id }: { id: string }) => id)]).toEqual([
        ...[status, expected.length],
        expected.map((n) => ids[n]),
      ]);
      for (const item of body.items) expect(item.status).toBe(status);
    }
    expect((await list(tenant, "?status=draft&page=2&page_size=20")).body).toMatchObject({ total: 22 });
    expect((await list(tenant, "?page_size=101")).body.page_size).toBe(100);
    for (const [field, value] of Object.entries({ page: "0", page_size: "0", status: "gone" })) {
      const { status, body } = await list(tenant, `?${field}=${value}`);
      expect([status, body.code, Object.keys(body.fields)]).toEqual([400, "BAD_REQUEST", [field]]);
    }
  });
});
