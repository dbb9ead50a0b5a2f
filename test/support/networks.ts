// Networks for tests of the egress client: names resolve as the test declares, and connections are only counted.
import { type Duplex, duplexPair } from "node:stream";
import { openLine, serveHttp1, serveHttp2 } from "../../local/providers/serving.ts";
import type { Sink } from "../../local/providers/sink.ts";
import { openEgress } from "../../shared/egress/egress.ts";
import type { ConnectOptions, Network } from "../../shared/egress/network.ts";
import { systemClock } from "../../shared/runtime/system.ts";

interface CountedNetwork extends Network {
  /** Addresses that were connected to. */
  connects: string[];
}

/** Every connection is recorded and closed at once. */
export function countedNetwork(resolve: Network["resolve"]): CountedNetwork {
  const connects: string[] = [];
  return {
    connects,
    resolve,
    connect: async ({ address }) => {
      connects.push(address);
      throw Object.assign(new Error("closed"), { code: "ECONNREFUSED" });
    },
    secure: async () => duplexPair()[0],
  };
}

/** Every request gets the answer of a function, over HTTP/1.1 or HTTP/2 as requested. */
export function answeringNetwork(sink: Sink): CountedNetwork {
  const server = serveHttp1(sink);
  return onLines((line, { tls }) => {
    if (tls?.includes("h2")) serveHttp2(line, sink);
    else server.emit("connection", line);
  });
}

/** Every connection is handed to a function as bytes. */
export function onLines(serve: (line: Duplex, options: ConnectOptions) => void): CountedNetwork {
  const connects: string[] = [];
  return {
    connects,
    resolve: async () => ["93.184.215.14"],
    connect: async (options) => {
      connects.push(options.host);
      const [near, far] = openLine(() => undefined);
      serve(far, options);
      return near;
    },
    secure: async (line) => line,
  };
}

/** An egress client that reaches a network of a test. */
export const clientOn = (network: Network) => openEgress({ clock: systemClock, network });
