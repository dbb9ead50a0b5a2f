// Agencies keep the workspaces of their clients and act in them (D-AGENCY, AMB-99).
import { beforeEach, expect, it } from "vitest";
import { accountsIn, PASSWORD, withMailedToken } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { wholeTable } from "../support/people.ts";
import { type Headers, type Tenant, type TestWorld, testWorld, UNKNOWN } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const CLIENTS = "/api/v1/agency/workspaces";
const operate = (change: object) => world.host.invoke("operator", change);
const create = (as: Headers, name = "Client") => world.call(`POST ${CLIENTS}`, { as, body: { name } });
const session = async (as: Headers, id: string) => world.call(`POST ${CLIENTS}/${id}/session`, { as });
const annotate = (as: Headers) =>
  world.call("POST /api/v1/annotations", {
    as,
    body: { occurred_at: "2026-11-20T00:00:00Z", text: "ours", visibility: "agency_only" },
  });
const claims = ({ body }: { body: { access_token: string } }) =>
  JSON.parse(Buffer.from(body.access_token.split(".")[1]!, "base64url").toString());

async function agency(): Promise<Tenant> {
  const tenant = await world.tenant();
  await operate({ tenant_id: tenant.id, kind: "agency" });
  return tenant;
}

/** An agency and the workspace of its client Baker. */
async function withClient() {
  const tenant = await agency();
  const as = await tenant.dashboard();
  const made = await create(as, "Baker");
  return { tenant, as, made, id: made.body.id as string };
}

/** Gives a client an owner of its own. @param inside a token for its workspace */
async function ownerOf(inside: Headers): Promise<void> {
  const body = { email: "own@client.example", role: "owner" };
  const invited = await withMailedToken(world, await world.call("POST /api/v1/team/invitations", { as: inside, body }));
  const accepted = { token: invited.body.token, name: "Own", password: PASSWORD };
  expect((await world.call("POST /api/v1/auth/invitations/accept", { body: accepted })).status).toBe(201);
}

it("an agency makes a client's workspace, and lists it (AMB-99, D-AGENCY)", async () => {
  const { as, made } = await withClient();

  expect(made).toMatchObject({ status: 201, body: { name: "Baker", status: "active" } });
  expect((await world.call(`GET ${CLIENTS}`, { as })).body).toEqual({ items: [made.body], next_cursor: "" });
});

it("an agency goes into a client's workspace as its owner (AMB-99, D-AGENCY)", async () => {
  const { tenant, as, id } = await withClient();
  const opened = await session(as, id);

  expect(opened).toMatchObject({ status: 201, body: { token_type: "Bearer", expires_in: 900 } });
  expect(claims(opened)).toMatchObject({ tid: id, agency: tenant.id, sub: tenant.owner, role: "owner" });
});

it("what an agency did at a client has the names of its members, as the agency reads it (D-AGENCY, RDA-23, F2)", async () => {
  const { as, id } = await withClient();
  const inside = bearerOf(await session(as, id));
  const { name } = (await world.call("GET /api/v1/me", { as })).body.user;
  await annotate(inside);

  const [entry] = (await world.call("GET /api/v1/audit", { as: inside })).body.items;
  const range = "from=2026-11-19T00:00:00Z&to=2026-11-21T00:00:00Z";
  const [note] = (await world.call(`GET /api/v1/annotations?${range}`, { as: inside })).body.annotations;

  expect([entry.actor.name, note.creator.name]).toEqual([name, name]);
});

it("what only agencies see is written from inside a client's workspace (ANN-3, ANN-4)", async () => {
  const { as, id } = await withClient();

  expect((await annotate(bearerOf(await session(as, id)))).status).toBe(201);
  expect((await annotate(as)).body.code).toBe("FORBIDDEN");
});

it("a client's workspace begins with an inbox (AMB-99)", async () => {
  const { as, id } = await withClient();
  const { channels } = (await world.call("GET /api/v1/channels", { as: bearerOf(await session(as, id)) })).body;

  expect(channels).toEqual([expect.objectContaining({ type: "in_app", status: "active" })]);
});

it("a token for a client's workspace switches to no other workspace (AMB-145)", async () => {
  const tenant = await agency();
  const as = await tenant.dashboard();
  const { id } = (await create(as)).body;
  const inside = bearerOf(await session(as, id));
  const answer = await world.call("POST /api/v1/auth/switch", { as: inside, body: { tenant_id: tenant.id } });

  expect(answer.status).toBe(404);
  expect(answer.body.code).toBe("NOT_FOUND");
});

