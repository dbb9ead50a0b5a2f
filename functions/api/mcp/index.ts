// The surface of agents: one endpoint of the Model Context Protocol, whose tools are endpoints of the other groups.
import * as v from "valibot";
import { said, TextUpTo } from "../../../shared/contract/schemas.ts";
import { type Call, endpoints, group, replyWith } from "../../../shared/http/endpoint.ts";
import { limitRequests } from "../../../shared/http/gates.ts";
import { requestTokens } from "../../../shared/http/request-tokens.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { ApiError, toApiError } from "../../../shared/kernel/errors.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import { isJsonObject } from "../../../shared/kernel/objects.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { platformWrite, storeWrite } from "../../../shared/store/context.ts";
import {
  errorOf,
  INSTRUCTIONS,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isStateless,
  METHOD_NOT_FOUND,
  negotiated,
  PARSE_ERROR,
  RpcError,
  type RpcMessage,
  resultOf,
  SERVER_INFO,
  VERSIONS,
  versionOf,
} from "./protocol.ts";
import { getPrompt, listedPrompts, listedResources, readResource } from "./resources.ts";
import { CREATE, confirmSend, planSend, type SendContext } from "./sends.ts";
import { refusePersonalConditions, withoutSmallGroups } from "./small-groups.ts";
import { toolSpecs } from "./tools.gen.ts";
import {
  type Agent,
  type Arguments,
  agentTools,
  holdsScope,
  requireAgentScope,
  shownTo,
  type ToolSpec,
} from "./tools.ts";

const MAX_BYTES = 262_144;
const MAX_BATCH = 10;
/** How long a client may keep the list of tools. */
const LIST_TTL_MS = 300_000;
const CAPABILITIES = { tools: {}, resources: {}, prompts: {} };

const Message = v.looseObject({
  jsonrpc: said("The version of JSON-RPC", v.literal("2.0", 'must be "2.0"')),
  id: said(
    "Names a request. Absent: a notification, which is not answered",
    v.optional(v.union([TextUpTo(256), v.pipe(v.number(), v.safeInteger())], "must be a string or a number")),
  ),
  method: said(
    "`initialize`, `server/discover`, `ping`, `tools/list`, `tools/call`, `resources/list`, `resources/read`, `prompts/list` or `prompts/get`",
    v.optional(TextUpTo(128)),
  ),
  params: said("Of the method. `tools/call`: `name` and `arguments`", v.optional(v.looseObject({}))),
});

const Answer = v.looseObject({
  jsonrpc: said("The version of JSON-RPC", v.literal("2.0")),
  id: said(
    "That of the request; `null` where the request could not be read",
    v.optional(v.nullable(v.union([v.string(), v.number()]))),
  ),
  result: v.optional(said("The result of the method", v.looseObject({}))),
  error: said(
    "Instead of a result, where the protocol was not kept",
    v.optional(
      v.object({
        code: said("Of JSON-RPC or of the Model Context Protocol", v.number()),
        message: said("What is wrong, for people", v.string()),
        data: said("More about it: the supported revisions", v.optional(v.any())),
      }),
    ),
  ),
});

const uses = [storeWrite, agentTools, platformWrite, requestTokens, secrets] as const;
type McpCall = Call & Context<typeof uses>;

// The trail records the tools that write, each by itself.
const endpoint = endpoints({ credentials: ["agent"], unaudited: ["agent"], uses: [] });

export const mcp = group("mcp", "The tools of agents: the Model Context Protocol over streamable HTTP.", [
  endpoint(
    "POST /v1/mcp",
    { uses },
    {
      summary: "Speak the Model Context Protocol (JSON-RPC) with an agent key",
      description:
        `Streamable HTTP with JSON answers and without sessions, in the revisions ${VERSIONS.join(", ")}. Tools are the ` +
        "endpoints that are marked for agents; `tools/list` names those of the key's scopes, and `resources/read` has the grammars of their long arguments. Results hold no personal " +
        "data unless the key has `read:pii`. `plan_send` returns a preview and a token, which `confirm_send` takes " +
        "within 10 minutes, once, if the content has not changed: it goes to the people who were planned, and to nobody who joined since. A notification is answered by " +
        "202 without a body. Each message counts against the workspace's limit of requests per minute.",
      body: v.union(
        [
          Message,
          v.pipe(
            v.array(Message),
            v.minLength(1, "must have a message"),
            v.maxLength(MAX_BATCH, `must have at most ${MAX_BATCH} messages`),
          ),
        ],
        'must be a message of JSON-RPC: `jsonrpc` is "2.0", `id` a string or a number, `method` a string, `params` an object',
      ),
      batches: true,
      refusal: 400,
      // A body that is not a JSON-RPC message is refused in the protocol's own form.
      refusalBody: ({ code, message, details }) => {
        if (code !== "BAD_REQUEST") return undefined;
        return errorOf(null, new RpcError(details.fields ? INVALID_REQUEST : PARSE_ERROR, message));
      },
      maxBytes: { agent: MAX_BYTES },
      returns: v.union([Answer, v.array(Answer)]),
      replies: {
        202: { description: "A notification was taken" },
        400: { description: "The protocol's own error", returns: Answer },
        404: { description: "The method is not known", returns: Answer },
      },
      errors: ["FORBIDDEN"],
      example: {
        body: { jsonrpc: "2.0", id: 1, method: "ping" },
        returns: { jsonrpc: "2.0", id: 1, result: {} },
      },
    },
    async (call) => {
      // A page in a browser has no use for this endpoint, and could reach a service of the local network (DNS
      // rebinding).
      if (call.headers.origin !== undefined)
        throw new ApiError("FORBIDDEN", "Pages of browsers may not call this endpoint.");
      const { body } = call;
      if (!Array.isArray(body)) return answered(await answerOf(call, body));
      // All calls are counted before the first one runs, so that a refusal has no effects.
      for (const _ of body.slice(1)) await limitRequests(call.caller, call.platform, call.requestTokens);
      const answers: (Reply | undefined)[] = [];
      for (const message of body) answers.push(await answerOf(call, message, { isBatched: true }));
      const sent = answers.flatMap((answer) => (answer ? [answer.body] : []));
      return sent.length === 0 ? replyWith(202) : sent;
    },
  ),
]);

