// Stories of what is tried again: deliveries of webhooks, and messages of one send by several channels, reports.
import type { Body } from "../../model/kit.ts";
import { type Draft, iso, newHandle, PEOPLE } from "./draft.ts";
import {
  ask,
  campaignOf,
  channelFor,
  conversionOf,
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
  sendTo,
  setSendCap,
} from "./stories.ts";

/** A delivery that is sent once more, or several, while its receiver fails for some seconds or permanently (AMB-104, WHK-8). */
export function sentOnceMore(draft: Draft): void {
  const { random, commands } = draft;
  const events = ["subscriber.created", "notification.terminal"];
  const body = { target_url: "https://hooks.example.com/in", events };
  const hook = post(draft, SECOND, "/v1/hooks", body, { as: "server", handle: newHandle(draft, "hook") }, "hook");
  const path = `/api/v1/webhooks/@${hook}`;
  const answers = (status: number) => commands.push({ kind: "receiver", wait: 0, status });
  // Within the attempts of a series, and after them.
  const some = () => pass(draft, random.pick([SECOND, 3 * SECOND, 8 * SECOND, MINUTE, MINUTE]));
  answers(random.pick([503, 503, 404, 204]));
  for (let n = random.between(1, 2); n > 0; n--) post(draft, SECOND, `${path}/test`, { event: random.pick(events) });
  some();
  for (let n = random.between(1, 3); n > 0; n--) {
    answers(random.pick([503, 503, 500, 404, 204]));
    const delivery = `@delivery(${hook},${random.between(0, 1)})`;
    post(draft, SECOND, `${path}/deliveries/${delivery}/redeliver`, {});
    some();
  }
  answers(204);
  pass(draft, MINUTE);
}

/** A send of its own, of a campaign, or of a journey. */
function sendOf(draft: Draft, wait: number, person: string, channel_ids: string[]): void {
  const how = draft.random.pick(["send", "campaign", "campaign", "journey"]);
  if (how === "send") sendTo(draft, wait, [person], { channel_ids });
  else if (how === "campaign")
    post(draft, SECOND, `/api/v1/campaigns/${campaignOf(draft, wait, { channel_ids })}/release`, undefined);
  else {
    const send = { content: { title: "News", body: "Read on" }, next: "end", channel_ids };
    journeyOf(draft, { type: "event", event_name: "visit" }, { type: "send", send });
    eventAt(draft, wait, person, "visit");
  }
}

/** The last message before a conversion did not arrive: the one before it counts. */
export function lastTouch(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const mail = [mailChannel(draft)];
  const window = random.pick([3600, 86_400]);
  conversionOf(draft, window);
  sendOf(draft, SECOND, person, mail);
  const fails = random.chance(0.8);
  if (fails)
    draft.commands.push({ kind: "fault", wait: 0, channel: "email", outcome: "permanent", person: person.slice(1) });
  sendOf(draft, random.pick([SECOND, MINUTE, HOUR]), person, mail);
  if (fails) draft.commands.push({ kind: "clear faults", wait: 0 });
  if (random.chance(0.3)) sendOf(draft, MINUTE, person, mail);
  const wait = random.pick([SECOND, HOUR, window * SECOND + edge(draft)]);
  eventAt(draft, wait, person, "buy", { properties: { amount: random.pick([10, 10, -4]) } });
  pass(draft, 20 * MINUTE);
  const isGone = random.chance(0.3);
  if (isGone) ask(draft, SECOND, { method: "DELETE", path: `/api/v1/subscribers/${person}`, body: undefined });
  if (isGone || random.chance(0.4))
    draft.commands.push({ kind: "link", wait: SECOND, link: "unsubscribe", method: "POST", mail: random.pick([0, 1]) });
  // The next owner of the address gets no marketing mail either.
  if (isGone) sendOf(draft, MINUTE, personOf(draft, person.slice(3)), mail);
}

