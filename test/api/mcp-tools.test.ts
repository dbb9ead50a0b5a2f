// The tools of agents: derived from endpoints, with what they never show.
import { beforeEach, describe, expect, it } from "vitest";
import { contents, operationsOf } from "../../docs/generate/contents.ts";
import { toolSpecs } from "../../functions/api/mcp/tools.gen.ts";
import { permissionOfScope } from "../../shared/contract/roles.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { createMcp } from "../support/mcp.ts";
import { addPeople, send } from "../support/people.ts";
import { type Headers, type Tenant, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
let tenant: Tenant;
let owner: Headers;
let mcp: ReturnType<typeof createMcp>;
beforeEach(async () => {
  world = await testWorld();
  tenant = await world.tenant();
  owner = await tenant.dashboard();
  mcp = createMcp(world, tenant);
});

describe("tools", () => {
  it("are the marked endpoints and no others, with the scope that their effect and permission demand (AGT-2)", () => {
    const marked = operationsOf(contents).filter(({ endpoint }) => endpoint.access.agents);
    expect(new Set(toolSpecs.map(({ route }) => route))).toEqual(new Set(marked.map(({ endpoint }) => endpoint.route)));
    for (const { endpoint } of marked) {
      const { agents, effect, permission, credentials } = endpoint.access;
      const isReading = agents === "read" || agents === "read:pii";
      expect([endpoint.route, effect, credentials]).toEqual([
        endpoint.route,
        isReading ? "read" : "write",
        ["dashboard"],
      ]);
      expect([endpoint.route, permission]).toEqual([endpoint.route, permissionOfScope[agents!]]);
    }
    for (const { name } of toolSpecs) expect(name).toMatch(/^[a-z_]{1,64}$/);
    expect(new Set(toolSpecs.map(({ name }) => name)).size).toBe(toolSpecs.length);
  });

  it("a key lists and calls those of its scopes alone (AGT-1, AGT-2)", async () => {
    const read = await mcp.key("read");
    const listed = (await mcp.rpc(read, "tools/list")).body.result.tools.map(({ name }: { name: string }) => name);
    expect(listed).toEqual(toolSpecs.filter(({ scope }) => scope === "read").map(({ name }) => name));
    for (const [name, scope] of [
      ["subscribers_list", "read:pii"],
      ["templates_create", "write:drafts"],
      ["plan_send", "write:send"],
      ["confirm_send", "write:send"],
    ] as const) {
      const refused = await mcp.tool(read, name, {});
      expect([refused.isError, refused.value]).toEqual([
        true,
        { code: "FORBIDDEN", message: expect.stringContaining(scope) },
      ]);
    }
    const draft = { name: "welcome", content: { title: "Hello", body: "Welcome." } };
    const made = await mcp.tool(await mcp.key("write:drafts"), "templates_create", draft);
    expect((await mcp.tool(read, "templates_get", { id: made.value.id })).value).toMatchObject(draft);
    const foreign = createMcp(world, await world.tenant());
    const missing = await foreign.tool(await foreign.key("read"), "templates_get", { id: made.value.id });
    expect([missing.isError, missing.value.code]).toEqual([true, "NOT_FOUND"]);
  });

  it("arguments are checked by the endpoint's own schemas, and an agent is told what is wrong (AGT-2)", async () => {
    const key = await mcp.key("read", "write:drafts");
    const faults = async (name: string, given: object) => (await mcp.tool(key, name, given)).value.fields;
    expect(await faults("templates_create", { name: 1 })).toMatchObject({ name: expect.any(String) });
    expect(await faults("templates_get", {})).toEqual({ id: "is required" });
    expect(await faults("billing_get", { more: 1 })).toEqual({ more: "is not a known field" });
    expect(await faults("lists_list", { page: { a: 1 } })).toEqual({ page: "must be a single value" });
    expect((await mcp.tool(key, "lists_list", { page_size: 1 })).value.page_size).toBe(1);
    const count = await mcp.tool(key, "segments_preview", { body: { event: { name: "bought" } } });
    expect(count.value).toMatchObject({ estimated_count: 0, exact: true });
    const unknown = await mcp.rpc(key, "tools/call", { name: "__proto__" });
    expect(unknown.body.error.code).toBe(-32602);
  });

  it("no personal data leaves with `read`, and all of it with `read:pii` (AGT-1, D-MCP)", async () => {
    const secrets = [
      "ada@secret.example",
      "+4915123456789",
      "Adalovelace",
      "ext-4711",
      "attribute-42",
      "code-9988",
      "198.51.100.9",
    ];
    const [id] = await addPeople(world, tenant, 1, () => ({
      external_id: "ext-4711",
      email: "ada@secret.example",
      attributes: { first_name: "Adalovelace", phone: "+4915123456789", secret: "attribute-42" },
      consent: { channel: "email", status: "opted_in", consented_at: "2026-11-01T00:00:00.000Z", ip: "198.51.100.9" },
    }));
    const message = {
      title: "Your code-9988",
      body: "Hi {{ subscriber.first_name }}",
      data: { to: "ada@secret.example" },
    };
    const filters = { subscriber_filters: { email: { $eq: "ada@secret.example" } } };
    const { job } = await send(world, tenant, { target: { type: "all" }, ...message, ...filters });
    const rule = { attribute: { email: { $eq: "ada@secret.example" }, first_name: { $eq: "Adalovelace" } } };
    const post = (route: string, body: object) => world.call(route, { as: owner, body });
    const segment = (await post("POST /api/v1/segments", { name: "x", rule })).body;
    await post("POST /api/v1/templates", { name: "x", content: { title: "x", body: "Ask ada@secret.example" } });
    await world.settle();
    const calls: [name: string, given: object][] = [
      ...toolSpecs
        .filter(({ scope, inputSchema }) => scope.startsWith("read") && !inputSchema.required)
        .filter(({ name }) => !name.startsWith("recipients_preview"))
        .map(({ name }): [string, object] => [name, {}]),
      ["subscribers_get", { id }],
      ["subscribers_list_consents", { id }],
      ["notifications_get", { id: job.id }],
      ["recipients_get_notifications_recipient", { id: job.id, subscriberId: id }],
      ["recipients_preview_notifications", { target: { type: "all" }, ...message }],
      ["plan_send", { target: { type: "all" }, ...message }],
      ["segments_get", { id: segment.id }],
    ];
    const shown = async (key: string) => {
      const results = [];
      for (const [name, given] of calls) {
        const { isError, value } = await mcp.tool(key, name, given);
        results.push(isError ? { name, error: value.fields ?? value.code } : { name, value });
      }
      return results;
    };
    const blind = await shown(await mcp.key("read", "write:send"));
    expect(blind.filter(({ error }) => error)).toEqual([{ name: "subscribers_list", error: "FORBIDDEN" }]);
    expect(secrets.filter((secret) => JSON.stringify(blind).includes(secret))).toEqual([]);
    expect(blind.find(({ name }) => name === "subscribers_get")?.value).toMatchObject({ id });
    const seeing = await shown(await mcp.key("read:pii", "write:send"));
    expect(seeing.filter(({ error }) => error)).toEqual([]);
    expect(secrets.filter((secret) => !JSON.stringify(seeing).includes(secret))).toEqual([]);
  });

  it("answers why a person got a send in one call, in words (AGT-2, F2)", async () => {
    const [id] = await addPeople(world, tenant, 1);
    await send(world, tenant, { subscriberIds: [id], title: "Hello" });
    const answer = await mcp.tool(await mcp.key("read:pii"), "recipients_get_why", { person: "p0", send: "Hello" });
    expect(answer.value).toMatchObject({ subscriber: { id, name: "p0" }, in_words: "Delivered by In-app." });
  });

  it("what users wrote reaches an agent as data, without characters that a reader does not see (AGT-2)", async () => {
    const hidden = `Sale\u{e0041}\u{e0042}\u200b\u202e`;
    await world.call("POST /api/v1/templates", {
      as: owner,
      body: { name: `x${hidden}`, content: { title: "t", body: "b" } },
    });
    const answer = await mcp.rpc(await mcp.key("read"), "tools/call", { name: "templates_list" });
    const { content, structuredContent } = answer.body.result;
    expect(structuredContent.data[0].name).toBe("xSale");
    expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  });

  it("a closed workspace and a revoked feature close the tools as they close the API (AGT-1)", async () => {
    const small = await world.tenant({ plan: "free" });
    const agent = createMcp(world, small);
    const refused = await agent.tool(await agent.key("read"), "experiences_list", {});
    expect([refused.isError, refused.value.error]).toEqual([true, "in_app_not_permitted"]);
    await world.advance(MINUTE);
  });
});
