// Approval by a second person (RDA-26): who asks, who decides, and what then goes out.
import { describe, expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { isHeldOut } from "../../shared/rules/split.ts";
import { type AskedApproval, withApprovals } from "../support/approvals.ts";
import { auditOf } from "../support/audit.ts";
import { at, text } from "../support/campaigns.ts";
import { createMcp } from "../support/mcp.ts";
import { addPeople } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const setting = async () => withApprovals(await fresh());

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
    expect(body.items.map(({ id }: AskedApproval) => id)).toEqual([waits.id]);
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
  });

  it("a request that was declined is approved by nobody: 409 (RDA-26)", async () => {
    const { asked, decide } = await setting();
    const waiting = await asked();
    await decide("decline", waiting);

    expect((await decide("approve", waiting, "owner")).status).toBe(409);
  });

  it("who asked withdraws (RDA-26)", async () => {
    const { asked, withdraw } = await setting();
    const waiting = await asked();

    const { status, body } = await withdraw(waiting.id, "marketer");

    expect({ status, approval: body.approval }).toEqual({ status: 200, approval: undefined });
  });

  it("another than who asked does not withdraw: 403 (RDA-26)", async () => {
    const { asked, withdraw } = await setting();
    const waiting = await asked();

    expect((await withdraw(waiting.id, "admin")).status).toBe(403);
  });

  it("a request that was withdrawn is approved by nobody: 409 (RDA-26)", async () => {
    const { asked, withdraw, decide } = await setting();
    const waiting = await asked();
    await withdraw(waiting.id, "marketer");

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

describe("the setting", () => {
  it("what waits when it is switched off can be approved (RDA-26)", async () => {
    const { asked, decide, require } = await setting();
    const waiting = await asked();
    await require(false);

    expect((await decide("approve", waiting)).body.status).toBe("live");
  });

  it("what waits when it is switched off can be released without approval (RDA-26)", async () => {
    const { asked, require, release } = await setting();
    const waiting = await asked();
    await require(false);

    const { body } = await release(waiting.id);

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
