// Explain (F2): who is outside the audience of a send, whatever state the send is in.
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { explain } from "../support/notify.ts";
import { addPeople, send } from "../support/people.ts";
import { START } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = shared(async (own) => {
  const { world, tenant } = await own.withTenant();
  const [ada, bob] = (await addPeople(world, tenant, 2, (n) => ({ attributes: { n } }))) as [string, string];
  const list_id: string = (await tenant.call("POST /api/v1/lists", { name: "l" })).body.id;
  await tenant.call(`POST /api/v1/lists/${list_id}/subscribers`, { subscriber_ids: [ada] });
  const create = async (body: object): Promise<string> =>
    (await tenant.call("POST /api/v1/notifications", { title: "t", body: "b", ...body })).body.id;
  return { world, tenant, ada, bob, list_id, create };
});
const later = { scheduled_at: new Date(START + DAY).toISOString() };

it.each<[what: string, reason: string, body: (at: { ada: string; list_id: string }) => object]>([
  [
    "is not on the list of a send for later",
    "not_in_list",
    ({ list_id }) => ({ target: { type: "list", list_id }, ...later }),
  ],
  [
    "does not pass the filters of a send that is not planned yet",
    "subscriber_filters",
    () => ({ target: { type: "all" }, subscriber_filters: { n: { $eq: 0 } } }),
  ],
  ["is not named by a send for later", "not_named", ({ ada }) => ({ subscriberIds: [ada], ...later })],
])("who %s is explained as %s at once (F2)", async (_, reason, body) => {
  const { tenant, bob, create, ...ids } = await setting();

  const explained = await explain(tenant, await create(body(ids)), bob);

  expect(explained.body).toMatchObject({ decision: "not_in_audience", reason });
});

it("who is not named by a send that was canceled is explained as such (F2)", async () => {
  const { tenant, ada, bob, create } = await setting();
  const job = await create({ subscriberIds: [ada], ...later });
  await tenant.call(`POST /api/v1/notifications/${job}/cancel`);

  expect((await explain(tenant, job, bob)).body).toMatchObject({ reason: "not_named" });
});

it("who will get a send for later is explained as pending (F2)", async () => {
  const { tenant, ada, list_id, create } = await setting();

  const job = await create({ target: { type: "list", list_id }, ...later });

  expect((await explain(tenant, job, ada)).body.decision).toBe("pending");
});

it("who came after a send to everybody is explained as joined later (F2)", async () => {
  const { world, tenant } = await withTenant();
  const { job } = await send(world, tenant, { target: { type: "all" } });
  const eve = await tenant.upsert({ external_id: "eve" });

  expect((await explain(tenant, job.id, eve)).body.reason).toBe("joined_later");
});
