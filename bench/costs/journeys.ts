// What a run of a journey costs, by how many people move together.
import { HOUR } from "../../shared/kernel/clock.ts";
import { delayed, greetingGraph, journeySetting } from "../../test/support/journeys.ts";
import { fill } from "../people.ts";
import { type Cost, costOf, inWorld, most, type Row, taken } from "./cost.ts";

/** People who move together, and the most write units of entry, send and delay, and of the delay's end. */
const PACKS: [people: number, entry: number | undefined, end: number | undefined][] = [
  [1, undefined, undefined],
  [4, 8.8, 2.8],
  [10, 5.3, 1.7],
  [100, 3.4, 1.2],
];

async function pack(people: number, entry: number | undefined, end: number | undefined): Promise<Cost[]> {
  return inWorld(async (world) => {
    const { tenant, active, send } = await journeySetting(world);
    const ids = await fill(world, tenant, people);
    await active(greetingGraph(send));
    const as = tenant.server;
    const enter = async (event_name: string) => {
      const events = ids.map((subscriber_id) => ({ event_name, subscriber_id }));
      taken(await world.call("POST /v1/events", { as, body: { events } }));
      await world.settle();
    };
    await enter("seen");
    const entrance = { as, route: "POST /v1/events", body: { events: [] } };
    const query = { size: `${people} together`, per: "run", count: people };
    const targets = (limit: number | undefined) => (limit === undefined ? [] : [most("wcu", limit)]);
    const events = await costOf(world, { ...query, work: "event of the journey", entrance }, () => enter("seen"));
    const entered = await costOf(
      world,
      { ...query, work: "journey: entry, send, delay", entrance, targets: targets(entry) },
      () => enter("signed_up"),
    );
    await world.advance(HOUR / 2);
    const idle = await costOf(world, { ...query, work: "idle" }, () => world.advance(HOUR / 4));
    const ended = await costOf(world, { ...query, work: "journey: end of the delay", targets: targets(end) }, () =>
      world.advance(HOUR / 4),
    );
    return [less(entered, events), less(ended, idle)];
  });
}

const WAITING = 1_000;

/** Runs that only wait, from their events to their ends. */
async function waited(): Promise<Cost> {
  return inWorld(async (world) => {
    const { tenant, active } = await journeySetting(world);
    const ids = await fill(world, tenant, WAITING);
    await active(delayed("1h"));
    const as = tenant.server;
    const enter = async (event_name: string) => {
      taken(
        await world.call("POST /v1/events", {
          as,
          body: { events: ids.map((subscriber_id) => ({ event_name, subscriber_id })) },
        }),
      );
      await world.settle();
    };
    await enter("seen");
    const query = { size: `${WAITING} together`, per: "run", count: WAITING };
    const other = await costOf(world, { ...query, work: "events and an hour" }, async () => {
      await enter("seen");
      await world.advance(HOUR);
    });
    const targets = [most("wcu", 4.6)];
    const work = "journey: delay of an hour, entered and fired";
    const whole = await costOf(world, { ...query, work, targets }, async () => {
      await enter("signed_up");
      await world.advance(HOUR);
    });
    return less(whole, other);
  });
}

/** Without what happens in the same time anyway; of the processor that is too little and too uneven. */
const less = (cost: Cost, other: Cost): Cost => ({
  ...cost,
  wcu: cost.wcu - other.wcu,
  rcu: cost.rcu - other.rcu,
  requests: cost.requests - other.requests,
  messages: cost.messages - other.messages,
});

export const journeyRows: Row[] = [
  {
    name: "journey",
    measure: async () => {
      const costs: Cost[] = [];
      for (const [people, entry, end] of PACKS) costs.push(...(await pack(people, entry, end)));
      costs.push(await waited());
      return costs.toSorted((a, b) => Number(a.work > b.work) - Number(a.work < b.work));
    },
  },
];
