// What ends a credential, and what does not: each kind of them beside each event (SECURITY.md).
import { expect, it } from "vitest";
import { accountsIn, EMAIL, inviting, NEW, PASSWORD } from "../support/accounts.ts";
import { bearer, bearerOf } from "../support/credentials.ts";
import type { Answer, Headers } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const own = worlds();

/** A workspace with each kind of credential, and a second owner who does what ends them. */
async function setting() {
  const { world, tenant, owner: second, invite, accept } = await inviting(own);
  const { post, login } = accountsIn(() => world);
  const call = (route: string, as: Headers, body?: object) => world.call(route, { as, ...(body && { body }) });

  const session = await accept((await invite(EMAIL, "owner")).body.token);
  const as = bearerOf(session);
  const switched = await post("switch", { tenant_id: tenant.id }, as);
  const readOnly = await post("tokens/read-only", {}, as);
  const server = (await call("POST /api/v1/server-keys", as, { name: "backend" })).body;
  const agent = (await call("POST /api/v1/agent-keys", as, { name: "agent", scopes: ["read"] })).body;
  const { sdk_key } = (await call("GET /api/v1/sdk-key", as)).body;
  const invitation = (await invite("joan@navy.example", "viewer", as)).body.token;

  const statusOf = async (answer: Promise<Answer>) => (await answer).status;
  const lists = (headers: Headers) => () => statusOf(call("GET /api/v1/lists", headers));
  const credentials: Record<string, () => Promise<number>> = {
    session: lists(as),
    write: () => statusOf(call("POST /api/v1/lists", as, { name: world.ids.uuid() })),
    switched: lists(bearerOf(switched)),
    "read-only": lists(bearerOf(readOnly)),
    refresh: () => statusOf(post("refresh", { refresh_token: switched.body.refresh_token })),
    "server key": () => statusOf(call("GET /v1/whoami", bearer(server.key))),
    "agent key": () =>
      statusOf(call("POST /v1/mcp", bearer(agent.key), { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} })),
    "publishable key": () =>
      statusOf(call("POST /api/v1/subscribers/upsert", { "x-sdk-key": sdk_key }, { external_id: "ada" })),
    invitation: () => statusOf(accept(invitation)),
  };
  const member = `/api/v1/team/members/${session.body.user.id}`;
  const operate = (change: object) => world.host.invoke("operator", { tenant_id: tenant.id, ...change });
  const events = {
    nothing: async () => undefined,
    "the workspace is suspended": () => operate({ status: "suspended" }),
    "the workspace is deleted": () => operate({ status: "deleted" }),
    "the member is removed": () => call(`DELETE ${member}`, second),
    "the member becomes a viewer": () => call(`PATCH ${member}`, second, { role: "viewer" }),
    "the password is changed elsewhere": async () =>
      post("password/change", { current_password: PASSWORD, password: NEW }, bearerOf(await login())),
    "the member logs out": () => post("logout", { refresh_token: session.body.refresh_token }),
    "the keys are revoked": async () => {
      await call(`DELETE /api/v1/server-keys/${server.id}`, as);
      await call(`DELETE /api/v1/agent-keys/${agent.id}`, as);
    },
  };
  return { credentials, events };
}

type Event = keyof Awaited<ReturnType<typeof setting>>["events"];

const OPEN = {
  session: 200,
  write: 201,
  switched: 200,
  "read-only": 200,
  refresh: 200,
  "server key": 200,
  "agent key": 200,
  "publishable key": 200,
  invitation: 201,
};
const SESSIONS_END = { session: 401, write: 401, switched: 401, "read-only": 401, refresh: 401 };
const CLOSED = Object.fromEntries(Object.keys(OPEN).map((name) => [name, 403]));

it.each<[Event, Record<string, number>]>([
  ["nothing", {}],
  ["the workspace is suspended", { ...CLOSED, refresh: 200, invitation: 201 }],
  ["the workspace is deleted", CLOSED],
  ["the member is removed", { ...SESSIONS_END, invitation: 404 }],
  ["the member becomes a viewer", { write: 403, invitation: 404 }],
  ["the password is changed elsewhere", SESSIONS_END],
  ["the member logs out", SESSIONS_END],
  ["the keys are revoked", { "server key": 401, "agent key": 401 }],
])(
  "when %s, each credential ends or goes on at once as it should (ATH-2, ATH-3, D-TEAM, ERR-6, ERR-7)",
  async (event, ended) => {
    const { credentials, events } = await setting();
    await events[event]();

    const seen: Record<string, number> = {};
    for (const [name, use] of Object.entries(credentials)) seen[name] = await use();

    expect(seen).toEqual({ ...OPEN, ...ended });
  },
);
