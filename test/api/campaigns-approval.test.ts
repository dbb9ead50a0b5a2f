// Approval by a second person (RDA-26): who asks, who decides, and what then goes out.
import { describe, expect, it } from "vitest";
import type { Role } from "../../shared/contract/roles.ts";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import { isHeldOut } from "../../shared/rules/split.ts";
import { auditOf } from "../support/audit.ts";
import { at, text, withCampaigns } from "../support/campaigns.ts";
import { createMcp } from "../support/mcp.ts";
import { addPeople } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function setting() {
  const found = await withCampaigns(await fresh());
  const { world, tenant, create, call } = found;
  const as = async (role: Role, route: string, body?: object) =>
    world.call(route, { as: await tenant.dashboard(role), ...(body && { body }) });
  const require = (approval_required: boolean) => call("PATCH /api/v1/workspace", { approval_required });
  await require(true);
  /** Asked for by a marketer. */
  const ask = (id: string, role: Role = "marketer") => as(role, `POST /api/v1/campaigns/${id}/release`);
  const decide = (action: "approve" | "decline", { id, approval }: Asked, role: Role = "admin", more = {}) =>
    as(role, `POST /api/v1/campaigns/${id}/${action}`, { approval_id: approval.id, ...more });
  const withdraw = (id: string, role: Role) => as(role, `POST /api/v1/campaigns/${id}/withdraw`);
  const asked = async (body: object = {}): Promise<Asked> => (await ask((await create(body)).body.id)).body;
  return { ...found, as, require, ask, decide, withdraw, asked };
}

interface Asked {
  id: string;
  approval: { id: string };
}

describe("a release that asks", () => {
  it("a release asks and leaves a draft, with who asked, when and for which times (RDA-26)", async () => {
    const { world, several, ask, inbox } = await setting();
    const { id } = await several(undefined, at(HOUR));
    const { status, body } = await ask(id);
    await world.advance(2 * HOUR);

    expect(status).toBe(202);
    expect(body).toMatchObject({
      outcome: "approval_requested",
      status: "draft",
      approval: {
        status: "waiting",
        requested_by: { name: "marketer" },
        requested_at: at(0),
        sends_at: [null, at(HOUR)],
        previewed: false,
      },
    });
    expect(await inbox()).toEqual([]);
  });

  it("a release goes out at once, and says so, where no second person is asked (RDA-26)", async () => {
    const { create, release, require } = await setting();
    await require(false);

    expect(await release((await create()).body.id)).toMatchObject({
      status: 200,
      body: { outcome: "released", status: "live" },
    });
  });

  it("another member approves, and it goes out (RDA-26)", async () => {
    const { world, asked, decide, inbox } = await setting();
    const answer = await decide("approve", await asked());
    await world.settle();

    expect(answer).toMatchObject({
      status: 200,
      body: { status: "live", approval: { status: "approved", decided_by: { name: "admin" } } },
    });
    expect(await inbox()).toEqual(["Hello"]);
  });

  it("an approved release keeps the draw of the preview that was shown to who asked (RDA-26, AMB-140)", async () => {
    const { world, tenant, create, as, decide, call, channel_ids } = await setting();
    const people = await addPeople(world, tenant, 40);
    const half = { content: text("Hello"), channel_ids, target: { type: "all" }, holdout_percentage: 50 };
    const { preview_id } = (await call("POST /api/v1/notifications/preview", half)).body;
    const { id } = (await create(half)).body;
    const asked = (await as("marketer", `POST /api/v1/campaigns/${id}/release?preview_id=${preview_id}`)).body;
    await world.advance(HOUR);
    const [{ job_id }] = (await decide("approve", asked)).body.messages;
    await world.settle();

    const { draw } = JSON.parse(Buffer.from(preview_id.split(".")[0], "base64url").toString());
    const recipient = async (one: string) => (await call(`GET /api/v1/notifications/${job_id}/recipients/${one}`)).body;
    const heldOut = await Promise.all(people.map(async (one) => (await recipient(one)).held_out));
    expect(asked.approval.previewed).toBe(true);
    expect(heldOut).toEqual(people.map((one) => isHeldOut(draw, one, 50)));
  });

  it("only drafts that wait are listed with awaiting_approval (RDA-26)", async () => {
    const { asked, create, decide, withdraw, as, call } = await setting();
    await create();
    const [waits, declined, approved] = [await asked(), await asked(), await asked()];
    const [withdrawn, archived] = [await asked(), await asked()];
    await decide("decline", declined);
    await decide("approve", approved);
    await withdraw(withdrawn.id, "marketer");
    await as("admin", `PATCH /api/v1/campaigns/${archived.id}`, { action: "archive" });

    const { body } = await call("GET /api/v1/campaigns?awaiting_approval=true");
    expect(body.items.map(({ id }: Asked) => id)).toEqual([waits.id]);
  });
});

