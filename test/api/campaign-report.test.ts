// The report of a campaign.

import { describe, expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { withBuyers } from "../support/conversions.ts";
import { NOTHING_BACK, NOTHING_LATE } from "../support/late.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = async (people?: number) => withBuyers(await withTenant(), people);

describe("campaign report", () => {
  it("the funnel, by channel and by message (CRP-1, CRP-2, CRP-3, CRP-4, CRP-5, AMB-68)", async () => {
    const { world, call, ids, channel, define, buy, react } = await setting();
    await define();
    const as = { name: "Named", content: { title: "From the template", body: "b" } };
    const template_id = (await call("POST /api/v1/templates", as)).body.id;
    const messages = [
      { content: { title: "First", body: "b" }, channel_ids: [channel] },
      { template_id, channel_ids: [channel] },
      { template_id, channel_ids: [channel], scheduled_at: timestamp(world.clock.now() + DAY) },
    ];
    const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages })).body;
    const released = (await call(`POST /api/v1/campaigns/${id}/release`)).body;
    const jobs: string[] = released.messages.map(({ job_id }: { job_id: string }) => job_id);
    await world.settle();
    await react(jobs[0]!, ids[0]!, "inapp_impression");
    await react(jobs[0]!, ids[0]!, "inapp_click");
    await react(jobs[1]!, ids[1]!, "inapp_impression");
    await buy(ids[0]!, 500);
    const report = async (query = "") => (await call(`GET /api/v1/campaigns/${id}/report${query}`)).body;
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
      cost: expect.objectContaining({ provider_dollars: 0, per_conversion: expect.any(Number) }),
      by_channel: [
        {
          ...NOTHING_BACK,
          channel: "in_app",
          delivered: 8,
          opened: 2,
          opened_human: 2,
          clicked: 1,
          clicked_human: 1,
          provider_dollars: 0,
        },
      ],
      by_message: [
        {
          ...NOTHING_BACK,
          position: 0,
          label: "First",
          delivered: 4,
          opened: 1,
          opened_human: 1,
          clicked: 1,
          clicked_human: 1,
          dollars: expect.any(Number),
        },
        {
          ...NOTHING_BACK,
          position: 1,
          label: "From the template",
          delivered: 4,
          opened: 1,
          opened_human: 1,
          clicked: 0,
          clicked_human: 0,
          dollars: expect.any(Number),
        },
        {
          ...NOTHING_BACK,
          position: 2,
          label: "From the template",
          delivered: 0,
          opened: 0,
          opened_human: 0,
          clicked: 0,
          clicked_human: 0,
          dollars: 0,
        },
      ],
    });
    const before = timestamp(world.clock.now() - HOUR);
    const labels = ({ by_message }: { by_message: { label: string }[] }) => by_message.map(({ label }) => label);
    const earlier = await report(`?end=${before}`);
    expect(earlier).toMatchObject({ sent: 0, converted: 0 });
    expect(labels(earlier)).toEqual(["First", "From the template", "From the template"]);
    // What was sent keeps its title; what is to be sent shows the template as it is, and its number without one.
    await call(`PATCH /api/v1/templates/${template_id}`, { content: { title: "Another title", body: "b" } });
    expect(labels(await report(`?end=${before}`))).toEqual(["First", "From the template", "Another title"]);
    await call(`DELETE /api/v1/templates/${template_id}`);
    expect(labels(await report())).toEqual(["First", "From the template", "Message 3"]);
    expect((await call(`GET /api/v1/campaigns/${id}/report?start=soon`)).status).toBe(422);
    expect((await call(`GET /api/v1/campaigns/${UNKNOWN}/report`)).status).toBe(404);
  });

  it("a message with a second arm: each person gets the one that the preview drew, and the report counts both (CMP-12, CRP-1)", async () => {
    const { world, call, channel, react } = await setting();
    const message = {
      content: { title: "A", body: "b" },
      variant_b: { title: "B", body: "b" },
      split_percentage: 50,
      channel_ids: [channel],
    };
    const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages: [message] })).body;
    const preview = (await call("POST /api/v1/notifications/preview", { ...message, target: { type: "all" } })).body;
    const { preview_id, samples } = preview;
    const released = (await call(`POST /api/v1/campaigns/${id}/release?preview_id=${preview_id}`)).body;
    expect(released.messages[0]).toMatchObject(message);
    await world.settle();
    const { job_id } = released.messages[0];
    const { items } = (await call(`GET /api/v1/notifications/${job_id}/recipients`)).body;
    const drawn = samples.map(({ subscriber_id, variant_id }: Record<string, string>) => [subscriber_id, variant_id]);
    const got = items.map(({ subscriber_id, variant_id }: Record<string, string>) => [subscriber_id, variant_id]);
    expect(got.sort()).toEqual(drawn.sort());
    for (const [person, variant_id] of got) await react(job_id, person, "inapp_click", { variant_id });
    const { by_variant } = (await call(`GET /api/v1/campaigns/${id}/report`)).body;
    const arms = Map.groupBy(got, ([, arm]: string[]) => arm);
    expect(by_variant).toEqual(
      [...arms.keys()]
        .sort()
        .map((variant_id) => expect.objectContaining({ variant_id, clicked: arms.get(variant_id)!.length })),
    );
  });

  it("a share of the arms without a second arm is refused at its message (CMP-12)", async () => {
    const { call, channel } = await setting();
    const message = { content: { title: "A", body: "b" }, split_percentage: 50, channel_ids: [channel] };
    expect((await call("POST /api/v1/campaigns", { name: "c", messages: [message] })).body).toMatchObject({
      fields: { "messages[0].split_percentage": "needs variant_b" },
    });
  });

  it("a campaign of one message has no split by message (CRP-5)", async () => {
    const { call, campaign } = await setting();
    const { id } = await campaign();
    expect((await call(`GET /api/v1/campaigns/${id}/report`)).body).toMatchObject({ sent: 4, by_message: [] });
  });
});
