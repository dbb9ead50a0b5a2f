// Stories of several at once: people of one message under a cap, a list and a topic, deliveries that failed among others.
import type { Body } from "../../model/kit.ts";
import { type Draft, newHandle, PEOPLE } from "./draft.ts";
import {
  allDay,
  ask,
  boundaryAfter,
  channelFor,
  DAY,
  HOUR,
  MINUTE,
  mailChannel,
  pass,
  personOf,
  post,
  SECOND,
  sendTo,
  settings,
} from "./stories.ts";

/** Each of a group counts once for a cap, as often as its message is tried again, by mail and by text (D-CAP). */
export function cappedTogether(draft: Draft): void {
  const { random, commands } = draft;
  const people = random.some(PEOPLE, random.between(2, 4)).map((name) => personOf(draft, name));
  const mail = mailChannel(draft);
  const channel_ids = random.pick([[mail], [mail], [mail, channelFor(draft, "sms")]]);
  const max = random.between(1, 3);
  const of = random.pick<Body>([{ channel_class: "email" }, { channel_class: "email" }, {}]);
  settings(draft, {
    timezone: "UTC",
    quiet_hours: null,
    frequency_caps: [{ category: "marketing", max, per: "day", ...of }],
  });
  const [one] = people;
  const whose = random.chance(0.5) ? { person: one!.slice(1), times: random.between(1, 3) } : {};
  commands.push({ kind: "fault", wait: 0, channel: "email", outcome: "transient", ...whose });
  sendTo(draft, SECOND, people, { channel_ids });
  pass(draft, random.pick([SECOND, 3 * MINUTE]));
  commands.push({ kind: "clear faults", wait: 0 });
  pass(draft, HOUR);
  for (let n = random.between(1, max); n > 0; n--) sendTo(draft, SECOND, people, { channel_ids });
  settings(draft, { frequency_caps: [] });
  pass(draft, HOUR);
}

/** Who leaves a list, or a topic, while a message to both waits for the end of the night or for its next try (LST-5, TPC-1). */
export function listAndTopic(draft: Draft): void {
  const { random, commands } = draft;
  const person = personOf(draft);
  mailChannel(draft);
  const handle = newHandle(draft, "list");
  post(draft, SECOND, "/api/v1/lists", { name: `Both ${handle}` }, { handle }, "list");
  post(draft, SECOND, `/api/v1/lists/@${handle}/subscribers`, { subscriber_ids: [person] });
  post(draft, SECOND, "/api/v1/topics", { key: "news", name: "news", default: "in" }, { handle: "news" }, "topic");
  const toList = { subscriberIds: undefined, target: { type: "list", list_id: `@${handle}` } };
  sendTo(draft, SECOND, [], toList);
  settings(draft, { timezone: "UTC", frequency_caps: [], quiet_hours: allDay });
  sendTo(draft, SECOND, [], { ...toList, ...(random.chance(0.7) && { topic: "news" }) });
  if (random.chance(0.8)) commands.push({ kind: "link", wait: SECOND, link: "unsubscribe", method: "POST", mail: 0 });
  else {
    const body = { subscriber_id: person, topics: { news: "opted_out" } };
    ask(draft, SECOND, { as: "sdk", method: "PUT", path: "/v1/preferences", body });
  }
  settings(draft, { quiet_hours: null });
  pass(draft, boundaryAfter(draft.now, "UTC", false) - draft.now + HOUR);
}

/** What did not arrive, between what did: on small pages it takes several reads to find it (WHK-9). */
export function someMissing(draft: Draft): void {
  const { random, commands } = draft;
  const handle = newHandle(draft, "hook");
  const [event] = random.some(["subscriber.created", "notification.terminal"], 1);
  const body = { target_url: "https://hooks.example.com/in", events: [event] };
  post(draft, SECOND, "/v1/hooks", body, { as: "server", handle }, "hook");
  for (let n = random.between(6, 14); n > 0; n--) {
    if (random.chance(0.6)) commands.push({ kind: "receiver", wait: 0, status: random.pick([404, 404, 204]) });
    post(draft, SECOND, `/api/v1/webhooks/@${handle}/test`, { event });
  }
  commands.push({ kind: "receiver", wait: 0, status: 204 });
  pass(draft, random.pick([MINUTE, DAY]));
}

/** Secrets that change, also while a delivery waits for another try, and on both sides of the day of the one before (D-HOOKS). */
export function rotatedSecret(draft: Draft): void {
  const { random, commands } = draft;
  const handle = newHandle(draft, "hook");
  const event = "subscriber.created";
  const hook = `/api/v1/webhooks/@${handle}`;
  const body = { target_url: "https://hooks.example.com/in", events: [event] };
  post(draft, SECOND, "/v1/hooks", body, { as: "server", handle }, "hook");
  const acts = [
    () => post(draft, SECOND, `${hook}/secret/rotate`, undefined),
    () => post(draft, SECOND, `${hook}/test`, { event }),
    () => commands.push({ kind: "receiver", wait: 0, status: random.pick([204, 204, 503]) }),
    () => pass(draft, random.pick([MINUTE, HOUR, DAY - MINUTE, DAY, DAY + MINUTE])),
  ];
  for (let n = random.between(4, 12); n > 0; n--) random.pick(acts)();
  post(draft, SECOND, `${hook}/test`, { event });
  commands.push({ kind: "receiver", wait: 0, status: 204 });
  pass(draft, random.pick([MINUTE, DAY]));
}