it("a workspace that is no agency makes no clients, and sees no other agency's (D-AGENCY)", async () => {
  const [ours, other] = [await agency(), await agency()];
  const { id } = (await create(await ours.dashboard())).body;
  const standard = await (await world.tenant()).dashboard();
  expect((await create(standard)).body.code).toBe("FORBIDDEN");
  for (const as of [standard, await other.dashboard()]) {
    expect((await session(as, id)).body.code).toBe("NOT_FOUND");
    expect((await world.call(`GET ${CLIENTS}`, { as })).body.items).toEqual([]);
  }
  await ownerOf(bearerOf(await session(await ours.dashboard(), id)));
  await operate({ tenant_id: ours.id, kind: "standard" });
  expect((await session(await ours.dashboard(), id)).status).toBe(404);
});

it("a client's workspace that is refused leaves no row of itself (D-AGENCY)", async () => {
  const as = await (await world.tenant()).dashboard();
  const rows = async () => (await wholeTable(world)).filter(({ sk }) => sk.S.startsWith("In-app")).length;
  const before = await rows();

  expect((await create(as)).status).toBe(403);

  expect(await rows()).toBe(before);
});

it("agencies are part of the Enterprise plan only (D-AGENCY)", async () => {
  const as = await (await world.tenant({ plan: "premium" })).dashboard();

  for (const answer of [await create(as), await session(as, UNKNOWN), await world.call(`GET ${CLIENTS}`, { as })])
    expect([answer.status, answer.body.code]).toEqual([403, "FEATURE_NOT_AVAILABLE"]);
});

it("an agency on a smaller plan makes no more clients, and goes on in those that it has: nobody else would reach them (D-AGENCY, AMB-87)", async () => {
  const { as, id } = await withClient();
  const inside = bearerOf(await session(as, id));
  await world.call("PUT /api/v1/billing/plan", { as, body: { plan: "premium" } });

  expect((await create(as)).body.code).toBe("FEATURE_NOT_AVAILABLE");

  expect((await world.call(`GET ${CLIENTS}`, { as })).body.items).toMatchObject([{ id }]);
  for (const token of [inside, bearerOf(await session(as, id))])
    expect((await world.call("GET /api/v1/lists", { as: token })).status).toBe(200);
});

it("an agency that is none any more is out of its clients at once, and no token of before is renewed (D-AGENCY, AMB-145)", async () => {
  const owner = await accountsIn(() => world).register();
  const tenant_id = owner.body.tenant.id;
  await operate({ tenant_id, kind: "agency" });
  const as = bearerOf(owner);
  const inside = bearerOf(await session(as, (await create(as)).body.id));
  await ownerOf(inside);
  expect((await world.call("GET /api/v1/lists", { as: inside })).status).toBe(200);

  await operate({ tenant_id, kind: "standard" });

  expect((await world.call("GET /api/v1/lists", { as: inside })).status).toBe(401);
  expect((await world.call("POST /api/v1/auth/tokens/read-only", { as: inside })).status).toBe(401);
});

it("an agency stays one while a client that goes on has no owner of its own: nobody would reach it (D-AGENCY, D-TENANT)", async () => {
  const { tenant, as, id } = await withClient();

  const refused = await operate({ tenant_id: tenant.id, kind: "standard" });

  expect(refused).toMatchObject({ error: "conflict", message: expect.stringContaining(id) });
  expect((await session(as, id)).status).toBe(201);
});

it("the role of the agency applies at the client, and a read-only member stays read-only (D-AGENCY, D-TEAM)", async () => {
  const tenant = await agency();
  const { id } = (await create(await tenant.dashboard())).body;
  expect((await create(await tenant.dashboard("marketer"))).body.code).toBe("FORBIDDEN");
  const analyst = bearerOf(await session(await tenant.dashboard("analyst"), id));
  expect((await world.call("POST /api/v1/lists", { as: analyst, body: { name: "l" } })).body.code).toBe("FORBIDDEN");
  const viewer = bearerOf(await session(await tenant.dashboard("viewer"), id));
  const narrowed = bearerOf(await session(await tenant.dashboard("owner", { readOnly: true }), id));
  const owner = bearerOf(await session(await tenant.dashboard(), id));
  const asked = bearerOf(await world.call("POST /api/v1/auth/tokens/read-only", { as: owner }));
  for (const as of [viewer, narrowed, asked]) {
    expect((await world.call("GET /api/v1/lists", { as })).status).toBe(200);
    expect((await annotate(as)).body.code).toBe("READ_ONLY_TOKEN");
  }
  expect((await session(owner, id)).status).toBe(404);
});

