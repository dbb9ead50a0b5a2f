// The embedded service as a server that `fetch` calls.
import type { TestWorld } from "./world.ts";

export const BASE_URL = "https://service.local";

/** Calls the embedded service as `fetch` calls a server. */
export const fetchOf =
  (world: TestWorld): typeof globalThis.fetch =>
  async (given, init) => {
    const request = new Request(given, init);
    const { pathname, search } = new URL(request.url);
    const answer = await world.gateway.handle({
      method: request.method,
      path: pathname + search,
      headers: Object.fromEntries(request.headers),
      body: Buffer.from(await request.arrayBuffer()),
      sourceIp: "203.0.113.7",
    });
    const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const isEmpty = answer.status === 204;
    return new Response(isEmpty ? null : new Uint8Array(answer.body), { status: answer.status, headers });
  };
