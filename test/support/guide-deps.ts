// What the code of a guide is given: clients of an embedded service, its environment, its clock and its output.
import { createBrowserClient } from "../../sdk/src/browser.ts";
import { createClient } from "../../sdk/src/client.ts";
import { cliOf } from "./cli.ts";
import { BASE_URL, fetchOf } from "./embedded-fetch.ts";
import type { Tenant, TestWorld } from "./world.ts";

export interface GuideDeps {
  createClient: typeof createClient;
  createBrowserClient: typeof createBrowserClient;
  process: { env: Record<string, string | undefined> };
  console: { log(...values: unknown[]): void };
  settle(): Promise<void>;
  advance(duration: string): Promise<void>;
  freshToken(): Promise<string>;
  /** Writes a file into the folder of the guide. */
  write(file: string, text: string): void;
  /** Runs the command line in that folder; what it prints is among the lines. */
  engagement(words: string): Promise<void>;
}

export interface RunnableGuide {
  name: string;
  run(deps: GuideDeps): Promise<void>;
  /** What the guide says that it prints. */
  printed: readonly string[];
}

/** @returns the parts of a guide, and the lines that it printed. */
export async function guideDeps(world: TestWorld, tenant: Tenant): Promise<{ deps: GuideDeps; lines: string[] }> {
  const lines: string[] = [];
  const fetch = fetchOf(world);
  const cli = await cliOf(world, tenant);
  const tokenOf = async () => String((await tenant.dashboard()).authorization).slice("Bearer ".length);
  const deps: GuideDeps = {
    createClient: (settings) => createClient({ ...settings, fetch }),
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
    write: (file, text) => cli.write(file, text),
    engagement: async (words) => {
      const { out, notes } = await cli.run(...words.split(" "));
      lines.push(...out, ...notes);
    },
    freshToken: tokenOf,
    settle: () => world.settle(),
    advance: async (duration) => {
      await world.call("POST /_local/clock", { body: { advance: duration } });
    },
  };
  return { deps, lines };
}
