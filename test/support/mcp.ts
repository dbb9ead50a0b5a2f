// A client of the agents' endpoint for tests: keys, messages and calls of tools.
import type { Answer, Headers, Tenant, TestWorld } from "./world.ts";

const VERSION = "2026-07-28";

export function createMcp(world: TestWorld, tenant: Tenant) {
  const post = (key: string, body: unknown, headers: Headers = {}): Promise<Answer> =>
    world.call("POST /v1/mcp", { as: { authorization: `Bearer ${key}` }, body, headers });
  const rpc = (key: string, method: string, params: object = {}, headers: Headers = {}) =>
    post(key, { jsonrpc: "2.0", id: 1, method, params }, headers);
  return {
    post,
    rpc,
    /** A new key of these scopes. */
    key: async (...scopes: string[]): Promise<string> => {
      return (await tenant.call("POST /api/v1/agent-keys", { name: "test", scopes })).body.key;
    },
    /** A request of the revision without a handshake. */
    stateless: (key: string, method: string, params: { name?: string }, headers: Headers) => {
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const { name } = params;
      const named = { "mcp-protocol-version": VERSION, "mcp-method": method, ...(name && { "mcp-name": name }) };
      return rpc(key, method, { ...params, _meta }, { ...named, ...headers });
    },
    /** What a tool returned, or its refusal. */
    tool: async (key: string, name: string, given: object) => {
      const { status, body } = await rpc(key, "tools/call", { name, arguments: given });
      if (status !== 200 || body.error) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
      const { content, isError = false } = body.result;
      return { isError, value: JSON.parse(content[0].text) };
    },
  };
}
