// Lists that are read by cursor: a cursor opens the list of its own workspace alone (GEN-8).
import { expect, it } from "vitest";
import { foreignIds } from "./support/foreign.ts";
import { addPeople } from "./support/people.ts";
import { type Tenant, testWorld } from "./support/world.ts";

const world = await testWorld();

const make = (route: string) => async (tenant: Tenant, count: number) => {
  for (let n = 0; n < count; n++) await foreignIds(world, tenant, `GET ${route}/:id`);
};
const made = (route: string, body: (n: number) => object) => async (tenant: Tenant, count: number) => {
  for (let n = 0; n < count; n++) await tenant.call(`POST ${route}`, body(n));
};
const ROUTE = "/api/v1";

/** A page of the lists without a limit holds a hundred. */
const lists: [path: string, query: string, count: number, fill: (tenant: Tenant, count: number) => Promise<unknown>][] =
  [
    ["subscribers", "limit=1", 2, (tenant, count) => addPeople(world, tenant, count)],
    ["subscribers", "limit=1&q=p", 2, (tenant, count) => addPeople(world, tenant, count)],
    ["suppressions", "limit=1", 2, made(`${ROUTE}/suppressions`, (n) => ({ address: `p${n}@example.com` }))],
    ["notifications", "limit=1", 2, make(`${ROUTE}/notifications`)],
    ["lists/import", "limit=1", 2, make(`${ROUTE}/lists/import`)],
    ["exports", "limit=1", 2, make(`${ROUTE}/exports`)],
    ["audit", "limit=1", 2, make(`${ROUTE}/lists`)],
    ["journeys", "", 101, make(`${ROUTE}/journeys`)],
    ["segments", "", 101, make(`${ROUTE}/segments`)],
    ["agency/workspaces", "", 101, make(`${ROUTE}/agency/workspaces`)],
  ];

it.each(lists)(
  "a cursor of GET /api/v1/%s?%s is refused in another workspace (GEN-8)",
  async (path, query, n, fill) => {
    const [own, other] = [await world.tenant(), await world.tenant()];
    await fill(own, n);
    await world.settle();
    const list = (tenant: Tenant, more: string) => tenant.call(`GET ${ROUTE}/${path}?${query}${more}`);
    const cursor = `&cursor=${encodeURIComponent((await list(own, "")).body.next_cursor)}`;

    expect((await list(own, cursor)).status).toBe(200);
    expect((await list(other, cursor)).status).toBe(422);
  },
);
