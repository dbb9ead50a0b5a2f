// One message, said to each channel in its own way (CHC): sends, variants, templates, campaigns and journeys.
import { expect, it } from "vitest";
import { mailOf } from "../support/mails.ts";
import { addPeople, inboxOf, send } from "../support/people.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const SHOP = "https://shop.example.com";

/** One subscriber who is reached by every channel. */
async function setting() {
  const { world, tenant } = await withTenant();
  const paths = ["ios-push", "android-push", "vapid", "email", "sms"] as const;
  const ids = (await openChannels(world, tenant, ...paths)) as Record<string, string>;
  const { call } = tenant;
  const { channels } = (await call("GET /api/v1/channels")).body;
  ids.in_app = channels.find(({ type }: { type: string }) => type === "in_app").id;
  const person = { email: "ada@example.com", attributes: { first_name: "Ada", phone: "+4915112345678" } };
  const [ada] = (await addPeople(world, tenant, 1, () => person)) as [string];
  for (const platform of ["ios", "android", "web"] as const) await addPhone(world, tenant, ada, platform);
  const sent = async () =>
    Object.fromEntries((await outboxOf(world)).map((item) => [item.channel, item])) as Record<
      string,
      // biome-ignore lint/suspicious/noExplicitAny: the request of a provider, as it is
      { title: string; body: string; payload: any; headers: Record<string, string> }
    >;
  const mail = async () => mailOf(String((await sent()).email!.payload));
  return { world, tenant, ids, ada, call, sent, mail, all: { subscriberIds: [ada], channel_ids: Object.values(ids) } };
}

/** For `send`, which adds a title and a body of its own. */
const saying = (content: object) => ({ content, title: undefined, body: undefined });

const by_channel = {
  email: {
    subject: "Mail for {{ subscriber.first_name }}",
    preheader: "Until <Sunday>",
    html: `<p><a href="${SHOP}/m">Go</a></p>`,
  },
  sms: { body: "SMS for {{ subscriber.first_name }}" },
  push: {
    title: "Push for {{ subscriber.first_name }}",
    image_url: `${SHOP}/{{ subscriber.first_name | downcase }}.png`,
    url: "myapp://sale",
    buttons: [
      { id: "yes", title: "Yes, {{ subscriber.first_name }}", url: `${SHOP}/yes` },
      { id: "no", title: "No", url: "myapp://no" },
    ],
    sound: "chime.caf",
    badge: 3,
    collapse_key: "sale",
    ttl_seconds: 3_600,
  },
  web_push: {
    body: "Browser",
    image_url: `${SHOP}/w.png`,
    buttons: [{ id: "open", title: "Open", url: SHOP }],
    ttl_seconds: 60,
  },
  in_app: { title: "Inbox", actions: [{ id: "x", title: "Not now", url: "" }] },
};

