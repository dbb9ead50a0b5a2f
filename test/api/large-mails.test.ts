// Mails of more than 100 KB: they lie in S3 by their hash, and are shown and sent whole (CHC-1, docs/decisions/0104).
import { describe, expect, it } from "vitest";
import { named } from "../../shared/store/sends/content/apart.ts";
import { NOBODY } from "../../shared/store/sends/content/arms.ts";
import { rendererOf } from "../../shared/store/sends/content/texts.ts";
import { withChannels } from "../support/content.ts";
import { graphOf } from "../support/journeys.ts";
import { contentOf, htmlOf, large, mailsIn } from "../support/large-mails.ts";
import { addPeople } from "../support/people.ts";
import { deletedLongAgo, wake } from "../support/purge.ts";
import { outboxOf } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function freshTenant() {
  const world = await fresh();
  return { world, tenant: await world.tenant() };
}

describe("a template with a mail of 190 KB", () => {
  const stored = async () => {
    const { world, tenant } = await freshTenant();
    const { call } = tenant;
    const created = await call("POST /api/v1/templates", { name: "Spring", content: large });
    return { world, tenant, call, created, path: `GET /api/v1/templates/${created.body.id}` };
  };

  it("is shown whole by itself, and without its HTML and design in the list, which says so (TPL-4)", async () => {
    const { call, created, path } = await stored();

    const { body: alone } = await call(path);
    const [listed] = (await call("GET /api/v1/templates")).body.data;

    expect(created.body.content).toEqual(large);
    expect(alone.content).toEqual(large);
    expect(listed.content).toEqual({
      ...contentOf({ subject: "Spring" }),
      left_out: ["by_channel.email.html", "by_channel.email.design"],
    });
  });

  it("is changed, and what is not replaced of it stays (TPL-6)", async () => {
    const { call, created, path } = await stored();

    const { body } = await call(`PATCH /api/v1/templates/${created.body.id}`, { content: { title: "May" } });

    expect(body.content).toEqual({ ...large, title: "May" });
    expect((await call(path)).body.content).toEqual({ ...large, title: "May" });
  });

  it("is refused as a list shows it, so that its HTML stays (TPL-6)", async () => {
    const { call, created, path } = await stored();
    const [listed] = (await call("GET /api/v1/templates")).body.data;

    const { status } = await call(`PATCH /api/v1/templates/${created.body.id}`, listed);

    expect([status, (await call(path)).body.content]).toEqual([422, large]);
  });

  it("is one object, also where two templates say it (CHC-1)", async () => {
    const { world, call } = await stored();
    await call("POST /api/v1/templates", { name: "May", content: { ...large, title: "May" } });

    expect(await mailsIn(world)).toHaveLength(1);
  });

  it("is not stored where S3 fails, and the answer is a 503 (CHC-1)", async () => {
    const { world, tenant } = await freshTenant();
    const create = () => tenant.call("POST /api/v1/templates", { name: "Spring", content: large });
    await world.call("POST /_local/faults", { body: { channel: "aws:s3", times: 9 } });

    expect(await create()).toMatchObject({ status: 503, body: { code: "SERVICE_UNAVAILABLE" } });
    expect((await tenant.call("GET /api/v1/templates")).body.total).toBe(0);
    await world.call("DELETE /_local/faults");
    expect((await create()).status).toBe(201);
  });
});

it("a large mail that was not read is an error of what renders it, and no mail without HTML (CHC-1)", () => {
  const unread = named({ ...large, variant_b: null, data: null });

  expect(() => rendererOf(unread, 0, undefined).renderScope(undefined, NOBODY, "email")).toThrow("was not read");
});

