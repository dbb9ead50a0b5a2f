// Why one person got something or did not: one question, one call, the true reason in words (F2).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { reasonText } from "../../shared/rules/reason-words.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { follow, mailsOf, SES } from "../support/mails.ts";
import { quietSetting, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { openChannels } from "../support/reached.ts";
import { makeGates } from "../support/twelve-gates.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

async function setting() {
  const world = await fresh();
  const journeys = await journeySetting(world);
  const { tenant, call } = journeys;
  const { email } = await openChannels(world, tenant, "email");
  const upsert = async (external_id: string, more: object = {}): Promise<string> => {
    const body = { external_id, email: `${external_id}@example.com`, attributes: { plan: "pro" }, ...more };
    return await tenant.upsert(body);
  };
  const send = async (title: string, body: object) => {
    const answer = await call("POST /api/v1/notifications", { title, body: "b", channel_ids: [email], ...body });
    expect(answer.status, `${title}`).toBe(201);
    await world.settle();
  };
  const why = async (person: string, about: object) => {
    const query = new URLSearchParams({ person, ...about });
    return (await call(`GET /api/v1/why?${query}`)).body;
  };
  return { ...journeys, email, upsert, send, why };
}

it("twelve people who fail at twelve gates are each explained in one call, with the true reason (F2)", async () => {
  const { world, tenant, why } = await setting();
  const tiers = { sdk: tenant.sdk, server: tenant.server, local: {} };
  const gates = await makeGates({
    now: () => world.clock.now(),
    call: async (route, body, tier = "dashboard") => {
      const as = tier === "dashboard" ? await tenant.dashboard() : tiers[tier];
      return (await world.call(route, { as, body })).body;
    },
  });
  expect(gates).toHaveLength(12);
  for (const { person, about, name, reason } of gates) {
    const { in_words, about: named } = await why(person, { [about]: name });
    expect(in_words, `${person}`).toEqual(expect.stringContaining(reasonText(reason)));
    expect(named.name).toBe(name);
  }
});

it.each([
  [
    "transient",
    { why: "retry", attempts: 1 },
    /^Not yet: the provider said: 451 .*, tried once, last at .* UTC, and again from .* UTC\.$/,
  ],
  [
    "rate_limited",
    { why: "throttled", attempts: 0 },
    /^Not yet: the provider takes no more messages for the moment, last/,
  ],
])(
  "who waits because the provider was %s is told what was tried, and until when (F2)",
  async (outcome, wait, words) => {
    const { world, upsert, send, why } = await setting();
    const ada = await upsert("ada");
    await world.call("POST /_local/faults", { body: { channel: "email", outcome, times: 20 } });
    const since = timestamp(world.clock.now());
    await send("Waits", { subscriberIds: [ada] });
    const { sends, in_words } = await why("ada", { send: "Waits" });
    expect(sends[0].waits).toEqual([{ channel: "email", device_id: null, ...wait, since, until: expect.any(String) }]);
    expect(sends[0].waits[0].until > since).toBe(true);
    expect(in_words).toMatch(words);
    await world.call("DELETE /_local/faults");
    await world.advance(HOUR);
    expect((await why("ada", { send: "Waits" })).sends[0]).toMatchObject({ state: "delivered", waits: [] });
  },
);

/** Ada, and a draft of a campaign to her by mail. */
async function withCampaign(more: object = {}) {
  const here = await setting();
  const { call, email, upsert } = here;
  const ada = await upsert("ada");
  const message = { content: { title: "Hello", body: "b" }, channel_ids: [email], ...more };
  const campaign = { name: "Autumn", target: { type: "all" }, messages: [message] };
  const { id } = (await call("POST /api/v1/campaigns", campaign)).body;
  return { ...here, ada, id };
}

it("who waits for a campaign that was not released is told that it is a draft (F2)", async () => {
  const { ada, why } = await withCampaign();

  expect((await why(ada, { campaign: "Autumn" })).in_words).toContain("is a draft, which was not released");
});

it("who got the message of a campaign is told by which channel (F2)", async () => {
  const { world, call, ada, id, why } = await withCampaign();
  await call(`POST /api/v1/campaigns/${id}/release`);
  await world.settle();

  expect(await why(ada, { campaign: "Autumn" })).toMatchObject({
    subscriber: { id: ada, name: "ada" },
    about: { kind: "campaign", id, name: "Autumn" },
    in_words: "Delivered by Email.",
  });
});

it("who waits for a campaign that was archived is told so (F2)", async () => {
  const { world, call, ada, id, why } = await withCampaign({ scheduled_at: "2026-11-20T14:00:00.000Z" });
  await call(`POST /api/v1/campaigns/${id}/release`);
  await call(`PATCH /api/v1/campaigns/${id}`, { action: "archive" });
  await world.advance(3 * HOUR);

  expect((await why(ada, { campaign: "Autumn" })).in_words).toBe(
    "Not yet: its campaign is archived. To change: Unarchive, on the page of the campaign.",
  );
});

it("who waits for a scheduled send is told when it goes out (F2)", async () => {
  const { upsert, send, why } = await setting();
  const ada = await upsert("ada");
  await send("Later", { subscriberIds: [ada], scheduled_at: "2026-11-20T14:00:00.000Z" });

  expect((await why(ada, { send: "Later" })).in_words).toBe("Not yet: the send goes out on 2026-11-20 14:00 UTC.");
});

it("who opted out by the link of a mail is told so (F2)", async () => {
  const { world, upsert, send, why } = await setting();
  await upsert("ada");
  await send("First", { external_ids: ["ada"] });
  const [sent] = await mailsOf(world, "&order=newest&limit=1");
  const { unsubscribe } = sent!;
  expect((await follow(world, "POST", unsubscribe!)).status).toBe(200);
  await send("Second", { external_ids: ["ada"] });

  expect((await why("ada", { send: "Second" })).in_words).toContain("no consent for this channel (opted out, since ");
});

it("who was a visitor when the event of a journey came is told so (F2)", async () => {
  const { world, tenant, active, upsert, why } = await setting();
  const ada = await upsert("ada");
  await active(graphOf({ end: "exit" }));
  const body = { events: [{ event_name: "signed_up", anonymous_id: "visitor-1" }] };
  await world.call("POST /v1/events", { as: tenant.sdk, body });
  await world.settle();
  const visitor = { anonymous_id: "visitor-1", subscriber_id: ada };
  await world.call("POST /v1/events/identify", { as: tenant.sdk, body: visitor });
  await world.settle();

  expect((await why("ada", { journey: "Welcome" })).in_words).toContain(reasonText("not_identified"));
});

it("an erased person is told as such, by the id that a send had for it and by the own one (F2)", async () => {
  const { world, call, upsert, send, active, why } = await setting();
  await active(graphOf({ end: "exit" }));
  const ada = await upsert("ada");
  await send("Hello", { external_ids: ["ada"] });
  await call(`DELETE /api/v1/subscribers/${ada}`);
  await world.settle();

  for (const one of await Promise.all([why(ada, { send: "Hello" }), why("ada", { journey: "Welcome" })]))
    expect(one).toMatchObject({
      subscriber: { id: ada, name: null },
      in_words: expect.stringMatching(/^This person was erased on /),
      sends: [],
      journey: null,
    });
});

it.each([
  ["person", "nobody", { send: "x" }],
  ["send", "ada", { send: "x" }],
  ["campaign", "ada", { campaign: "x" }],
  ["journey", "ada", { journey: "x" }],
  ["send", "ada", {}],
])("an answer to why names the field %s where %s or %j does not exist (F2, GEN-8)", async (field, person, about) => {
  const { upsert, why } = await setting();
  await upsert("ada");

  expect(Object.keys((await why(person, about)).fields)).toEqual([field]);
});

it("the answer to why is 404 for an id that does not exist (F2)", async () => {
  const { world, call, upsert } = await setting();
  await upsert("ada");

  expect((await call(`GET /api/v1/why?person=ada&journey=${world.ids.uuid()}`)).status).toBe(404);
});

it("who shares an address with somebody who complained is told of the complaint, and when it was (F2, AMB-128)", async () => {
  const { world, call, email: channel, upsert, send, why } = await setting();
  await call(`POST /api/v1/channels/${channel}/credentials/email`, SES);
  await world.settle();
  const email = "complaint@simulator.amazonses.com";
  const [ada, bob] = [await upsert("ada", { email }), await upsert("bob", { email: email.toUpperCase() })];
  await send("First", { subscriberIds: [ada] });
  await world.advance(MINUTE);
  await send("Second", { subscriberIds: [bob] });
  const day = timestamp(world.clock.now()).slice(0, 10);

  expect((await why("ada", { send: "First" })).in_words).toBe("Delivered by Email. The recipient reported it as spam.");
  expect((await why("bob", { send: "Second" })).in_words).toContain(
    `Not sent: the address is suppressed (its owner reported a mail as spam, on ${day}`,
  );
});

it("who is past a cap is told which one (F2, F16)", async () => {
  const { call, upsert, send, why } = await setting();
  await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "day" }] });
  const ada = await upsert("ada");
  await send("One", { subscriberIds: [ada] });
  await send("Two", { subscriberIds: [ada] });

  expect((await why("ada", { send: "Two" })).in_words).toBe(
    "Not sent: the frequency cap is reached (1 of 1 marketing messages a day). To change: Settings, Workspace, Frequency caps.",
  );
});

