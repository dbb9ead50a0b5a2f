// The channel type that test/planted-channel.test.ts adds: what each of its files gets, before which text; or a new file.
type Change = string | readonly (readonly [before: string, added: string])[];

const row = `  rcs: {
    label: "RCS",
    about: "By your own agent at an RCS provider.",
    letter: "r",
    class: "rcs",
    rank: 7,
    content: { kind: "text", about: "What an RCS message says" },
    plan: "pro",
    address: "phone",
    isPriced: true,
    credentials: {
      type: "rcs",
      path: "rcs",
      given: "json",
      fields: {
        agent_id: {
          kind: "match",
          form: /^[a-z0-9-]{1,64}$/,
          message: "must be the id of an agent",
          setting: "The agent of an RCS channel",
          label: "Agent ID",
          example: "shop-agent",
        },
        api_token: { kind: "token", max: 255, label: "API token", isSecret: true, example: "rcs-token-4711" },
      },
    },
  },
`;

const provider = `// RCS by a provider that takes JSON.
import type { CredentialsFor } from "../contract/credentials.ts";
import type { Egress } from "../egress/egress.ts";
import type { Clock } from "../kernel/clock.ts";
import { titledText } from "../rules/channel-texts.ts";
import {
  type Addresses,
  accepted,
  jsonOf,
  type Provider,
  refusedForNow,
  rejected,
  unanswered,
  unverifiable,
  unverified,
} from "./provider.ts";
import { referenceOf } from "./text-messages.ts";

type Rcs = CredentialsFor<"rcs">;

export function rcsProvider({ egress, clock }: { egress: Egress; clock: Clock }): Provider<Rcs, Addresses["rcs"]> {
  const request = ({ agent_id, api_token }: Rcs, method: "GET" | "POST", path: string, body?: object) =>
    egress.request({
      purpose: "rcs",
      method,
      url: \`https://rcs.example.com/v1/agents/\${agent_id}\${path}\`,
      headers: { authorization: \`Bearer \${api_token}\`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });

  return {
    send: async (credentials, message) => {
      const body = { to: message.address.phone, text: titledText(message), reference: referenceOf(message) };
      const exchange = await request(credentials, "POST", "/messages", body);
      if (exchange.kind !== "answered") return unanswered(exchange);
      const { status } = exchange;
      if (status === 200) return accepted(jsonOf(exchange.body).id);
      if (status === 429 || status === 503) return refusedForNow(exchange, String(status), clock.now());
      if (status >= 500) return { kind: "unknown", reason: String(status) };
      return rejected(String(status), { addressDead: status === 404 });
    },
    verify: async (credentials) => {
      const exchange = await request(credentials, "GET", "");
      if (exchange.kind !== "answered") return unverifiable(exchange);
      const { status } = exchange;
      return status === 200 ? { kind: "verified" } : unverified(\`The provider answered \${status}\`, { isTemporary: status >= 500 });
    },
  };
}
`;

const embedded = `    rcs:
      () =>
      ({ method, path, headers, body }) => {
        if (!headers.authorization?.startsWith("Bearer ")) return { status: 401, body: {} };
        const [words, fine] = ["", { status: 200, body: {} }];
        const refuse = () => ({ status: 401, body: {} });
        if (method === "GET") return acceptCredentials(observed, "rcs", { words, refuse, fine });
        const { to, text, reference = "" } = (readJson(body) ?? {}) as Record<string, string>;
        if (!path.endsWith("/messages") || !to || !text) return { status: 400, body: {} };
        const [job_id, subscriber_id] = reference.split(":");
        const statuses = { permanent: 400, invalid_token: 404, transient: 503, rate_limited: 429 } as const;
        return accept(
          observed,
          { channel: "rcs", to, subscriber_id, job_id, body: text, payload: { to, text, reference }, headers },
          (fault) => ({ status: statuses[fault], body: {} }),
          (id) => ({ status: 200, body: { id } }),
        );
      },
`;

export const plantedChannel: Readonly<Record<string, Change>> = {
  "shared/rules/channels.ts": [["} as const satisfies Record<string, ChannelFacts>;", row]],
  "shared/providers/rcs.ts": provider,
  "shared/providers/providers.ts": [
    ['import { openSes } from "./ses.ts";', 'import { rcsProvider } from "./rcs.ts";\n'],
    [
      "    chat_app: neverThrowing(chatAppProvider(client), log),\n",
      "    rcs: neverThrowing(rcsProvider(client), log),\n",
    ],
  ],
  "local/providers/network.ts": [
    [
      'import { HANGS, type Sink, type SinkDeps } from "./sink.ts";',
      'import { accept, acceptCredentials, readJson } from "./sink.ts";\n',
    ],
    ["    chat_app: () =>", embedded],
  ],
};
