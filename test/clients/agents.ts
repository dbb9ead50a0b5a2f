// The agents' endpoint, by the two official clients of the Model Context Protocol (docs/guides/agents.md).
import assert from "node:assert/strict";
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as Transport1Type } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { ServiceProcess } from "../support/service-process.ts";
import { asServer, type Claim, call, newWorkspace } from "./claims.ts";

const MAX_LIST_BYTES = 40 * 1024;
const INVALID_PARAMS = -32602;
const WHO = { name: "checks", version: "1.0.0" };

type AnyClient = Client1 | Client2;

/** @returns a client that has connected, and the revision that it speaks */
type Connect = (
  url: URL,
  headers: Record<string, string>,
) => Promise<{ client: AnyClient; revision: string | undefined }>;

const byFirst: Connect = async (url, headers) => {
  const client = new Client1(WHO);
  const transport = new Transport1(url, { requestInit: { headers } });
  // Its own types disagree under exactOptionalPropertyTypes.
  await client.connect(transport as Transport1Type);
  return { client, revision: transport.protocolVersion };
};

const bySecond =
  (versionNegotiation: NonNullable<ConstructorParameters<typeof Client2>[1]>["versionNegotiation"]): Connect =>
  async (url, headers) => {
    const client = new Client2(WHO, versionNegotiation && { versionNegotiation });
    await client.connect(new Transport2(url, { requestInit: { headers } }));
    return { client, revision: client.getNegotiatedProtocolVersion() };
  };

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  minItems?: number;
  items?: Schema;
}

/** Something of the form that a schema asks for; a tool may still refuse what it says. */
function someOf(schema: Schema): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return someOf(schema.anyOf[0]!);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object")
    return Object.fromEntries((schema.required ?? []).map((name) => [name, someOf(schema.properties?.[name] ?? {})]));
  if (type === "array") return schema.items ? [someOf(schema.items)] : [];
  if (type === "number" || type === "integer") return 1;
  if (type === "boolean") return false;
  return schema.format === "date-time" ? "2026-11-20T12:00:00Z" : "00000000-0000-4000-8000-000000000000";
}

/** A tool answers with a result, or with an error of the API that is the caller's own. @returns whether it did its work */
async function callTool(client: AnyClient, name: string, given: Record<string, unknown>): Promise<boolean> {
  const result = (await client.callTool({ name, arguments: given })) as {
    isError?: boolean;
    content: { type: string; text: string }[];
  };
  const answer = JSON.parse(result.content[0]!.text);
  if (!result.isError) return true;
  const codes = ["VALIDATION_ERROR", "NOT_FOUND", "BAD_REQUEST", "CONFLICT", "FORBIDDEN"];
  assert.ok(codes.includes(answer.code), `${name} answered ${JSON.stringify(answer)}`);
  return false;
}

/** What the schema leaves to words: a send has content and somebody to go to. */
const send = { target: { type: "all" }, title: "Hello", body: "World" };
const sends: Record<string, Record<string, unknown>> = {
  plan_send: send,
  recipients_preview_notifications: send,
};

async function proveTools(client: AnyClient): Promise<void> {
  const list = await client.listTools();
  assert.ok(Buffer.byteLength(JSON.stringify(list)) <= MAX_LIST_BYTES);
  assert.ok(list.tools.some(({ name }) => name === "confirm_send"));
  for (const { name, inputSchema, annotations } of list.tools) {
    const schema = inputSchema as Schema;
    const isDone = await callTool(client, name, sends[name] ?? (someOf(schema) as Record<string, unknown>));
    const needsNothing = annotations?.readOnlyHint === true && (schema.required ?? []).length === 0;
    if (needsNothing) assert.ok(isDone, `${name} needs nothing, and was refused.`);
  }
}

async function provePrompts(client: AnyClient): Promise<void> {
  const { prompts } = await client.listPrompts();
  assert.equal(prompts.length, 5);
  for (const prompt of prompts) {
    const given = Object.fromEntries((prompt.arguments ?? []).map(({ name }) => [name, `my ${name}`]));
    const { messages } = await client.getPrompt({ name: prompt.name, arguments: given });
    const { content } = messages[0] as { content: { text: string } };
    for (const value of Object.values(given)) assert.ok(content.text.includes(value));
  }
}

async function proveResources(client: AnyClient): Promise<void> {
  const { resources } = await client.listResources();
  assert.ok(resources.length > 0);
  for (const { uri } of resources) {
    const { contents } = await client.readResource({ uri });
    assert.equal(typeof JSON.parse((contents[0] as { text: string }).text), "object");
  }
}

async function proveCursors(client: AnyClient): Promise<void> {
  const params = { cursor: "nobody gave this out" };
  for (const list of [
    () => client.listTools(params),
    () => client.listPrompts(params),
    () => client.listResources(params),
    () => client.listResourceTemplates(params),
  ])
    await assert.rejects(list, ({ code }: { code: number }) => code === INVALID_PARAMS);
}

const speaks = (revision: string, tool: string, connect: Connect): Claim => ({
  says: `Revision ${revision}: connects, lists at most 40 KB of tools that all answer, prompts, resources, no unknown cursor`,
  tool,
  prove: async (service) => {
    const workspace = await newWorkspace(service);
    await call(service, "POST /v1/subscribers/upsert", { headers: asServer(workspace), body: { external_id: "ada" } });
    const headers = { authorization: `Bearer ${workspace.agent_key}` };
    const { client, revision: spoken } = await connect(new URL(`${service.url}/v1/mcp`), headers);
    try {
      assert.equal(spoken, revision);
      assert.equal(client.getServerVersion()?.name, "engagement-messaging");
      await proveTools(client);
      await provePrompts(client);
      await proveResources(client);
      await proveCursors(client);
    } finally {
      await client.close();
    }
  },
});

const refuses = (tool: string, connect: Connect): Claim => ({
  says: "Without a key: 401 with WWW-Authenticate, and the client says so",
  tool,
  prove: async (service: ServiceProcess) => {
    const url = new URL(`${service.url}/v1/mcp`);
    await assert.rejects(connect(url, {}), /401|Unauthorized|UNAUTHORIZED/);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const answer = await fetch(url, { method: "POST", headers, body });
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer/);
  },
});

export const claims: readonly Claim[] = [
  speaks("2025-11-25", "@modelcontextprotocol/sdk", byFirst),
  speaks("2025-11-25", "@modelcontextprotocol/client", bySecond(undefined)),
  speaks("2026-07-28", "@modelcontextprotocol/client", bySecond({ mode: "auto" })),
  speaks("2026-07-28", "@modelcontextprotocol/client", bySecond({ mode: { pin: "2026-07-28" } })),
  refuses("@modelcontextprotocol/sdk", byFirst),
  refuses("@modelcontextprotocol/client", bySecond({ mode: { pin: "2026-07-28" } })),
];
