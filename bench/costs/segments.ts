// What segments cost: computed first and again, and previewed.
import { chunksOf } from "../../shared/rules/chunks.ts";
import { segmentOf } from "../../test/support/segments.ts";
import { fill } from "../people.ts";
import { type Cost, costOf, inWorld, most, type Row, taken } from "./cost.ts";

/** Each has one event. Beyond, a preview is of a sample. */
const MAX_WITH_EVENTS = 2_000;
/** Of a workspace with more events than a preview reads. */
const MANY_EVENTS = 40_000;
/** How many people are in the city that a rule asks for, beside an event. */
const FEW = 400;
const bought = { event: { name: "order_completed", within: "7d" } };
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
        taken(await tenant.call(`POST /api/v1/segments/${id}/recompute`));
        await world.settle();
      },
    );
    return [first, again];
  });
}

interface PreviewCase {
  people: number;
  of: string;
  wanted: object;
  events?: number;
}

async function previewed({ people, of, wanted, events = 0 }: PreviewCase): Promise<Cost> {
  return inWorld(async (world) => {
    const tenant = await world.tenant();
    const ids = await fill(world, tenant, people);
    const named = Array.from({ length: events }, (_, n) => ids[n % Math.min(people, MAX_WITH_EVENTS)]);
    for (const some of chunksOf(named, 1_000)) {
      const body = { events: some.map((subscriber_id) => ({ event_name: "order_completed", subscriber_id })) };
      taken(await world.call("POST /v1/events", { as: tenant.server, body }));
      await world.settle();
    }
    for (const id of events > MAX_WITH_EVENTS ? ids.slice(0, FEW) : [])
      taken(await tenant.call(`PATCH /api/v1/subscribers/${id}`, { attributes: { city: "Paris" } }));
    await world.settle();
    const query = {
      work: "preview of a rule",
      size: `${people} people, of ${of}`,
      per: "preview",
      count: 1,
      targets: [most("rcu", 450), ...(of === "attributes" ? [most("requests", 5)] : [])],
      entrance: { as: await tenant.dashboard(), route: "POST /api/v1/segments/preview", body: { attribute: 1 } },
    };
    return costOf(world, query, async () => {
      taken(await tenant.call("POST /api/v1/segments/preview", wanted));
    });
  });
}

export const segmentRows: Row[] = [
  { name: "computation of a segment", measure: async () => [...(await computed(500)), ...(await computed(2_000))] },
  {
    name: "preview of a rule",
    measure: async () => {
      const costs: Cost[] = [];
      for (const people of [2_000, 10_000, 100_000]) {
        costs.push(await previewed({ people, of: "attributes", wanted: rule }));
        costs.push(await previewed({ people, of: "events", wanted: bought, events: MAX_WITH_EVENTS }));
      }
      const both = { group: { op: "and", nodes: [{ attribute: { city: { $eq: "Paris" } } }, bought] } };
      const of = `a city of ${FEW} and an event, with ${MANY_EVENTS} events`;
      costs.push(await previewed({ people: 10_000, of, wanted: both, events: MANY_EVENTS }));
      return costs;
    },
  },
];
