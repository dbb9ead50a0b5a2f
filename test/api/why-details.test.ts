// What an answer to "why" says beside the reason: since when it holds, what set it, and where that is changed.
import { expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { attribute } from "../support/journeys.ts";
import { addPhone, openChannels, spoil } from "../support/reached.ts";
import { DAWN, whySetting } from "../support/why.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const setting = async () => whySetting(await fresh());

it("who opted out is told since when, and where that is changed (F2)", async () => {
  const { world, upsert, send, words } = await setting();
  await upsert("ada", { consent: { status: "opted_out" } });
  await world.advance(HOUR);
  await send("News", { external_ids: ["ada"] });

  expect(await words("ada", { send: "News" })).toBe(
    `Not sent: no consent for this channel (opted out, since ${DAWN}). To change: Channels on the page of the person.`,
  );
});

it("what was said only after a send is not given as its reason (F2)", async () => {
  const { world, upsert, send, words } = await setting();
  const said = (status: string) => upsert("ada", { consent: { status } });
  await said("opted_out");
  await send("News", { external_ids: ["ada"] });
  await world.advance(HOUR);
  await said("opted_in");
  expect(await words("ada", { send: "News" })).toBe("Not sent: no consent for this channel (then; now there is).");

  await world.advance(HOUR);
  await said("opted_out");

  expect(await words("ada", { send: "News" })).toContain("(then; now: opted out, since 2026-11-20 14:00 UTC)");
});

it("who never agreed is told that the workspace asks for it (F2)", async () => {
  const { call, upsert, send, words } = await setting();
  await call("PATCH /api/v1/workspace", { email_consent_mode: "opt_in" });
  await upsert("ada");
  await send("News", { external_ids: ["ada"] });

  expect(await words("ada", { send: "News" })).toContain("(never given, and marketing mail goes only to who opted in)");
});

it.each([
  ["out", undefined, "(news: nobody is in it who did not choose it)"],
  ["in", "opted_out", `(news: opted out, since ${DAWN})`],
])(
  "who is not in a topic that one is %s by default is told which topic, and why (F2)",
  async (byDefault, status, said) => {
    const { call, upsert, send, words } = await setting();
    await call("POST /api/v1/topics", { key: "news", name: "News", default: byDefault });
    const ada = await upsert("ada");
    if (status) await call(`POST /api/v1/subscribers/${ada}/consents`, { channel: "topic:news", status });
    await send("News", { external_ids: ["ada"], topic: "news" });

    expect(await words("ada", { send: "News" })).toContain(said);
  },
);

it("who is in no segment is told which condition is not met (F2)", async () => {
  const { world, call, upsert, send, words } = await setting();
  const age = { attribute: { age: { $gte: 18 } } };
  const paid = { event: { name: "paid", within: "7d", frequency: { min: 2 } } };
  const either = { group: { op: "or", nodes: [attribute("plan", "pro"), paid] } };
  const rule = { group: { op: "and", nodes: [age, either, attribute("city", "Rome")] } };
  const { id } = (await call("POST /api/v1/segments", { name: "Big", is_dynamic: true, rule })).body;
  await world.settle();
  await upsert("ada", { attributes: { age: 9, city: "Rome" } });
  await upsert("bob", { attributes: { age: 19, city: "Rome" } });
  await send("News", { target: { type: "segment", segment_id: id } });
  const outside = (unmet: string) =>
    `Not in the audience: not in the segment (Big; not met now: ${unmet}). To change: the rule of the segment.`;

  const alternatives = "plan is pro or paid at least 2 times within 7 days";
  expect(await words("ada", { send: "News" })).toBe(outside(`age is at least 18 and (${alternatives})`));
  expect(await words("bob", { send: "News" })).toBe(outside(`(${alternatives})`));
});

it("who is outside a static segment is told that its members are of the last computation (F2)", async () => {
  const { world, call, upsert, send, words } = await setting();
  const { id } = (await call("POST /api/v1/segments", { name: "Big", rule: attribute("plan", "pro") })).body;
  await world.settle();
  await upsert("ada", { attributes: { plan: "pro" } });
  await send("News", { target: { type: "segment", segment_id: id } });

  expect(await words("ada", { send: "News" })).toContain(
    "(Big; static, so its members are those of its last computation)",
  );
});

it("who has neither device nor address is told both (F2)", async () => {
  const { world, tenant, email, upsert, send, words } = await setting();
  const { web_push } = await openChannels(world, tenant, "vapid");
  await upsert("ada", { email: undefined });
  await send("News", { external_ids: ["ada"], channel_ids: [web_push, email] });

  expect(await words("ada", { send: "News" })).toBe(
    "Not sent: no device that can receive it (none is registered; Email: no address for the chosen channels). " +
      "To change: Devices on the page of the person.",
  );
});

it("who has a device only since a send is told so (F2)", async () => {
  const { world, tenant, upsert, send, words } = await setting();
  const { web_push } = await openChannels(world, tenant, "vapid");
  const ada = await upsert("ada");
  await send("News", { external_ids: ["ada"], channel_ids: [web_push] });
  await addPhone(world, tenant, ada, "web");

  expect(await words("ada", { send: "News" })).toBe(
    "Not sent: no device that can receive it (then; now it is not so).",
  );
});

it("whose devices the provider refused is told how many are registered (F2)", async () => {
  const { world, tenant, upsert, send, words } = await setting();
  const { web_push } = await openChannels(world, tenant, "vapid");
  await addPhone(world, tenant, await upsert("ada"), "web");
  await spoil(world, { channel: "web_push", outcome: "invalid_token" });
  await send("News", { external_ids: ["ada"], channel_ids: [web_push] });
  await send("Again", { external_ids: ["ada"], channel_ids: [web_push] });

  expect(await words("ada", { send: "Again" })).toBe(
    "Not sent: no device that can receive it (1 registered, which the provider refused or whose owner disabled pushes). " +
      "To change: Devices on the page of the person.",
  );
});

it("a send that no channel could take names the channel that is switched off (F2)", async () => {
  const { world, call, email, upsert, send, words } = await setting();
  await upsert("ada");
  const scheduled_at = timestamp(world.clock.now() + HOUR);
  await send("News", { external_ids: ["ada"], scheduled_at });
  const { name } = (await call(`PATCH /api/v1/channels/${email}`, { active: false })).body;
  await world.advance(2 * HOUR);

  expect(await words("ada", { send: "News" })).toBe(
    "Not sent: the send failed as a whole (none of the channels of the send is switched on and verified: now " +
      `${name} is switched off).`,
  );
});

it("who waits for the end of quiet hours is told whose hours, and what another channel delivered (F2)", async () => {
  const { call, email, channel, upsert, send, words } = await setting();
  const quiet_hours = { start: "00:00", end: "23:00", timezone_mode: "subscriber" };
  await call("PATCH /api/v1/workspace", { quiet_hours });
  await upsert("ada", { timezone: "Asia/Tokyo" });
  await send("News", { external_ids: ["ada"], channel_ids: [channel, email] });

  expect(await words("ada", { send: "News" })).toBe(
    "Delivered by In-app. Not yet by Email: it waits for the end of quiet hours (00:00 to 23:00, Asia/Tokyo), 2026-11-20 14:00 UTC. To change: Settings, Workspace, Quiet hours.",
  );
});

it("a send that was canceled says when (F2)", async () => {
  const { world, call, upsert, send, words } = await setting();
  await upsert("ada");
  await send("News", { external_ids: ["ada"], scheduled_at: timestamp(world.clock.now() + 3 * HOUR) });
  await world.advance(HOUR);
  const [{ id }] = (await call("GET /api/v1/notifications?q=News")).body.items;
  await call(`POST /api/v1/notifications/${id}/cancel`);

  expect(await words("ada", { send: "News" })).toBe("Not sent: the send was canceled first, on 2026-11-20 13:00 UTC.");
});

it("a message of a paused campaign is said to wait for that (F2)", async () => {
  const { world, call, email, upsert, words } = await setting();
  await upsert("ada");
  const scheduled_at = timestamp(world.clock.now() + 3 * HOUR);
  const message = { content: { title: "Hello", body: "b" }, channel_ids: [email], scheduled_at };
  const campaign = { name: "Autumn", target: { type: "all" }, messages: [message] };
  const { id: autumn } = (await call("POST /api/v1/campaigns", campaign)).body;
  await call(`POST /api/v1/campaigns/${autumn}/release`);
  await call(`PATCH /api/v1/campaigns/${autumn}`, { action: "pause" });
  await world.settle();

  expect(await words("ada", { campaign: "Autumn" })).toBe(
    "Not yet: its campaign is paused. To change: Resume, on the page of the campaign.",
  );
});

it("the words of a provider are said to be its own, with how often it was tried (F2)", async () => {
  const { world, tenant, upsert, send, words } = await setting();
  const { web_push } = await openChannels(world, tenant, "vapid");
  const ada = await upsert("ada");
  await addPhone(world, tenant, ada, "web");
  await spoil(world, { channel: "web_push", outcome: "invalid_token", times: 1 });
  await send("Gone", { external_ids: ["ada"], channel_ids: [web_push] });
  await spoil(world, { channel: "email", outcome: "transient" });
  await send("Busy", { external_ids: ["ada"] });
  await world.advance(2 * DAY);

  expect(await words("ada", { send: "Gone" })).toBe("Not sent: the provider said: 410.");
  expect(await words("ada", { send: "Busy" })).toMatch(
    /^Not sent: the provider said: 451 4\.3\.0 Try again later \(tried \d+ times, last on 2026-11-2\d \d\d:\d\d UTC\)\.$/,
  );
});

it("who waits for the first part of the audience is told so (F2, F21)", async () => {
  const { waiting, words } = await braked();

  expect(await words(await waiting("News"), { send: "News" })).toBe(
    "Not yet: a part of the audience gets it first, the others 30 minutes later.",
  );
});

it("who waits for a send that halted is told what the brake measured (F2, F21)", async () => {
  const { world, waiting, words } = await braked(50);
  await spoil(world, { channel: "email", outcome: "permanent" });
  const held = await waiting("More");
  await world.advance(HOUR);

  expect(await words(held, { send: "More" })).toMatch(
    /^Not yet: the send has halted until it is resumed \(email error rate 100% of \d+, limit 10%\)\. To change: Resume, on the page of the send\.$/,
  );
});

/** Twenty people: a part of them gets a send first. */
async function braked(canary_percent = 20) {
  const { world, call, upsert, send, words } = await setting();
  const safety = { min_audience: 5, canary_percent, canary_wait_minutes: 30, max_error_rate: 0.1 };
  await call("PATCH /api/v1/workspace", { safety });
  for (let n = 0; n < 20; n++) await upsert(`p${n}`);
  /** Sends to all. @returns who waits */
  const waiting = async (title: string): Promise<string> => {
    await send(title, { target: { type: "all" } });
    const [{ id }] = (await call(`GET /api/v1/notifications?q=${title}`)).body.items;
    const { items } = (await call(`GET /api/v1/notifications/${id}/recipients?state=pending`)).body;
    return items[0].external_id;
  };
  return { world, waiting, words };
}

it("who was asked to confirm a list and has not is told so (F2, AMB-129)", async () => {
  const { world, call, upsert, send, words } = await setting();
  const { id } = (await call("POST /api/v1/lists", { name: "Club", double_opt_in: true })).body;
  const ada = await upsert("ada");
  await call(`POST /api/v1/lists/${id}/subscribers`, { subscriber_ids: [ada] });
  await world.settle();
  await send("News", { target: { type: "list", list_id: id } });

  expect(await words("ada", { send: "News" })).toBe(
    `Not in the audience: not in the list (Club; asked to confirm, and has not yet, since ${DAWN}). ` +
      "To change: Lists and segments on the page of the person.",
  );
});

it("who has an address only since a send is told so (F2)", async () => {
  const { upsert, send, words } = await setting();
  await upsert("bob", { email: undefined });
  await send("Hello", { external_ids: ["bob"] });
  await upsert("bob");

  expect(await words("bob", { send: "Hello" })).toBe(
    "Not sent: no address for the chosen channels (then; now it is not so).",
  );
});

it("who was reached by one channel of a send is told why not by the others (F2)", async () => {
  const { call, email, upsert, send, words } = await setting();
  const [inApp] = (await call("GET /api/v1/channels")).body.channels.filter(
    ({ type }: { type: string }) => type === "in_app",
  );
  const channel_ids = [inApp.id, email];
  await upsert("ada", { consent: { status: "opted_out" } });
  await upsert("bob");
  await upsert("eve", { email: null });
  await send("News", { external_ids: ["ada", "bob", "eve"], channel_ids });

  expect(await words("ada", { send: "News" })).toBe(
    "Delivered by In-app. Not by Email (now: no consent for this channel).",
  );
  expect(await words("bob", { send: "News" })).toBe("Delivered by In-app and Email.");
  expect(await words("eve", { send: "News" })).toMatch(/^Delivered by In-app\. Not by Email \(now: no address/);
});
