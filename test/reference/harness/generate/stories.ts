// Commands that only together reach what each alone hardly ever does: the ends of waits, weeks, windows and quiet hours.
import type { Body } from "../../model/kit.ts";
import type { Call } from "../program.ts";
import { add, type Draft, EVENTS, iso, type Kind, newHandle, PEOPLE } from "./draft.ts";
import { channel } from "./sends.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Quiet hours but for the last minute of each day. */
export const allDay = { start: "00:00", end: "23:59", timezone_mode: "workspace" };

/** One second before, at, and after. */
export const edge = ({ random }: Draft) => random.pick([-SECOND, 0, 0, SECOND]);

type CallInput = Pick<Call, "method" | "path" | "body"> & Partial<Call>;
export const ask = (draft: Draft, wait: number, input: CallInput, kind?: Kind) =>
  add(draft, { as: "owner", ...input }, kind, Math.max(wait, 0));
export const post = (draft: Draft, wait: number, path: string, body: Body, more: Partial<Call> = {}, kind?: Kind) =>
  ask(draft, wait, { method: "POST", path, body, ...more }, kind);
export const pass = (draft: Draft, wait: number): void => {
  draft.now += wait;
  draft.commands.push({ kind: "wait", wait });
};

/** Somebody with an address. */
export function personOf(draft: Draft, external_id = draft.random.pick(PEOPLE)): string {
  const body = { external_id, email: `${external_id}@example.com` };
  return `@${post(draft, SECOND, "/api/v1/subscribers/upsert", body, { as: "sdk", handle: `p_${external_id}` }, "person")}`;
}

/** The first channel of a type. */
export function channelFor(draft: Draft, type: string): string {
  const find = () => draft.made.channel.find((handle) => draft.types.get(handle) === type);
  if (!find()) channel(draft, type);
  return `@${find()}`;
}
export const mailChannel = (draft: Draft): string => channelFor(draft, "email");

export const eventAt = (draft: Draft, wait: number, person: string, event_name: string, more: Body = {}) =>
  post(draft, wait, "/v1/events", { event_name, subscriber_id: person, ...more }, { as: "server" });

export function sendTo(draft: Draft, wait: number, people: string[], more: Body = {}): string {
  const body = { subscriberIds: people, channel_ids: [mailChannel(draft)], title: "News", body: "Read on", ...more };
  return post(draft, wait, "/api/v1/notifications", body, { handle: newHandle(draft, "send") }, "send");
}

/** A campaign to everybody, not released yet: of one message, or of several. */
export function campaignOf(draft: Draft, wait: number, ...own: Body[]): string {
  const content = { title: "News", body: "Read on" };
  const channel_ids = [mailChannel(draft)];
  const messages = (own.length > 0 ? own : [{}]).map((message) => ({ content, channel_ids, ...message }));
  const body = { name: "Story", messages, target: { type: "all" } };
  return `@${post(draft, wait, "/api/v1/campaigns", body, { handle: newHandle(draft, "campaign") }, "campaign")}`;
}

export const conversionOf = (draft: Draft, window_seconds: number) =>
  post(draft, SECOND, "/api/v1/insights/config", { event_name: "buy", value_property: "amount", window_seconds });

/** The workspace's own cap on the sends of a month; null for none. */
export const setSendCap = (draft: Draft, monthly_send_cap: number | null) =>
  ask(draft, SECOND, { method: "PATCH", path: "/api/v1/billing", body: { monthly_send_cap } });

export const settings = (draft: Draft, body: Body) =>
  ask(draft, SECOND, { method: "PATCH", path: "/api/v1/workspace", body });

export function segmentOf(draft: Draft, rule: Body, is_dynamic = true): string {
  const body = { name: `Window ${draft.commands.length}`, is_dynamic, rule };
  return `@${post(draft, SECOND, "/api/v1/segments", body, { handle: newHandle(draft, "segment") }, "segment")}`;
}

export function journeyOf(draft: Draft, trigger: Body, start: Body, more: Body = {}): string {
  const steps = {
    s1: { id: "s1", ...start },
    s2: more.s2 ?? { id: "s2", type: "exit" },
    s3: more.s3 ?? { id: "s3", type: "exit" },
    end: { id: "end", type: "exit" },
  };
  const exits = more.exit_conditions ? { exit_conditions: more.exit_conditions } : {};
  const graph = { start: "s1", steps, ...exits };
  const body = { name: "Story", trigger, steps: graph, entry_rules: { allow_reentry: true } };
  const handle = newHandle(draft, "journey");
  post(draft, SECOND, "/api/v1/journeys", body, { handle }, "journey");
  post(draft, SECOND, `/api/v1/journeys/@${handle}/activate`, undefined);
  return `@${handle}`;
}

