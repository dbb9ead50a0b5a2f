// A send by an agent: planned, confirmed once, and refused where it is no longer what was planned.
import { beforeEach, describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { mailing } from "../support/mails.ts";
import { createMcp } from "../support/mcp.ts";
import { addPeople } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { type Headers, type Tenant, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
let tenant: Tenant;
let owner: Headers;
let mcp: ReturnType<typeof createMcp>;
let key: string;
let people: string[];
beforeEach(async () => {
  world = await testWorld();
  tenant = await world.tenant();
  owner = await tenant.dashboard();
  mcp = createMcp(world, tenant);
  key = await mcp.key("write:send");
  people = await addPeople(world, tenant, 3);
});

const toAll = { target: { type: "all" }, title: "Sale", body: "Today only." };
const plan = async (body: object = toAll) => (await mcp.tool(key, "plan_send", body)).value;
const confirm = (token: string, as = key) => mcp.tool(as, "confirm_send", { token });
const sends = async () => (await tenant.call("GET /api/v1/notifications")).body.items;

describe("a send by an agent", () => {
  it("a plan of a send by an agent says whom it would reach and what it costs, and sends nothing (AGT-3, F18)", async () => {
    expect(await plan()).toMatchObject({
      token: expect.stringMatching(/^plan_[A-Za-z0-9_-]{32}$/),
      expires_at: "2026-11-20T12:10:00.000Z",
      exact: true,
      counts: { total: 3, sent: 3 },
      samples: expect.arrayContaining([expect.objectContaining({ channels: expect.any(Array) })]),
      cost: { sends: 3, used: 0, left: 100_000_000 },
    });
    expect(await sends()).toEqual([]);
  });

  it("a planned send is sent once by its confirmation (AGT-3, D-MCP)", async () => {
    const { token } = await plan();
    const done = (await confirm(token)).value;
    const again = (await confirm(token)).value;
    await world.settle();

    expect(done).toEqual({ id: expect.any(String), sent: 3, replayed: false });
    expect(again).toEqual({ ...done, replayed: true });
    expect(await sends()).toMatchObject([{ id: done.id, counts: { sent: 3 } }]);
  });

  it("a confirmed plan is forgotten after an hour (AGT-3)", async () => {
    const { token } = await plan();
    await confirm(token);
    await world.advance(HOUR);

    expect((await confirm(token)).value.code).toBe("NOT_FOUND");
  });

  it("two confirmations at once are one send (AGT-3)", async () => {
    const { token } = await plan();
    const answers = await Promise.all([confirm(token), confirm(token), confirm(token)]);
    const ids = new Set(answers.flatMap(({ isError, value }) => (isError ? [] : [value.id])));

    expect(ids.size).toBe(1);
    expect(await sends()).toHaveLength(1);
  });

  it("a send by an agent goes to nobody who joined after it was planned (AMB-141)", async () => {
    const { token } = await plan();
    const [late] = await addPeople(world, tenant, 1, () => ({ external_id: "new" }));
    const { id, sent } = (await confirm(token)).value;
    await world.settle();
    expect(sent).toBe(3);
    const { items } = (await tenant.call(`GET /api/v1/notifications/${id}/recipients`)).body;
    expect(items.map(({ subscriber_id }: { subscriber_id: string }) => subscriber_id).sort()).toEqual(
      people.toSorted(),
    );
    expect(people).not.toContain(late);
  });

  it("a send by an agent to external ids goes to who had them when it was planned, less who was erased (AMB-141)", async () => {
    key = await mcp.key("write:send", "read:pii");
    const { token } = await plan({ ...toAll, target: undefined, external_ids: ["p0", "p1", "later"] });
    await addPeople(world, tenant, 1, () => ({ external_id: "later" }));
    await world.call(`DELETE /api/v1/subscribers/${people[0]}`, { as: owner });
    await world.settle();
    const { id, sent } = (await confirm(token)).value;
    await world.settle();
    expect(sent).toBe(1);
    const { items } = (await tenant.call(`GET /api/v1/notifications/${id}/recipients`)).body;
    expect(items.filter(({ state }: { state: string }) => state === "delivered")).toMatchObject([
      { subscriber_id: people[1] },
    ]);
  });

  it("a send by an agent leaves out who may no longer be written to (AMB-141)", async () => {
    const { token } = await plan();
    await world.call(`DELETE /api/v1/subscribers/${people[0]}`, { as: owner });
    await world.settle();

    expect((await confirm(token)).value.sent).toBe(2);
  });

  it("a send by an agent goes to a person who no longer meets the filter by which it was planned (AMB-141)", async () => {
    key = await mcp.key("write:send", "read:pii");
    const subscriber_filters = { nickname: { $exists: false } };
    const planned = await plan({ ...toAll, subscriber_filters });
    const body = { attributes: { nickname: "x" } };
    await world.call(`PATCH /api/v1/subscribers/${people[0]}`, { as: owner, body });

    expect((await confirm(planned.token)).value.sent).toBe(3);
  });

  it("a send by an agent holds out the people who were shown as held out (AMB-141)", async () => {
    await addPeople(world, tenant, 60, (n) => ({ external_id: `more-${n}` }));
    const planned = await plan({ ...toAll, holdout_percentage: 40 });
    const { id } = (await confirm(planned.token)).value;
    await world.settle();
    const job = (await tenant.call(`GET /api/v1/notifications/${id}`)).body;

    expect(job.counts).toMatchObject({ sent: planned.counts.sent, held_out: planned.counts.held_out });
  });

  it("a send by an agent is refused for an audience of nobody (AMB-141)", async () => {
    key = await mcp.key("write:send", "read:pii");
    const refused = await mcp.tool(key, "plan_send", { ...toAll, subscriber_filters: { nickname: { $exists: true } } });

    expect(refused.isError).toBe(true);
    expect(refused.value.fields.target).toEqual(expect.any(String));
  });

  it("a template or a segment that was changed meanwhile is refused (AGT-3)", async () => {
    const post = async (route: string, body: object) => (await world.call(route, { as: owner, body })).body.id;
    const template_id = await post("POST /api/v1/templates", { name: "a", content: { title: "a", body: "a" } });
    const segment_id = await post("POST /api/v1/segments", {
      name: "all",
      rule: { attribute: { nickname: { $exists: false } } },
    });
    await world.settle();
    const body = { target: { type: "segment", segment_id }, template_id };
    const first = await plan(body);
    expect(first.counts.total).toBe("fewer than 20");
    const content = { title: "a", body: "Something else" };
    await world.call(`PATCH /api/v1/templates/${template_id}`, { as: owner, body: { content } });
    expect((await confirm(first.token)).value.message).toContain("Plan the send again");
    const second = await plan(body);
    const rule = { attribute: { nickname: { $ne: "x" } } };
    const changed = await world.call(`PATCH /api/v1/segments/${segment_id}`, {
      as: owner,
      body: { name: "all", rule },
    });
    expect(changed.body).toMatchObject({ rule });
    await world.settle();
    expect((await confirm(second.token)).value.message).toContain("Plan the send again");
    expect(await sends()).toEqual([]);
  });

  it("a plan whose channels are others by now is refused as changed, not as a wrong argument (AGT-3)", async () => {
    const { token } = await plan();
    await mailing(world, tenant);
    const { value } = await confirm(token);

    expect([value.code, value.message]).toEqual(["CONFLICT", expect.stringContaining("channels")]);
    expect(await sends()).toEqual([]);
  });

  it("a plan is confirmed by the key that made it alone (AGT-3)", async () => {
    const { token } = await plan();
    const stranger = createMcp(world, await world.tenant());
    const strange = await stranger.tool(await stranger.key("write:send"), "confirm_send", { token });

    expect(strange.value.code).toBe("NOT_FOUND");
    expect((await confirm(token, await mcp.key("write:send"))).value.code).toBe("NOT_FOUND");
    expect(await sends()).toEqual([]);
  });

  it.each(["", "plan_", `plan_${"a".repeat(32)}`, "PLAN#x", "../x"])(
    "a token that was guessed confirms nothing: %j (AGT-3)",
    async (guess) => {
      await plan();

      expect((await confirm(guess)).value.code).toBe("NOT_FOUND");
    },
  );

  it("a confirmation takes nothing but its token (AGT-3)", async () => {
    const { token } = await plan();
    const more = await mcp.tool(key, "confirm_send", { token, title: "Another title" });

    expect(more.value.fields).toEqual({ title: "is not a known field" });
    expect(await sends()).toEqual([]);
  });

  it("a plan that is ten minutes old is confirmed no more (AGT-3)", async () => {
    const { token } = await plan();
    await world.advance(10 * MINUTE);

    expect((await confirm(token)).value).toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("expired"),
    });
    expect(await sends()).toEqual([]);
  });

  it("a confirmation whose answer was lost is one send, told again however late and whatever has changed (AGT-3)", async () => {
    const planned = requests({ of: "api-mcp", operation: "UpdateItem", naming: "PLAN#" });
    const own = await testWorld({ hooks: planned.hooks });
    const its = await own.tenant();
    const agent = createMcp(own, its);
    const secret = await agent.key("write:send");
    await addPeople(own, its, 2);
    const { token } = (await agent.tool(secret, "plan_send", toAll)).value;
    planned.fail();
    expect((await agent.tool(secret, "confirm_send", { token })).isError).toBe(true);
    planned.pass();
    await own.advance(11 * MINUTE);
    const again = await agent.tool(secret, "confirm_send", { token });
    const { items } = (await own.call("GET /api/v1/notifications", { as: await its.dashboard() })).body;
    expect(again.value).toEqual({ id: items[0].id, sent: 2, replayed: true });
    expect(items.length).toBe(1);
  });

  it("a key that was revoked between plan and confirmation sends nothing (AGT-3)", async () => {
    const { token } = await plan();
    const [{ id }] = (await world.call("GET /api/v1/agent-keys", { as: owner })).body.items;
    await world.call(`DELETE /api/v1/agent-keys/${id}`, { as: owner });

    expect((await mcp.rpc(key, "tools/call", { name: "confirm_send", arguments: { token } })).status).toBe(401);
    expect(await sends()).toEqual([]);
  });

  it("the plan of a send that would be refused is refused (AGT-3)", async () => {
    const bad = await mcp.tool(key, "plan_send", { ...toAll, title: undefined });
    expect(bad.isError).toBe(true);
    expect(bad.value.fields).toEqual({ title: expect.any(String) });
    const own = await mcp.tool(key, "plan_send", { ...toAll, idempotency_key: "mine" });
    expect(own.value.fields).toEqual({ idempotency_key: expect.any(String) });
  });

  it("the plan of a send that a row has no room for is refused, and says what to do (AGT-3, CHC-1)", async () => {
    const asked = (html: number, design: number) => {
      const email = { html: "x".repeat(html), design: "d".repeat(design) };
      return { target: toAll.target, content: { title: "Sale", body: "Today only.", by_channel: { email } } };
    };

    const { value: refused } = await mcp.tool(key, "plan_send", asked(190_000, 20_000));

    expect(refused.fields).toEqual({
      content: "must have at most 200000 bytes in all: save a larger mail as a template",
    });
    expect((await plan(asked(190_000, 9_000))).token).toEqual(expect.any(String));
  });
});
