// One message, said to each channel in its own way (CHC): sends, variants, templates, campaigns and journeys.
import { describe, expect, it } from "vitest";
import type { UploadPath } from "../support/channels.ts";
import { by_channel, CONTENT, SHOP, withChannels } from "../support/content.ts";
import { graphOf } from "../support/journeys.ts";
import { inboxOf } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = (...paths: UploadPath[]) => withChannels(withTenant, ...paths);

describe("channels", () => {
  it("a send shows its content for each channel as it was given (CHC-1)", async () => {
    const { say } = await setting();

    const { job } = await say(CONTENT);

    expect(job).toMatchObject({ title: "T", body: "B", content: CONTENT });
  });

  it("a push to an iPhone has its text, picture, link, buttons, sound, badge and lifetime as APNs wants them (CHC-3)", async () => {
    const { world, say, given } = await setting("ios-push");

    await say(CONTENT);

    const { payload, headers } = await given("ios");
    expect(payload).toMatchObject({
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
    const inAnHour = String(Math.floor(world.clock.now() / 1_000) + 3_600);
    expect(headers).toMatchObject({ "apns-collapse-id": "sale", "apns-expiration": inAnHour });
  });

  it("a push to an Android phone has the same as FCM wants it (CHC-3)", async () => {
    const { say, given } = await setting("android-push");

    await say(CONTENT);

    const { payload } = await given("android");
    expect(payload).toMatchObject({
      notification: { title: "Push for Ada", body: "B", image: `${SHOP}/ada.png` },
      android: {
        collapse_key: "sale",
        ttl: "3600s",
        notification: { tag: "sale", sound: "chime.caf", notification_count: 3 },
      },
      data: { url: "myapp://sale" },
    });
    expect(JSON.parse(payload.data.buttons)).toHaveLength(2);
  });

  it("a push to a browser has its own text, picture, buttons and lifetime (CHC-3)", async () => {
    const { say, given } = await setting("vapid");

    await say(CONTENT);

    const { payload, headers } = await given("web_push");
    expect(payload).toMatchObject({
      title: "T",
      body: "Browser",
      image: `${SHOP}/w.png`,
      actions: [{ action: "open", title: "Open" }],
      data: { buttons: [{ id: "open", url: SHOP }] },
    });
    expect(headers.ttl).toBe("60");
  });

  it("a mail has its subject, its preheader before the text, and its links, also in plain text (CHC-4)", async () => {
    const { tenant, say, given, mail } = await setting("email");

    await say(CONTENT);

    const { html, text, headers, clicks } = await mail();
    expect((await given("email")).title).toBe("Mail for Ada");
    expect(html).toMatch(/^<div style="display:none[^>]*>Until &lt;Sunday&gt;/);
    expect(text.split("\n")[0]).toBe(`Go (${SHOP}/m)`);
    expect(clicks).toHaveLength(1);
    expect(headers["List-Id"]).toBe(`<marketing.${tenant.id}.example.com>`);
  });

  it("an SMS has its own body and no title (CHC-1)", async () => {
    const { say, given } = await setting("sms");

    await say(CONTENT);

    expect(await given("sms")).toMatchObject({ title: null, body: "SMS for Ada" });
  });

  it("a message of the inbox has its own title and actions, and the body of all (CHC-1)", async () => {
    const { world, tenant, ada, say } = await setting();

    await say(CONTENT);

    const [{ content }] = await inboxOf(world, tenant, ada);
    expect(content).toEqual({ title: "Inbox", body: "B", actions: by_channel.in_app.actions });
  });

  it("HTML reaches neither SMS nor push, whatever it begins with; a lesser-than sign does (CHC-2)", async () => {
    const { say, given } = await setting("ios-push", "android-push", "sms");
    const body =
      "Hello <i>{{ subscriber.first_name }}</i>,<br>see <a href='x'>this</a>: 1 < 2<br><ul><li>one</li><li>two</li></ul>";
    const plain = "Hello Ada,\nsee this: 1 < 2\none\ntwo";

    await say({ title: "5 < 6, <b>Ada</b>", body });

    expect(await given("ios")).toMatchObject({ title: "5 < 6, Ada", body: plain });
    expect(await given("android")).toMatchObject({ title: "5 < 6, Ada", body: plain });
    const sms = await given("sms");
    expect(sms.payload.text ?? sms.body).toContain(plain);
  });

  it("words between a lesser-than and a greater-than sign are no tag (CHC-2)", async () => {
    const { say, given } = await setting("ios-push");
    const body = "x <b and c> y: <i am back>, <p class='x'>but</p> <a href=x>this</a> <br/><img src=x alt> is";

    await say({ title: "a <b and c> d", body });

    const plain = "x <b and c> y: <i am back>, but\n this \n is";
    expect(await given("ios")).toMatchObject({ title: "a <b and c> d", body: plain });
  });

  it("paragraphs and entities of HTML become plain text in a push (CHC-2)", async () => {
    const { say, given } = await setting("vapid");
    const body = "<p>Tom &amp; {{ subscriber.first_name }}</p><p>Two</p>";

    await say({ title: "T", body: "B", by_channel: { web_push: { body } } });

    expect((await given("web_push")).body).toBe("Tom & Ada\n\nTwo");
  });
});

describe("carriers", () => {
  it("arm B overrides the fields that it names, and has the others of arm A (CHC-1)", async () => {
    const { world, say, given, mail } = await setting("ios-push", "email");
    const ofB = { email: { subject: "Subject B" }, push: { body: "Push B" } };
    const variant_b = { title: "B", body: "B", by_channel: ofB };

    // Nearly every send is in arm B.
    for (let n = 0; n < 20; n++) {
      await world.call("DELETE /_local/outbox");
      await say(CONTENT, { variant_b, split_percentage: 1 });
      if ((await given("email")).title === "Subject B") break;
    }

    expect((await given("email")).title).toBe("Subject B");
    expect((await mail()).text).toContain(`Go (${SHOP}/m)`);
    const { aps } = (await given("ios")).payload;
    expect(aps).toMatchObject({ alert: { title: "Push for Ada", body: "Push B" }, badge: 3 });
  });

  it("a template carries its content for each channel into a send (CHC-1)", async () => {
    const { call, say, given } = await setting("email", "sms");
    const content = { ...CONTENT, by_channel: { email: by_channel.email, sms: { body: "By {{ event.by }}" } } };
    const template = (await call("POST /api/v1/templates", { name: "one", content })).body;

    await say({}, { content: undefined, template_id: template.id });

    expect(template.content).toEqual(content);
    expect((await given("email")).title).toBe("Mail for Ada");
    expect((await given("sms")).body).toBe("By ");
  });

  it("an empty object clears what a template says to each channel (CHC-1)", async () => {
    const { call } = await setting();
    const { id } = (await call("POST /api/v1/templates", { name: "one", content: CONTENT })).body;

    const { body } = await call(`PATCH /api/v1/templates/${id}`, { content: { by_channel: {} } });

    expect(body.content).toEqual({ title: "T", body: "B" });
  });

  it("a click in a mail leads to the address that its own HTML names (CHC-1)", async () => {
    const { world, say, mail } = await setting("email");
    await say(CONTENT);
    await world.advance(10_000);

    const [click] = (await mail()).clicks;

    expect((await world.call(`GET ${click}`)).headers.location).toBe(`${SHOP}/m`);
  });

  it("a campaign carries its content for each channel into its sends (CHC-1)", async () => {
    const { world, call, ids, given } = await setting("email");
    const messages = [{ content: CONTENT, channel_ids: [ids.email] }];
    const campaign = (await call("POST /api/v1/campaigns", { name: "c", messages })).body;

    await call(`POST /api/v1/campaigns/${campaign.id}/release`);
    await world.settle();

    expect(campaign.messages[0].content).toEqual(CONTENT);
    expect((await given("email")).title).toBe("Mail for Ada");
  });

  it("a journey carries its content for each channel into its sends, with the event that began it (CHC-1)", async () => {
    const { world, tenant, call, ids, ada, given } = await setting("sms");
    const content = { title: "T", body: "B", by_channel: { sms: { body: "By {{ event.by }}" } } };
    const steps = graphOf({ hi: { send: { channel_ids: [ids.sms], content } } });
    const trigger = { type: "event", event_name: "paid" };
    const { id } = (await call("POST /api/v1/journeys", { name: "j", trigger, steps })).body;
    await call(`POST /api/v1/journeys/${id}/activate`);

    const event = { subscriber_id: ada, event_name: "paid", properties: { by: "card" } };
    await world.call("POST /v1/events", { as: tenant.sdk, body: event });
    await world.settle();

    expect((await given("sms")).body).toBe("By card");
  });

  it("the design of a mail is stored as it is, because it is no template (CHC-1)", async () => {
    const { call } = await setting();
    const email = { html: "<p>Made of blocks</p>", design: '{"blocks":[{"text":"{{ not | closed"}]}' };
    const content = { title: "T", body: "B", by_channel: { email } };

    const { status, body } = await call("POST /api/v1/templates", { name: "Designed", content });

    expect(status).toBe(201);
    expect((await call(`GET /api/v1/templates/${body.id}`)).body.content).toEqual(content);
  });

  it("the design of a mail is not sent (CHC-1)", async () => {
    const { say, mail } = await setting("email");
    const email = { html: "<p>Made of blocks</p>", design: "the blocks" };

    await say({ title: "T", body: "B", by_channel: { email } });

    const { html } = await mail();
    expect(html).toContain("Made of blocks");
    expect(html).not.toContain("the blocks");
  });
});
