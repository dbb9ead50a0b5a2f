// An agent without `read:pii` cannot find out about a person by asking for groups of people (AGT-4).
import { beforeEach, describe, expect, it } from "vitest";
import { createMcp } from "../support/mcp.ts";
import { addPeople } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
let mcp: ReturnType<typeof createMcp>;
let world: TestWorld;
let tenant: Tenant;

const setting = async () => {
  const made = await withTenant();
  ({ world, tenant } = made);
  await addPeople(world, tenant, 30, (n) => ({
    email: `p${n}@example.com`,
    attributes: { plan: n < 25 ? "pro" : "free" },
  }));
  await tenant.call("PATCH /api/v1/workspace", { agent_attributes: ["plan"] });
  return createMcp(world, tenant);
};

beforeEach(async () => {
  mcp = await setting();
});

const preview = async (key: string, attribute: object) => mcp.tool(key, "segments_preview", { body: { attribute } });

describe("conditions", () => {
  it.each(["email", "phone", "external_id", "first_name", "city"])(
    "conditions over %s are refused, because the workspace does not list it (AGT-4)",
    async (name) => {
      const answer = await preview(await mcp.key("read"), { [name]: { $exists: true } });

      expect(answer.isError).toBe(true);
      expect(answer.value.code).toBe("FORBIDDEN");
    },
  );

  it("conditions are found at any depth of a rule (AGT-4)", async () => {
    const nodes = [
      { attribute: { plan: { $eq: "pro" } } },
      { op: "or", nodes: [{ attribute: { email: { $exists: true } } }] },
    ];
    const answer = await mcp.tool(await mcp.key("read"), "segments_preview", { body: { op: "and", nodes } });

    expect(answer.value.code).toBe("FORBIDDEN");
  });

  it("conditions of a send are refused when it is planned (AGT-4)", async () => {
    const body = {
      target: { type: "all" },
      title: "A",
      body: "a",
      subscriber_filters: { email: { $eq: "p1@example.com" } },
    };
    const answer = await mcp.tool(await mcp.key("read", "write:send"), "plan_send", body);

    expect(answer.value.code).toBe("FORBIDDEN");
  });

  it("conditions over any attribute are open to a key with read:pii (AGT-4)", async () => {
    const answer = await preview(await mcp.key("read", "read:pii"), { email: { $eq: "p1@example.com" } });

    expect(answer.value).toMatchObject({ estimated_count: 1, sample_subscriber_ids: [expect.any(String)] });
  });
});

describe("counts", () => {
  it("counts of a large group are numbers, without a sample of its people (AGT-4)", async () => {
    const { value } = await preview(await mcp.key("read"), { plan: { $eq: "pro" } });

    expect(value.estimated_count).toBe(25);
    expect("sample_subscriber_ids" in value).toBe(false);
  });

  it("counts below twenty are said in words (AGT-4)", async () => {
    const { value } = await preview(await mcp.key("read"), { plan: { $eq: "free" } });

    expect(value.estimated_count).toBe("fewer than 20");
  });

  it("counts of a planned send with conditions are said in words below twenty (AGT-4)", async () => {
    const body = { target: { type: "all" }, title: "A", body: "a", subscriber_filters: { plan: { $eq: "free" } } };
    const { value } = await mcp.tool(await mcp.key("read", "write:send"), "plan_send", body);

    expect(value.counts.sent).toBe("fewer than 20");
    expect(value.cost.sends).toBe("fewer than 20");
  });

  it("whom a class of channels would miss is counted by reason from twenty people on (AGT-4, F8)", async () => {
    await openChannels(world, tenant, "android-push");
    const preview = await mcp.key("read", "write:send");
    const missedOf = async (plan: string) => {
      const body = { target: { type: "all" }, title: "A", body: "a", subscriber_filters: { plan: { $eq: plan } } };
      return (await mcp.tool(preview, "recipients_preview_notifications", body)).value.missed_by_class;
    };

    expect([await missedOf("pro"), await missedOf("free")]).toEqual([{ push: { no_device: 25 } }, {}]);
  });

  it("counts of a segment are said in words below twenty as well, without a sample (AGT-4, D13)", async () => {
    const key = await mcp.key("read", "write:drafts", "write:send");
    const body = { name: "Free", rule: { attribute: { plan: { $eq: "free" } } } };
    const { value: segment } = await mcp.tool(key, "segments_create", body);
    await world.settle();
    const got = await mcp.tool(key, "segments_get", { id: segment.id });
    const { segments } = (await mcp.tool(key, "segments_list", {})).value;
    expect([got.value.count, segments[0].count]).toEqual(["fewer than 20", "fewer than 20"]);
    const said = { target: { type: "segment", segment_id: segment.id }, title: "A", body: "a" };
    for (const name of ["recipients_preview_notifications", "plan_send"]) {
      const { value } = await mcp.tool(key, name, said);
      expect([name, value.counts.total, value.samples]).toEqual([name, "fewer than 20", undefined]);
    }
  });
});

