// Servers of tests, which only this machine reaches.
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Listens on a free port. @returns the port */
export async function listenOnLoopback(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}
