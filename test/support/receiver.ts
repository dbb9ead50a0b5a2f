// A receiver of webhooks: real HTTP over connections in memory. It answers by a script and records requests.
import { createServer, type IncomingHttpHeaders } from "node:http";
import { duplexPair } from "node:stream";
import type { Network } from "../../shared/egress/network.ts";

export interface ReceivedPost {
  /** Host of the URL. */
  to: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Service time. */
  at: number;
}

/** Its answer: a status, or none. */
type Script = (received: ReceivedPost, n: number) => number | "silence" | "hang up";

export interface Receiver {
  network: Network;
  received: ReceivedPost[];
  answer(script: Script): void;
  /** Names that do not resolve to a public address. */
  addresses: Map<string, string[]>;
}

const PUBLIC = "93.184.216.34";

/** `now` is set when the world exists. */
export function receiver(now: () => number): Receiver {
  const received: ReceivedPost[] = [];
  const addresses = new Map<string, string[]>();
  let script: Script = () => 200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { headers, url = "" } = request;
      const got = { to: String(headers.host), path: url, headers, body: Buffer.concat(chunks).toString(), at: now() };
      const answer = script(got, received.push(got));
      if (answer === "hang up") return request.socket.destroy();
      if (answer === "silence") return;
      response.writeHead(answer, answer >= 300 && answer < 400 ? { location: "https://elsewhere.example/" } : {});
      response.end("ok");
    });
  });
  const network: Network = {
    resolve: async (host) => addresses.get(host) ?? [PUBLIC],
    connect: async () => {
      const [ours, theirs] = duplexPair();
      const same = () => ours;
      server.emit("connection", theirs);
      return Object.assign(ours, { setKeepAlive: same, setTimeout: same, ref: same, unref: same });
    },
    secure: async (line) => line,
  };
  return {
    network,
    received,
    addresses,
    answer: (next) => {
      script = next;
    },
  };
}
