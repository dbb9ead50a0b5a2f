// What the code of a guide is given: clients of an embedded service, its environment, its clock and its output.
import { createBrowserClient } from "../../sdk/src/browser.ts";
import { createClient } from "../../sdk/src/client.ts";
import type { Tenant, TestWorld } from "./world.ts";

export interface GuideDeps {
  createClient: typeof createClient;
  createBrowserClient: typeof createBrowserClient;
  process: { env: Record<string, string | undefined> };
  console: { log(...values: unknown[]): void };
  settle(): Promise<void>;
  advance(duration: string): Promise<void>;
}

export interface RunnableGuide {
  name: string;
  run(deps: GuideDeps): Promise<void>;
  /** What the guide says that it prints. */
  printed: readonly string[];
}

const BASE_URL = "http://service.local";

/** @returns the parts of a guide, and the lines that it printed. */
export async function guideDeps(world: TestWorld, tenant: Tenant): Promise<{ deps: GuideDeps; lines: string[] }> {
  const lines: string[] = [];
  const fetch: typeof globalThis.fetch = async (given, init) => {
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
  const tokenOf = async () => String((await tenant.dashboard()).authorization).slice("Bearer ".length);
  const deps: GuideDeps = {
    createClient: ({ accessToken, ...settings }) =>
      createClient({ ...settings, fetch, ...(accessToken !== undefined && { accessToken: tokenOf }) }),
    createBrowserClient: (settings) => createBrowserClient({ ...settings, fetch }),
    process: {
      env: {
        BASE_URL,
        ACCESS_TOKEN: await tokenOf(),
        SERVER_KEY: tenant.serverKey,
        SDK_KEY: tenant.sdkKey,
      },
    },
    console: { log: (...values) => void lines.push(values.map((value) => JSON.stringify(value)).join(" ")) },
    settle: () => world.settle(),
    advance: (duration) => world.advance(Number(duration.slice(0, -1)) * 3_600_000),
  };
  return { deps, lines };
}
