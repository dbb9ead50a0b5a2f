// An agent without `read:pii` cannot find out about a person by what a text says of them (AGT-4, D13).
import { beforeEach, describe, expect, it } from "vitest";
import { createMcp } from "../support/mcp.ts";
import { addPeople } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
let mcp: ReturnType<typeof createMcp>;
let ids: string[];

beforeEach(async () => {
  const { world, tenant } = await withTenant();
  ids = await addPeople(world, tenant, 2, (n) => ({
    email: `${n === 0 ? "ada" : "grace"}@example.com`,
    attributes: { plan: "pro", city: n === 0 ? "London" : "Arlington" },
  }));
  await tenant.call("PATCH /api/v1/workspace", { agent_attributes: ["plan", "total"] });
  mcp = createMcp(world, tenant);
});

const texts = [
  "x{% if subscriber.city == 'London' %}{{ subscriber.nothing }}{% endif %}",
  "x{% if subscriber.email contains 'ada' %}{{ subscriber.nothing }}{% endif %}",
  "x{{ subscriber[subscriber.city] }}",
  "x{% if subscriber.city == 'London' %}{% for i in (1..9000) %}xxxxxxxxxxxxxxxx{% endfor %}{% endif %}",
];

describe("texts", () => {
  it.each(texts)("%s previews the same for everybody (AGT-4, D13)", async (body) => {
    const key = await mcp.key("read", "write:send");
    const seen = [];
    for (const id of ids) {
      const said = { subscriberIds: [id], title: "A", body };
      const previewed = await mcp.tool(key, "recipients_preview_notifications", said);
      const planned = await mcp.tool(key, "plan_send", said);
      const content = { title: "A", body };
      const rendered = await mcp.tool(key, "templates_preview", {
        content,
        channels: ["email", "sms"],
        render_for: id,
      });
      const told = JSON.stringify([previewed, planned, rendered].map(({ isError, value }) => [isError, value]));
      seen.push(told.replaceAll(id, "ID").replaceAll(/"(token|expires_at|preview_id|cost)":("[^"]*"|\{[^}]*\})/g, ""));
    }
    expect(seen[0]).toBe(seen[1]);
  });

  it("texts of an agent say what the workspace lists, and all to a key with read:pii (AGT-4)", async () => {
    const body = { subscriberIds: ids.slice(0, 1), title: "A", body: "{{ subscriber.plan }}{{ subscriber.city }}" };
    const unknown = async (key: string) => {
      const { value } = await mcp.tool(key, "recipients_preview_notifications", body);
      return Object.keys(value.rendered.unknown_variables);
    };
    expect(await unknown(await mcp.key("read"))).toEqual(["subscriber.city"]);
    expect(await unknown(await mcp.key("read", "read:pii"))).toEqual([]);
  });
});

describe("people", () => {
  it("people in answers to an agent are not named by external ids (AGT-4)", async () => {
    const body = { external_ids: ["user-1"], title: "A", body: "b" };
    for (const name of ["recipients_preview_notifications", "plan_send"]) {
      const { isError, value } = await mcp.tool(await mcp.key("read", "write:send"), name, body);
      expect([name, isError, value.code]).toEqual([name, true, "FORBIDDEN"]);
    }
  });

  it("people of whom an event says something are not shown, nor counted below twenty, to an agent (AGT-4)", async () => {
    const rule = { event: { name: "order_paid", frequency: { max: 0 }, where: { total: { $gte: 50 } } } };
    const { value } = await mcp.tool(await mcp.key("read"), "segments_preview", { body: rule });
    expect([value.estimated_count ?? value.count, value.sample_subscriber_ids]).toEqual(["fewer than 20", undefined]);
  });
});
