// Calls of the API as the owner of the demo workspace, its servers or its apps make them, without a socket.
import type { Demo } from "./demo.ts";
import type { LocalService } from "./local-service.ts";
import type { Tenancy } from "./tenancy.ts";

interface Callers {
  service: LocalService;
  tenancy: Tenancy;
  demo: Demo;
}

type Body = Record<string, unknown>;

export function clientOf({ service, tenancy, demo }: Callers) {
  const call = async (route: string, body: object | undefined, headers: Record<string, string>): Promise<Body> => {
    const [method = "", path = ""] = route.split(" ");
    const answer = await service.gateway.handle({
      method,
      path,
      headers: { ...headers, ...(body && { "content-type": "application/json" }) },
      body: Buffer.from(body ? JSON.stringify(body) : ""),
      sourceIp: "127.0.0.1",
    });
    const text = answer.body.toString();
    if (answer.status >= 400) throw new Error(`The demo's ${route} was answered ${answer.status}: ${text}`);
    return text ? (JSON.parse(text) as Body) : {};
  };
  return {
    owner: async (route: string, body?: object) =>
      call(route, body, {
        authorization: `Bearer ${await tenancy.issueToken({ tenant_id: demo.tenant_id, role: "owner" })}`,
      }),
    app: (route: string, body: object) => call(route, body, { "x-sdk-key": demo.sdk_key }),
    server: (route: string, body: object) => call(route, body, { authorization: `Bearer ${demo.server_key}` }),
  };
}

export type Client = ReturnType<typeof clientOf>;
