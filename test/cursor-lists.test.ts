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

it("a cursor of the deliveries to one webhook endpoint is refused for those to another (D-HOOKS)", async () => {
  const { call } = await world.tenant();
  const log = async (name: string) => {
    const body = { target_url: `https://${name}.example.com/`, events: ["subscriber.created"] };
    const { id } = (await call(`POST ${ROUTE}/webhooks`, body)).body;
    for (let n = 0; n < 2; n++) await call(`POST ${ROUTE}/webhooks/${id}/test`, { event: "subscriber.created" });
    return (query = "") => call(`GET ${ROUTE}/webhooks/${id}/deliveries?limit=1${query}`);
  };
  const [own, other] = [await log("one"), await log("two")];
  const cursor = `&cursor=${encodeURIComponent((await own()).body.next_cursor)}`;

  expect((await own(cursor)).status).toBe(200);
  expect((await other(cursor)).status).toBe(422);
});

it("a cursor of a timeline is refused for other kinds of entries (RDA-5)", async () => {
  const tenant = await world.tenant();
  const [ada] = await addPeople(world, tenant, 1);
  const events = [
    { event_name: "a", subscriber_id: ada },
    { event_name: "b", subscriber_id: ada },
  ];
  await world.call("POST /v1/events", { as: tenant.server, body: { events } });
  const list = (query: string) => tenant.call(`GET ${ROUTE}/subscribers/${ada}/timeline?limit=1${query}`);
  const cursor = `&cursor=${encodeURIComponent((await list("&kinds=event")).body.next_cursor)}`;

  expect((await list(`&kinds=event${cursor}`)).status).toBe(200);
  expect((await list(`&kinds=event,consent${cursor}`)).status).toBe(422);
});