/** An event that comes when a wait ends, or that happened then and comes later, or that nobody looks at until later. */
export function lateWait(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  // What somebody does under another name is theirs, and comes in its order (IDN-2).
  const anonymous_id = random.chance(0.3) ? "anon-1" : undefined;
  if (anonymous_id) post(draft, SECOND, "/v1/events/identify", { anonymous_id, subscriber_id: person }, { as: "sdk" });
  const [name, awaited] = random.some(EVENTS, 2) as [string, string];
  const [text, lasts] = random.pick<[string, number]>([
    ["30m", 30 * MINUTE],
    ["1h", HOUR],
    ["24h", DAY],
  ]);
  // A property of the trigger, of any type.
  const properties = { sku: "x", vip: random.chance(0.5), amount: random.pick([0, 10]) };
  const key = random.pick(Object.keys(properties));
  const where = random.chance(0.5) ? { where: { [key]: { $eq: `{{trigger.${key}}}` } } } : {};
  const ways = { on_event: "s2", on_timeout: random.pick(["end", "s2"]) };
  const wait = { event_name: awaited, within: text, ...where, ...ways };
  const second = { event_name: random.pick([awaited, name]), within: text, on_event: "end", on_timeout: "end" };
  const delay = { id: "s2", type: "delay", delay: { duration: text, next: "end" } };
  // It held when the run came there, or holds when a worker does.
  const condition = { event: { name, within: `${lasts / MINUTE + random.pick([-10, 30])}m` } };
  // biome-ignore lint/suspicious/noThenProperty: the contract names it so
  const branch = { id: "s2", type: "branch", branch: { condition, then: "end", else: "s3" } };
  const s2 = random.pick<Body>([
    { id: "s2", type: "wait_for_event", wait_for_event: second },
    ...[delay, branch, branch, undefined],
  ]);
  // What ends the wait, or comes as it ends, may end the run as well.
  const exits = random.chance(0.5) ? { exit_conditions: [{ event: { name: awaited } }] } : {};
  const more = { s2, ...exits };
  journeyOf(draft, { type: "event", event_name: name }, { type: "wait_for_event", wait_for_event: wait }, more);
  eventAt(draft, SECOND, person, name, { properties });
  const began = draft.now;
  const isLate = random.chance(0.5);
  const away = lasts + random.pick([-SECOND, 0, SECOND, MINUTE, HOUR]);
  if (isLate) draft.commands.push({ kind: "late", wait: away });
  else pass(draft, away);
  if (isLate) draft.now += away;
  const times = [{}, { occurred_at: iso(began + lasts + edge(draft)) }, { occurred_at: iso(began + lasts / 2) }];
  const happened = times.filter(({ occurred_at }) => !occurred_at || Date.parse(occurred_at) <= draft.now);
  for (let n = random.between(1, 2); n > 0; n--)
    eventAt(draft, random.pick([0, SECOND, MINUTE]), person, random.pick([awaited, awaited, name]), {
      ...random.pick(happened),
      ...(random.chance(0.8) && { properties }),
      ...(anonymous_id && random.chance(0.5) && { anonymous_id, subscriber_id: undefined }),
    });
  if (random.chance(0.5)) pass(draft, lasts + edge(draft));
}

/** The next midnight of a zone, or the one that begins a Monday. */
export function boundaryAfter(now: number, timeZone: string, isWeek: boolean): number {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, weekday: "short", hour: "2-digit", minute: "2-digit" });
  const step = 15 * MINUTE;
  for (let at = Math.ceil((now + SECOND) / step) * step; ; at += step) {
    const text = format.format(at);
    if (text.endsWith("00:00") && (!isWeek || text.startsWith("Mon"))) return at;
  }
}

export const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"];

