// The errors of every endpoint, derived from its declaration, so a new endpoint is covered without a new test.
import { beforeAll, describe, expect, it } from "vitest";
import { requestEvent } from "../docs/generate/events.ts";
import { groups, stream } from "../functions/index.ts";
import type { Endpoint } from "../shared/http/endpoint.ts";
import { MINUTE } from "../shared/kernel/clock.ts";
import { statuses } from "../shared/kernel/errors.ts";
import { refusals } from "../shared/rules/plans.ts";
import { form, type UploadPath, uploads } from "./support/channels.ts";
import { everyCredential, type PresentedCredential, refusalOf, wrongRefusals } from "./support/credentials.ts";
import { foreignIds } from "./support/foreign.ts";
import { fillWorkspace } from "./support/full-workspace.ts";
import { type Answer, type Tenant, type TestWorld, testWorld, UNKNOWN } from "./support/world.ts";

const endpoints: Endpoint[] = groups.flatMap((group) => group.endpoints);
/** A byte over what the gateway lets through. */
const OVERSIZED = Buffer.alloc(10 * 1_024 * 1_024 + 1, "x");

/** A key stays in its list with the time of its revocation. */
const REVOCATIONS = ["DELETE /api/v1/server-keys/:id", "DELETE /api/v1/agent-keys/:id"];
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

let world: TestWorld;
let tenant: Tenant;
let credentials: PresentedCredential[];