describe("what came of a small group", () => {
  const filtered = { target: { type: "all" }, subscriber_filters: { plan: { $eq: "free" } } };
  const FEW = "fewer than 20";

  it("what came of a planned send with conditions is said in words, by its confirmation and by what reads it later (AGT-4)", async () => {
    const key = await mcp.key("read", "write:send");
    const ask = async (name: string, given: object) => (await mcp.tool(key, name, given)).value;
    const planned = await ask("plan_send", { ...filtered, title: "A", body: "a" });
    expect(planned.cost).not.toHaveProperty("dollars");
    const { token } = planned;
    const { id, sent } = await ask("confirm_send", { token });
    await world.settle();
    const [one] = (await ask("notifications_list", {})).items;
    const record = await ask("notifications_get", { id });
    const report = await ask("notifications_get_report", { id });
    const lift = await ask("insights_get_lift", { job_id: id });
    const again = await ask("confirm_send", { token });

    expect([sent, again.sent, one.sent, record.subscriber_ids_count]).toEqual([FEW, FEW, FEW, FEW]);
    expect([record.counts.delivered, report.delivered, lift.treated.size]).toEqual([FEW, FEW, FEW]);
    expect(lift.treated).not.toHaveProperty("conversion_rate");
  });

  it("what came of a planned send to everybody is numbers (AGT-4)", async () => {
    const key = await mcp.key("read", "write:send");
    const { token } = (await mcp.tool(key, "plan_send", { target: { type: "all" }, title: "A", body: "a" })).value;
    const { id } = (await mcp.tool(key, "confirm_send", { token })).value;
    await world.settle();

    expect((await mcp.tool(key, "notifications_get", { id })).value.counts.sent).toBe(30);
  });

  it("what came of a campaign to a segment is said in words, in its report, its funnel and its series (AGT-4)", async () => {
    const key = await mcp.key("read");
    const rule = { attribute: { plan: { $eq: "free" } } };
    const { id: segment_id } = (await tenant.call("POST /api/v1/segments", { name: "Free", rule })).body;
    await world.settle();
    const [channel] = (await tenant.call("GET /api/v1/channels")).body.channels;
    const messages = [{ content: { title: "A", body: "a" }, channel_ids: [channel.id] }];
    const body = { name: "News", target: { type: "segment", segment_id }, messages };
    const { id } = (await tenant.call("POST /api/v1/campaigns", body)).body;
    await tenant.call(`POST /api/v1/campaigns/${id}/release`);
    await world.settle();
    const of = { source_type: "campaign", source_id: id };
    const report = (await mcp.tool(key, "campaigns_get_report", { id })).value;
    const funnel = (await mcp.tool(key, "insights_get_funnel", of)).value;
    const [bucket] = (await mcp.tool(key, "insights_get_series", of)).value.buckets;

    expect([report.sent, report.by_channel[0].delivered, funnel.sent, bucket.sent]).toEqual([FEW, FEW, FEW, FEW]);
    expect(report.cost).not.toHaveProperty("write_units");
  });

  it("what came of a journey is said in words (AGT-4)", async () => {
    const key = await mcp.key("read");
    const steps = { start: "x", steps: { x: { id: "x", type: "exit" } } };
    const body = { name: "Hello", trigger: { type: "event", event_name: "go" }, steps };
    const { id } = (await tenant.call("POST /api/v1/journeys", body)).body;

    expect((await mcp.tool(key, "journeys_get_stats", { id })).value.runs.active).toBe(FEW);
    expect((await mcp.tool(key, "journeys_list", {})).value.journeys).toMatchObject([{ entered: FEW, version: 1 }]);
  });

  it("people of whom an event is asked are counted in words below twenty (AGT-4)", async () => {
    const { value } = await mcp.tool(await mcp.key("read"), "segments_preview", { body: { event: { name: "go" } } });

    expect(value).toEqual({ estimated_count: FEW, exact: true });
  });

  it("a rule of the flat form may be over an attribute that the workspace lists (AGT-4)", async () => {
    const of = async (key: string) =>
      (await mcp.tool(await mcp.key("read"), "segments_preview", { body: { attribute: { key, value: "pro" } } })).value;

    expect((await of("plan")).estimated_count).toBe(25);
    expect((await of("email")).code).toBe("FORBIDDEN");
  });
});

it("the explanation of a send says the condition of its segment that a person does not meet to read:pii alone (AGT-4, F2)", async () => {
  const { world, tenant } = await withTenant();
  const agents = createMcp(world, tenant);
  const rule = { attribute: { nickname: { $ne: "Smithy" } } };
  const { id: segment_id } = (await tenant.call("POST /api/v1/segments", { name: "Others", rule })).body;
  await world.settle();
  const id = await tenant.upsert({ external_id: "ada", attributes: { nickname: "Smithy" } });
  const input = { title: "News", body: "b", target: { type: "segment", segment_id } };
  const job = (await tenant.call("POST /api/v1/notifications", input)).body.id;
  await world.settle();
  const ask = async (...scopes: string[]) =>
    (
      await agents.tool(await agents.key(...scopes), "recipients_get_notifications_recipient", {
        id: job,
        subscriberId: id,
      })
    ).value;

  expect((await ask("read")).code).toBe("FORBIDDEN");
  expect((await ask("read", "read:pii")).in_words).toContain("nickname is not Smithy");
});
