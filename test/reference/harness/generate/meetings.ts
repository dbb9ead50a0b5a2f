// Stories where commands of several areas meet: what is switched while it is held, late, hidden, at night, under two names.
import type { Body } from "../../model/kit.ts";
import { type Draft, EVENTS, iso, newHandle, PEOPLE, someOf } from "./draft.ts";
import {
  ask,
  boundaryAfter,
  campaignOf,
  channelFor,
  DAY,
  edge,
  eventAt,
  HOUR,
  journeyOf,
  MINUTE,
  mailChannel,
  pass,
  personOf,
  post,
  SECOND,
  segmentOf,
  sendTo,
  settings,
  ZONES,
} from "./stories.ts";

/** A schedule with a template and a channel of its own. */
export function scheduleOf(draft: Draft, more: Body = {}): string {
  const content = { title: "News", body: "Read on" };
  const template = newHandle(draft, "template");
  post(draft, SECOND, "/api/v1/templates", { name: template, content }, { handle: template }, "template");
  const body = {
    ...{ cron_expression: draft.random.pick(["*/30 * * * *", "0 * * * *"]), timezone: "UTC", target: { type: "all" } },
    ...{ template_id: `@${template}`, channel_ids: [mailChannel(draft)], ...more },
  };
  return post(draft, SECOND, "/api/v1/schedules", body, { handle: newHandle(draft, "schedule") }, "schedule");
}

/** A schedule whose campaign is paused or archived, and which its user switches off or on meanwhile (AMB-67, SCH-12). */
export function heldSchedule(draft: Draft): void {
  const { random } = draft;
  personOf(draft);
  // What it sends itself is over, or still to come.
  const campaign = campaignOf(draft, SECOND, { scheduled_at: iso(draft.now + random.pick([MINUTE, 3 * DAY])) });
  post(draft, SECOND, `/api/v1/campaigns/${campaign}/release`, undefined);
  const schedule = scheduleOf(draft, { campaign_id: campaign });
  const act = (action: string) =>
    ask(draft, SECOND, { method: "PATCH", path: `/api/v1/campaigns/${campaign}`, body: { action } });
  const change = (body: Body) => ask(draft, SECOND, { method: "PATCH", path: `/api/v1/schedules/@${schedule}`, body });
  const turn = (active: boolean) =>
    change({
      active,
      ...(random.chance(0.3) && { template_id: random.pick(["@no_template", someOf(draft, "template")]) }),
    });
  const [off, on] = random.pick<[string, string]>([
    ["pause", "resume"],
    ["archive", "unarchive"],
  ]);
  act(off);
  if (random.chance(0.7)) turn(random.chance(0.5));
  if (random.chance(0.5)) change(random.pick<Body>([{ timezone: "Europe/Berlin" }, { cron_expression: "30 * * * *" }]));
  const template = `@${draft.made.template.at(-1)}`;
  if (random.chance(0.3))
    ask(draft, SECOND, { method: "DELETE", path: `/api/v1/templates/${template}`, body: undefined });
  if (off === "pause" && random.chance(0.5)) {
    act("archive");
    act("unarchive");
    if (random.chance(0.5)) pass(draft, HOUR);
  }
  act(on);
  pass(draft, HOUR + edge(draft));
  turn(false);
}

