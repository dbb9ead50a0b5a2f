// The tools of agents: derived from endpoints, with what they never show.
import { describe, expect, it } from "vitest";
import { contents, operationsOf } from "../../docs/generate/contents.ts";
import { toolSpecs } from "../../functions/api/mcp/tools.gen.ts";
import { permissionOfScope } from "../../shared/contract/roles.ts";
import { createMcp } from "../support/mcp.ts";
import { addPeople, send } from "../support/people.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const agentIn = async (found: Awaited<ReturnType<typeof withTenant>>) => ({
  ...found,
  ...createMcp(found.world, found.tenant),
});
const setting = async (options = {}) => agentIn(await withTenant(options));
const unchanged = shared(async (own) => agentIn(await own.withTenant()));

const marked = operationsOf(contents).filter(({ endpoint }) => endpoint.access.agents);
const draft = { name: "welcome", content: { title: "Hello", body: "Welcome." } };

describe("the list of tools", () => {
  it("the tools are the endpoints that are marked for agents, and no others (AGT-2)", () => {
    const routes = new Set(toolSpecs.map(({ route }) => route));

    expect([...routes].sort()).toEqual(marked.map(({ endpoint }) => endpoint.route).sort());
  });

  it.each(marked.map(({ endpoint }) => endpoint))(
    "the scope of the tool $route is that of its effect and its permission (AGT-2)",
    ({ access: { agents, effect, permission, credentials } }) => {
      expect(effect).toBe(agents === "read" || agents === "read:pii" ? "read" : "write");
      expect(permission).toBe(permissionOfScope[agents!]);
      expect(credentials).toEqual(["dashboard"]);
    },
  );

  it("every tool has a name of its own that clients accept (AGT-2)", () => {
    const names = toolSpecs.map(({ name }) => name);

    expect(names.filter((name) => !/^[a-z_]{1,64}$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  it("a key lists the tools of its scopes alone (AGT-1, AGT-2)", async () => {
    const { key, rpc } = await unchanged();

    const { tools } = (await rpc(await key("read"), "tools/list")).body.result;

    const readable = toolSpecs.filter(({ scope }) => scope === "read");

    expect(tools.map(({ name }: { name: string }) => name)).toEqual(readable.map(({ name }) => name));
  });
});

describe("calls of tools", () => {
  it.each([
    ["subscribers_list", "read:pii"],
    ["templates_create", "write:drafts"],
    ["plan_send", "write:send"],
    ["confirm_send", "write:send"],
  ])("a key that only reads is refused %s, and told of the scope %s (AGT-1, AGT-2)", async (name, scope) => {
    const { key, tool } = await unchanged();

    expect(await tool(await key("read"), name, {})).toEqual({
      isError: true,
      value: { code: "FORBIDDEN", message: expect.stringContaining(scope) },
    });
  });

  it("what a key for drafts makes, a key that reads gets (AGT-1)", async () => {
    const { key, tool } = await setting();

    const made = await tool(await key("write:drafts"), "templates_create", draft);

    expect((await tool(await key("read"), "templates_get", { id: made.value.id })).value).toMatchObject(draft);
  });

  it("what belongs to another workspace is not found by a tool (AGT-1)", async () => {
    const { world, tenant } = await setting();
    const foreign = createMcp(world, await world.tenant());
    const { id } = (await tenant.call("POST /api/v1/templates", draft)).body;

    expect(await foreign.tool(await foreign.key("read"), "templates_get", { id })).toMatchObject({
      isError: true,
      value: { code: "NOT_FOUND" },
    });
  });

  it.each<[what: string, name: string, given: object, fields: object]>([
    ["of the wrong type", "templates_create", { ...draft, name: 1 }, { name: expect.any(String) }],
    ["that is missing", "templates_get", {}, { id: "is required" }],
    ["that the endpoint does not know", "billing_get", { more: 1 }, { more: "is not a known field" }],
    ["that is not a single value", "lists_list", { page: { a: 1 } }, { page: "must be a single value" }],
  ])("an agent is told of an argument %s by the endpoint's own schema (AGT-2)", async (_, name, given, fields) => {
    const { key, tool } = await unchanged();

    expect((await tool(await key("read", "write:drafts"), name, given)).value.fields).toEqual(fields);
  });

  it("an argument of a query may be a number (AGT-2)", async () => {
    const { key, tool } = await unchanged();

    expect((await tool(await key("read"), "lists_list", { page_size: 1 })).value.page_size).toBe(1);
  });

  it("an argument named body is the body of an endpoint that takes no object (AGT-2)", async () => {
    const { key, tool } = await unchanged();

    const count = await tool(await key("read"), "segments_preview", { body: { event: { name: "bought" } } });

    expect(count.value).toMatchObject({ estimated_count: "fewer than 20", exact: true });
  });

  it("a tool that there is not is an error of the protocol (AGT-2)", async () => {
    const { key, rpc } = await unchanged();

    expect((await rpc(await key("read"), "tools/call", { name: "__proto__" })).body.error.code).toBe(-32602);
  });

  it("a feature that the plan does not have is closed to tools as to the API (AGT-1)", async () => {
    const { key, tool } = await setting({ plan: "free" });

    expect(await tool(await key("read"), "experiences_list", {})).toMatchObject({
      isError: true,
      value: { error: "in_app_not_permitted" },
    });
  });
});

describe("personal data", () => {
  const secrets = [
    "ada@secret.example",
    "+4915123456789",
    "Adalovelace",
    "ext-4711",
    "attribute-42",
    "code-9988",
    "198.51.100.9",
  ];

  /** A person whose data is in a profile, a message, a filter, a rule and a template, and calls of all tools that read. */
  const known = shared(async (own) => {
    const found = await agentIn(await own.withTenant());
    const { world, tenant, tool } = found;
    const [id] = await addPeople(world, tenant, 1, () => ({
      external_id: "ext-4711",
      email: "ada@secret.example",
      attributes: { first_name: "Adalovelace", phone: "+4915123456789", secret: "attribute-42" },
      consent: { channel: "email", status: "opted_in", consented_at: "2026-11-01T00:00:00.000Z", ip: "198.51.100.9" },
    }));
    const message = {
      target: { type: "all" },
      title: "Your code-9988",
      body: "Hi {{ subscriber.first_name }}",
      data: { to: "ada@secret.example" },
    };
    const subscriber_filters = { email: { $eq: "ada@secret.example" } };
    const { job } = await send(world, tenant, { ...message, subscriber_filters });
    const rule = { attribute: { email: { $eq: "ada@secret.example" }, first_name: { $eq: "Adalovelace" } } };
    const segment = (await tenant.call("POST /api/v1/segments", { name: "x", rule })).body;
    await tenant.call("POST /api/v1/templates", { name: "x", content: { title: "x", body: "Ask ada@secret.example" } });
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
      ["recipients_preview_notifications", message],
      ["plan_send", message],
      ["segments_get", { id: segment.id }],
    ];
    const callAll = async (...scopes: string[]) => {
      const key = await found.key(...scopes);
      const results = [];
      for (const [name, given] of calls) results.push({ name, ...(await tool(key, name, given)) });
      return { text: JSON.stringify(results), refused: results.filter(({ isError }) => isError) };
    };
    return { callAll };
  });

  it("no personal data leaves with the scope read (AGT-1, D-MCP)", async () => {
    const { callAll } = await known();

    const { text, refused } = await callAll("read", "write:send");

    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(refused.map(({ name, value }) => [name, value.code])).toEqual([
      ["subscribers_list", "FORBIDDEN"],
      ["subscribers_get", "FORBIDDEN"],
      ["subscribers_list_consents", "FORBIDDEN"],
      ["recipients_get_notifications_recipient", "FORBIDDEN"],
    ]);
  });

  it("all personal data is read with the scope read:pii (AGT-1, D-MCP)", async () => {
    const { callAll } = await known();

    const { text, refused } = await callAll("read:pii", "write:send");

    expect(secrets.filter((secret) => !text.includes(secret))).toEqual([]);
    expect(refused).toEqual([]);
  });
});

it("a tool says in one call and in words why a person got a send (AGT-2, F2)", async () => {
  const { world, tenant, key, tool } = await setting();
  const [id] = await addPeople(world, tenant, 1);
  await send(world, tenant, { subscriberIds: [id], title: "Hello" });

  const answer = await tool(await key("read:pii"), "recipients_get_why", { person: "p0", send: "Hello" });

  expect(answer.value).toMatchObject({ subscriber: { id, name: "p0" }, in_words: "Delivered by In-app." });
});

it("what users wrote reaches an agent as data, without characters that a reader does not see (AGT-2)", async () => {
  const { tenant, key, rpc } = await setting();
  const hidden = "Sale\u{e0041}\u{e0042}\u200b\u202e";
  await tenant.call("POST /api/v1/templates", { name: `x${hidden}`, content: { title: "t", body: "b" } });

  const { content, structuredContent } = (await rpc(await key("read"), "tools/call", { name: "templates_list" })).body
    .result;

  expect(structuredContent.data[0].name).toBe("xSale");
  expect(JSON.parse(content[0].text)).toEqual(structuredContent);
});
