// What clients may send back and what they may misspell: fields that a GET returned, and parameters of queries.
import { expect, it } from "vitest";
import { groups } from "../../functions/index.ts";
import type { Endpoint } from "../../shared/http/endpoint.ts";
import { HOUR } from "../../shared/kernel/clock.ts";
import { foreignIds } from "../support/foreign.ts";
import { openStream } from "../support/sse.ts";
import { type Tenant, type TestWorld, testWorld } from "../support/world.ts";

const endpoints = groups.flatMap((group) => group.endpoints);
const isChange = ({ route }: Endpoint) => /^(PUT|PATCH) /.test(route);
/** As in `serve`: what a GET returns for a query is no resource with an address of its own. */
const readerOf = ({ route }: Endpoint) =>
  endpoints.find((endpoint) => endpoint.route === route.replace(/^\w+/, "GET") && !endpoint.shape.query);

/** Its body is an action, not fields of the resource. */
const ACTIONS = ["PATCH /api/v1/campaigns/:id", "PUT /api/v1/billing/plan"];
/** A workspace has none at first: it is asked where there is one (test/identity/sign-in.test.ts). */
const ABSENT = ["PUT /api/v1/auth/identity-provider"];
const isAsked = ({ route }: Endpoint) => !ACTIONS.includes(route) && !ABSENT.includes(route);
const changes = endpoints.filter((endpoint) => isChange(endpoint) && readerOf(endpoint) && isAsked(endpoint));

async function resourceOf(world: TestWorld, route: string) {
  const tenant = await world.tenant();
  const id = route.includes(":") ? await foreignIds(world, tenant, route) : "";
  const path = route.split(" ")[1]!.replace(/:\w+/, id);
  const as = await tenant.dashboard();
  return { path, as, found: (await world.call(`GET ${path}`, { as })).body };
}

it.each(changes.map(({ route }) => route))(
  "%s takes what GET returned, and names what it cannot change (AMB-115)",
  async (route) => {
    const world = await testWorld();
    const { path, as, found } = await resourceOf(world, route);
    const [method] = route.split(" ");

    for (const _ of "ab") {
      const { status, body } = await world.call(`${method} ${path}`, { as, body: found });
      expect(status).toBe(200);
      expect(body.fields).toBeUndefined();
    }

    if (found.id === undefined) return;
    const other = await world.call(`${method} ${path}`, { as, body: { ...found, id: "another" } });
    expect([400, 422]).toContain(other.status);
    expect(other.body.fields).toMatchObject({ id: "cannot be changed" });
  },
);

it("a bill is sent back with another cap, whatever was sent since it was read (AMB-115)", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  const use = (sends: number) => world.host.invoke("operator", { tenant_id: tenant.id, usage: { sends } });
  await use(5);
  const { body: read } = await tenant.call("GET /api/v1/billing");
  await use(60);
  await world.advance(HOUR);

  const { body } = await tenant.call("PATCH /api/v1/billing", { ...read, monthly_send_cap: 100 });

  expect(body).toMatchObject({ monthly_send_cap: 100, usage: { sends: 60 } });
});

/** Headers of a caller with these credentials. */
async function headersFor(tenant: Tenant, credentials: Endpoint["access"]["credentials"]) {
  if (credentials.includes("dashboard")) return tenant.dashboard();
  return credentials.includes("sdk") ? tenant.sdk : tenant.backend();
}

it("every endpoint names a parameter that it does not have (AMB-116)", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  const wrong = [];
  for (const { route, access, shape } of endpoints) {
    if (access.credentials.length === 0 || access.credentials.includes("agent")) continue;
    const [method, path = ""] = route.split(" ");
    const as = await headersFor(tenant, access.credentials);
    const target = `${method} ${path.replaceAll(/:\w+/g, world.ids.uuid())}?misspelt=1`;
    const { status, body } = await world.call(target, { as, ...(shape.body && { body: {} }) });
    if (status !== (shape.refusal ?? 422) || body.fields?.misspelt === undefined) wrong.push({ route, status, body });
  }
  expect(wrong).toEqual([]);
});

it("the stream names a parameter that it does not have (AMB-116)", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();

  const stream = await openStream(world, `?subscriber_id=${world.ids.uuid()}&misspelt=1`, tenant.sdk);

  expect(stream.status).toBe(422);
  expect(JSON.parse(stream.text).fields).toEqual({ misspelt: expect.any(String) });
});

it("a page that a link leads to takes any parameter (AMB-116)", async () => {
  const world = await testWorld();

  expect((await world.call("GET /docs?utm_source=mail")).status).toBe(200);
});
