// Networks for tests of the egress client: names that resolve as a test says, connections that are only counted.
import { duplexPair } from "node:stream";
import type { Network } from "../../shared/egress/network.ts";

export interface CountedNetwork extends Network {
  /** Addresses that were connected to. */
  connects: string[];
}

/** Every connection is noted and closed at once. */
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