/** A release that a second person is asked for, with what may come between, and sends that nobody makes alone (RDA-26). */
export function secondPerson(draft: Draft): void {
  const { random } = draft;
  const people = [personOf(draft)];
  settings(draft, { approval_required: true });
  const later = random.chance(0.7) ? { scheduled_at: iso(draft.now + random.pick([HOUR, HOUR, DAY])) } : {};
  const other = { scheduled_at: iso(draft.now + 2 * DAY) };
  const campaign = campaignOf(draft, SECOND, ...random.pick([[later], [later, other], [other, later]]));
  const path = `/api/v1/campaigns/${campaign}`;
  const approval_id = `@approval(${campaign.slice(1)},0)`;
  const act = (action: string, body?: Body) =>
    post(draft, SECOND, `${path}/${action}`, body, { as: random.pick(["owner", "admin", "marketer"]) });
  const text = channelFor(draft, "sms");
  const edit = () => {
    const [title, channel] = random.pick([["Other", mailChannel(draft)] as const, ["News", text] as const]);
    const messages = [{ content: { title, body: "Read on" }, channel_ids: [channel], ...later }];
    ask(draft, SECOND, { method: "PUT", path, body: { name: "Story", messages, target: { type: "all" } } });
  };
  act("release");
  for (let n = random.between(0, 2); n > 0; n--)
    random.pick<() => unknown>([
      edit,
      () => act("release"),
      () => act("decline", { approval_id, note: "Not yet" }),
      () => act("withdraw"),
      () => pass(draft, HOUR + edge(draft)),
      () => pass(draft, HOUR + edge(draft)),
      () =>
        sendTo(draft, SECOND, people, random.chance(0.5) ? { subscriberIds: undefined, target: { type: "all" } } : {}),
    ])();
  for (let n = random.between(1, 3); n > 0; n--) act("approve", { approval_id });
  settings(draft, { approval_required: false });
  if (random.chance(0.3)) act("release");
}

/** Ticks that their worker comes late to. */
export function lateTicks(draft: Draft): void {
  const { random } = draft;
  personOf(draft);
  const schedule = scheduleOf(draft);
  const full = Math.ceil(draft.now / HOUR) * HOUR + HOUR;
  const away = full - draft.now + random.pick([0, 30 * MINUTE, HOUR, 2 * HOUR]) + edge(draft);
  draft.commands.push({ kind: "late", wait: away });
  draft.now += away;
  pass(draft, random.pick([MINUTE, HOUR]));
  ask(draft, SECOND, { method: "PATCH", path: `/api/v1/schedules/@${schedule}`, body: { active: false } });
}

/** Sends at both ends of the quiet hours of some nights. */
export function quietNights(draft: Draft): void {
  const { random } = draft;
  const timezone = random.pick(ZONES);
  const people = [personOf(draft)];
  mailChannel(draft);
  const days = random.some([0, 1, 2, 3, 4, 5, 6], random.between(1, 5));
  const quiet_hours = { start: "22:00", end: "08:00", timezone_mode: "workspace", days };
  settings(draft, { timezone, frequency_caps: [], quiet_hours });
  for (let n = random.between(2, 4); n > 0; n--) {
    const midnight = boundaryAfter(draft.now + 2 * HOUR + SECOND, timezone, false);
    for (const from of random.some([-2 * HOUR, 0, HOUR, 8 * HOUR], random.between(1, 2)).sort((a, b) => a - b))
      sendTo(draft, midnight + from + edge(draft) - draft.now, people);
  }
  settings(draft, { quiet_hours: null });
  pass(draft, DAY);
}

/** A person with more than one anonymous id, whose events count for a segment and decide a branch. */
export function severalNames(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const names = random.some(["anon-1", "anon-2", "anon-3"], random.between(2, 3));
  const [trigger, done] = random.some(EVENTS, 2) as [string, string];
  const within = random.chance(0.5) ? { within: "1h" } : {};
  const condition = { event: { name: done, frequency: { min: random.between(1, 2) }, ...within } };
  segmentOf(draft, condition);
  // biome-ignore lint/suspicious/noThenProperty: the contract names it so
  const branch = { condition, then: "s2", else: "end" };
  journeyOf(draft, { type: "event", event_name: trigger }, { type: "branch", branch });
  const linked = random.chance(0.5);
  const happens = (anonymous_id: string) =>
    post(draft, SECOND, "/v1/events", { event_name: done, anonymous_id }, { as: "server" });
  const link = (anonymous_id: string) =>
    post(draft, SECOND, "/v1/events/identify", { anonymous_id, subscriber_id: person }, { as: "sdk" });
  if (!linked) for (const name of random.some(names, random.between(1, 2))) happens(name);
  for (const name of names) link(name);
  if (linked) for (const name of random.some(names, random.between(1, 2))) happens(name);
  if (random.chance(0.5)) pass(draft, random.pick([40 * MINUTE, 2 * HOUR]));
  if (random.chance(0.5)) eventAt(draft, SECOND, person, done);
  post(draft, SECOND, "/v1/events", { event_name: trigger, subscriber_id: person }, { as: "server" });
}