it("who was past a cap is told that one, also when another is reached since (F2, F16)", async () => {
  const { world, call, upsert, send, why } = await setting();
  const weekly = { category: "marketing", max: 2, per: "week" };
  await call("PATCH /api/v1/workspace", { frequency_caps: [weekly, { ...weekly, max: 1, per: "day" }] });
  const ada = await upsert("ada");
  for (const name of ["One", "Two"]) await send(name, { subscriberIds: [ada] });
  await world.advance(DAY);
  await send("Three", { subscriberIds: [ada] });

  expect((await why("ada", { send: "Three" })).in_words).toContain("Delivered");
  expect((await why("ada", { send: "Two" })).in_words).toContain("(1 of 1 marketing messages a day)");
});

it.each([
  ["an opt-out", "consent: opted out"],
  ["a suppression", "by an operator"],
])("who was skipped because of %s that was taken back since is told of it (F2)", async (what, words) => {
  const { world, call, person, push, ids } = await quietSetting(withTenant, { channels: ["email"] });
  const address = "ben@example.com";
  const ben = await person("ben", "Asia/Tokyo", { email: address });
  const consent = (status: string) => call(`POST /api/v1/subscribers/${ben}/consents`, { channel: "email", status });
  const { job } = await push({ channel_ids: [ids.email] });
  if (what === "an opt-out") await consent("opted_out");
  else await call("POST /api/v1/suppressions", { address });
  await world.advance(TOKYO_MORNING + HOUR);
  if (what === "an opt-out") await consent("opted_in");
  else {
    const [{ id }] = (await call("GET /api/v1/suppressions")).body.items;
    await call(`DELETE /api/v1/suppressions/${id}?reason=Works`);
  }

  expect((await call(`GET /api/v1/why?person=ben&send=${job.id}`)).body.in_words).toContain(`(${words})`);
});

