// What segments cost: computed first and again, and previewed.
import { chunksOf } from "../../shared/rules/chunks.ts";
import { ask, segmentOf } from "../../test/support/segments.ts";
import { fill } from "../people.ts";
import { type Cost, costOf, inWorld, most, type Row, taken } from "./cost.ts";

/** Each has one event. Beyond, a preview is of a sample. */
const MAX_WITH_EVENTS = 2_000;
const rule = { attribute: { city: { $eq: "London" } } };

async function computed(people: number): Promise<Cost[]> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    await fill(world, tenant, people);
    const size = `${people} people, all members`;
    let id = "";
    const first = await costOf(
      world,
      { work: "first computation of a segment", size, per: "member", count: people, targets: [most("wcu", 0.1)] },
      async () => {
        id = await segmentOf(world, tenant, rule, { is_dynamic: false });
      },
    );
    const again = await costOf(
      world,
      { work: "unchanged computation of a segment", size, per: "person", count: people, targets: [most("rcu", 0.06)] },
      async () => {
        taken(await ask(world, tenant, `POST /api/v1/segments/${id}/recompute`));
        await world.settle();
      },
    );
    return [first, again];
  });
}

async function previewed(people: number, hasEvents: boolean): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const ids = await fill(world, tenant, people);
    if (hasEvents)
      for (const some of chunksOf(ids.slice(0, MAX_WITH_EVENTS), 1_000)) {
        const events = some.map((subscriber_id) => ({ event_name: "order_completed", subscriber_id }));
        taken(await world.call("POST /v1/events", { as: tenant.server, body: { events } }));
        await world.settle();
      }
    const wanted = hasEvents ? { event: { name: "order_completed", within: "7d" } } : rule;
    const query = {
      work: "preview of a rule",
      size: `${people} people, ${hasEvents ? "of events" : "of attributes"}`,
      per: "preview",
      count: 1,
      targets: [most("rcu", 450)],
    };
    return costOf(world, query, async () => {
      taken(await ask(world, tenant, "POST /api/v1/segments/preview", wanted));
    });
  });
}

export const segmentRows: Row[] = [
  { name: "computation of a segment", measure: async () => [...(await computed(500)), ...(await computed(2_000))] },
  {
    name: "preview of a rule",
    measure: async () => {
      const costs: Cost[] = [];
      for (const people of [2_000, 10_000, 100_000])
        for (const hasEvents of [false, true]) costs.push(await previewed(people, hasEvents));
      return costs;
    },
  },
];
