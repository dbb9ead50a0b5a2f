// Calls of the API as the owner of the demo workspace, its servers or its apps make them, without a socket.
import { MINUTE } from "../shared/kernel/clock.ts";
import type { Demo } from "./demo.ts";
import type { LocalService } from "./local-service.ts";
import type { Tenancy } from "./tenancy.ts";

interface Callers {
  service: LocalService;
  tenancy: Tenancy;
  demo: Demo;
}

type Body = Record<string, unknown>;

/** A token is reused for this time, well within its life, because signing takes a millisecond. */
const TOKEN_MS = 5 * MINUTE;

export function clientOf({ service, tenancy, demo }: Callers) {
  const send = async (route: string, body: Buffer, headers: Record<string, string>): Promise<Body> => {
    const [method = "", path = ""] = route.split(" ");
    const answer = await service.gateway.handle({ method, path, headers, body, sourceIp: "127.0.0.1" });
    const text = answer.body.toString();
    if (answer.status >= 400) throw new Error(`The demo's ${route} was answered ${answer.status}: ${text}`);
    return text ? (JSON.parse(text) as Body) : {};
  };
  const call = (route: string, body: object | undefined, headers: Record<string, string>): Promise<Body> =>
    send(route, Buffer.from(body ? JSON.stringify(body) : ""), {
      ...headers,
      ...(body && { "content-type": "application/json" }),
    });
  let owner = { authorization: "", until: 0 };
  const asOwner = async () => {
    const now = service.clock.now();
    if (now >= owner.until) {
      const token = await tenancy.issueToken({ tenant_id: demo.tenant_id, role: "owner" });
      owner = { authorization: `Bearer ${token}`, until: now + TOKEN_MS };
    }
    return { authorization: owner.authorization };
  };
  return {
    owner: async (route: string, body?: object) => call(route, body, await asOwner()),
    upload: async (route: string, form: FormData) => {
      const encoded = new Response(form);
      const type = { "content-type": encoded.headers.get("content-type") ?? "" };
      return send(route, Buffer.from(await encoded.arrayBuffer()), { ...(await asOwner()), ...type });
    },
    app: (route: string, body: object) => call(route, body, { "x-sdk-key": demo.sdk_key }),
    server: (route: string, body: object) => call(route, body, { authorization: `Bearer ${demo.server_key}` }),
  };
}

export type Client = ReturnType<typeof clientOf>;
