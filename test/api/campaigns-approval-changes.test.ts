// Approval by a second person (RDA-26): what changed since the release was asked for does not go out.
import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import { approveRelease } from "../../shared/store/campaigns/approvals.ts";
import { getCampaign } from "../../shared/store/campaigns/campaigns.ts";
import { withApprovals } from "../support/approvals.ts";
import { at, text } from "../support/campaigns.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => withApprovals(await fresh());

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

    const fields = { scheduled_at: "has passed since its release was asked for" };
    expect({ status, fields: body.fields }).toEqual({ status: 409, fields });
    expect(await inbox()).toEqual([]);
  });

  it("an approval is refused where the time of one of several messages has passed meanwhile (RDA-26)", async () => {
    const { world, asked, decide, channel_ids, get } = await setting();
    const messages = [HOUR, 2 * DAY].map((ms) => ({ content: text("Hello"), channel_ids, scheduled_at: at(ms) }));
    const waiting = await asked({ content: undefined, channel_ids: undefined, messages });
    await world.advance(HOUR);

    const { status, body } = await decide("approve", waiting);

    expect({ status, fields: Object.keys(body.fields ?? {}) }).toEqual({ status: 409, fields: ["scheduled_at"] });
    expect((await get(waiting.id)).status).toBe("draft");
  });

  it.each([
    ["edited", (ids: string[]) => ({ ...draft(ids), category: "transactional" })],
    ["asked for again", undefined],
  ])("an approval of a campaign that was %s after it was read is refused (RDA-26)", async (_, changed) => {
    const { tenant, asked, ask, as, channel_ids, get } = await setting();
    const { id, approval } = await asked();
    const read = await getCampaign(tenant.store, id);
    await (changed ? as("marketer", `PUT /api/v1/campaigns/${id}`, changed(channel_ids)) : ask(id));
    const approving = approveRelease(tenant.store, read, approval.id, { user_id: "other", name: "Other" });

    await expect(approving).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await get(id)).status).toBe("draft");
  });
});