it("each channel says its own, as its provider documents it (CHC-1, CHC-3, CHC-4)", async () => {
  const { world, tenant, ada, sent, mail, all } = await setting();
  const { job } = await send(world, tenant, { ...all, ...saying({ title: "T", body: "B", by_channel }) });
  expect(job).toMatchObject({ title: "T", body: "B", content: { title: "T", body: "B", by_channel } });
  const { ios, android, web_push, email, sms } = await sent();
  expect(ios!.payload).toMatchObject({
    aps: {
      alert: { title: "Push for Ada", body: "B" },
      sound: "chime.caf",
      badge: 3,
      category: "yes.no",
      "mutable-content": 1,
    },
    image_url: `${SHOP}/ada.png`,
    url: "myapp://sale",
    buttons: [{ id: "yes", title: "Yes, Ada", url: `${SHOP}/yes` }, { id: "no" }],
  });
  const expiration = String(Math.floor(world.clock.now() / 1_000) + 3_600);
  expect(ios!.headers).toMatchObject({ "apns-collapse-id": "sale", "apns-expiration": expiration });
  expect(android!.payload).toMatchObject({
    notification: { title: "Push for Ada", body: "B", image: `${SHOP}/ada.png` },
    android: {
      collapse_key: "sale",
      ttl: "3600s",
      notification: { tag: "sale", sound: "chime.caf", notification_count: 3 },
    },
    data: { url: "myapp://sale" },
  });
  expect(JSON.parse(android!.payload.data.buttons)).toHaveLength(2);
  expect(web_push!.payload).toMatchObject({
    title: "T",
    body: "Browser",
    image: `${SHOP}/w.png`,
    actions: [{ action: "open", title: "Open" }],
    data: { buttons: [{ id: "open", url: SHOP }] },
  });
  expect(web_push!.headers.ttl).toBe("60");
  expect(email!.title).toBe("Mail for Ada");
  const { html, text, headers, clicks } = await mail();
  expect(html).toMatch(/^<div style="display:none[^>]*>Until &lt;Sunday&gt;/);
  expect([text.split("\n")[0], clicks.length]).toEqual([`Go (${SHOP}/m)`, 1]);
  expect(headers["List-Id"]).toBe(`<marketing.${tenant.id}.example.com>`);
  expect([sms!.title, sms!.body]).toEqual([null, "SMS for Ada"]);
  const [message] = await inboxOf(world, tenant, ada);
  expect(message.content).toEqual({ title: "Inbox", body: "B", actions: by_channel.in_app.actions });
});

it("HTML reaches neither SMS nor push, whatever it begins with; a lesser-than sign does (CHC-2)", async () => {
  const { world, tenant, sent, all } = await setting();
  const content = {
    title: "5 < 6, <b>Ada</b>",
    body: "Hello <i>{{ subscriber.first_name }}</i>,<br>see <a href='x'>this</a>: 1 < 2",
    by_channel: { web_push: { body: "<p>Tom &amp; {{ subscriber.first_name }}</p><p>Two</p>" } },
  };
  await send(world, tenant, { ...all, ...saying(content) });
  const { ios, android, web_push, sms } = await sent();
  expect([ios!.title, ios!.body]).toEqual(["5 < 6, Ada", "Hello Ada,\nsee this: 1 < 2"]);
  expect(android!.body).toBe(ios!.body);
  expect(sms!.payload.text ?? sms!.body).toContain("Hello Ada,\nsee this: 1 < 2");
  expect(web_push!.body).toBe("Tom & Ada\n\nTwo");
});

it("arm B overrides the fields that it names (CHC-1)", async () => {
  const { world, tenant, sent, mail, all } = await setting();
  // Nearly every send is in arm B.
  const variant_b = {
    title: "B",
    body: "B",
    by_channel: { email: { subject: "Subject B" }, push: { body: "Push B" } },
  };
  const message = { ...all, ...saying({ title: "T", body: "B", by_channel }), variant_b, split_percentage: 1 };
  for (let n = 0; n < 20; n++) {
    await world.call("DELETE /_local/outbox");
    await send(world, tenant, message);
    if ((await sent()).email!.title === "Subject B") break;
  }
  const { ios, email } = await sent();
  expect(email!.title).toBe("Subject B");
  expect((await mail()).text).toContain(`Go (${SHOP}/m)`);
  expect(ios!.payload.aps).toMatchObject({ alert: { title: "Push for Ada", body: "Push B" }, badge: 3 });
});

it("templates, campaigns and journeys carry it, and a mail's click leads to what was sent (CHC-1)", async () => {
  const { world, tenant, ids, ada, call, sent, mail, all } = await setting();
  const content = {
    title: "T",
    body: "B",
    by_channel: { email: by_channel.email, sms: { body: "By {{ event.by }}" } },
  };
  const template = (await call("POST /api/v1/templates", { name: "one", content })).body;
  expect(template.content).toEqual(content);
  await send(world, tenant, { ...all, title: undefined, body: undefined, template_id: template.id });
  expect([(await sent()).email!.title, (await sent()).sms!.body]).toEqual(["Mail for Ada", "By "]);
  await world.advance(10_000);
  const [click] = (await mail()).clicks;
  expect((await world.call(`GET ${click}`)).headers.location).toBe(`${SHOP}/m`);
  const cleared = await call(`PATCH /api/v1/templates/${template.id}`, { content: { by_channel: {} } });
  expect(cleared.body.content).toEqual({ title: "T", body: "B" });

  const messages = [{ content, channel_ids: [ids.email] }];
  const campaign = (await call("POST /api/v1/campaigns", { name: "c", messages })).body;
  expect(campaign.messages[0].content).toEqual(content);
  await call(`POST /api/v1/campaigns/${campaign.id}/release`);
  await world.settle();

  const node = { id: "hi", type: "send", send: { channel_ids: [ids.sms], content } };
  const steps = { start: "hi", steps: { hi: node } };
  const trigger = { type: "event", event_name: "paid" };
  const journey = (await call("POST /api/v1/journeys", { name: "j", trigger, steps })).body;
  expect((await call(`POST /api/v1/journeys/${journey.id}/activate`)).status).toBe(200);
  const event = { subscriber_id: ada, event_name: "paid", properties: { by: "card" } };
  await world.call("POST /v1/events", { as: tenant.sdk, body: event });
  await world.settle();
  const bodies = (await outboxOf(world)).map(({ channel, title, body }) => [channel, channel === "sms" ? body : title]);
  expect(bodies.slice(-2)).toEqual([
    ["email", "Mail for Ada"],
    ["sms", "By card"],
  ]);
});

it("a wrong part is named, in sends, templates and journeys (CHC-1)", async () => {
  const { call, ids, ada } = await setting();
  const wrong = {
    email: { html: "{{ broken" },
    sms: { text: "x" },
    push: {
      buttons: [
        { id: "a", title: "A", url: "javascript:alert(1)" },
        { id: "b", title: "B", url: SHOP },
      ],
      ttl_seconds: -1,
    },
    fax: {},
  };
  const content = { title: "T", body: "B", by_channel: wrong };
  const refused = await call("POST /api/v1/notifications", { subscriberIds: [ada], content });
  expect([refused.status, Object.keys(refused.body.fields).sort()]).toEqual([
    422,
    ["content.by_channel.fax", "content.by_channel.push.ttl_seconds", "content.by_channel.sms.text"],
  ]);
  const { email, push } = wrong;
  const by = { email, push: { buttons: push.buttons } };
  const body = { name: "n", content: { ...content, by_channel: by } };
  expect(Object.keys((await call("POST /api/v1/templates", body)).body.fields).sort()).toEqual([
    "content.by_channel.email.html",
    "content.by_channel.push.buttons[0].url",
  ]);
  const both = { subscriberIds: [ada], title: "T", content: { title: "T", body: "B" } };
  expect((await call("POST /api/v1/notifications", both)).body.fields).toHaveProperty("content");
  const node = { id: "hi", type: "send", send: { channel_ids: [ids.sms], content: body.content } };
  const journey = {
    name: "j",
    trigger: { type: "event", event_name: "e" },
    steps: { start: "hi", steps: { hi: node } },
  };
  const { id } = (await call("POST /api/v1/journeys", journey)).body;
  expect((await call(`POST /api/v1/journeys/${id}/activate`)).body.fields).toHaveProperty([
    "steps.steps.hi.send.content.by_channel.email.html",
  ]);
  const chat = { chat_app: { template_id: ids.sms, parameters: [] } };
  const foreign = await call("POST /api/v1/notifications", {
    subscriberIds: [ada],
    content: { ...content, by_channel: chat },
  });
  expect([foreign.status, foreign.body.code]).toEqual([422, "TEMPLATE_NOT_FOUND"]);
});

it("a preview renders each channel for a subscriber, with what to look at (RDA-8, CHC-5)", async () => {
  const { call, ids, ada, all } = await setting();
  const preview = (body: object) => call("POST /api/v1/notifications/preview", body);
  const long = { ...by_channel, sms: { body: "{{ subscriber.city }}ż".repeat(80) }, push: { body: "x".repeat(200) } };
  const shown = (await preview({ ...all, content: { title: "T", body: "B", by_channel: long } })).body;
  expect(shown.rendered_for).toBe(ada);
  const of = (channel: string) => shown.renderings.find((one: { channel: string }) => one.channel === channel);
  expect(of("email")).toMatchObject({ title: "Mail for Ada", warnings: [] });
  expect(of("email").body).toMatch(`Go (${SHOP}/m)\n\n-- \n`);
  expect(of("email").html).toContain(`<a href="${SHOP}/m">`);
  expect(of("sms")).toMatchObject({
    title: null,
    sms: { encoding: "ucs2", characters: 80, segments: 2 },
    unknown_variables: ["subscriber.city"],
  });
  const codes = (channel: string) => of(channel).warnings.map(({ code }: { code: string }) => code);
  expect(codes("sms")).toEqual(["unknown_variables", "sms_unicode", "sms_segments"]);
  expect(codes("ios")).toEqual(["push_truncated"]);
  expect(of("in_app").in_app).toEqual({ actions: by_channel.in_app.actions });

  const bad = { image_url: "{{ data.bad }}", actions: [{ id: "x", title: "X", url: "{{ data.bad }}" }] };
  const unsafe = { title: "T", body: "B", by_channel: { in_app: bad, push: { url: "{{ data.bad }}", badge: 1 } } };
  const cut = (await preview({ ...all, content: unsafe, data: { bad: "javascript:alert(1)" } })).body.renderings;
  const extrasOf = (name: string) => cut.find(({ channel }: { channel: string }) => channel === name);
  expect([extrasOf("in_app").in_app, extrasOf("ios").push]).toEqual([{ actions: [] }, { badge: 1 }]);

  const other = { subscriberIds: [ada], channel_ids: [ids.sms], title: "T", body: "B" };
  const stranger = await preview({ ...other, render_for: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60" });
  expect(stranger.body.fields).toHaveProperty("render_for");
  // Five times 60,000 characters is longer than a text may be.
  const refused = await preview({ ...other, body: "{{ data.long }}".repeat(5), data: { long: "y".repeat(60_000) } });
  const fields = { content: expect.stringContaining("cannot be rendered") };
  expect([refused.status, refused.body.fields]).toEqual([422, fields]);
});

it("the design of a mail is stored and returned as it is: it is no template, and is not sent (CHC-1)", async () => {
  const { world, tenant, call, mail, all } = await setting();
  const email = { html: "<p>Made of blocks</p>", design: '{"blocks":[{"text":"{{ not | closed"}]}' };
  const content = { title: "T", body: "B", by_channel: { email } };
  const made = await call("POST /api/v1/templates", { name: "Designed", content });
  expect(made.status).toBe(201);
  expect((await call(`GET /api/v1/templates/${made.body.id}`)).body.content).toEqual(content);
  await send(world, tenant, { ...all, ...saying(content) });
  const { html } = await mail();
  expect(html).toContain("Made of blocks");
  expect(html).not.toContain("not | closed");
  const long = { ...email, design: "x".repeat(32_769) };
  const refused = await call("POST /api/v1/templates", {
    name: "Long",
    content: { ...content, by_channel: { email: long } },
  });
  expect(Object.keys(refused.body.fields)).toEqual(["content.by_channel.email.design"]);
});