it("a suspended agency stays out of its clients until it is active again (D-AGENCY, D-TENANT)", async () => {
  const { tenant, as, id } = await withClient();
  const inside = bearerOf(await session(as, id));
  const statusInside = async () => (await world.call("GET /api/v1/lists", { as: inside })).status;
  await operate({ tenant_id: tenant.id, status: "suspended" });

  expect((await session(as, id)).body.code).toBe("TENANT_SUSPENDED");
  expect(await statusInside()).toBe(401);
  await operate({ tenant_id: tenant.id, status: "active" });
  expect(await statusInside()).toBe(200);
});

it("a deleted client is closed, and gone once it is purged (D-AGENCY, D-TENANT)", async () => {
  const { tenant, as, id } = await withClient();
  await operate({ tenant_id: id, status: "deleted" });
  expect((await session(as, id)).body.code).toBe("TENANT_DELETED");
  await world.advance(31 * 24 * 3_600_000);
  const later = await tenant.dashboard();

  expect((await session(later, id)).status).toBe(404);
  expect((await world.call(`GET ${CLIENTS}`, { as: later })).body.items).toEqual([]);
});

it("an agency is not deleted while a client that goes on has no owner of its own: nobody would reach it (D-AGENCY, D-TENANT)", async () => {
  const { tenant, as, id } = await withClient();
  const remove = (tenant_id: string) => operate({ tenant_id, status: "deleted" });

  expect(await remove(tenant.id)).toMatchObject({ error: "conflict", message: expect.stringContaining(id) });

  expect((await world.call(`GET ${CLIENTS}`, { as })).status).toBe(200);
  await remove(id);
  expect(await remove(tenant.id)).toMatchObject({ workspace: { status: "deleted" } });
});

it("a client without an owner of its own is not restored before its agency: nobody would reach it (D-AGENCY, D-TENANT)", async () => {
  const { tenant, as, id } = await withClient();
  const change = (tenant_id: string, status: string) => operate({ tenant_id, status });
  await change(id, "deleted");
  await change(tenant.id, "deleted");

  expect(await change(id, "active")).toMatchObject({ error: "conflict", message: expect.stringContaining(tenant.id) });

  await change(tenant.id, "active");
  expect(await change(id, "active")).toMatchObject({ workspace: { status: "active" } });
  expect((await session(as, id)).status).toBe(201);
});

it("a client without an owner of its own is not restored where its agency is none any more (D-AGENCY, D-TENANT)", async () => {
  const { tenant, id } = await withClient();
  await operate({ tenant_id: id, status: "deleted" });
  await operate({ tenant_id: tenant.id, kind: "standard" });

  const refused = await operate({ tenant_id: id, status: "active" });

  expect(refused).toMatchObject({ error: "conflict", message: expect.stringContaining(tenant.id) });
});

it("an agency is deleted beside a client that has an owner of its own (D-AGENCY, D-TENANT)", async () => {
  const { tenant, as, id } = await withClient();
  await ownerOf(bearerOf(await session(as, id)));

  expect(await operate({ tenant_id: tenant.id, status: "deleted" })).toMatchObject({
    workspace: { status: "deleted" },
  });
});

it("clients are listed newest first, a hundred a page (D-AGENCY)", async () => {
  const as = await (await agency()).dashboard();
  const made: string[] = [];
  for (let i = 0; i < 101; i++) {
    made.unshift((await create(as, `Client ${i}`)).body.id);
    await world.advance(1);
  }
  const first = (await world.call(`GET ${CLIENTS}`, { as })).body;
  const second = (await world.call(`GET ${CLIENTS}?cursor=${encodeURIComponent(first.next_cursor)}`, { as })).body;
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(made);
  expect(first.items.length).toBe(100);
  expect(second.next_cursor).toBe("");
});

it("a client's sandbox is listed by its age as other clients are (D-AGENCY, F4)", async () => {
  const as = await (await agency()).dashboard();
  const made: string[] = [];
  for (const kind of ["standard", "sandbox", "standard"]) {
    made.unshift((await world.call(`POST ${CLIENTS}`, { as, body: { name: "Client", kind } })).body.id);
    await world.advance(1);
  }

  expect((await world.call(`GET ${CLIENTS}`, { as })).body.items.map(({ id }: { id: string }) => id)).toEqual(made);
});