/** So many messages that a person's own history begins to decide which channel is first (SMA-4). */
export function fiveMessages(draft: Draft): void {
  const { random } = draft;
  const phone = "+4915112345678";
  const person = personOf(draft);
  ask(draft, SECOND, { method: "PATCH", path: `/api/v1/subscribers/${person}`, body: { attributes: { phone } } });
  const mail = mailChannel(draft);
  const text = channelFor(draft, "sms");
  const category = "transactional";
  for (let n = random.between(4, 6); n > 0; n--) sendTo(draft, SECOND, [person], { category });
  const channel_ids = [mail, text];
  sendTo(draft, MINUTE, [person], { category, channel_ids, channel_arbitration_mode: "smart" });
}

/** All messages are read at once while those of one experience are hidden. */
export function readWhileHidden(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const content = { title: "Look", body: "Here" };
  const made = [1, 2].map((n) => {
    const body = { name: `Story ${n}`, format: "card", content, audience: { type: "all" } };
    const handle = newHandle(draft, "experience");
    post(draft, SECOND, "/api/v1/in-app/experiences", body, { handle }, "experience");
    post(draft, SECOND, `/api/v1/in-app/experiences/@${handle}/publish`, undefined);
    return handle;
  });
  const hidden = random.pick(made);
  const move = (action: string) => post(draft, SECOND, `/api/v1/in-app/experiences/@${hidden}/${action}`, undefined);
  move("pause");
  pass(draft, random.pick([MINUTE, 2 * HOUR]));
  post(draft, SECOND, "/v1/in-app/messages/read", { subscriber_id: person }, { as: "sdk" });
  if (random.chance(0.8)) move("resume");
}

/** A test to the workspace's test subscribers, or to others: of one arm, by mail and by SMS (RDA-9). */
export function testedSend(draft: Draft): void {
  const { random } = draft;
  const people = random.some(PEOPLE, 3).map((name) => personOf(draft, name));
  settings(draft, { test_subscriber_ids: people.slice(0, 2) });
  const channel_ids = random.some([mailChannel(draft), channelFor(draft, "sms")], random.between(1, 2));
  const attributes = { phone: "+4915112345678" };
  ask(draft, SECOND, { method: "PATCH", path: `/api/v1/subscribers/${people[0]}`, body: { attributes } });
  if (random.chance(0.4)) post(draft, SECOND, `/api/v1/subscribers/${people[1]}/consents`, { status: "opted_out" });
  const made = { key: "news", name: "news", default: random.pick(["in", "out"]) };
  post(draft, SECOND, "/api/v1/topics", made, { handle: "news" }, "topic");
  const choice = { subscriber_id: people[0], topics: { news: random.pick(["opted_in", "opted_out"]) } };
  ask(draft, SECOND, { as: "sdk", method: "PUT", path: "/v1/preferences", body: choice });
  for (let n = random.between(1, 3); n > 0; n--) {
    const arms = { variant_b: { title: "B", body: "Arm B" }, variant: random.pick(["a", "b"]) };
    const to = random.some(random.chance(0.9) ? people.slice(0, 2) : people, random.between(1, 2));
    const topic = random.chance(0.5) ? { topic: "news" } : {};
    const body = { to, channel_ids, title: "News", body: "For {{ subscriber.external_id }}", ...topic };
    post(draft, SECOND, "/api/v1/notifications/test", { ...body, ...(random.chance(0.6) && arms) });
  }
}

