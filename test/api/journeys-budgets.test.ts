// The costs of journeys, counted in the embedded table, so the figures repeat (docs/decisions/0029).
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const PEOPLE = 40;

it("a delay costs 1.4 write units where many end together, all in; a pause costs the same however many runs there are", async () => {
  const { world, tenant, call, active, person, stats } = await journeySetting(await fresh());
  const delay = (next: string) => ({ delay: { duration: "1h", next } });
  const id = await active(graphOf({ a: delay("b"), b: delay("c"), c: delay("end"), end: "exit" }));
  const events = [];
  for (let n = 0; n < PEOPLE; n++) events.push({ event_name: "signed_up", subscriber_id: await person(`p${n}`) });
  await world.call("POST /v1/events", { as: tenant.server, body: { events } });
  await world.settle();
  await world.advance(30 * MINUTE);
  const idle = await spent(world, () => world.advance(10 * MINUTE));
  const hour = await spent(world, () => world.advance(HOUR - 10 * MINUTE));
  expect((await stats(id)).steps.b.active).toBe(PEOPLE);
  const perDelay = (hour.wcu - 5 * idle.wcu) / PEOPLE;
  expect(perDelay).toBeLessThanOrEqual(1.4);
  const pause = await spent(world, () => call(`POST /api/v1/journeys/${id}/pause`));
  const few = await active(graphOf({ a: delay("end"), end: "exit" }));
  const other = await spent(world, () => call(`POST /api/v1/journeys/${few}/pause`));
  expect(pause.wcu).toBe(other.wcu);
});

it("an event that no active journey names costs the same as in a workspace without journeys", async () => {
  const { world, tenant, active, person } = await journeySetting(await fresh());
  const subscriber_id = await person("ada");
  const track = async () => {
    await world.call("POST /v1/events", {
      as: tenant.server,
      body: { events: [{ event_name: "viewed", subscriber_id }] },
    });
    await world.settle();
  };
  // The first event of a day in a shard writes one row more, and the shard is random.
  const cheapest = async () => {
    for (let n = 0; n < 100; n++) await track();
    const all = [await spent(world, track), await spent(world, track), await spent(world, track)];
    return [Math.min(...all.map(({ wcu }) => wcu)), Math.min(...all.map(({ requests }) => requests))];
  };
  const before = await cheapest();
  await active(graphOf({ a: { wait_for_event: { event_name: "paid", on_event: "end" } }, end: "exit" }));

  expect(await cheapest()).toEqual(before);
});
