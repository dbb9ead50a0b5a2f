// What is asked seldom: changes and removals of what others name, searches, devices and days in rules.
import type { Body } from "../../model/kit.ts";
import { add, type Draft, dashboardOf, EVENTS, iso, NAMES, newHandle, PEOPLE, someOf } from "./draft.ts";
import { experience as experienceOf, hook, schedule } from "./plans.ts";
import { channel } from "./sends.ts";
import {
  ask,
  boundaryAfter,
  campaignOf,
  channelFor,
  DAY,
  edge,
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

export function changeTopic(draft: Draft): void {
  const { random } = draft;
  const as = dashboardOf(draft);
  const path = `/api/v1/topics/${random.pick(["news", "offers"])}`;
  const body = random.pick<Body>([{ name: "Other" }, { default: "out" }, { default: "in", description: "Why" }]);
  add(draft, random.chance(0.7) ? { as, method: "PATCH", path, body } : { as, method: "DELETE", path });
}

export function remove(draft: Draft): void {
  const { random } = draft;
  const as = dashboardOf(draft);
  const [kind, path] = random.pick([
    ["campaign", "/api/v1/campaigns"],
    ["experience", "/api/v1/in-app/experiences"],
  ] as const);
  add(draft, { as, method: "DELETE", path: `${path}/${someOf(draft, kind)}` });
}

export const duplicate = (draft: Draft) =>
  void add(
    draft,
    {
      ...{ as: dashboardOf(draft), method: "POST", path: `/api/v1/journeys/${someOf(draft, "journey")}/duplicate` },
      handle: newHandle(draft, "journey"),
    },
    "journey",
  );

export function search(draft: Draft): void {
  const { random } = draft;
  const [path, query] = random.pick<[string, Record<string, string>]>([
    ["subscribers", { q: random.pick(["ad", "B", "love", "a@"]) }],
    ["subscribers", { email: random.pick(["ADA@example.com", "bo@example.com"]) }],
    ["subscribers", { external_id: random.pick(PEOPLE), q: "ad" }],
    ["subscribers", { updated_since: iso(draft.now - random.pick([SECOND, MINUTE, HOUR])), limit: "2" }],
    ["lists", { name: random.pick(["sum", "WIN"]) }],
    ["campaigns", { status: random.pick(["draft", "live", "completed", "archived"]) }],
    ["in-app/experiences", { status: random.pick(["live", "archived"]) }],
    ["notifications", { status: random.pick(["completed", "scheduled", "failed"]), source_type: "api" }],
  ]);
  add(draft, { as: dashboardOf(draft), method: "GET", path: `/api/v1/${path}`, query });
}

/** What a send or a campaign needs at its time is removed before it (AMB-48, AMB-119). */
export function goneByThen(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const mail = mailChannel(draft);
  const content = { title: "News", body: "Read on" };
  const template = `@${post(draft, SECOND, "/api/v1/templates", { name: "Gone", content }, { handle: newHandle(draft, "template") }, "template")}`;
  const segment = segmentOf(draft, { attribute: { nowhere: { $exists: false } } });
  const made = { handle: newHandle(draft, "list") };
  const list = `@${post(draft, SECOND, "/api/v1/lists", { name: `Gone ${made.handle}` }, made, "list")}`;
  post(draft, SECOND, `/api/v1/lists/${list}/subscribers`, { subscriber_ids: [person] });
  const target = random.pick<Body>([
    { type: "all" },
    { type: "segment", segment_id: segment },
    { type: "list", list_id: list },
  ]);
  const scheduled_at = iso(draft.now + HOUR);
  const text = random.chance(0.5) ? { template_id: template, title: undefined, body: undefined } : {};
  if (random.chance(0.5)) sendTo(draft, SECOND, [], { subscriberIds: undefined, target, scheduled_at, ...text });
  else {
    const message = random.chance(0.5) ? { template_id: template, content: undefined } : {};
    const body = { name: "Gone", messages: [{ content, channel_ids: [mail], ...message }], target, scheduled_at };
    const campaign = post(
      draft,
      SECOND,
      "/api/v1/campaigns",
      body,
      { handle: newHandle(draft, "campaign") },
      "campaign",
    );
    post(draft, SECOND, `/api/v1/campaigns/@${campaign}/release`, undefined);
  }
  const path = random.pick([`templates/${template}`, `segments/${segment}`, `lists/${list}`, `channels/${mail}`]);
  const query: Record<string, string> = path.startsWith("lists") || random.chance(0.3) ? {} : { force: "true" };
  ask(draft, SECOND, { method: "DELETE", path: `/api/v1/${path}`, body: undefined, query });
  pass(draft, HOUR);
}

/** Each has a night of its own (D-QUIET). */
export function nightsOfTheirOwn(draft: Draft): void {
  const { random } = draft;
  mailChannel(draft);
  const people = random.some(PEOPLE, 2).map((name) => {
    const timezone = random.pick([...ZONES, "Mars/Base"]);
    const attributes = random.chance(0.8) ? { timezone } : {};
    const body = { external_id: name, email: `${name}@example.com`, attributes };
    return `@${post(draft, SECOND, "/api/v1/subscribers/upsert", body, { as: "sdk", handle: `p_${name}` }, "person")}`;
  });
  const timezone = random.pick(ZONES);
  const quiet_hours = { start: "22:00", end: "08:00", timezone_mode: "subscriber" };
  settings(draft, { timezone, frequency_caps: [], quiet_hours });
  for (let n = random.between(1, 3); n > 0; n--) {
    const midnight = boundaryAfter(draft.now + 2 * HOUR + SECOND, random.pick(ZONES), false);
    sendTo(draft, midnight + random.pick([-2 * HOUR, 0, 8 * HOUR]) + edge(draft) - draft.now, people);
  }
  settings(draft, { quiet_hours: null });
  pass(draft, DAY);
}

/** Days without a time, which are those of the zone of the workspace (AMB-137). */
export function bareDays(draft: Draft): void {
  const { random } = draft;
  const people = random.some(PEOPLE, 3).map((name) => personOf(draft, name));
  settings(draft, { timezone: random.pick(ZONES), frequency_caps: [] });
  const days = ["2026-11-19", "2026-11-20", "2026-11-19T23:30:00Z", "2026-11-20T04:00:00Z", "2026-11-20T05:00:00Z", 7];
  for (const person of people)
    ask(draft, SECOND, {
      ...{ method: "PATCH", path: `/api/v1/subscribers/${person}`, body: { attributes: { born: random.pick(days) } } },
    });
  const operator = random.pick(["$eq", "$ne", "$lt", "$lte", "$gt", "$gte"]);
  const rule = { born: { [operator]: random.pick(days) } };
  segmentOf(draft, { attribute: rule });
  sendTo(draft, SECOND, [], { subscriberIds: undefined, target: { type: "all" }, subscriber_filters: rule });
}

/** A journey that ends by what a person is, before, at or after a delay (JND-8), and what its texts say of its event. */
export function endedByWhoTheyAre(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const rule = { attribute: { tier: { $eq: "gold" } } };
  const exit_conditions = [
    random.pick<Body>([rule, { rule }, { rule: { group: { op: "or", nodes: [rule, { event: { name: "cart" } }] } } }]),
  ];
  const content = {
    title: "Of {{ subscriber.attributes.tier }}!",
    body: "{{ event.sku | upcase }} of {{ event.amount }}",
  };
  const s2 = { id: "s2", type: "send", send: { content, next: "end", channel_ids: [mailChannel(draft)] } };
  const first = { type: "delay", delay: { duration: "30m", next: "s2" } };
  journeyOf(draft, { type: "event", event_name: "visit" }, first, { s2, exit_conditions });
  const become = (tier: string) =>
    ask(draft, SECOND, { method: "PATCH", path: `/api/v1/subscribers/${person}`, body: { attributes: { tier } } });
  become(random.pick(["silver", "silver", "gold"]));
  const event = { event_name: "visit", subscriber_id: person, properties: { amount: 10, sku: "x" } };
  post(draft, SECOND, "/v1/events", event, { as: "server" });
  if (random.chance(0.5)) become("gold");
  pass(draft, 30 * MINUTE + edge(draft));
  become("gold");
  pass(draft, MINUTE);
}

/** A topic that changes or goes while sends, a campaign and a schedule name it (TPC-1). */
export function topicInUse(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const topic = random.pick(["news", "offers"]);
  const made = { key: topic, name: topic, default: random.pick(["in", "in", "out"]) };
  post(draft, SECOND, "/api/v1/topics", made, { handle: topic }, "topic");
  const content = { title: "News", body: "Read on" };
  const scheduled_at = iso(draft.now + HOUR);
  const body = {
    name: random.pick(NAMES),
    messages: [{ content, channel_ids: [mailChannel(draft)] }],
    topic,
    target: { type: "all" },
  };
  if (random.chance(0.5)) sendTo(draft, SECOND, [person], { topic, scheduled_at });
  else {
    const campaign = post(
      ...([draft, SECOND, "/api/v1/campaigns", { ...body, ...(random.chance(0.7) && { scheduled_at }) }] as const),
      ...([{ handle: newHandle(draft, "campaign") }, "campaign"] as const),
    );
    post(draft, SECOND, `/api/v1/campaigns/@${campaign}/release`, undefined);
  }
  changeTopic(draft);
  if (random.chance(0.5)) {
    const choice = { subscriber_id: person, topics: { [topic]: random.pick(["opted_in", "opted_out"]) } };
    ask(draft, SECOND, { as: "sdk", method: "PUT", path: "/v1/preferences", body: choice });
  }
  pass(draft, HOUR);
  if (random.chance(0.5)) campaignOf(draft, SECOND);
}

/** So many messages that the history of the workspace decides which channel is first (SMA-4). */
export function hundredMessages(draft: Draft): void {
  const { random } = draft;
  const people = PEOPLE.map((name) => personOf(draft, name));
  const [mail, text] = [mailChannel(draft), channelFor(draft, "sms")];
  const attributes = { phone: "+4915112345678" };
  for (const person of people)
    ask(draft, SECOND, { method: "PATCH", path: `/api/v1/subscribers/${person}`, body: { attributes } });
  const category = "transactional";
  const count = random.between(19, 21);
  for (let n = 0; n < count; n++) sendTo(draft, SECOND, people, { category, channel_ids: [text] });
  const smart = { category, channel_ids: [mail, text], channel_arbitration_mode: "smart" };
  const newcomer = `@${post(draft, SECOND, "/api/v1/subscribers/upsert", { external_id: "f", email: "f@example.com", attributes }, { as: "sdk", handle: "p_f" }, "person")}`;
  sendTo(draft, MINUTE, [newcomer, ...people], smart);
}

/** What a smaller plan still lets do, and what goes on that began under a larger one (D-PLAN, AMB-87). */
export function otherPlan(draft: Draft): void {
  const { random, made } = draft;
  const person = personOf(draft);
  const mail = mailChannel(draft);
  const plan = (name: string) => {
    ask(draft, SECOND, { method: "PUT", path: "/api/v1/billing/plan", body: { plan: name } });
    pass(draft, 2 * MINUTE);
  };
  const rule = (name: string) => ({
    event: { name, within: random.pick(["7d", "30d", "90d", "100d", "180d", "200d", "365d"]) },
  });
  const tree = (n: number) => ({
    group: { op: "or", nodes: Array.from({ length: n }, (_, at) => rule(EVENTS[at % 4]!)) },
  });
  const content = { title: "News", body: "Read on" };
  const experience = { name: "Plan", format: "card", content, audience: { type: "all" } };
  const acts = [
    () => void channel(draft, random.pick(["sms", "email"])),
    () =>
      void post(
        draft,
        SECOND,
        "/api/v1/channels",
        { type: "in_app", name: "In 2" },
        { handle: newHandle(draft, "channel") },
      ),
    () =>
      void post(
        draft,
        SECOND,
        "/api/v1/in-app/experiences",
        experience,
        { handle: newHandle(draft, "experience") },
        "experience",
      ),
    () => void segmentOf(draft, tree(random.pick([1, 2, 4, 6, 11]))),
    () => void sendTo(draft, SECOND, [person], { channel_arbitration_mode: "smart" }),
    () => void hook(draft),
    () => void schedule(draft),
    () => void experienceOf(draft),
    () =>
      void journeyOf(
        draft,
        { type: "event", event_name: "visit" },
        { type: "delay", delay: { duration: "30m", next: "s2" } },
      ),
  ];
  for (const act of random.some(acts, random.between(0, 3))) act();
  plan(random.pick(["free", "free", "starter", "growth", "pro", "premium"]));
  for (const act of random.some(acts, random.between(3, 6))) act();
  sendTo(draft, SECOND, [person], {
    channel_ids: random.pick([undefined, [mail], made.channel.map((name) => `@${name}`)]),
  });
  pass(draft, random.pick([MINUTE, HOUR]));
  plan("enterprise");
}