/** Sends on both sides of the end of a day or a week. */
export function capAtBoundary(draft: Draft): void {
  const { random } = draft;
  const timezone = random.pick(ZONES);
  const per = random.pick(["day", "week", "week"]);
  const max = random.between(1, 2);
  const people = [personOf(draft), personOf(draft)];
  const of = (channel_class: string) => ({ category: "marketing", channel_class, max: random.between(1, 2), per });
  const mail = random.pick<Body[]>([
    ...[[], [], [{ category: "marketing", channel_class: "email", max: 2, per: "day" }]],
    ...[[{ category: "marketing", max: max + 1, per }], [of("email"), of("sms")]],
    [{ category: "marketing", max: max + 1, per: per === "day" ? "week" : "day" }],
  ]);
  const phone = "+4915112345678";
  for (const person of people)
    ask(draft, SECOND, { method: "PATCH", path: `/api/v1/subscribers/${person}`, body: { attributes: { phone } } });
  const mailed = mailChannel(draft);
  const channels = random.chance(0.5) ? { channel_ids: random.some([mailed, channelFor(draft, "sms")], 2) } : {};
  // Caps of single classes alone leave out what goes by another class.
  const all = mail.length > 0 && random.chance(0.4) ? [] : [{ category: "marketing", max, per }];
  settings(draft, { timezone, frequency_caps: [...all, ...mail] });
  const distances = [6 * DAY, 5 * HOUR, HOUR, SECOND].map(
    (before) => boundaryAfter(draft.now, timezone, per === "week") - before,
  );
  const before = distances.filter((at) => at > draft.now + SECOND).slice(0, random.between(1, 4));
  for (const at of before) sendTo(draft, at - draft.now, people, channels);
  const at = boundaryAfter(draft.now, timezone, per === "week");
  for (let n = random.between(1, 3); n > 0; n--)
    sendTo(draft, n === 1 ? SECOND : at - draft.now, people, random.chance(0.7) ? channels : {});
  if (random.chance(0.7)) settings(draft, { frequency_caps: [] });
}

/** Who waits for the end of the quiet hours and is skipped then, beside a control group whose conversions count. */
export function lateSkip(draft: Draft): void {
  const { random } = draft;
  const people = PEOPLE.slice(0, random.between(2, 4)).map((name) => personOf(draft, name));
  mailChannel(draft);
  conversionOf(draft, 86_400);
  const isCapped = random.chance(0.3);
  const frequency_caps = isCapped ? [{ category: "marketing", max: 1, per: "week" }] : [];
  settings(draft, { timezone: "UTC", quiet_hours: allDay, frequency_caps });
  const arms = random.chance(0.4) ? { variant_b: { title: "B", body: "Arm B" } } : {};
  const made = { key: "news", name: "news", default: "in" };
  post(draft, SECOND, "/api/v1/topics", made, { handle: "news" }, "topic");
  const control = random.chance(0.8) ? { holdout_percentage: 50 } : {};
  sendTo(draft, SECOND, people, { ...control, ...arms, ...(random.chance(0.7) && { topic: "news" }) });
  for (const person of random.some(people, random.between(1, 2))) {
    const gone = random.pick([0, 1, 2, 3, 3, 4]);
    const choice = { subscriber_id: person, topics: { news: "opted_out" } };
    if (gone === 0) post(draft, SECOND, `/api/v1/subscribers/${person}/consents`, { status: "opted_out" });
    else if (gone === 1) post(draft, SECOND, "/api/v1/suppressions", { address: `${person.slice(3)}@example.com` });
    else if (gone === 2) eventAt(draft, SECOND, person, "buy", { properties: { amount: 10 } });
    else if (gone === 3) ask(draft, SECOND, { as: "sdk", method: "PUT", path: "/v1/preferences", body: choice });
    else ask(draft, SECOND, { method: "DELETE", path: `/api/v1/subscribers/${person}`, body: undefined });
  }
  settings(draft, { quiet_hours: null });
  if (isCapped) sendTo(draft, SECOND, random.some(people, random.between(1, 2)));
  pass(draft, boundaryAfter(draft.now, "UTC", false) - draft.now + random.pick([-MINUTE, 0, MINUTE]));
  for (const person of people)
    if (random.chance(0.7)) eventAt(draft, SECOND, person, "buy", { properties: { amount: 5 } });
}