describe("who decides", () => {
  it("who asked does not approve, in another session neither (RDA-26)", async () => {
    const { world, asked, decide, get } = await setting();
    const waiting = await asked();
    await world.advance(HOUR);

    expect(await decide("approve", waiting, "marketer")).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    expect((await get(waiting.id)).status).toBe("draft");
  });

  it.each(["approve", "decline"] as const)("no key may %s (RDA-26)", async (action) => {
    const { world, tenant, asked } = await setting();
    const { id, approval } = await asked();
    const agent = { authorization: `Bearer ${await tenant.agent("write:send", "read:pii")}` };
    for (const as of [tenant.server, tenant.sdk, await tenant.backend("messages:send"), agent]) {
      const answer = await world.call(`POST /api/v1/campaigns/${id}/${action}`, {
        as,
        body: { approval_id: approval.id },
      });
      expect(answer.status).toBe(401);
    }
  });

  it("an approval names the request that was seen: another one that replaced it does not go out (RDA-26)", async () => {
    const { asked, ask, decide } = await setting();
    const first = await asked();
    const second = (await ask(first.id)).body;

    expect((await decide("approve", first)).status).toBe(409);
    expect((await decide("approve", second)).status).toBe(200);
  });

  it("another member declines with a note, and it stays a draft (RDA-26)", async () => {
    const { asked, decide } = await setting();
    const waiting = await asked();
    const declined = await decide("decline", waiting, "admin", { note: "The price is wrong." });

    expect(declined).toMatchObject({
      status: 200,
      body: {
        status: "draft",
        approval: { status: "declined", decided_by: { name: "admin" }, note: "The price is wrong." },
      },
    });
    expect((await decide("approve", waiting, "owner")).status).toBe(409);
  });

  it("who asked withdraws, and nobody else (RDA-26)", async () => {
    const { asked, withdraw, decide } = await setting();
    const waiting = await asked();

    expect((await withdraw(waiting.id, "admin")).status).toBe(403);
    const { status, body } = await withdraw(waiting.id, "marketer");
    expect({ status, approval: body.approval }).toEqual({ status: 200, approval: undefined });
    expect((await decide("approve", waiting)).status).toBe(409);
  });

  it("the request of a member who was removed is declined by another (RDA-26)", async () => {
    const { tenant, asked, decide, as } = await setting();
    const waiting = await asked();
    await as("owner", `DELETE /api/v1/team/members/marketer-${tenant.id}`);

    expect(await decide("decline", waiting)).toMatchObject({
      status: 200,
      body: { approval: { requested_by: { name: "marketer" } } },
    });
  });

  it("of two who approve at once one releases it, and it goes out once (RDA-26)", async () => {
    const { world, asked, decide, inbox } = await setting();
    const waiting = await asked();
    const answers = await Promise.all([decide("approve", waiting, "admin"), decide("approve", waiting, "owner")]);
    await world.settle();

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await inbox()).toEqual(["Hello"]);
  });

  it("the audit trail names both people, and tells a request by its status (RDA-26, RDA-23)", async () => {
    const { world, tenant, asked, decide } = await setting();
    await decide("approve", await asked());

    expect((await auditOf(world, tenant).list("?action=campaigns")).slice(0, 2)).toMatchObject([
      { action: "campaigns.approve", actor: { name: "admin" }, outcome: "ok", status: 200 },
      { action: "campaigns.release", actor: { name: "marketer" }, outcome: "ok", status: 202 },
    ]);
  });
});

