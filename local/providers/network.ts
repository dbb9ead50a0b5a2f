// The network of the local service: embedded providers, a receiver of webhooks, loopback if allowed, and nothing else.
import { lookup } from "node:dns/promises";
import type { Server } from "node:http";
import { connectSocket, type Network, type Purpose, secureSocket } from "../../shared/egress/network.ts";
import type { Database } from "../aws/index.ts";
import { countWaits, outside } from "../clock.ts";
import { apnsSink } from "./apns.ts";
import { type ChatTemplates, chatAppSink, openChatTemplates } from "./chat-app.ts";
import type { LocalDns } from "./dns.ts";
import { fcmSink } from "./fcm.ts";
import { openLine, serveHttp1, serveHttp2 } from "./serving.ts";
import { HANGS, type Sink, type SinkDeps } from "./sink.ts";
import { smsSink } from "./sms.ts";
import { converse } from "./smtp.ts";
import { webPushSink } from "./web-push.ts";

export interface LocalNetwork {
  network: Network;
  /** Hosts that users name, such as receivers of webhooks, and what answers there. */
  hosts: Map<string, Sink>;
  /** The DNS of this machine's service. */
  dns: LocalDns;
  /** Templates at the chat app's provider. */
  templates: ChatTemplates;
  meter(): { requests: number };
  resetMeter(): void;
}

interface LocalNetworkDeps extends SinkDeps {
  dns: LocalDns;
  database: Database;
  /** `WEBHOOK_ALLOW_LOOPBACK`. */
  allowLoopback: boolean;
  /** `PROVIDERS_ALLOW_LOOPBACK`: mail servers and web-push endpoints on this machine, whose hosts users name. */
  allowProviders: boolean;
  /** Replaces the network of webhooks. */
  webhooks?: Network | undefined;
  /** Called on every activity of a connection. */
  notify(): void;
}

type ServedPurpose = Exclude<Purpose, "webhook" | "smtp" | "sign_in">;
/** Users name the hosts of these purposes; none of them is an embedded provider. */
const isOfUsers = (purpose: Purpose): purpose is "webhook" | "sign_in" =>
  purpose === "webhook" || purpose === "sign_in";
/** The address of every provider's host: a public one, to which no connection is made. */
const ANYWHERE = ["1.1.1.1"];
const NAMED_BY_USERS: ReadonlySet<Purpose> = new Set(["smtp", "web_push", "sign_in"]);
const LOOPBACK = new Set(["localhost", "127.0.0.1"]);
const SMTP_TLS_PORT = 465;
/** A receiver of webhooks that accepts each delivery. The endpoint of the demo workspace is there. */
const RECEIVER = "receiver.example";

export function createLocalNetwork(deps: LocalNetworkDeps): LocalNetwork {
  const { database, allowLoopback, allowProviders, notify } = deps;
  const isNear = (host: string, purpose: Purpose): boolean =>
    allowProviders && NAMED_BY_USERS.has(purpose) && LOOPBACK.has(host);
  const templates = openChatTemplates(database);
  /** The `Retry-After` of the current request's fault, in seconds. */
  let retryAfter: number | undefined;
  const take: SinkDeps["faults"]["take"] = (...asked) => {
    const fault = deps.faults.take(...asked);
    if (fault?.outcome === "rate_limited") retryAfter = fault.retry_after_seconds;
    return fault;
  };
  const observed = { ...deps, faults: { take } };
  const makers: Record<ServedPurpose, () => Sink> = {
    ios: () => apnsSink(observed),
    android: () => fcmSink(observed),
    web_push: () => webPushSink(observed),
    sms: () => smsSink(observed),
    chat_app: () => chatAppSink({ ...observed, templates }),
  };
  const sinks = new Map<ServedPurpose, Sink>();
  const servers = new Map<ServedPurpose, Server>();
  let requests = 0;

  const sinkOf = (purpose: ServedPurpose): Sink => {
    const sink = sinks.get(purpose) ?? makers[purpose]();
    sinks.set(purpose, sink);
    return (request) => {
      requests++;
      retryAfter = undefined;
      const answer = sink(request);
      if (answer === HANGS || retryAfter === undefined) return answer;
      return { ...answer, headers: { ...answer.headers, "retry-after": String(retryAfter) } };
    };
  };
  const serverOf = (purpose: ServedPurpose): Server => {
    const server = servers.get(purpose) ?? serveHttp1(sinkOf(purpose));
    servers.set(purpose, server);
    return server;
  };

  const hosts = new Map<string, Sink>([[RECEIVER, () => ({ status: 204 })]]);
  const webhooks = deps.webhooks ?? withHosts(allowLoopback ? loopback : nowhere, hosts, notify);
  const dns = deps.dns;
  const network: Network = {
    exempts: (host, port, purpose) =>
      isNear(host, purpose) || (isOfUsers(purpose) && (webhooks.exempts?.(host, port, purpose) ?? false)),
    resolve: async (host, purpose) => {
      if (isNear(host, purpose)) return loopback.resolve(host, purpose);
      return isOfUsers(purpose) ? webhooks.resolve(host, purpose) : ANYWHERE;
    },
    records: async (name, type) => dns.read(name, type),
    connect: async (input, signal) => {
      const { purpose } = input;
      if (isNear(input.host, purpose)) {
        const socket = await outside(loopback.connect(input, signal));
        // Only SMTP is counted here, because HTTP requests are counted by the clock.
        return purpose === "smtp" ? countWaits(socket, true) : socket;
      }
      if (isOfUsers(purpose)) return webhooks.connect(input, signal);
      const [near, far] = openLine(notify);
      if (purpose === "smtp") {
        requests++;
        converse(deps, far, input.port === SMTP_TLS_PORT);
      } else if (input.tls?.includes("h2")) serveHttp2(far, sinkOf(purpose));
      else serverOf(purpose).emit("connection", far);
      return near;
    },
    // Only mail servers start TLS later.
    secure: async (line, host, signal) =>
      isNear(host, "smtp")
        ? countWaits(await outside(secureSocket(line, host, signal, { verify: false })), false)
        : line,
  };

  return {
    network,
    hosts,
    dns,
    templates,
    meter: () => ({ requests }),
    resetMeter: () => {
      requests = 0;
    },
  };
}

/** The local service sends nothing to other machines. */
const nowhere: Network = {
  resolve: async () => {
    throw new Error("the local service sends nothing to other machines");
  },
  connect: async () => {
    throw new Error("the local service sends nothing to other machines");
  },
  secure: async (line) => line,
};

/** Receivers on this machine. TLS certificates are not verified. */
const loopback: Network = {
  ...nowhere,
  exempts: (host) => LOOPBACK.has(host),
  resolve: async (host, purpose) => {
    if (!LOOPBACK.has(host)) return nowhere.resolve(host, purpose);
    return host === "localhost" ? (await lookup(host, { all: true })).map(({ address }) => address) : [host];
  },
  connect: (input, signal) => connectSocket(input, signal, { verify: false }),
};

function withHosts(others: Network, hosts: ReadonlyMap<string, Sink>, notify: () => void): Network {
  return {
    ...others,
    resolve: async (host, purpose) => (hosts.has(host) ? ANYWHERE : others.resolve(host, purpose)),
    connect: async (input, signal) => {
      const sink = hosts.get(input.host);
      if (!sink) return others.connect(input, signal);
      const [near, far] = openLine(notify);
      serveHttp1(sink).emit("connection", far);
      return near;
    },
  };
}
