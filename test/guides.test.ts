// The guides at work: their TypeScript runs against an embedded service and prints what they say. The compiler checks it
// with the rest of the tree, because the blocks are generated into a module.
import { expect, it } from "vitest";
import { runnableGuides } from "./guides.gen.ts";
import { guideDeps } from "./support/guide-deps.ts";
import { testWorld } from "./support/world.ts";

it.each(runnableGuides)("the guide $name works as written (GEN-16)", async ({ run, printed }) => {
  const world = await testWorld();
  const { deps, lines } = await guideDeps(world, await world.tenant());
  await run(deps);
  expect(lines).toEqual(printed);
});
