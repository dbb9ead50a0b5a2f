// Who enters a segment enters it when that changed which made it so, and a journey by it begins then (AMB-136).
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** @param isBehind no worker looks for three hours */
async function life(rule: object, { isBehind }: { isBehind: boolean }) {
  const world = await fresh({});
  const { call, active, person, tenant, inbox, send } = await journeySetting(world);
  const segment = (await call("POST /api/v1/segments", { name: "Carts", is_dynamic: true, rule })).body.id;
  // A new segment is looked at a second time after a minute.
  await world.advance(2 * MINUTE);
  const wait = { wait_for_event: { event_name: "paid", within: "1h", on_event: "done", on_timeout: "late" } };
  await active(graphOf({ paid: wait, late: send("Late", "done"), done: "exit" }), {
    trigger: { type: "segment_entered", segment_id: segment },
  });
  const ids = [await person("ada"), await person("bob")];
  await world.settle();
  const accept = async (minute: number, event_name: string, external_id: string) => {
    world.clock.jumpTo(START + minute * MINUTE);
    const body = { events: [{ event_name, external_id }] };
    expect((await world.call("POST /v1/events", { as: tenant.server, body })).status).toBe(202);
    if (!isBehind) await world.settle();
  };
  for (const name of ["ada", "bob"]) {
    await accept(10, "cart", name);
    await tenant.upsert({ external_id: name, attributes: { has_cart: true } });
    if (!isBehind) await world.settle();
  }
  await accept(30, "paid", "ada");
  world.clock.jumpTo(START + 3 * HOUR);
  await world.settle();
  await world.advance(2 * HOUR);
  const { items } = (await call(`GET /api/v1/segments/${segment}/members`)).body;
  return {
    entered: items.map(({ entered_at }: { entered_at: string }) =>
      Math.round((Date.parse(entered_at) - START) / MINUTE),
    ),
    inboxes: await Promise.all(ids.map((id) => inbox(id))),
  };
}

it.each([
  ["an event", { event: { name: "cart" } }],
  ["an attribute", { attribute: { has_cart: { $eq: true } } }],
])("a late worker has members enter by %s when that happened (AMB-136)", async (_, rule) => {
  const [inTime, late] = [await life(rule, { isBehind: false }), await life(rule, { isBehind: true })];

  expect(inTime).toEqual({ entered: [10, 10], inboxes: [[], ["Late"]] });
  expect(late).toEqual(inTime);
});

it("a late worker has nobody start a journey by a segment that historical events let them into (AMB-134)", async () => {
  const world = await fresh({});
  const { call, active, person, tenant, runs } = await journeySetting(world);
  const rule = { event: { name: "bought" } };
  const segment = (await call("POST /api/v1/segments", { name: "Buyers", is_dynamic: true, rule })).body.id;
  await world.advance(2 * MINUTE);
  const trigger = { type: "segment_entered", segment_id: segment };
  const journey = await active(graphOf({ done: "exit" }), { trigger });
  await person("ada");
  await world.settle();
  const body = { historical: true, events: [{ event_name: "bought", external_id: "ada" }] };
  expect((await world.call("POST /v1/events", { as: tenant.server, body })).status).toBe(202);
  world.clock.jumpTo(world.clock.now() + HOUR);
  await world.settle();

  expect((await call(`GET /api/v1/segments/${segment}`)).body.count).toBe(1);
  expect(await runs(journey)).toEqual([]);
});
