// Lists that are read by the number of a page: newest first, twenty on a page, a hundred at most.
import { expect, it } from "vitest";
import { SECOND } from "../shared/kernel/clock.ts";
import { foreignIds as make } from "./support/foreign.ts";
import { testWorld } from "./support/world.ts";

const THINGS = 21;

const lists: [route: string, size: "page_size" | "per_page"][] = [
  ["GET /api/v1/templates", "per_page"],
  ["GET /api/v1/schedules", "per_page"],
  ["GET /api/v1/campaigns", "page_size"],
  ["GET /api/v1/lists", "page_size"],
  ["GET /api/v1/in-app/experiences", "page_size"],
  ["GET /api/v1/in-app/assets", "page_size"],
];

const world = await testWorld();

/** A workspace with so many things that the default page does not hold them. @returns their ids, the newest first */
async function withThings(route: string) {
  const tenant = await world.tenant();
  const ids: string[] = [];
  for (let n = 0; n < THINGS; n++) {
    await world.advance(SECOND);
    ids.unshift(await make(world, tenant, `${route}/:id`));
  }
  const list = async (query: string) => {
    const { body } = await tenant.call(`${route}?${query}`);
    const items: { id: string }[] = body.items ?? body.data;
    return { ids: items.map(({ id }) => id), total: body.total, page: body.page };
  };
  return { ids, list };
}

it.each(lists)(
  "%s is newest first, with the number of all, in pages (AST-3, CMP-14, D-LIST, INX-23, SCH-5, TPL-4)",
  async (route, size) => {
    const { ids, list } = await withThings(route);

    const pages = [await list(""), await list("page=2"), await list("page=3"), await list(`page=2&${size}=4`)];

    expect(pages).toEqual([
      { ids: ids.slice(0, 20), total: THINGS, page: 1 },
      { ids: ids.slice(20), total: THINGS, page: 2 },
      { ids: [], total: THINGS, page: 3 },
      { ids: ids.slice(4, 8), total: THINGS, page: 2 },
    ]);
  },
);

it.each(lists.filter(([, size]) => size === "page_size"))(
  "a page of %s has at most a hundred (AST-3, D-LIST, INX-23, LIM-8)",
  async (route) => {
    const tenant = await world.tenant();

    expect((await tenant.call(`${route}?page_size=101`)).body.page_size).toBe(100);
  },
);
