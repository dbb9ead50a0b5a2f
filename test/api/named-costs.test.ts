// What calls cost that name many: docs/access.md says how much more for each.
import { expect, it } from "vitest";
import { eachOf, recordedCosts } from "../../docs/generate/costs.ts";
import { addPeople } from "../support/people.ts";
import type { Headers } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const MANY = 200;
const MESSAGES = 100;
const content = { title: "Hello", body: "There" };

/** The bodies that name people, addresses or events, and a path where it is not that of the route. */
const calls: [route: string, by: "dashboard" | "server", body: (ids: string[]) => object][] = [
  ["POST /api/v1/lists/:id/subscribers", "dashboard", (subscriber_ids) => ({ subscriber_ids })],
  ["POST /api/v1/lists/:id/subscribers/remove", "dashboard", (subscriber_ids) => ({ subscriber_ids })],
  ["POST /api/v1/notifications", "dashboard", (subscriberIds) => ({ subscriberIds, ...content })],
  [
    "POST /api/v1/notifications",
    "dashboard",
    (ids) => ({ external_ids: ids.map((_, n) => `nobody-${n}`), ...content }),
  ],
  ["POST /v1/notifications", "server", (subscriberIds) => ({ subscriberIds, ...content })],
  ["POST /api/v1/notifications/preview", "dashboard", (subscriberIds) => ({ subscriberIds, ...content })],
  [
    "POST /api/v1/notifications/preview",
    "dashboard",
    (ids) => ({ external_ids: ids.map((_, n) => `nobody-${n}`), ...content }),
  ],
  ["POST /api/v1/notifications/preview", "dashboard", () => ({ target: { type: "all" }, ...content })],
  [
    "POST /api/v1/suppressions/import",
    "dashboard",
    (ids) => ({ csv: `email\n"${ids.map((_, n) => `u${n}@example.com`).join(" ")}"` }),
  ],
  [
    "POST /v1/events",
    "server",
    (ids) => ({ events: ids.map((subscriber_id, n) => ({ subscriber_id, event_name: "opened", properties: { n } })) }),
  ],
  [
    "POST /v1/batch",
    "server",
    (ids) => ({ batch: ids.map((_, n) => ({ type: "identify", userId: `new-${n}`, traits: { n } })) }),
  ],
  ["POST /api/v1/subscribers/bulk-delete", "dashboard", (subscriber_ids) => ({ subscriber_ids })],
];

it("a call that names many costs no more for each of them than docs/access.md says (D2)", async () => {
  const { world, tenant } = await withTenant();
  const ids = await addPeople(world, tenant, MANY);
  const list = (await tenant.call("POST /api/v1/lists", { name: "Readers" })).body.id;
  const { authorization = "" } = await tenant.backend("messages:send", "events:write", "subscribers:write");
  const [, key = ""] = authorization.split(" ");
  const headersOf = async (route: string, by: string): Promise<Headers> => {
    if (by === "dashboard") return tenant.dashboard();
    return {
      authorization: route === "POST /v1/batch" ? `Basic ${Buffer.from(`${key}:`).toString("base64")}` : authorization,
    };
  };
  for (const [route, by, body] of calls) {
    const as = await headersOf(route, by);
    world.dynamodb.resetMeter();
    const { status } = await world.call(route.replace(":id", list), { as, body: body(ids) });
    const { wcu, rcu } = world.dynamodb.meter();

    expect([route, status < 300]).toEqual([route, true]);
    const own = recordedCosts()?.routes[route]?.[by]?.units ?? 0;
    expect([route, wcu + rcu <= own + MANY * eachOf(route)!.units]).toEqual([route, true]);
  }
});

it("a file of suppressed addresses has at most 10,000 of them, also in one row (D2, AMB-128)", async () => {
  const { world, tenant } = await withTenant();
  const addresses = Array.from({ length: 10_001 }, (_, n) => `u${n}@example.com`);
  world.dynamodb.resetMeter();

  const { status, body } = await tenant.call("POST /api/v1/suppressions/import", {
    csv: `email\n"${addresses.join(" ")}"`,
  });

  expect([status, body.message]).toEqual([400, "The file has more than 10000 addresses."]);
  expect(world.dynamodb.meter().wcu).toBeLessThan(10);
});

it.each([
  ["GET /api/v1/subscribers/:id/timeline", "?limit=100"],
  ["GET /api/v1/subscribers/:id/export", ""],
])(
  "%s costs no more for each message with a long text of its own than docs/access.md says (D2)",
  async (route, query) => {
    const { world, tenant } = await withTenant();
    const [id = ""] = await addPeople(world, tenant, 1);
    for (let n = 0; n < MESSAGES; n++)
      await tenant.call("POST /api/v1/notifications", { subscriberIds: [id], title: `${n}`, body: "x".repeat(8_000) });
    await world.settle();
    world.dynamodb.resetMeter();

    const { status } = await tenant.call(`${route.replace(":id", id)}${query}`);

    const { wcu, rcu } = world.dynamodb.meter();
    const own = recordedCosts()?.routes[route]?.dashboard?.units ?? 0;
    expect([status, wcu + rcu <= own + MESSAGES * (eachOf(route)?.units ?? 0)]).toEqual([200, true]);
  },
);
