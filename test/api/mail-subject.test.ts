// No mail goes out without a subject: a blank one is refused when it is given, and skipped when it renders to nothing.
import { describe, expect, it } from "vitest";
import { mailing, mailsOf } from "../support/mails.ts";
import { send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting() {
  const { world, tenant } = await withTenant();
  const { ada, channel } = await mailing(world, tenant);
  const { call } = tenant;
  const send = async (more: object) => {
    const input = { target: { type: "all" }, channel_ids: [channel], ...more };
    const { status, body } = await call("POST /api/v1/notifications", input);
    expect(status).toBe(201);
    await world.settle();
    return (await call(`GET /api/v1/notifications/${body.id}`)).body;
  };
  return { world, tenant, ada, channel, call, send };
}

describe("a blank subject", () => {
  const blank = " \n\u200b";

  it.each([
    ["the title of a send", "POST /api/v1/notifications", { title: blank, body: "b" }, "title"],
    [
      "its subject by channel",
      "POST /api/v1/notifications",
      { content: { title: "t", body: "b", by_channel: { email: { subject: blank } } } },
      "content.by_channel.email.subject",
    ],
    [
      "a variant",
      "POST /api/v1/notifications",
      { title: "t", body: "b", split_percentage: 50, variant_b: { title: blank, body: "b" } },
      "variant_b.title",
    ],
  ])("a blank subject is refused with 422 as %s (D-EMAIL)", async (_, route, more, field) => {
    const { call, channel } = await setting();
    const input = { target: { type: "all" }, channel_ids: [channel], ...more };
    const answer = await call(route, input);

    expect(answer.status).toBe(422);
    expect(answer.body.fields).toEqual({ [field]: "must not be blank" });
  });

  it("a blank subject is refused with 422 as the title of a template and of a campaign (D-EMAIL)", async () => {
    const { call, channel } = await setting();
    const content = { title: blank, body: "b" };
    for (const route of ["POST /api/v1/templates", "POST /api/v1/campaigns"]) {
      const extra = route.endsWith("campaigns") ? { channel_ids: [channel] } : {};
      const answer = await call(route, { name: "n", content, ...extra });
      expect(answer.status, `${route}`).toBe(422);
      expect(answer.body.fields, `${route}`).toEqual({ "content.title": "must not be blank" });
    }
  });
});

describe("a subject that renders to nothing", () => {
  const template = "{{ subscriber.nickname }}";

  it("a recipient whose subject renders to nothing is skipped with its reason, and no mail goes out (D-EMAIL)", async () => {
    const { world, ada, send, call } = await setting();
    const job = await send({ title: template, body: "b" });
    expect(job).toMatchObject({ status: "completed", sent: 0, skip_reasons: { blank_subject: 1 } });
    expect(await mailsOf(world)).toEqual([]);
    const { body } = await call(`GET /api/v1/notifications/${job.id}/recipients/${ada}`);
    expect(body).toMatchObject({ state: "skipped", reason: "blank_subject" });
  });

  it("the others of the send get theirs (D-EMAIL)", async () => {
    const { world, tenant, send } = await setting();
    const bob = { external_id: "bob", email: "bob@example.com", attributes: { nickname: "Bob" } };
    await tenant.upsert(bob);

    expect(await send({ title: template, body: "b" })).toMatchObject({
      sent: 1,
      skip_reasons: { blank_subject: 1 },
    });
    expect((await mailsOf(world)).map(({ to, headers }) => [to, headers.Subject])).toEqual([[bob.email, "Bob"]]);
  });

  it("a subject of the channel's own counts in place of the title (D-EMAIL)", async () => {
    const { world, send } = await setting();
    await send({ content: { title: template, body: "b", by_channel: { email: { subject: "Hello" } } } });

    expect((await mailsOf(world)).map(({ headers }) => headers.Subject)).toEqual(["Hello"]);
  });
});

describe("what is said before of a subject that renders to nothing", () => {
  const template = "{{ subscriber.nickname }}";

  it("a preview counts whom the send will skip for a blank subject, by each channel, and whom a cap stops too (F8, D-EMAIL)", async () => {
    const { tenant, channel, call, send } = await setting();
    const [{ id: inbox }] = (await call("GET /api/v1/channels")).body.channels;
    await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "day" }] });
    await tenant.upsert({ external_id: "bob", email: "bob@example.com", attributes: { nickname: "Bob" } });
    await send({ title: "Hello", body: "b", target: undefined, external_ids: ["bob"] });
    await tenant.upsert({ external_id: "eve", email: "eve@example.com", attributes: { nickname: "Eve" } });
    for (const channel_ids of [[channel], [channel, inbox]]) {
      const input = { title: template, body: "b", target: { type: "all" }, channel_ids, category: "transactional" };
      const preview = (await call("POST /api/v1/notifications/preview", input)).body;
      const job = await send(input);
      expect(preview.counts).toMatchObject({ sent: job.counts.sent, skipped: job.counts.skipped });
      expect(preview.skip_reasons).toEqual(job.skip_reasons);
    }
    const capped = { title: template, body: "b", target: { type: "all" }, channel_ids: [channel] };
    const preview = (await call("POST /api/v1/notifications/preview", capped)).body;
    const job = await send(capped);

    expect(preview.skip_reasons).toEqual({ blank_subject: 1, capped: 1 });
    expect(job.skip_reasons).toEqual(preview.skip_reasons);
  });

  it("a walk skips the step as the live journey does, by the event that the subject refers to (F2, D-EMAIL)", async () => {
    const { world, tenant, ada, channel, call } = await setting();
    const content = { title: "{{ event.nickname }}", body: "b" };
    const mail = { id: "mail", type: "send", send: { channel_ids: [channel], content, next: "end" } };
    const steps = { start: "mail", steps: { mail, end: { id: "end", type: "exit" } } };
    const trigger = { type: "event", event_name: "came" };
    const { id } = (await call("POST /api/v1/journeys", { name: "Welcome", trigger, steps })).body;
    await call(`POST /api/v1/journeys/${id}/activate`);
    const occurred_at = new Date(world.clock.now()).toISOString();
    const walk = async (properties: object) => {
      const events = [{ event_name: "came", occurred_at, properties }];
      const body = { subscriber_id: ada, start_at: occurred_at, events };
      return (await call(`POST /api/v1/journeys/${id}/simulate`, body)).body.steps[0].outcome;
    };
    const live = async (properties: object) => {
      const events = [{ event_name: "came", subscriber_id: ada, properties }];
      await world.call("POST /v1/events", { as: tenant.server, body: { events } });
      await world.settle();
      return (await call(`GET /api/v1/journeys/${id}/subscribers/${ada}`)).body.runs[0].steps;
    };

    expect([await walk({}), await walk({ nickname: "Ada" })]).toEqual(["skipped:blank_subject", "sent"]);
    expect(await live({})).toContainEqual({ step: "mail", outcome: "skipped:blank_subject", count: 1 });
  });
});

describe("a message without a word for its recipient", () => {
  it.each([
    [
      { title: "{{ subscriber.nickname }}", body: "{{ subscriber.nickname }}" },
      { delivered: 0, failed: 1 },
    ],
    [
      { title: "{{ subscriber.nickname }}", body: "Hello" },
      { delivered: 1, failed: 0 },
    ],
  ])("%j to an inbox ends as %j (D-LIQUID)", async (content, counts) => {
    const { world, tenant } = await withTenant();
    const ada = await tenant.upsert({ external_id: "ada" });
    const { job } = await send(world, tenant, { subscriberIds: [ada], ...content });

    expect(job.counts).toMatchObject(counts);
  });
});