/** A rule that begins to hold when a window ends, and a journey that waits for it. */
export function windowEnd(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const name = random.pick(EVENTS);
  const [within, lasts] = random.pick<[string, number]>([
    ["30m", 30 * MINUTE],
    ["1h", HOUR],
    ["24h", DAY],
  ]);
  const frequencies: Body[] = [{ max: 0 }, { max: 0 }, { max: 1 }, { min: 1, max: 1 }, { min: 1 }];
  const [segment] = random
    .some(frequencies, 2)
    .map((frequency) => segmentOf(draft, { event: { name, within, frequency } }));
  const type = random.pick(["segment_entered", "segment_exited"]);
  if (random.chance(0.6))
    journeyOf(draft, { type, segment_id: segment }, { type: "delay", delay: { duration: "1h", next: "s2" } });
  eventAt(draft, SECOND, person, name);
  const last = draft.now;
  for (let n = random.between(0, 2); n > 0; n--) eventAt(draft, random.pick([SECOND, MINUTE]), person, name);
  pass(draft, last + lasts + 6 * MINUTE - draft.now + edge(draft));
  eventAt(draft, random.pick([SECOND, lasts]), person, random.pick([name, ...EVENTS]));
  pass(draft, lasts + 6 * MINUTE);
}

/** An opt-in that its owner confirms, or not, and what changes between. */
export function confirmation(draft: Draft): void {
  const { random } = draft;
  mailChannel(draft);
  const of = random.pick(["workspace", "topic", "topic", "list"]);
  const person = personOf(draft);
  let state: () => void;
  let path: string | undefined;
  if (of === "workspace") {
    settings(draft, { double_opt_in: true, email_consent_mode: random.pick(["opt_in", "opt_out"]) });
    state = () => void post(draft, SECOND, `/api/v1/subscribers/${person}/consents`, { status: "opted_in" });
  } else if (of === "topic") {
    const topic = { key: "deals", name: "Deals", default: random.pick(["in", "out"]), double_opt_in: true };
    post(draft, SECOND, "/api/v1/topics", topic, { handle: "deals" }, "topic");
    path = "/api/v1/topics/deals";
    const body = { subscriber_id: person, topics: { deals: "opted_in" } };
    state = () => void ask(draft, SECOND, { as: "sdk", method: "PUT", path: "/v1/preferences", body });
  } else {
    const handle = newHandle(draft, "list");
    path = `/api/v1/lists/@${handle}`;
    post(draft, SECOND, "/api/v1/lists", { name: `Asked ${handle}`, double_opt_in: true }, { handle }, "list");
    state = () => void post(draft, SECOND, `/api/v1/lists/@${handle}/subscribers`, { subscriber_ids: [person] });
  }
  for (let n = random.pick([1, 1, 2, 4]); n > 0; n--) state();
  const address = `${person.slice(3)}@example.com`;
  // Names of one mailbox are asked together.
  const emails = ["ada@example.com", address, address.replace("@", "+news@")];
  for (const kind of random.some(
    ["both", "move", "move", "suppress", "other", "wait", "send", "confirm", "confirm", "state", "gone", "out", "out"],
    random.between(1, 5),
  )) {
    const own = `/api/v1/subscribers/${person}`;
    const topic = of === "topic" ? { topic: "deals" } : {};
    if (kind === "move") ask(draft, SECOND, { method: "PATCH", path: own, body: { email: random.pick(emails) } });
    if (kind === "both") {
      const body = { external_id: person.slice(3), email: "bo@example.com", consent: { status: "opted_in" } };
      post(draft, SECOND, "/api/v1/subscribers/upsert", body, { as: "sdk" });
    }
    if (kind === "suppress") post(draft, SECOND, "/api/v1/suppressions", { address });
    if (kind === "other") post(draft, SECOND, `${own}/consents`, { status: "opted_out", channel: "sms" });
    if (kind === "gone" && path) ask(draft, SECOND, { method: "DELETE", path, body: undefined });
    if (kind === "wait") pass(draft, random.pick([HOUR, 7 * DAY - SECOND, 7 * DAY, 7 * DAY + SECOND]));
    if (kind === "send") sendTo(draft, SECOND, [person], topic);
    if (kind === "state") state();
    if (kind === "out") post(draft, SECOND, `${own}/consents`, { status: "opted_out" });
    if (kind === "out") state();
    const mail = random.pick([0, 0, 1]);
    if (kind === "confirm") draft.commands.push({ kind: "link", wait: SECOND, link: "confirm", method: "POST", mail });
  }
  sendTo(draft, SECOND, [person], of === "topic" ? { topic: "deals" } : {});
}