/** One send by several channels, of which one fails, comes late or comes back: it reached its person anyway (D-ATTRIB). */
export function severalMessages(draft: Draft): void {
  const { random, commands } = draft;
  const name = random.pick(PEOPLE);
  const person = personOf(draft, name);
  const change = (body: Body) => ask(draft, SECOND, { method: "PATCH", path: `/api/v1/subscribers/${person}`, body });
  change({ attributes: { phone: "+4915112345678" } });
  if (random.chance(0.2)) change({ email: "bounce@simulator.amazonses.com" });
  const channels = random.some([mailChannel(draft), channelFor(draft, "sms")], 2);
  const window = random.pick([3600, 86_400]);
  conversionOf(draft, window);
  const outcome = random.pick(["permanent", "permanent", "transient"]);
  const fault = { channel: random.pick(["email", "sms"]), outcome, times: random.between(1, 4) };
  commands.push({ kind: "fault", wait: 0, ...fault, person: person.slice(1) });
  sendOf(draft, SECOND, person, channels);
  const buy = (wait: number) =>
    eventAt(draft, wait, person, "buy", { properties: { amount: random.pick([10, 10, -4]) } });
  buy(random.pick([SECOND, 2 * MINUTE, 40 * MINUTE]));
  pass(draft, 40 * MINUTE);
  commands.push({ kind: "clear faults", wait: 0 });
  buy(random.pick([SECOND, window * SECOND - 40 * MINUTE + edge(draft)]));
  pass(draft, 20 * MINUTE);
  change({ email: `${name}@example.com` });
}

/** Journeys that begin with a send, or come to one later, while the month has one send left, or none (docs/decisions/0110). */
export function beyondTheCap(draft: Draft): void {
  const { random } = draft;
  const people = random.some(PEOPLE, random.between(2, 3)).map((name) => personOf(draft, name));
  const send = { content: { title: "News", body: "Read on" }, next: "end", channel_ids: [mailChannel(draft)] };
  const cap = (sends: number | null) => setSendCap(draft, sends);
  const first = { type: "send", send };
  const delay = { type: "delay", delay: { duration: "30m", next: "s2" } };
  const s2 = { id: "s2", ...first };
  journeyOf(draft, { type: "event", event_name: "visit" }, first);
  journeyOf(draft, { type: "event", event_name: "visit" }, delay, { s2 });
  if (random.chance(0.5)) cap(random.between(0, 3));
  for (const person of people) eventAt(draft, random.pick([SECOND, MINUTE]), person, "visit");
  if (random.chance(0.5)) cap(random.between(0, 6));
  pass(draft, HOUR);
  cap(null);
}

/** Several reports of one experience: of one person again, of another, of nobody that is known (AMB-41, AMB-106). */
export function seenAgain(draft: Draft): void {
  const { random } = draft;
  const people = random.some(PEOPLE, 2).map((name) => personOf(draft, name));
  const content = { title: "Look", body: "Here" };
  const arms = random.chance(0.5) ? { variant_b: { title: "B", body: "Arm B" } } : {};
  const body = { name: "Seen", format: "card", content, audience: { type: "all" }, ...arms };
  const experience = newHandle(draft, "experience");
  post(draft, SECOND, "/api/v1/in-app/experiences", body, { handle: experience }, "experience");
  post(draft, SECOND, `/api/v1/in-app/experiences/@${experience}/publish`, undefined);
  for (let n = random.between(2, 5); n > 0; n--) {
    const report = {
      ...{ job_id: `@job(${experience},0)`, platform: random.pick(["ios", "web"]) },
      interaction: random.pick(["inapp_impression", "inapp_impression", "inapp_click", "inapp_dismiss"]),
      ...{ occurred_at: iso(draft.now - random.pick([0, SECOND])), subscriber_id: random.pick([...people, "@no_one"]) },
      ...(random.chance(0.5) && { variant_id: random.pick(["a", "b"]) }),
    };
    post(draft, SECOND, "/api/v1/notifications/interactions", report, { as: "sdk" });
  }
}
