// The numbers of a journey, compared with its runs every night (docs/decisions/0044).
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { JourneyCount } from "../../shared/store/journeys/run-items.ts";
import { countedSetting, delayed } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

it("the numbers of a journey are repaired in the night, with a line in the log (AMB-40, JST-1)", async () => {
  const { world, tenant, active, person, track, stats, recounted } = await countedSetting(await fresh());
  const long = await active(delayed("40d"));
  const short = await active(delayed("1h"));
  const people: string[] = [];
  for (let n = 0; n < 5; n++) people.push(await person(`u${n}`));
  for (let n = 0; n < 5; n++) await track(`u${n}`, "signed_up");
  await tenant.call(`DELETE /api/v1/subscribers/${people[0]}`);
  await world.settle();
  const right = await recounted(long);
  expect(right.runs).toMatchObject({ active: 4, canceled: 1 });
  await tenant.store.change(
    JourneyCount,
    { journey: long, shard: 3 },
    { add: { "r:active": 7, "a:pause": 7, changes: 1 } },
  );
  await tenant.store.change(JourneyCount, { journey: long, shard: 0 }, { add: { "r:canceled": -1, changes: 1 } });
  expect((await stats(long)).runs).toMatchObject({ active: 11, canceled: 0 });
  const repairs = () => world.logs.filter(({ message }) => message === "a counter was repaired");
  await world.advance(DAY);
  expect(await recounted(long)).toEqual(right);
  expect((await recounted(short)).runs).toMatchObject({ completed: 4 });
  expect(repairs()).toMatchObject([{ journey: long, added: { "r:active": -7, "a:pause": -7, "r:canceled": 1 } }]);

  // The next night compares the repaired journey once more, and then no journey that has not changed.
  await track("u1", "something else");
  await person("one more");
  await world.advance(DAY);
  await tenant.store.change(JourneyCount, { journey: long, shard: 3 }, { add: { "r:active": 1 } });
  await person("and another");
  await world.advance(DAY);
  expect(repairs().length).toBe(1);
  expect((await stats(long)).runs.active).toBe(5);
});