/** The page behind a mail with a topic: what it showed is chosen, the rest stays (TPC-4). */
export function savedPreferences(draft: Draft): void {
  const { random, commands } = draft;
  const subscriber_id = personOf(draft);
  const keys = ["news", "offers"];
  for (const key of keys) {
    const body = { key, name: key, default: random.pick(["in", "out"]), double_opt_in: random.chance(0.3) };
    post(draft, SECOND, "/api/v1/topics", body, { handle: key }, "topic");
  }
  const choose = (topics: Body) =>
    ask(draft, SECOND, { as: "sdk", method: "PUT", path: "/v1/preferences", body: { subscriber_id, topics } });
  if (random.chance(0.7)) choose({ news: "opted_in", offers: random.pick(["opted_in", "opted_out"]) });
  sendTo(draft, SECOND, [subscriber_id], { topic: "news", category: random.pick(["marketing", "transactional"]) });
  for (let n = random.between(1, 2); n > 0; n--) {
    const form = { shown: random.some(keys, random.between(0, 2)), in: random.some(keys, random.between(0, 1)) };
    commands.push({ kind: "link", wait: SECOND, link: "preferences", method: "POST", mail: 0, form });
  }
  sendTo(draft, SECOND, [subscriber_id], { topic: random.pick(keys) });
}

/** An endpoint that is told of the end of a send, whatever became of it (WEV-3). */
export function toldOfAnEnd(draft: Draft): void {
  const { random, commands } = draft;
  const person = personOf(draft);
  mailChannel(draft);
  const body = { target_url: "https://hooks.example.com/in", events: ["notification.terminal"] };
  post(draft, SECOND, "/v1/hooks", body, { as: "server", handle: newHandle(draft, "hook") }, "hook");
  commands.push({ kind: "fault", wait: 0, channel: "email", outcome: "permanent", person: person.slice(1) });
  sendTo(draft, SECOND, [person], { category: random.pick(["marketing", "transactional"]) });
  commands.push({ kind: "clear faults", wait: 0 });
  pass(draft, random.pick([MINUTE, HOUR]));
}

/** An app whose connection ends and comes back, while messages come, are hidden and are shown again. */
export function liveStream(draft: Draft): void {
  const { random, commands } = draft;
  const person = personOf(draft);
  const does = (does: "open" | "close") => {
    const wait = random.pick([SECOND, 3 * SECOND]);
    draft.now += wait;
    commands.push({ kind: "stream", wait, person: person.slice(1), does });
  };
  const handle = newHandle(draft, "experience");
  const content = { title: "Look", body: "Here", actions: [{ id: "go", title: "Go", url: "https://example.com" }] };
  const body = { name: "Story", format: "card", content, audience: { type: "all" } };
  post(draft, SECOND, "/api/v1/in-app/experiences", body, { handle }, "experience");
  const move = (action: string) => post(draft, SECOND, `/api/v1/in-app/experiences/@${handle}/${action}`, undefined);
  const plain = { subscriberIds: [person], title: "News", body: "Read on", category: "transactional" };
  const send = () => post(draft, SECOND, "/api/v1/notifications", plain, { handle: newHandle(draft, "send") }, "send");
  if (random.chance(0.8)) does("open");
  const away = [() => does("close"), () => pass(draft, 95 * SECOND), () => undefined];
  for (let n = random.between(1, 3); n > 0; n--) {
    random.pick(away)();
    if (random.chance(0.5)) send();
    if (n === 1) move("publish");
    if (random.chance(0.3)) pass(draft, random.pick([3 * SECOND, 61 * SECOND]));
    if (n === 1 && random.chance(0.6)) move("pause");
    does("open");
    if (random.chance(0.5)) send();
  }
  pass(draft, random.pick([SECOND, 4 * SECOND, 61 * SECOND]));
  move(random.pick(["resume", "resume", "end", "pause"]));
  pass(draft, 4 * SECOND);
  does("open");
  pass(draft, 4 * SECOND);
}
