// What an answer to "why" says beside the reason: since when it holds, what set it, and where that is changed.
import { expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { attribute, branch, graphOf, journeySetting } from "../support/journeys.ts";
import { addPhone, openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const DAWN = "2026-11-20 12:00 UTC";

async function setting() {
  const world = await fresh();
  const journeys = await journeySetting(world);
  const { tenant, call } = journeys;
  const { email } = await openChannels(world, tenant, "email");
  const upsert = (external_id: string, more: object = {}): Promise<string> =>
    tenant.upsert({ external_id, email: `${external_id}@example.com`, ...more });
  const send = async (title: string, body: object) => {
    const answer = await call("POST /api/v1/notifications", { title, body: "b", channel_ids: [email], ...body });
    expect(answer.status, title).toBe(201);
    await world.settle();
  };
  const words = async (person: string, about: object): Promise<string> =>
    (await call(`GET /api/v1/why?${new URLSearchParams({ person, ...about })}`)).body.in_words;
  return { ...journeys, email, upsert, send, words };
}

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

it("the steps of a run are told in the order of the journey, with the time of what began and ended it (AMB-147)", async () => {
  const { world, email, active, track, upsert, words } = await setting();
  await active(
    graphOf({
      wait: { wait_for_event: { event_name: "paid", within: "1h", on_event: "end", on_timeout: "mail" } },
      mail: { send: { channel_ids: [email], content: { title: "Hi", body: "b" }, next: "end" } },
      end: "exit",
    }),
  );
  await upsert("ada", { consent: { status: "opted_out" } });
  await world.advance(3 * HOUR);
  await track("ada", "signed_up", { occurred_at: timestamp(world.clock.now() - 2 * HOUR) });

  expect(await words("ada", { journey: "Welcome" })).toBe(
    "Entered on 2026-11-20 15:00 UTC, by what occurred on 2026-11-20 13:00 UTC; it was completed on 2026-11-20 14:00 UTC (exit). " +
      "wait: paid did not come in time. " +
      `mail: skipped, no consent for this channel (opted out, since ${DAWN}). To change: Channels on the page of the person.`,
  );
});

it("who was never in a journey is told what begins it, and which rule is not met (AMB-147)", async () => {
  const { world, call, active, upsert, words } = await setting();
  const rule = attribute("plan", "pro");
  const { id } = (await call("POST /api/v1/segments", { name: "Pros", is_dynamic: true, rule })).body;
  await world.settle();
  const end = graphOf({ end: "exit" });
  await active(end, { name: "Event", entry_rules: { eligibility: rule } });
  await active(end, { name: "Segment", trigger: { type: "segment_entered", segment_id: id } });
  await upsert("ada", { attributes: { plan: "free" } });
  await world.settle();

  expect(await words("ada", { journey: "Event" })).toBe(
    "No run: in 90 days nothing happened that starts this journey (the event signed_up). A trigger would start none now: " +
      "not eligible by the rules of entry (not met: plan is pro). To change: the rules of entry of the journey.",
  );
  expect(await words("ada", { journey: "Segment" })).toContain(
    "(entering the segment Pros, of whose rule is not met now: plan is pro).",
  );
});

it("an event that was too old is told when it occurred (AMB-134, AMB-147)", async () => {
  const { world, active, track, upsert, words } = await setting();
  await active(graphOf({ check: branch(attribute("plan", "pro"), "end"), end: "exit" }));
  await upsert("ada");
  await track("ada", "signed_up", { occurred_at: timestamp(world.clock.now() - 4 * DAY) });

  expect(await words("ada", { journey: "Welcome" })).toContain(
    "the event was too old at its receipt (it occurred on 2026-11-16 12:00 UTC).",
  );
});

it("a send that was canceled says when, and one of a paused campaign that it is paused (F2)", async () => {
  const { world, call, email, upsert, send, words } = await setting();
  await upsert("ada");
  const scheduled_at = timestamp(world.clock.now() + 3 * HOUR);
  await send("News", { external_ids: ["ada"], scheduled_at });
  await world.advance(HOUR);
  const [{ id }] = (await call("GET /api/v1/notifications?q=News")).body.items;
  await call(`POST /api/v1/notifications/${id}/cancel`);
  const message = { content: { title: "Hello", body: "b" }, channel_ids: [email], scheduled_at };
  const campaign = { name: "Autumn", target: { type: "all" }, messages: [message] };
  const { id: autumn } = (await call("POST /api/v1/campaigns", campaign)).body;
  await call(`POST /api/v1/campaigns/${autumn}/release`);
  await call(`PATCH /api/v1/campaigns/${autumn}`, { action: "pause" });
  await world.settle();

  expect(await words("ada", { send: "News" })).toBe("Not sent: the send was canceled first, on 2026-11-20 13:00 UTC.");
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

it("who waits for the first part of the audience is told so, and what the brake measured (F2, F21)", async () => {
  const { world, call, upsert, send, words } = await setting();
  const safety = { min_audience: 5, canary_percent: 20, canary_wait_minutes: 30, max_error_rate: 0.1 };
  await call("PATCH /api/v1/workspace", { safety });
  for (let n = 0; n < 20; n++) await upsert(`p${n}`);
  await send("News", { target: { type: "all" } });
  const [{ id }] = (await call("GET /api/v1/notifications?q=News")).body.items;
  const pendingOf = async (job: string) =>
    (await call(`GET /api/v1/notifications/${job}/recipients?state=pending`)).body.items;
  const [{ external_id: other }] = await pendingOf(id);
  expect(await words(other, { send: "News" })).toBe(
    "Not yet: a part of the audience gets it first, the others 30 minutes later.",
  );
  await call("PATCH /api/v1/workspace", { safety: { ...safety, canary_percent: 50 } });
  await spoil(world, { channel: "email", outcome: "permanent" });
  await send("More", { target: { type: "all" } });
  await world.advance(HOUR);
  const [more] = (await call("GET /api/v1/notifications?q=More")).body.items;
  const [{ external_id: held }] = await pendingOf(more.id);

  expect(await words(held, { send: "More" })).toMatch(
    /^Not yet: the send has halted until it is resumed \(email error rate 100 % of \d+, limit 10 %\)\. To change: Resume, on the page of the send\.$/,
  );
});

it("a run of a paused journey is said to wait for that, and a failed step names the channel that is off (AMB-147)", async () => {
  const { world, call, email, active, track, upsert, words } = await setting();
  const mail = { send: { channel_ids: [email], content: { title: "Hi", body: "b" }, next: "end" } };
  const id = await active(graphOf({ rest: { delay: { duration: "1h", next: "mail" } }, mail, end: "exit" }));
  await upsert("ada");
  await track("ada", "signed_up");
  await call(`POST /api/v1/journeys/${id}/pause`);
  await world.advance(3 * HOUR);
  expect(await words("ada", { journey: "Welcome" })).toContain(
    "The journey is paused: the run goes on once it is resumed. To change: Activate, on the page of the journey. Next: mail.",
  );
  await call(`PATCH /api/v1/channels/${email}`, { active: false });
  await call(`POST /api/v1/journeys/${id}/activate`);
  await world.advance(3 * HOUR);

  expect(await words("ada", { journey: "Welcome" })).toMatch(
    /mail: failed, its template is gone, or none of its channels can be used \(now .* is switched off\)\./,
  );
});

it("who was asked to confirm a list and has not is told so, and who has an address only since is told that (F2, AMB-129)", async () => {
  const { world, call, upsert, send, words } = await setting();
  const { id } = (await call("POST /api/v1/lists", { name: "Club", double_opt_in: true })).body;
  const ada = await upsert("ada");
  await call(`POST /api/v1/lists/${id}/subscribers`, { subscriber_ids: [ada] });
  await world.settle();
  await send("News", { target: { type: "list", list_id: id } });
  await upsert("bob", { email: undefined });
  await send("Hello", { external_ids: ["bob"] });
  await upsert("bob");

  expect(await words("ada", { send: "News" })).toBe(
    `Not in the audience: not in the list (Club; asked to confirm, and has not yet, since ${DAWN}). ` +
      "To change: Lists and segments on the page of the person.",
  );
  expect(await words("bob", { send: "Hello" })).toBe(
    "Not sent: no address for the chosen channels (then; now it is not so).",
  );
});
