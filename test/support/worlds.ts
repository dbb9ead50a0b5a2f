// Worlds that close themselves when their test is over.
import { afterEach } from "vitest";
import { type Tenant, type TestWorld, testWorld } from "./world.ts";

/** A maker of worlds for one test file; each world ends with the test that made it. */
export function worlds() {
  const open: TestWorld[] = [];
  afterEach(async () => {
    for (const world of open.splice(0)) await world.close();
  });
  const fresh = async (options: Parameters<typeof testWorld>[0] = {}): Promise<TestWorld> => {
    const world = await testWorld(options);
    open.push(world);
    return world;
  };
  /** A world with one workspace in it. */
  const withTenant = async (
    options: Parameters<typeof testWorld>[0] = {},
  ): Promise<{ world: TestWorld; tenant: Tenant }> => {
    const world = await fresh(options);
    return { world, tenant: await world.tenant(options.plan ? { plan: options.plan } : {}) };
  };
  return { fresh, withTenant };
}
