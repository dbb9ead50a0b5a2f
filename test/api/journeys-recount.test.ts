// The numbers of a journey, compared with its runs every night (docs/decisions/0044).
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { JourneyCount } from "../../shared/store/journeys/run-items.ts";
import { countedSetting, delayed } from "../support/journeys.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const repairsOf = (world: TestWorld) => world.logs.filter(({ message }) => message === "a counter was repaired");

/** A journey of five, one of them erased, with right numbers; then some of these are wrong. */
async function miscounted() {
  const here = await countedSetting(await fresh());
  const { world, tenant, active, person, track, recounted } = here;
  const id = await active(delayed("40d"));
  const people: string[] = [];
  for (let n = 0; n < 5; n++) people.push(await person(`u${n}`));
  for (let n = 0; n < 5; n++) await track(`u${n}`, "signed_up");
  await tenant.call(`DELETE /api/v1/subscribers/${people[0]}`);
  await world.settle();
  const right = await recounted(id);
  const miscount = (shard: number, add: Record<string, number>) =>
    tenant.store.change(JourneyCount, { journey: id, shard }, { add });
  await miscount(3, { "r:active": 7, "a:pause": 7, changes: 1 });
  await miscount(0, { "r:canceled": -1, changes: 1 });
  return { ...here, id, right, miscount };
}

it("the numbers of a journey are repaired in the night, with a line in the log (AMB-40, JST-1)", async () => {
  const { world, id, right, stats, recounted } = await miscounted();
  expect((await stats(id)).runs).toMatchObject({ active: 11, canceled: 0 });

  await world.advance(DAY);

  expect(await recounted(id)).toEqual(right);
  expect(right.runs).toMatchObject({ active: 4, canceled: 1 });
  expect(repairsOf(world)).toMatchObject([{ journey: id, added: { "r:active": -7, "a:pause": -7, "r:canceled": 1 } }]);
});

it("numbers of a journey that are right stay as they are in the night (AMB-40)", async () => {
  const { world, active, person, track, recounted } = await countedSetting(await fresh());
  const short = await active(delayed("1h"));
  for (let n = 0; n < 4; n++) await person(`u${n}`);
  for (let n = 0; n < 4; n++) await track(`u${n}`, "signed_up");

  await world.advance(DAY);

  expect((await recounted(short)).runs).toMatchObject({ completed: 4 });
  expect(repairsOf(world)).toEqual([]);
});

it("a night compares no journey that has not changed since it was compared (AMB-40)", async () => {
  const { world, id, person, track, stats, miscount } = await miscounted();
  await world.advance(DAY);
  // The next night compares the repaired journey once more, because its repair changed it.
  await track("u1", "something else");
  await person("one more");
  await world.advance(DAY);

  await miscount(3, { "r:active": 1 });
  await person("and another");
  await world.advance(DAY);

  expect(repairsOf(world)).toHaveLength(1);
  expect((await stats(id)).runs.active).toBe(5);
});
