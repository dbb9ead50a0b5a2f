// Worlds that close themselves when their tests are over.
import { afterAll, afterEach } from "vitest";
import { addPeople } from "./people.ts";
import { type Tenant, type TestWorld, testWorld } from "./world.ts";

type Options = Parameters<typeof testWorld>[0];

function makers(whenOver: (close: () => Promise<void>) => void) {
  const open: TestWorld[] = [];
  whenOver(async () => {
    for (const world of open.splice(0)) await world.close();
  });
  const fresh = async (options: Options = {}): Promise<TestWorld> => {
    const world = await testWorld(options);
    open.push(world);
    return world;
  };
  /** A world with one workspace in it. */
  const withTenant = async (options: Options = {}): Promise<{ world: TestWorld; tenant: Tenant }> => {
    const world = await fresh(options);
    return { world, tenant: await world.tenant(options.plan ? { plan: options.plan } : {}) };
  };
  /** A world with one workspace that has so many subscribers. */
  const withPeople = async (
    count: number,
    options: Options = {},
    attributes: Record<string, string> = {},
  ): Promise<{ world: TestWorld; tenant: Tenant; ids: string[] }> => {
    const { world, tenant } = await withTenant(options);
    return { world, tenant, ids: await addPeople(world, tenant, count, () => ({ attributes })) };
  };
  return { fresh, withTenant, withPeople };
}

/** A maker of worlds for one test file; each world ends with the test that made it. */
export const worlds = () => makers(afterEach);

/** What several tests look at and none changes for another: the first that asks makes it, and it ends after the last. */
export function shared<T>(make: (makers: ReturnType<typeof worlds>) => Promise<T>): () => Promise<T> {
  const own = makers(afterAll);
  let made: Promise<T> | undefined;
  return () => {
    made ??= make(own);
    return made;
  };
}
