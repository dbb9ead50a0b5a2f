// What happens to messages and people later is told to webhooks: late results, consents, segments.
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { hook, receiving, type Setting, upsert } from "../support/hooks.ts";
import { follow, mailing, mailsOf, tellOfMail } from "../support/mails.ts";
import { ledgerOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const setting = receiving(worlds());

const told = async ({ world, outside }: Setting) => {
  await world.advance(MINUTE);
  return outside.received.map(({ body }) => {
    const { event_type, data } = JSON.parse(body);
    return [event_type, data];
  });
};

const api = async ({ world, tenant }: Setting, route: string, body?: object) =>
  (await world.call(route, { as: await tenant.dashboard(), ...(body && { body }) })).body;

describe("late results", () => {
  it.each([
    ["bounce", "message.bounced"],
    ["complaint", "message.complained"],
  ])("a %s is one event, however often it is reported (CLI-2)", async (name, event) => {
    const here = await setting();
    await hook(here, [event]);
    const { ada, mail } = await mailing(here.world, here.tenant, `${name}@simulator.amazonses.com`);
    const { job } = await mail();
    const [[type, data] = [], ...others] = await told(here);

    expect(type).toEqual(event);
    expect(data).toEqual({
      job_id: job.id,
      subscriber_id: ada,
      channel: "email",
      reason: event === "message.bounced" ? expect.any(String) : null,
    });
    expect(others).toEqual([]);
  });

  it("a mail that bounces and is complained of is an event of each (CLI-2)", async () => {
    const here = await setting();
    await hook(here, ["message.bounced", "message.complained"]);
    const to = "bounce@simulator.amazonses.com";
    const { ada, mail } = await mailing(here.world, here.tenant, to);
    const { job } = await mail();
    await here.world.advance(MINUTE);
    const [row] = await ledgerOf(here.tenant, ada);
    const at = [String(Date.parse(String(row!.sk).split("#")[1]!))];
    const tags = { tenant: [here.tenant.id], job: [job.id], subscriber: [ada], at };
    const complaint = { complainedRecipients: [{ emailAddress: to }] };
    await tellOfMail(here.world, { eventType: "Complaint", mail: { tags }, complaint });

    expect((await told(here)).map(([type]) => type)).toEqual(["message.bounced", "message.complained"]);
  });

  it("recipients whose mails bounce in the same second are an event each (CLI-2, WEV-1)", async () => {
    const here = await setting();
    await hook(here, ["message.bounced"]);
    const { ada, mail } = await mailing(here.world, here.tenant, "bounce@simulator.amazonses.com");
    const bo = await here.tenant.upsert({ external_id: "bo", email: "bounce+bo@simulator.amazonses.com" });
    await mail();

    expect((await told(here)).map(([, { subscriber_id }]) => subscriber_id).toSorted()).toEqual([ada, bo].toSorted());
  });
});

describe("consents", () => {
  it("an opt-out is a change and an unsubscription; the same again is neither (CLI-2)", async () => {
    const here = await setting();
    await hook(here, ["consent.changed", "subscriber.unsubscribed"]);
    const { id } = await upsert(here, { external_id: "ada", email: "ada@example.com" });
    const say = (status: string) => api(here, `POST /api/v1/subscribers/${id}/consents`, { channel: "email", status });
    await say("opted_in");
    await say("opted_out");
    await say("opted_out");
    const data = { subscriber_id: id, channel: "email" };

    expect((await told(here)).toSorted()).toEqual(
      [
        ["consent.changed", { ...data, status: "opted_in", previous: null }],
        ["consent.changed", { ...data, status: "opted_out", previous: "opted_in" }],
        ["subscriber.unsubscribed", data],
      ].toSorted(),
    );
  });

  it("a choice of a topic is a change and no unsubscription (CLI-2)", async () => {
    const here = await setting();
    await hook(here, ["consent.changed", "subscriber.unsubscribed"]);
    await api(here, "POST /api/v1/topics", { key: "news", name: "News" });
    const { id } = await upsert(here, { external_id: "ada" });
    await api(here, `POST /api/v1/subscribers/${id}/consents`, { channel: "topic:news", status: "opted_out" });
    const data = { subscriber_id: id, channel: "topic:news", status: "opted_out", previous: null };

    expect(await told(here)).toEqual([["consent.changed", data]]);
  });

  it("a link in a mail unsubscribes (CLI-2)", async () => {
    const here = await setting();
    const { ada, mail } = await mailing(here.world, here.tenant);
    await mail();
    await here.world.advance(MINUTE);
    await hook(here, ["subscriber.unsubscribed"]);
    const [sent] = await mailsOf(here.world);
    await follow(here.world, "POST", sent!.unsubscribe!);

    expect(await told(here)).toEqual([["subscriber.unsubscribed", { subscriber_id: ada, channel: "email" }]]);
  });
});

describe("segments", () => {
  it("who enters and leaves a dynamic segment is told (CLI-2)", async () => {
    const here = await setting();
    const rule = { attribute: { plan: { $eq: "pro" } } };
    const { id: segment_id } = await api(here, "POST /api/v1/segments", { name: "Pro", rule, is_dynamic: true });
    await hook(here, ["segment.entered", "segment.left"]);
    const { id: subscriber_id } = await upsert(here, { external_id: "ada", attributes: { plan: "pro" } });
    await here.world.advance(MINUTE);
    await upsert(here, { external_id: "ada", attributes: { plan: "free" } });
    const data = { segment_id, subscriber_id };

    expect(await told(here)).toEqual([
      ["segment.entered", data],
      ["segment.left", data],
    ]);
  });

  it("the members of a static segment are told when it is computed (CLI-2)", async () => {
    const here = await setting();
    await hook(here, ["segment.entered"]);
    const { id: subscriber_id } = await upsert(here, { external_id: "ada", attributes: { plan: "pro" } });
    const rule = { attribute: { plan: { $eq: "pro" } } };
    const { id: segment_id } = await api(here, "POST /api/v1/segments", { name: "Pro", rule });
    await api(here, `POST /api/v1/segments/${segment_id}/recompute`);

    expect(await told(here)).toEqual([["segment.entered", { segment_id, subscriber_id }]]);
  });

  it.each([
    ["a dynamic", true],
    ["a static", false],
  ])("nobody is told that who is erased left %s segment (CLI-2, SUB-9)", async (_, is_dynamic) => {
    const here = await setting();
    const { id } = await upsert(here, { external_id: "ada", attributes: { plan: "pro" } });
    const rule = { attribute: { plan: { $eq: "pro" } } };
    await api(here, "POST /api/v1/segments", { name: "Pro", rule, is_dynamic });
    await here.world.advance(2 * MINUTE);
    await hook(here, ["segment.left"]);
    await api(here, `DELETE /api/v1/subscribers/${id}`);
    await here.world.advance(5 * MINUTE);

    expect(await told(here)).toEqual([]);
  });
});

it("an endpoint that asks for other events is told nothing of these (CLI-2)", async () => {
  const here = await setting();
  await hook(here, ["subscriber.created"]);
  const { id } = await upsert(here, { external_id: "ada" });
  await api(here, `POST /api/v1/subscribers/${id}/consents`, { channel: "email", status: "opted_out" });

  expect((await told(here)).map(([type]) => type)).toEqual(["subscriber.created"]);
});