/** A message to Ada, which is blank for her, and to Bob. */
async function blankForAda() {
  const here = await setting();
  const { channel, upsert, send } = here;
  await upsert("ada");
  await upsert("bob", { attributes: { nothing: "Something" } });
  const blank = "{{ subscriber.nothing }}";
  await send(blank, { external_ids: ["ada", "bob"], channel_ids: [channel], body: blank, name: "Both" });
  return here;
}

it("a person for whom a message is blank is told so, and the others get it (AMB-139, F2)", async () => {
  const { why } = await blankForAda();

  expect((await why("ada", { send: "Both" })).in_words).toBe(
    "Not sent: its text is blank for this person, or cannot be made. " +
      "To change: the content of the send, or Attributes on the page of the person.",
  );
  expect((await why("bob", { send: "Both" })).in_words).toBe("Delivered by In-app.");
});

it("a person for whom a message is blank has failed in the list of recipients (AMB-139)", async () => {
  const { call } = await blankForAda();
  const [{ id }] = (await call("GET /api/v1/notifications?q=Both")).body.items;

  const { items } = (await call(`GET /api/v1/notifications/${id}/recipients?state=failed`)).body;
  expect(items).toMatchObject([{ external_id: "ada", state: "failed", reason: "template_error", channel: "in_app" }]);
});

it("a campaign of later is said to be scheduled (F2)", async () => {
  const { world, call, channel, upsert, why } = await setting();
  await upsert("ada");
  const campaign = (
    await call("POST /api/v1/campaigns", {
      name: "Later",
      channel_ids: [channel],
      content: { title: "T", body: "b" },
      scheduled_at: timestamp(world.clock.now() + HOUR),
    })
  ).body;
  await call(`POST /api/v1/campaigns/${campaign.id}/release`);
  await world.settle();

  expect((await why("ada", { campaign: "Later" })).in_words).toMatch(/^Not yet: the send goes out on /);
});
