// A proxy before the live stream that breaks connections by chance, in the middle of a line as well.
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Random } from "../simulator/random.ts";
import { listenOnLoopback } from "../support/loopback.ts";

export interface CuttingProxy {
  url: string;
  /** Connections that were cut so far. */
  cuts(): number;
  close(): void;
}

const MOST_MS = 2_500;
const MOST_BYTES = 1_000;
/** @param most so many connections are cut; those that come later last as long as the service keeps them */
export async function cuttingProxy(target: string, random: Random, most: number): Promise<CuttingProxy> {
  let cuts = 0;

  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const upstream = ask(`${target}${request.url}`, { method: request.method, headers: request.headers });
    upstream.on("error", () => response.destroy());
    upstream.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      relay(answer, response);
    });
    response.on("close", () => upstream.destroy());
    upstream.end();
  };

  const relay = (answer: IncomingMessage, response: ServerResponse) => {
    let left = cuts < most ? random.between(0, MOST_BYTES) : Number.POSITIVE_INFINITY;
    const cut = () => {
      if (response.destroyed || cuts >= most) return;
      cuts++;
      // After what was written: the client has exactly these bytes.
      response.socket?.destroySoon();
    };
    const timer = cuts < most ? setTimeout(cut, random.between(0, MOST_MS)) : undefined;
    response.on("close", () => clearTimeout(timer));
    answer.on("end", () => response.end());
    answer.on("error", () => response.destroy());
    answer.on("data", (chunk: Buffer) => {
      if (response.destroyed || left === 0) return;
      const part = chunk.subarray(0, left);
      left -= part.length;
      // The connection ends when the client's system has these bytes.
      response.write(part, () => left === 0 && setImmediate(cut));
    });
  };

  const server = createServer(pass);
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    cuts: () => cuts,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
