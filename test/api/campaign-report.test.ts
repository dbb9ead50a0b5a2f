// The report of a campaign.
import { expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { liftFields, liftOf } from "../../shared/rules/lift.ts";
import { withBuyers } from "../support/conversions.ts";
import { NOTHING_BACK, NOTHING_LATE, NOTHING_LOST } from "../support/late.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/**
 * A campaign to four buyers: a message with a content, one with a template, and one with it tomorrow. Ada opened and
 * clicked the first and bought for 500; another opened the second.
 */
async function reportedCampaign() {
  const here = await withBuyers(await withTenant());
  const { world, call, ids, channel, define, buy, react } = here;
  const [ada, bob] = ids as [string, string];
  await define();
  const template = { name: "Named", content: { title: "From the template", body: "b" } };
  const template_id: string = (await call("POST /api/v1/templates", template)).body.id;
  const channel_ids = [channel];
  const messages = [
    { content: { title: "First", body: "b" }, channel_ids },
    { template_id, channel_ids },
    { template_id, channel_ids, scheduled_at: timestamp(world.clock.now() + DAY) },
  ];
  const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages })).body;
  const released = (await call(`POST /api/v1/campaigns/${id}/release`)).body;
  const [first, second] = released.messages.map(({ job_id }: { job_id: string }) => job_id);
  await world.settle();
  await react(first, ada, "inapp_impression");
  await react(first, ada, "inapp_click");
  await react(second, bob, "inapp_impression");
  await buy(ada, 500);
  const report = async (query = "") => (await call(`GET /api/v1/campaigns/${id}/report${query}`)).body;
  const labels = async (query = "") => (await report(query)).by_message.map(({ label }: { label: string }) => label);
  /** A report that ends before the campaign. */
  const earlier = `?end=${timestamp(world.clock.now() - HOUR)}`;
  return { ...here, template_id, report, labels, earlier };
}

const OPENED_AND_CLICKED = { opened: 1, opened_human: 1, clicked: 1, clicked_human: 1 };
const OPENED = { ...OPENED_AND_CLICKED, clicked: 0, clicked_human: 0 };
const UNSEEN = { ...OPENED, opened: 0, opened_human: 0 };

it("the report of a campaign has its funnel from the send to the revenue (CRP-1, CRP-2, CRP-3, AMB-68)", async () => {
  const { report } = await reportedCampaign();

  expect(await report()).toEqual({
    ...NOTHING_LATE,
    sent: 8,
    delivered: 8,
    opened: 2,
    opened_human: 2,
    clicked: 1,
    clicked_human: 1,
    converted: 1,
    conversions: 1,
    last_touch_revenue_cents: 500,
    revenue_cents: 500,
    failed: 0,
    fail_reasons: {},
    uncertain: 0,
    skip_reasons: {},
    by_variant: [],
    b_over_a: null,
    cost: expect.objectContaining({ provider_dollars: 0, per_conversion: expect.any(Number) }),
    by_channel: expect.any(Array),
    by_message: expect.any(Array),
  });
});

it("the report of a campaign has its counts by channel (CRP-4)", async () => {
  const { report } = await reportedCampaign();

  const counts = { delivered: 8, opened: 2, opened_human: 2, clicked: 1, clicked_human: 1, provider_dollars: 0 };
  expect((await report()).by_channel).toEqual([{ ...NOTHING_BACK, ...NOTHING_LOST, channel: "in_app", ...counts }]);
});

it("the report of a campaign has its counts by message, also of those to come (CRP-5)", async () => {
  const { report } = await reportedCampaign();

  const sent = { ...NOTHING_BACK, ...NOTHING_LOST, delivered: 4, dollars: expect.any(Number) };
  expect((await report()).by_message).toEqual([
    { ...sent, position: 0, label: "First", ...OPENED_AND_CLICKED },
    { ...sent, position: 1, label: "From the template", ...OPENED },
    { ...sent, position: 2, label: "From the template", ...UNSEEN, delivered: 0, dollars: 0 },
  ]);
});

it("the report of a time before the campaign counts nothing and lists its messages (CRP-1, CRP-5)", async () => {
  const { report, labels, earlier } = await reportedCampaign();

  expect(await report(earlier)).toMatchObject({ sent: 0, converted: 0 });
  expect(await labels(earlier)).toEqual(["First", "From the template", "From the template"]);
});

it("the report of a campaign names what was sent by the title it had, and what is to come by the title it has (CRP-5)", async () => {
  const { call, template_id, labels } = await reportedCampaign();

  await call(`PATCH /api/v1/templates/${template_id}`, { content: { title: "Another title", body: "b" } });

  expect(await labels()).toEqual(["First", "From the template", "Another title"]);
});

it("the report of a campaign names a message whose template is gone by its number (CRP-5)", async () => {
  const { call, template_id, labels } = await reportedCampaign();

  await call(`DELETE /api/v1/templates/${template_id}`);

  expect(await labels()).toEqual(["First", "From the template", "Message 3"]);
});

it("the report of a campaign of one message has no counts by message (CRP-5)", async () => {
  const { call, campaign } = await withBuyers(await withTenant());
  const { id } = await campaign();

  expect((await call(`GET /api/v1/campaigns/${id}/report`)).body).toMatchObject({ sent: 4, by_message: [] });
});

