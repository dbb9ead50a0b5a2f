// An agent without `read:pii` learns nothing of one person by naming people, by what nobody meets, and by its outcome (AGT-4).
import { beforeEach, describe, expect, it } from "vitest";
import { withBuyers } from "../support/conversions.ts";
import { createMcp } from "../support/mcp.ts";
import { addPeople } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { type Tenant, type TestWorld, testWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const FEW = "fewer than 20";
const { withTenant } = worlds();
const said = { title: "A", body: "a" };
let world: TestWorld;
let tenant: Tenant;
let ids: string[];
let ask: (name: string, given: object) => Promise<ReturnType<typeof JSON.parse>>;

async function begin(made: { world: TestWorld; tenant: Tenant }): Promise<void> {
  ({ world, tenant } = made);
  ids = await addPeople(world, tenant, 25, (n) => ({
    email: `p${n}@example.com`,
    attributes: { plan: n < 20 ? "pro" : "free", ...(n === 24 && { city: "London" }) },
  }));
  await tenant.call("PATCH /api/v1/workspace", { agent_attributes: ["plan"] });
  const mcp = createMcp(world, tenant);
  const key = await mcp.key("read", "write:drafts", "write:send");
  ask = async (name, given) => (await mcp.tool(key, name, given)).value;
}

beforeEach(async () => begin(await withTenant()));

describe("questions about one person", () => {
  it("conditions over properties of events are refused, because the workspace does not list them (AGT-4, D13)", async () => {
    const where = { email: { $eq: "p24@example.com" } };
    const group = {
      op: "or",
      nodes: [{ attribute: { plan: { $eq: "pro" } } }, { event: { name: "signed_up", where } }],
    };
    const steps = { w: { id: "w", type: "wait_for_event", wait_for_event: { event_name: "signed_up", where } } };

    expect((await ask("segments_preview", { body: { group } })).code).toBe("FORBIDDEN");
    expect((await ask("journeys_create", { name: "J", steps: { start: "w", steps } })).code).toBe("FORBIDDEN");
    expect(
      (await ask("segments_preview", { body: { event: { name: "x", where: { plan: { $eq: "pro" } } } } })).exact,
    ).toBe(true);
  });

  it("conditions over people that an agent names are refused: the twenty-first would be told by the count (AGT-4, D13)", async () => {
    const device_filters = { timezone: { $eq: "Europe/London" } };
    for (const filters of [{ subscriber_filters: { plan: { $eq: "pro" } } }, { device_filters }])
      for (const name of ["recipients_preview_notifications", "plan_send"])
        expect([name, (await ask(name, { ...said, subscriberIds: ids, ...filters })).code]).toEqual([
          name,
          "FORBIDDEN",
        ]);
  });

  it("tools about one person want read:pii, as segments and filters say who meets their conditions (AGT-4, D13)", async () => {
    const filtered = { ...said, target: { type: "all" }, subscriber_filters: { city: { $eq: "London" } } };
    const { id } = (await tenant.call("POST /api/v1/notifications", filtered)).body;
    await world.settle();
    const refused = [
      await ask("subscribers_get", { id: ids[24] }),
      await ask("subscribers_list_consents", { id: ids[24] }),
      await ask("recipients_get_notifications_recipient", { id, subscriberId: ids[24] }),
    ];

    expect(refused.map(({ code }) => code)).toEqual(["FORBIDDEN", "FORBIDDEN", "FORBIDDEN"]);
  });
});

it("a title is found and told by no search and no report, as it may be written for one person (AGT-4, D13)", async () => {
  const secret = { title: "Your code-9988", body: "a", subscriberIds: ids.slice(0, 1) };
  const { id } = (await tenant.call("POST /api/v1/notifications", secret)).body;
  await tenant.call("POST /api/v1/notifications", { ...secret, title: "Sale", name: "Spring" });
  await world.settle();
  const found = async (q: string) => (await ask("notifications_list", { q })).items.length;

  expect([await found("code-99"), await found("Sale"), await found("spri")]).toEqual([0, 0, 1]);
  expect((await tenant.call("GET /api/v1/notifications?q=code-99")).body.items).toHaveLength(1);
  expect(JSON.stringify(await ask("insights_get_lift", { job_id: id }))).not.toContain("code-9988");
});

describe("conditions that nobody meets", () => {
  const of = (plan: string) => ({ ...said, target: { type: "all" }, subscriber_filters: { plan: { $eq: plan } } });

  it.each(["recipients_preview_notifications", "plan_send"])(
    "%s answers the same where nobody meets the conditions and where a few do (AGT-4, D13)",
    async (name) => {
      const few = await ask(name, of("free"));
      const none = await ask(name, of("gold"));

      expect(few.counts.sent).toBe(FEW);
      expect({ ...none, token: 0, preview_id: 0 }).toEqual({ ...few, token: 0, preview_id: 0 });
    },
  );

  it("a plan that nobody meets is confirmed like one that a few meet, and reaches nobody who joined since (AGT-4, AMB-141, D13)", async () => {
    const { token } = await ask("plan_send", of("gold"));
    await tenant.upsert({ external_id: "late", attributes: { plan: "gold" } });
    const { id, sent } = await ask("confirm_send", { token });
    await world.settle();

    expect(sent).toBe(FEW);
    const { counts } = (await tenant.call(`GET /api/v1/notifications/${id}`)).body;
    expect(counts).toMatchObject({ sent: 0, delivered: 0 });
    expect(await ask("notifications_get", { id })).toMatchObject({ skip_reasons: {}, counts: { skipped: FEW } });
  });
});

describe("what came of it", () => {
  it("of a send whose text depends on people small counts are in words, as a blank subject would say what they have (AGT-4, D13)", async () => {
    const title = "{% if subscriber.city == 'London' %}{% else %}Hello{% endif %}";
    const { token } = await ask("plan_send", { title, body: "a", subscriberIds: ids.slice(24) });
    const { id } = await ask("confirm_send", { token });
    await world.settle();
    const got = await ask("notifications_get", { id });

    expect([got.counts.delivered, got.counts.failed, got.skip_reasons]).toEqual([FEW, FEW, {}]);
  });

  it("a confirmation that is repeated after a crash still keeps small counts in words (AGT-4)", async () => {
    const planned = requests({ of: "api-mcp", operation: "PutItem", naming: "CONDITIONAL#" });
    const own = await testWorld({ hooks: planned.hooks });
    await begin({ world: own, tenant: await own.tenant() });
    const filtered = { ...said, target: { type: "all" }, subscriber_filters: { plan: { $eq: "free" } } };
    const { token } = await ask("plan_send", filtered);
    planned.fail();
    expect((await ask("confirm_send", { token })).code).toBe("INTERNAL_ERROR");
    planned.pass();

    expect(await ask("confirm_send", { token })).toMatchObject({ sent: FEW, replayed: true });
  });

  it("what a few people spent is not said, of a campaign or in the sums of all (AGT-4, D13)", async () => {
    const { define, campaign, buy } = await withBuyers({ world, tenant });
    await define();
    const rule = { attribute: { plan: { $eq: "free" } } };
    const { id: segment_id } = (await tenant.call("POST /api/v1/segments", { name: "Free", rule })).body;
    await world.settle();
    const { id, jobs } = await campaign([undefined], { target: { type: "segment", segment_id } });
    await buy(ids[24]!, 4711);
    const told = [
      await ask("insights_get_summary", { group_by: "campaign" }),
      await ask("insights_get_funnel", { source_type: "campaign", source_id: id }),
      await ask("campaigns_get_report", { id }),
      await ask("insights_get_lift", { job_id: jobs[0] }),
    ];

    expect(told[0].rows).toMatchObject([{ source_id: id, conversions: FEW }]);
    expect(JSON.stringify(told)).not.toContain("4711");
  });
});