interface Reply {
  status: number;
  body: ReturnType<typeof resultOf> | ReturnType<typeof errorOf>;
}

const answered = (reply: Reply | undefined) => (reply ? replyWith(reply.status, reply.body) : replyWith(202));

/** The answer to one message; undefined for one that has none. */
async function answerOf(call: McpCall, message: RpcMessage, { isBatched = false } = {}): Promise<Reply | undefined> {
  const { id, method } = message;
  if (id === undefined || method === undefined) {
    if (id === undefined && method === undefined)
      return { status: 400, body: errorOf(id, new RpcError(INVALID_REQUEST, "A message has a method or an id.")) };
    return undefined;
  }
  try {
    const version = versionOf(message, call.headers);
    if (isBatched && version !== "2025-03-26")
      throw new RpcError(INVALID_REQUEST, "This revision has no batches.", { status: 400 });
    const stateless = isStateless(version);
    const result = await resultFor(call, message, stateless);
    const identity = { resultType: "complete", _meta: { "io.modelcontextprotocol/serverInfo": SERVER_INFO } };
    return { status: 200, body: resultOf(id, { ...result, ...(stateless && identity) }) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { status: error.status, body: errorOf(id, error) };
  }
}

async function resultFor(call: McpCall, { method, params = {} }: RpcMessage, stateless: boolean): Promise<object> {
  const cached = { ttlMs: LIST_TTL_MS, cacheScope: "private" };
  const agent = agentOf(call);
  switch (method) {
    case "initialize":
      if (stateless) break;
      return {
        protocolVersion: negotiated(params.protocolVersion),
        capabilities: CAPABILITIES,
        serverInfo: SERVER_INFO,
        instructions: INSTRUCTIONS,
      };
    case "ping":
      if (stateless) break;
      return {};
    case "server/discover":
      return { supportedVersions: VERSIONS, capabilities: CAPABILITIES, instructions: INSTRUCTIONS, ...cached };
    case "resources/list":
      refuseCursor(params);
      return { ...listedResources(), ...(stateless && cached) };
    case "resources/templates/list":
      refuseCursor(params);
      return { resourceTemplates: [], ...(stateless && cached) };
    case "resources/read":
      return { ...readResource(params), ...(stateless && cached) };
    case "prompts/list":
      refuseCursor(params);
      return { ...listedPrompts(), ...(stateless && cached) };
    case "prompts/get":
      return getPrompt(params);
    case "tools/list":
      refuseCursor(params);
      return {
        tools: toolSpecs
          .filter(({ scope }) => holdsScope(agent, scope))
          .map(({ scope: _, route: __, description, ...shown }) => ({ ...shown, ...(description && { description }) })),
        ...(stateless && cached),
      };
    case "tools/call":
      return callTool(call, agent, params);
  }
  throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`, { status: stateless ? 404 : 200 });
}

/** Every list is one page, so there are no valid cursors. */
function refuseCursor({ cursor }: Readonly<Record<string, unknown>>): void {
  if (cursor !== undefined) throw new RpcError(INVALID_PARAMS, "Unknown cursor");
}

function agentOf({ caller }: Call): Agent {
  if (caller.kind !== "agent") throw new Error("Only agent keys open this endpoint.");
  return caller;
}

/** Calls a tool. A refusal is a result as well, so that the agent can correct itself. */
async function callTool(call: McpCall, agent: Agent, { name, arguments: args = {} }: Arguments): Promise<object> {
  const spec = toolSpecs.find((toolSpec) => toolSpec.name === name);
  if (!spec) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${String(name)}`);
  if (!isJsonObject(args)) throw new RpcError(INVALID_PARAMS, "arguments must be an object");
  const { log, requestId } = call;
  const entry = { tool: spec.name, key: agent.key, tenant: agent.workspace.tenant, request_id: requestId };
  try {
    requireAgentScope(agent, spec.scope);
    const result = await runTool(call, agent, spec, args as Arguments);
    log({ level: "info", message: "tool called", ...entry });
    const structured = result ?? { ok: true };
    return { content: [{ type: "text", text: JSON.stringify(structured) }], structuredContent: structured };
  } catch (error) {
    const refusal = toApiError(error, requestId);
    const isOurs = refusal.status >= 500;
    log({
      level: isOurs ? "error" : "info",
      message: isOurs ? "tool failed" : "tool refused",
      ...entry,
      code: refusal.code,
      ...(isOurs && errorFields(error)),
    });
    return { content: [{ type: "text", text: JSON.stringify(refusal.body()) }], isError: true };
  }
}

async function runTool(call: McpCall, agent: Agent, { name, route }: ToolSpec, args: Arguments): Promise<unknown> {
  const { store, tools, secrets, sourceIp, requestId, clock, ids, log } = call;
  const around = { caller: agent, sourceIp, requestId, clock, ids, log };
  const run: SendContext["run"] = (toolName, input, headers = {}) => tools.run(toolName, input, { ...around, headers });
  refusePersonalConditions(agent, args);
  const result = await (route === CREATE
    ? (name === "plan_send" ? planSend : confirmSend)({ agent, store, secrets, run }, args)
    : run(route, args).then((found) => shownTo(agent, route, found)));
  return withoutSmallGroups({ agent, store, run, route, args }, result);
}