/** A campaign of one message in two arms, released as its preview drew them: subscriber → arm, as drawn and as sent. */
async function drawnCampaign() {
  const here = await withBuyers(await withTenant());
  const { world, call, channel } = here;
  const arms = { content: { title: "A", body: "b" }, variant_b: { title: "B", body: "b" }, split_percentage: 50 };
  const message = { ...arms, channel_ids: [channel] };
  const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages: [message] })).body;
  const preview = (await call("POST /api/v1/notifications/preview", { ...message, target: { type: "all" } })).body;
  const released = (await call(`POST /api/v1/campaigns/${id}/release?preview_id=${preview.preview_id}`)).body;
  await world.settle();
  const { job_id } = released.messages[0];
  const { items } = (await call(`GET /api/v1/notifications/${job_id}/recipients`)).body;
  const armsOf = (people: { subscriber_id: string; variant_id: "a" | "b" }[]) =>
    Object.fromEntries(people.map(({ subscriber_id, variant_id }) => [subscriber_id, variant_id]));
  return { ...here, id, job_id, message, released, drawn: armsOf(preview.samples), sent: armsOf(items) };
}

it("a message in two arms reaches each person in the arm that the preview drew (CMP-12)", async () => {
  const { released, message, drawn, sent } = await drawnCampaign();

  expect(released.messages[0]).toMatchObject(message);
  expect(Object.keys(sent)).toHaveLength(4);
  expect(sent).toEqual(drawn);
});

it("a message in two arms that says nothing of their share goes to half in each (CMP-12)", async () => {
  const { world, call, channel } = await withBuyers(await withTenant());
  const arms = { content: { title: "A", body: "b" }, variant_b: { title: "B", body: "b" }, channel_ids: [channel] };
  const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages: [arms] })).body;
  const [{ job_id }] = (await call(`POST /api/v1/campaigns/${id}/release`)).body.messages;
  await world.settle();

  expect((await call(`GET /api/v1/notifications/${job_id}`)).body).toMatchObject({ split_percentage: 50 });
});

it("the report of a campaign counts each arm of a message (CMP-12, CRP-1)", async () => {
  const { call, react, id, job_id, sent } = await drawnCampaign();

  for (const [person, variant_id] of Object.entries(sent)) await react(job_id, person, "inapp_click", { variant_id });

  const { by_variant } = (await call(`GET /api/v1/campaigns/${id}/report`)).body;
  const counts = ["a", "b"].map((variant_id) => {
    const people = Object.values(sent).filter((arm) => arm === variant_id).length;
    return { variant_id, delivered: people, clicked: people };
  });
  expect(by_variant).toMatchObject(counts);
});

it("the arms of a message are compared among those whom they reached, with an interval (F9, CRP-1)", async () => {
  const { call, react, id, job_id, sent } = await drawnCampaign();

  const ofB = Object.keys(sent).filter((person) => sent[person] === "b");
  for (const person of ofB) await react(job_id, person, "inapp_click", { variant_id: "b" });

  const { b_over_a } = (await call(`GET /api/v1/campaigns/${id}/report`)).body;
  const sizes = { b: ofB.length, a: 4 - ofB.length };
  const clicks = liftOf({ size: sizes.b, converters: sizes.b }, { size: sizes.a, converters: 0 });
  expect(b_over_a.clicked).toEqual(liftFields(clicks));
});

it("a campaign is refused with 422 for a share of the arms without a second arm (CMP-12)", async () => {
  const { call, channel } = await withBuyers(await withTenant());
  const messages = [{ content: { title: "A", body: "b" }, split_percentage: 50, channel_ids: [channel] }];

  const { status, body } = await call("POST /api/v1/campaigns", { name: "c", messages });

  expect(status).toBe(422);
  expect(body.fields).toEqual({ "messages[0].split_percentage": "needs variant_b" });
});

it("the report of a single send counts its arms, and what its recipients did (F9, CMP-12)", async () => {
  const { call, react, id, job_id, sent } = await drawnCampaign();
  for (const [person, variant_id] of Object.entries(sent)) await react(job_id, person, "inapp_click", { variant_id });

  const { status, body } = await call(`GET /api/v1/notifications/${job_id}/report`);

  const { by_variant, b_over_a } = (await call(`GET /api/v1/campaigns/${id}/report`)).body;
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { sent: 4, delivered: 4, clicked_human: 4, by_variant, b_over_a },
  });
});

it("an arm has reached nobody for whom its message in the inbox has no text (F9, AMB-139)", async () => {
  const { world, call, channel } = await withBuyers(await withTenant(), 8);
  const blank = "{{ subscriber.nothing }}";
  const arms = { title: "A", body: "b", variant_b: { title: blank, body: blank } };
  const body = { ...arms, target: { type: "all" }, channel_ids: [channel] };
  const { id } = (await call("POST /api/v1/notifications", body)).body;
  await world.settle();

  const { counts } = (await call(`GET /api/v1/notifications/${id}`)).body;
  expect(counts).toMatchObject({ sent: 8, delivered: expect.any(Number), failed: expect.any(Number) });
  expect(counts.failed).toBeGreaterThan(0);
  expect((await call(`GET /api/v1/notifications/${id}/report`)).body.by_variant).toMatchObject([
    { variant_id: "a", delivered: counts.delivered },
    { variant_id: "b", delivered: 0 },
  ]);
});
