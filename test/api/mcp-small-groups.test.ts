// An agent without `read:pii` cannot find out about a person by asking for groups of people (AGT-4).
import { beforeEach, describe, expect, it } from "vitest";
import { createMcp } from "../support/mcp.ts";
import { addPeople } from "../support/people.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
let mcp: ReturnType<typeof createMcp>;
let world: TestWorld;

const setting = async () => {
  const made = await withTenant();
  const { tenant } = made;
  world = made.world;
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

it("the explanation of a send says no condition of its segment that a person does not meet (AGT-4, F2)", async () => {
  const { world, tenant } = await withTenant();
  const agents = createMcp(world, tenant);
  const rule = { attribute: { nickname: { $ne: "Smithy" } } };
  const { id: segment_id } = (await tenant.call("POST /api/v1/segments", { name: "Others", rule })).body;
  await world.settle();
  const id = await tenant.upsert({ external_id: "ada", attributes: { nickname: "Smithy" } });
  const wish = { title: "News", body: "b", target: { type: "segment", segment_id } };
  const job = (await tenant.call("POST /api/v1/notifications", wish)).body.id;
  await world.settle();
  const ask = async (...scopes: string[]) =>
    (
      await agents.tool(await agents.key(...scopes), "recipients_get_notifications_recipient", {
        id: job,
        subscriberId: id,
      })
    ).value;

  expect(JSON.stringify(await ask("read"))).not.toContain("Smithy");
  expect((await ask("read", "read:pii")).in_words).toContain("nickname is not Smithy");
});