beforeAll(async () => {
  world = await testWorld();
  world.dynamodb.onWrite((_, partition) => {
    if (!/^LIMIT#|#AUDIT(?:HEADS$|#)/.test(partition)) writes++;
  });
  await world.tenant();
  expect(writes).toBeGreaterThan(0);
  tenant = await world.tenant();
  credentials = await everyCredential(world, tenant);
});

const fill = (route: string, id = UNKNOWN) => route.replaceAll(/:\w+/g, id);

/**
 * How often the table was written to. Rows of limiters and of the audit trail do not count: they are the only writes that a
 * refusal may make (docs/decisions/0021#order-of-checks, docs/decisions/0043).
 */
let writes = 0;

describe.each(endpoints.map((endpoint) => [endpoint.route, endpoint] as const))("%s", (route, endpoint) => {
  it("an endpoint answers every credential as it declares, and a refusal changes nothing (AMB-60, ATH-R2, ATH-R5, ATH-R7, CHN-19, ERR-2, ERR-5, ERR-6, ERR-7, ERR-9, SEG-4, SUB-11)", async () => {
    const before = writes;
    expect(await wrongRefusals(world, endpoint, credentials, fill(route))).toEqual([]);
    expect(writes).toBe(before);
  });

  it("an endpoint admits the callers that it declares (ATH-R1, ATH-R4)", async () => {
    const accepted = credentials.filter((presented) => !refusalOf(endpoint, presented) && presented.kind);
    const wrong = [];
    for (const { name, headers, readOnly, status: workspace } of accepted) {
      if (endpoint.access.effect !== "read" && !readOnly && !workspace) continue;
      const { status } = await world.call(fill(route), { as: headers });
      if (status === 401 || status === 403) wrong.push({ name, status });
    }
    expect(wrong).toEqual([]);
  });

  it("an endpoint refuses a hostile body in an envelope of ours, and nothing changes (ERR-0, ERR-1, ERR-13, GEN-12)", async () => {
    if (!endpoint.shape.body && !endpoint.shape.form) return;
    const as = goodFor(endpoint);
    const tooDeep = `${'{"a":'.repeat(400)}1${"}".repeat(400)}`;
    const bodies = [
      "{",
      "[]",
      "null",
      '"text"',
      "7",
      tooDeep,
      '{"__proto__":{"x":1}}',
      '{"unknown_field":1}',
      "\u0000",
    ];
    const before = writes;
    const answers = [];
    for (const [type, texts] of [["application/json", bodies] as const, ["text/plain", ["x"]] as const])
      for (const text of texts) {
        const headers = { "content-type": type };
        const { status, body } = await world.call(fill(route), { as, headers, raw: Buffer.from(text) });
        answers.push({
          text: text.slice(0, 40),
          status,
          isKnown: statuses[body.code as keyof typeof statuses] === status || isRefusalOfRpc(route, body),
        });
      }
    expect(answers.filter(({ status, isKnown }) => !isKnown || (status !== 400 && status !== 422))).toEqual([]);
    const empty = await world.call(fill(route), { as, headers: { "content-type": "application/json" } });
    expect(empty.status).toBeLessThan(500);
    if (empty.status >= 400) expect(writes).toBe(before);
    if (endpoint.shape.body) expect((await world.call(fill(route), { as, raw: OVERSIZED })).status).toBe(413);
  });

  it("an endpoint refuses a plan without its feature in the feature's own body, and nothing changes (AMB-82, GEN-10, HOK-4, INX-1)", async () => {
    const { feature } = endpoint.access;
    if (!feature) return;
    const poor = await world.tenant({ plan: "free" });
    const as = await credentialsOf(poor, endpoint);
    const before = writes;
    const answer = await world.call(fill(route), { as, ...goodBody(endpoint) });
    expect([answer.status, answer.body]).toEqual([
      403,
      refusals[feature] ?? expect.objectContaining({ code: "FEATURE_NOT_AVAILABLE" }),
    ]);
    expect(writes).toBe(before);
  });

  it("a foreign id and a missing id answer byte for byte the same (ERR-10, GEN-8, IMP-8, INX-24, SCH-6, SUB-11, TPL-5)", async () => {
    if (!route.includes(":")) return;
    const other = await world.tenant();
    const foreign = await foreignIds(world, tenant, route);
    const person = await tenant.upsert({ external_id: "foreign" });
    const as = await credentialsOf(other, endpoint);
    const ask = (id: string) =>
      world.call(fill(route, id) + goodQuery(endpoint, person), { as, ...goodBody(endpoint, person) });
    const before = writes;
    const missing = await ask(UNKNOWN);
    for (const id of [foreign, foreign.toUpperCase()]) {
      const there = await ask(id);
      expect([there.status, there.body]).toEqual([404, missing.body]);
    }
    expect([missing.status, writes]).toEqual([404, before]);
  });
});

const deletions = endpoints.filter(
  ({ route }) => /^DELETE [^:]*\/:(id|key)$/.test(route) && !REVOCATIONS.includes(route),
);

it.each(deletions.map((endpoint) => [endpoint.route, endpoint] as const))(
  "%s deletes once, and what is deleted is 404 for whatever asks for it (AST-4, HOK-7, JNY-19, RDA-22, SCH-9, SUB-8, TPC-1, TPL-8)",
  async (route, endpoint) => {
    const owner = await world.tenant();
    const as = await credentialsOf(owner, endpoint);
    const id = await foreignIds(world, owner, route);
    const person = await owner.upsert({ external_id: "foreign" });
    const statusOf = async (one: Endpoint) =>
      (await world.call(fill(one.route, id) + goodQuery(one, person), { as, ...goodBody(one, person) })).status;
    const sameThing = endpoints.filter((one) => one.route.split(" ")[1] === route.split(" ")[1]);

    const deleted = await statusOf(endpoint);

    expect(deleted).toBe(204);
    for (const one of sameThing) expect(await statusOf(one), one.route).toBe(404);
  },
);

/** Headers of a credential that the endpoint lets in. */
const goodFor = (endpoint: Endpoint) =>
  credentials.find((presented) => presented.kind && !refusalOf(endpoint, presented))?.headers ?? {};

/** A body that the endpoint takes: a refusal of it is for another reason. */
function goodBody(endpoint: Endpoint, person: string = UNKNOWN) {
  const { route, shape } = endpoint;
  if (shape.form) return (uploads[route.split("/").at(-1) as UploadPath] ?? (() => form({})))();
  const { body } = requestEvent(endpoint);
  if (body === undefined) return {};
  const fields = JSON.parse(body);
  return { body: "subscriber_id" in fields ? { ...fields, subscriber_id: person } : fields };
}

function goodQuery(endpoint: Endpoint, person: string) {
  const query = new URLSearchParams(requestEvent(endpoint).rawQueryString);
  if (query.has("subscriber_id")) query.set("subscriber_id", person);
  return query.size > 0 ? `?${query}` : "";
}

async function credentialsOf(other: Tenant, { access }: Endpoint) {
  if (access.credentials.includes("dashboard")) return other.dashboard();
  return access.credentials.includes("sdk") ? other.sdk : other.backend();
}

/** What is no message of JSON-RPC is refused by an error of JSON-RPC. */
const isRefusalOfRpc = (route: string, body: { jsonrpc?: unknown; error?: { code?: unknown } }): boolean =>
  route === "POST /v1/mcp" && body.jsonrpc === "2.0" && [-32_700, -32_600].includes(Number(body.error?.code));

describe(stream.endpoint.route, () => {
  /** The status of an opened stream, and the body where it was refused. */
  const open = (as: Record<string, string>, query = `subscriber_id=${UNKNOWN}`) =>
    new Promise<{ status: number; body: { code?: string } }>((resolve, reject) => {
      let status = 0;
      const request = {
        method: "GET",
        path: `/v1/in-app/stream?${query}`,
        headers: as,
        body: Buffer.alloc(0),
        sourceIp: "203.0.113.7",
      };
      const out = {
        start: (begun: number) => {
          status = begun;
          if (begun === 200) resolve({ status, body: {} });
        },
        write: (chunk: Buffer) => {
          if (status !== 200) resolve({ status, body: JSON.parse(chunk.toString()) });
          return false;
        },
        end: () => undefined,
      };
      world.gateway.stream(request, out).catch(reject);
    });

  it("the live stream answers every credential as it declares (ATH-R7, ERR-6, ERR-7)", async () => {
    const answers = [];
    const expected = [];
    for (const presented of credentials) {
      const { status, body } = await open(presented.headers);
      const refusal = refusalOf(stream.endpoint, presented);
      answers.push({ presented: presented.name, status, code: body.code });
      expected.push({ presented: presented.name, ...(refusal ?? { status: 404, code: "NOT_FOUND" }) });
    }
    expect(answers).toEqual(expected);
  });

  it("the live stream is gated by plan, and names what is wrong with a query (INX-1)", async () => {
    const free = await world.tenant({ plan: "free" });
    expect((await open(free.sdk)).body).toMatchObject({ error: "in_app_not_permitted", upgrade_required: true });
    expect(await open(tenant.sdk, "subscriber_id=x")).toMatchObject({
      status: 422,
      body: { fields: { subscriber_id: "must be a UUID" } },
    });
    expect((await open(tenant.sdk, "")).status).toBe(422);
  });
});

describe("the lists of a workspace with some of everything", () => {
  const lists = endpoints.filter(({ route, access }) => /^GET [^:]*$/.test(route) && access.credentials.length > 0);
  let full: Tenant;
  let empty: Tenant;

  beforeAll(async () => {
    [full, empty] = [await world.tenant(), await world.tenant()];
    await fillWorkspace(world, full);
    await world.advance(MINUTE);
  });

  const ask = async (to: Tenant, endpoint: Endpoint, query = ""): Promise<Answer> =>
    world.call(`${endpoint.route}${query}`, { as: await credentialsOf(to, endpoint) });

  it("what an endpoint lists for one workspace is listed for no other (GEN-8)", async () => {
    const idsListed = async (to: Tenant, endpoint: Endpoint): Promise<string[]> =>
      JSON.stringify((await ask(to, endpoint)).body ?? {}).match(UUID) ?? [];

    const theirs = new Set((await Promise.all(lists.map((list) => idsListed(full, list)))).flat());
    const shown = await Promise.all(
      lists.map(async (list) => ({
        route: list.route,
        ids: (await idsListed(empty, list)).filter((id) => theirs.has(id)),
      })),
    );

    expect(theirs.size).toBeGreaterThan(30);
    expect(shown.filter(({ ids }) => ids.length > 0)).toEqual([]);
  });

  it("the cursor of a list is refused by every other list, and in another workspace (EXP-6, GEN-8, LIM-8, RDA-23)", async () => {
    const takers = lists.filter(({ shape }) => "cursor" in (Object(shape.query).entries ?? {}));
    const answers = await Promise.all(
      takers.map(async (list) => ({ list, ...(await ask(full, list, "?limit=1")).body })),
    );
    const paged = answers.filter(({ next_cursor }) => next_cursor !== undefined);
    const subjectOf = ({ route }: Endpoint) => route.split("/").at(-1);
    const opened = [];
    for (const { list, next_cursor } of paged.filter((one) => one.next_cursor !== "")) {
      const others = paged.filter((one) => subjectOf(one.list) !== subjectOf(list));
      for (const [to, asked] of [[empty, list] as const, ...others.map((other) => [full, other.list] as const)]) {
        const { status, body } = await ask(to, asked, `?cursor=${encodeURIComponent(next_cursor)}`);
        if (status !== 422 || !body.fields.cursor) opened.push({ of: list.route, by: asked.route, status });
      }
    }

    expect(opened).toEqual([]);
    expect(paged.filter((one) => one.next_cursor !== "").length).toBe(8);
  });
});

it("an SDK key and a dashboard token of different workspaces are refused together, of the same one not (AMB-59)", async () => {
  const other = await world.tenant();
  const both = (dashboard: Record<string, string>) =>
    world.call(`GET /v1/in-app/messages?subscriber_id=${UNKNOWN}`, { as: { ...tenant.sdk, ...dashboard } });
  expect((await both(await other.dashboard())).status).toBe(401);
  expect((await both(await tenant.dashboard())).status).toBe(200);
});