describe("what has changed since", () => {
  const draft = (channel_ids: string[], more: object = {}) => ({
    name: "Spring",
    messages: [{ content: text("Hello"), channel_ids, ...more }],
  });

  it.each([
    ["content", (ids: string[]) => draft(ids, { content: text("Other") })],
    ["scheduled_at", (ids: string[]) => draft(ids, { scheduled_at: at(2 * DAY) })],
    ["holdout_percentage", (ids: string[]) => ({ ...draft(ids), holdout_percentage: 10 })],
    ["category", (ids: string[]) => ({ ...draft(ids), category: "transactional" })],
    ["safety", (ids: string[]) => ({ ...draft(ids), safety: null })],
    ["name", (ids: string[]) => ({ ...draft(ids), name: "Summer" })],
  ])("an approval is refused and names %s where that changed (RDA-26)", async (field, changed) => {
    const { asked, as, decide, channel_ids, get } = await setting();
    const waiting = await asked();
    await as("marketer", `PUT /api/v1/campaigns/${waiting.id}`, changed(channel_ids));
    const { status, body } = await decide("approve", waiting);

    expect({ status, fields: Object.keys(body.fields ?? {}) }).toEqual({ status: 409, fields: [field] });
    expect((await get(waiting.id)).status).toBe("draft");
  });

  it("an edit that leaves everything as it was asked for does not stand in the way (RDA-26)", async () => {
    const { asked, as, decide, channel_ids } = await setting();
    const waiting = await asked();
    await as("marketer", `PUT /api/v1/campaigns/${waiting.id}`, draft(channel_ids));

    expect((await decide("approve", waiting)).status).toBe(200);
  });

  it("an approval is refused where the text of a template changed (RDA-26)", async () => {
    const { asked, as, decide, template } = await setting();
    const template_id = await template();
    const waiting = await asked({ content: undefined, template_id });
    await as("marketer", `PATCH /api/v1/templates/${template_id}`, { content: text("Other") });

    expect(await decide("approve", waiting)).toMatchObject({
      status: 409,
      body: { fields: { content: expect.any(String) } },
    });
  });

  it("an approval is refused where the rule of the segment changed (RDA-26)", async () => {
    const { call, asked, as, decide } = await setting();
    const rule = (tier: string) => ({ name: "Tier", rule: { attribute: { tier: { $eq: tier } } } });
    const { id } = (await call("POST /api/v1/segments", { ...rule("gold"), is_dynamic: true })).body;
    const waiting = await asked({ target: { type: "segment", segment_id: id } });
    await as("marketer", `PATCH /api/v1/segments/${id}`, rule("silver"));

    expect(await decide("approve", waiting)).toMatchObject({
      status: 409,
      body: { fields: { target: expect.any(String) } },
    });
  });

  it("an approval is refused where a time has passed meanwhile (RDA-26)", async () => {
    const { world, asked, decide, inbox } = await setting();
    const waiting = await asked({ scheduled_at: at(HOUR) });
    await world.advance(HOUR);
    const { status, body } = await decide("approve", waiting);
    await world.settle();

    expect({ status, fields: Object.keys(body.fields) }).toEqual({ status: 409, fields: ["scheduled_at"] });
    expect(await inbox()).toEqual([]);
  });

  it("a change and an approval at once: what goes out is what was asked for (RDA-26)", async () => {
    const { world, asked, as, decide, channel_ids, inbox } = await setting();
    const waiting = await asked();
    await Promise.all([
      as("marketer", `PUT /api/v1/campaigns/${waiting.id}`, draft(channel_ids, { content: text("Other") })),
      decide("approve", waiting),
    ]);
    await world.settle();

    expect(["", "Hello"]).toContain((await inbox()).join());
  });
});

describe("the setting", () => {
  it("what waits when it is switched off stays a draft, and is released or approved (RDA-26)", async () => {
    const { asked, decide, require, release } = await setting();
    const [first, second] = [await asked(), await asked()];
    await require(false);

    expect((await decide("approve", first)).body.status).toBe("live");
    const { body } = await release(second.id);
    expect({ status: body.status, approval: body.approval }).toEqual({ status: "live", approval: undefined });
  });

  it.each([
    ["everybody", { target: { type: "all" } }, 403],
    ["101 people", { external_ids: Array.from({ length: 101 }, (_, n) => `p${n}`) }, 403],
    ["100 people", { external_ids: Array.from({ length: 100 }, (_, n) => `p${n}`) }, 201],
  ])("a one-off send to %s by a member or a server key is answered with its code (RDA-26)", async (_, whom, status) => {
    const { world, tenant, call, require } = await setting();
    const body = { ...whom, ...text("Hello") };
    const backend = await tenant.backend("messages:send");
    const code = status === 403 ? "APPROVAL_REQUIRED" : undefined;

    for (const answer of [
      await call("POST /api/v1/notifications", body),
      await world.call("POST /v1/notifications", { as: backend, body }),
    ])
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    await require(false);
    expect((await call("POST /api/v1/notifications", body)).status).toBe(201);
  });

  it("an agent plans no send to an audience, and confirms none that was planned before (RDA-26, AGT-3)", async () => {
    const { world, tenant, require } = await setting();
    await require(false);
    const mcp = createMcp(world, tenant);
    const key = await tenant.agent("write:send", "read:pii");
    const send = { target: { type: "all" }, ...text("Hello") };
    const { token } = (await mcp.tool(key, "plan_send", send)).value;
    await require(true);

    for (const refused of [await mcp.tool(key, "plan_send", send), await mcp.tool(key, "confirm_send", { token })])
      expect(refused).toMatchObject({ isError: true, value: { code: "APPROVAL_REQUIRED" } });
  });
});