describe("a mail of 190 KB", () => {
  const setting = async () => {
    const world = await fresh();
    const found = await withChannels(async () => ({ world, tenant: await world.tenant() }), "email");
    const received = async () => (await found.mail()).html;
    return { ...found, received };
  };
  const whole = large.by_channel.email as { html: string };
  const arrived = whole.html.replace("{{ subscriber.first_name }}", "Ada").replaceAll("\n", "");
  const seen = (html = "") => [html.replaceAll(/\r?\n/g, "").includes(arrived.slice(0, 40)), html.includes(`xxxxxEND`)];

  it("of a one-off send arrives whole, and is shown whole (CHC-1, CHC-4)", async () => {
    const { say, received } = await setting();

    const { job } = await say(large);

    expect(seen(await received())).toEqual([true, true]);
    expect(job.content).toEqual(large);
  });

  it("of each arm is shown whole, and only the HTML of the arm is sent (CHC-1)", async () => {
    const { say, received } = await setting();
    const other = { ...large, by_channel: { email: { html: htmlOf(150_000, "OTHER") } } };

    const { job } = await say(large, { variant_b: other, split_percentage: 1 });

    expect([job.content, job.variant_b]).toEqual([large, other]);
    const html = String(await received());
    expect([html.includes("xxxxxEND"), html.includes("xxxxxOTHER")].filter(Boolean)).toHaveLength(1);
  });

  it("is read once by a function that sends it to many (CHC-1)", async () => {
    const reads = requests({ of: "deliver", service: "s3", operation: "GetObject" });
    const world = await fresh({ hooks: reads.hooks });
    const { call, everyChannel } = await withChannels(async () => ({ world, tenant: await world.tenant() }), "email");
    const { id } = (await call("POST /api/v1/templates", { name: "Spring", content: large })).body;
    const { subscriberIds: _, ...rest } = everyChannel;

    for (const n of [1, 2])
      await call("POST /api/v1/notifications", { ...rest, target: { type: "all" }, template_id: id, name: `${n}` });
    await world.settle();

    expect(await outboxOf(world, "?channel=email")).toHaveLength(2);
    expect(reads.seen()).toBe(1);
  });

  it("of a template arrives whole, from a send and from a test (CHC-1, RDA-9)", async () => {
    const { world, call, everyChannel, received, ids } = await setting();
    const { id } = (await call("POST /api/v1/templates", { name: "Spring", content: large })).body;

    await call("POST /api/v1/notifications", { ...everyChannel, template_id: id });
    await world.settle();
    expect(seen(await received())).toEqual([true, true]);

    const before = (await outboxOf(world, "?channel=email")).length;
    await call("POST /api/v1/notifications/test", { template_id: id, channel_ids: [ids.email], to: ["me"] });
    expect(await outboxOf(world, "?channel=email")).toHaveLength(before + 1);
    expect((await received())?.includes("xxxxxEND")).toBe(true);
  });

  it("of a campaign arrives whole by the draw of its preview, and is shown whole by itself (CHC-1, AMB-140)", async () => {
    const { world, call, ids, received } = await setting();
    const message = { content: large, channel_ids: [ids.email] };
    const { body: draft } = await call("POST /api/v1/campaigns", { name: "Spring", ...message });
    const target = { type: "all" };
    const { preview_id } = (await call("POST /api/v1/notifications/preview", { ...message, target })).body;

    const released = await call(`POST /api/v1/campaigns/${draft.id}/release`, { preview_id });
    await world.settle();

    expect([released.status, released.body.messages[0].content]).toEqual([200, large]);
    expect((await call(`GET /api/v1/campaigns/${draft.id}`)).body.content).toEqual(large);
    expect((await call("GET /api/v1/campaigns")).body.items[0].content.left_out).toHaveLength(2);
    expect(seen(await received())).toEqual([true, true]);
    expect(await mailsIn(world)).toHaveLength(1);
  });

  it("arrives once where the row could not be written after its object, and the send is repeated (CHC-1)", async () => {
    const { world, call, everyChannel, received } = await setting();
    const send = () =>
      call("POST /api/v1/notifications", { ...everyChannel, content: large, idempotency_key: "spring" });
    await world.call("POST /_local/faults", {
      body: { channel: "aws:dynamodb", operation: "TransactWriteItems", times: 9 },
    });

    expect((await send()).status).toBe(503);
    expect([await mailsIn(world), (await call("GET /api/v1/notifications")).body.items]).toEqual([
      [expect.any(String)],
      [],
    ]);

    await world.call("DELETE /_local/faults");
    expect((await send()).status).toBe(201);
    await world.settle();
    expect(seen(await received())).toEqual([true, true]);
    expect(await mailsIn(world)).toHaveLength(1);
  });

  it("is explained to who asks why somebody got it as it was sent (CHC-1, RDA-4)", async () => {
    const { call, say, ada } = await setting();
    const { job } = await say(large);

    const { body } = await call(`GET /api/v1/notifications/${job.id}/recipients/${ada}`);

    const mail = body.messages.find(({ channel }: { channel: string }) => channel === "email");
    expect([mail.attributes_changed, mail.html.includes("xxxxxEND")]).toEqual([false, true]);
  });

  it("goes with its workspace (CHC-1, D-TENANT)", async () => {
    const { world, tenant } = await freshTenant();
    const neighbour = await world.tenant();
    const template = { name: "Spring", content: large };
    for (const one of [tenant, neighbour]) await one.call("POST /api/v1/templates", template);
    expect(await mailsIn(world)).toHaveLength(2);
    await deletedLongAgo(world, tenant);

    await wake(world, tenant);

    expect(await mailsIn(world)).toEqual([expect.stringContaining(neighbour.id)]);
  });

  it("of a journey's template has the event that began the run (CHC-1, D-LIQUID)", async () => {
    const { world, tenant, call, ids, ada, received } = await setting();
    const html = `<p>By {{ event.by }}</p>${whole.html}`;
    const template = { name: "Spring", content: contentOf({ html }) };
    const { id: template_id } = (await call("POST /api/v1/templates", template)).body;
    const steps = graphOf({ hi: { send: { channel_ids: [ids.email], template_id } } });
    const trigger = { type: "event", event_name: "paid" };
    const { id } = (await call("POST /api/v1/journeys", { name: "j", trigger, steps })).body;
    await call(`POST /api/v1/journeys/${id}/activate`);

    const event = { subscriber_id: ada, event_name: "paid", properties: { by: "card" } };
    await world.call("POST /v1/events", { as: tenant.sdk, body: event });
    await world.settle();

    expect(String(await received())).toContain("By card");
  });

  it("is rendered by a preview for as many people as a request has time for (CHC-1, RDA-8)", async () => {
    const { world, tenant, call, ids } = await setting();
    await addPeople(world, tenant, 60, (n) => ({ email: `p${n}@example.com` }));
    const preview = async (content: object) => {
      const asked = { content, target: { type: "all" }, channel_ids: [ids.email] };
      return (await call("POST /api/v1/notifications/preview", asked)).body;
    };

    const [long, short] = [await preview(large), await preview(contentOf({ html: htmlOf(5_000) }))];

    expect([long, short].map(({ counts, rendered }) => [counts.sent, rendered.recipients])).toEqual([
      [60, 45],
      [60, 60],
    ]);
  });

  it("is read again where S3 fails while it is sent (CHC-1)", async () => {
    const { world, call, everyChannel, received } = await setting();
    const { id } = (await call("POST /api/v1/templates", { name: "Spring", content: large })).body;
    await world.call("POST /_local/faults", { body: { channel: "aws:s3", times: 9 } });

    await call("POST /api/v1/notifications", { ...everyChannel, template_id: id });
    await world.advance(60 * 60_000);

    expect(seen(await received())).toEqual([true, true]);
    expect(await outboxOf(world, "?channel=email")).toHaveLength(1);
  });
});
