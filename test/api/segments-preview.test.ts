// The preview of a rule (SEG-10, D-PREVIEW): how many it fits, who they are, and what it costs.
import { expect, it } from "vitest";
import { putItem } from "../../shared/store/item.ts";
import { toJson } from "../../shared/store/json-text.ts";
import type { Value } from "../../shared/store/model.ts";
import { MAX_EXACT } from "../../shared/store/segments/preview.ts";
import { Profile, SubscriberCount } from "../../shared/store/subscribers/items.ts";
import { identify, ingest } from "../support/events.ts";
import { addPeople, quickStore } from "../support/people.ts";
import { did, preview, pro } from "../support/segments.ts";
import { spentByCall } from "../support/spending.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const forty = shared(async (own) => {
  const { world, tenant } = await own.withTenant();
  const people = await addPeople(world, tenant, 40, (n) => ({ attributes: { n } }));
  await did(world, tenant, people[7]!, { event_name: "buy" });
  return { people, preview: (rule: unknown) => preview(tenant, rule) };
});

it("the preview of a rule counts exactly whom it fits, and names them if they are few (SEG-10, D-PREVIEW)", async () => {
  const { people, preview } = await forty();

  expect(await preview({ attribute: { n: { $lt: 4 } } })).toMatchObject({
    status: 200,
    body: { estimated_count: 4, sample_subscriber_ids: people.slice(0, 4).sort(), exact: true },
  });
});

it("the preview of a rule in its long form names a sample of ten (SEG-10, D-PREVIEW)", async () => {
  const { preview } = await forty();

  const { body } = await preview({ attribute: { key: "n", operator: "gte", value: 10 } });

  expect(body).toMatchObject({ estimated_count: 30, exact: true });
  expect(body.sample_subscriber_ids).toHaveLength(10);
});

it("the preview of a rule of an event names who did it (SEG-10, D-PREVIEW)", async () => {
  const { people, preview } = await forty();

  expect((await preview({ event: { name: "buy" } })).body).toEqual({
    estimated_count: 1,
    sample_subscriber_ids: [people[7]],
    exact: true,
  });
});

/** Sixty people, of whom 20 bought, two of them twice, and one did before the app knew who it was, as did one of the two. */
const buyers = shared(async (own) => {
  const { world, tenant, ids } = await own.withPeople(60);
  const buy = (subscriber_id: string) => ({ event_name: "buy", subscriber_id, anonymous_id: undefined });
  await ingest(world, tenant, { events: ids.slice(0, 20).map(buy) });
  for (const [anonymous_id, subscriber] of [["visitor", ids[30]!] as const, ["guest", ids[1]!] as const]) {
    await ingest(world, tenant, { event_name: "buy", anonymous_id });
    await identify(world, tenant, anonymous_id, subscriber);
  }
  await did(world, tenant, ids[0]!, { event_name: "buy" });
  await did(world, tenant, ids[40]!, { event_name: "sell" });
  return { world, tenant };
});

it.each([
  ["ever", {}, 21],
  ["within an hour", { within: "1h" }, 21],
  ["at least twice", { frequency: { min: 2 } }, 2],
  ["never", { frequency: { max: 0 } }, 39],
])(
  "the preview of those who bought %s counts events of known and of anonymous people (SEG-10, D-PREVIEW)",
  async (_, event, count) => {
    const { tenant } = await buyers();

    const { body } = await preview(tenant, { event: { name: "buy", ...event } });

    expect(body.estimated_count).toBe(count);
  },
);

const spentByPreview = async (world: TestWorld, tenant: Tenant, body: object) => {
  const route = "POST /api/v1/segments/preview";
  return spentByCall(world, { as: await tenant.dashboard(), route, body, refused: { route, body: {} } });
};

it("the preview of a rule of events takes no query for each subscriber (D-PREVIEW)", async () => {
  const { world, tenant } = await buyers();

  const { requests } = await spentByPreview(world, tenant, { event: { name: "buy" } });

  expect(requests).toBeLessThanOrEqual(40);
});

it.each([{}, { rule: pro }, { attribute: { plan: { $regex: "p" } } }])(
  "the preview of %j is refused with 422 (SEG-10)",
  async (rule) => {
    const { status, body } = await (await forty()).preview(rule);

    expect(status).toBe(422);
    expect(body.code).toBe("VALIDATION_ERROR");
  },
);

it.each([
  ["of 10,000 is exact", MAX_EXACT, true],
  ["of more than 10,000 is extrapolated from a range of ids", 1.2 * MAX_EXACT, false],
])("the preview %s, and takes at most 450 RCU and 20 requests (D-PREVIEW)", async (_, count, exact) => {
  const { world, tenant } = await withTenant();
  const at = new Date(START).toISOString();
  const rows = Array.from({ length: count }, (_, n) => {
    const id = world.ids.uuid();
    return putItem(
      Profile,
      { id },
      {
        id,
        external_id: `customer-${n}`,
        email: `customer-${n}@example.com`,
        "a:n": toJson<Value>(n % 4),
        "a:first_name": toJson<Value>("Somebody"),
        "a:city": toJson<Value>("Somewhere"),
        created_at: at,
        updated_at: at,
      },
    );
  });
  const store = quickStore(world, tenant);
  await store.writeAll(rows);
  await store.change(SubscriberCount, { shard: "0" }, { set: { n: count, changes: 1 } });
  const rule = { attribute: { n: { $eq: 1 } } };

  const { body } = await preview(tenant, rule);
  const { rcu, requests } = await spentByPreview(world, tenant, rule);

  expect(body.exact).toBe(exact);
  expect(Math.abs(body.estimated_count - count / 4)).toBeLessThanOrEqual(exact ? 0 : 0.03 * MAX_EXACT);
  expect(rcu).toBeLessThanOrEqual(450);
  expect(requests).toBeLessThanOrEqual(20);
});
