// Worlds that close themselves when their test is over.
import { afterEach } from "vitest";
import { addPeople } from "./people.ts";
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
  /** A world with one workspace that has so many subscribers. */
  const withPeople = async (
    count: number,
    options: Parameters<typeof testWorld>[0] = {},
    attributes: Record<string, string> = {},
  ): Promise<{ world: TestWorld; tenant: Tenant; ids: string[] }> => {
    const { world, tenant } = await withTenant(options);
    return { world, tenant, ids: await addPeople(world, tenant, count, () => ({ attributes })) };
  };
  return { fresh, withTenant, withPeople };
}
