// Stories of what changes between two steps of something: between the tries of a message, before the end of a night, in a run.
import type { Body } from "../../model/kit.ts";
import { type Draft, iso, newHandle, PEOPLE } from "./draft.ts";
import {
  allDay,
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
  sendTo,
  settings,
} from "./stories.ts";

/** Of several devices of one person, the model does not know which one a fault of a few times meets first. */
const failing = ({ commands, random }: Draft, channel: string, outcome: string, person?: string) =>
  void commands.push({
    ...{ kind: "fault", wait: 0, channel, outcome },
    ...(person && { person: person.slice(1) }),
    ...(outcome === "transient" && channel !== "ios" && { times: random.between(1, 3) }),
  });
const deletion = { method: "DELETE", query: { force: "true" }, body: undefined };
const mended = ({ commands }: Draft) => void commands.push({ kind: "clear faults", wait: 0 });

/**
 * A campaign is paused, archived or deleted while a message of it is tried again, and goes on (AMB-113); what fell due
 * meanwhile goes out or does not (AMB-138).
 */
export function pausedBetweenTries(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  mailChannel(draft);
  failing(draft, "email", "transient", person);
  const due = (wait: number) => (random.chance(0.4) ? { scheduled_at: iso(draft.now + wait) } : {});
  const others = random.some([MINUTE, 10 * MINUTE, 90 * MINUTE], random.between(0, 2)).map(due);
  const campaign = campaignOf(draft, SECOND, due(MINUTE), ...others);
  post(draft, SECOND, `/api/v1/campaigns/${campaign}/release`, undefined);
  pass(draft, random.pick([SECOND, MINUTE, 2 * MINUTE]));
  const act = (wait: number, action: string, more: Body = {}) =>
    ask(draft, wait, { method: "PATCH", path: `/api/v1/campaigns/${campaign}`, body: { action, ...more } });
  const [off, on] = random.pick([["pause", "resume"] as const, ["archive", "unarchive"] as const]);
  act(SECOND, off);
  pass(draft, random.pick([30 * SECOND, 10 * MINUTE, HOUR]));
  const overdue = random.pick([undefined, "keep_distance", "now", "skip"]);
  act(SECOND, on, on === "resume" && overdue ? { overdue } : {});
  if (random.chance(0.3)) act(SECOND, off);
  pass(draft, HOUR);
  mended(draft);
}

/** Attempts with quiet hours between them, and people who opted out or were suppressed meanwhile (D-QUIET, AMB-128). */
export function changedOvernight(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const channels = random.some(
    [mailChannel(draft), channelFor(draft, "ios"), channelFor(draft, "sms")],
    random.between(1, 3),
  );
  const phone = (number: string | null) =>
    ask(draft, SECOND, {
      method: "PATCH",
      path: `/api/v1/subscribers/${person}`,
      body: { attributes: { phone: number } },
    });
  phone("+4915112345678");
  const device = { subscriber_id: person, platform: "ios", token: `night-${person}`, device_id: `night-${person}` };
  const register = (push_enabled: boolean) =>
    post(
      draft,
      SECOND,
      "/api/v1/devices",
      { ...device, push_enabled },
      { as: "sdk", handle: `n_${person.slice(3)}` },
      "device",
    );
  register(true);
  settings(draft, {
    timezone: "UTC",
    frequency_caps: [],
    quiet_hours: { start: "22:00", end: "08:00", timezone_mode: "workspace" },
  });
  const midnight = boundaryAfter(draft.now + 2 * HOUR + MINUTE, "UTC", false);
  const kind = random.pick(["email", "sms", "ios"]);
  if (random.chance(0.6)) failing(draft, kind, "transient", kind === "ios" ? undefined : person);
  const smart = random.chance(0.3) ? { channel_arbitration_mode: "smart" } : {};
  sendTo(draft, midnight - 2 * HOUR + random.pick([-30 * MINUTE, -MINUTE, 0, HOUR]) - draft.now, [person], {
    channel_ids: channels,
    ...smart,
  });
  const email = random.pick(["bo@example.com", "bo@gmail.com", "bo@yahoo.fr"]);
  const changes = [
    () => register(false),
    () => phone(random.pick([null, "0151", "+4915112345679"])),
    () => post(draft, SECOND, `/api/v1/subscribers/${person}/consents`, { status: "opted_out", channel: "sms" }),
    () => ask(draft, SECOND, { method: "PATCH", path: `/api/v1/subscribers/${person}`, body: { email } }),
    () => ask(draft, SECOND, { method: "PATCH", path: `/api/v1/channels/${channels[0]}`, body: { active: false } }),
    () => ask(draft, SECOND, { ...deletion, path: `/api/v1/channels/${random.pick(channels)}` }),
  ];
  for (const change of random.some(changes, random.between(1, 2))) change();
  pass(draft, Math.max(midnight + 8 * HOUR + edge(draft) - draft.now, SECOND));
  pass(draft, 2 * HOUR);
  mended(draft);
  ask(draft, SECOND, { method: "PATCH", path: `/api/v1/channels/${channels[0]}`, body: { active: true } });
  settings(draft, { quiet_hours: null });
}

/** Tokens and numbers that a provider knows no more, and what is sent to them afterwards (D-PROV, SMA-6). */
export function deadTokens(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const pushes = random.some(["ios", "android"], random.between(1, 2));
  const channel_ids = [...pushes.map((type) => channelFor(draft, type)), mailChannel(draft)];
  for (let n = random.between(pushes.length, 3); n > 0; n--) {
    const platform = pushes[n % pushes.length];
    const body = { subscriber_id: person, platform, token: `dead-${platform}-${person}-${n}` };
    post(draft, SECOND, "/api/v1/devices", body, { as: "sdk", handle: newHandle(draft, "device") }, "device");
  }
  // Of two kinds of devices one may still be reached.
  failing(draft, random.pick(pushes), random.pick(["invalid_token", "permanent", "permanent"]));
  const smart = random.chance(0.7) ? { channel_arbitration_mode: "smart" } : {};
  sendTo(draft, SECOND, [person], { channel_ids, ...smart });
  if (random.chance(0.5)) mended(draft);
  sendTo(draft, SECOND, [person], { channel_ids: random.pick([channel_ids, channel_ids.slice(0, 1)]), ...smart });
  mended(draft);
}

/**
 * A send that only some devices fit (NTF-15, NTF-16), among them such as take no pushes or are gone, and a person with more of
 * them than are kept (D-DEV).
 */
export function someDevices(draft: Draft): void {
  const { random } = draft;
  const people = random.some(PEOPLE, 2).map((name) => personOf(draft, name));
  const pushes = [channelFor(draft, "ios"), channelFor(draft, "android")];
  const channel_ids = random.chance(0.5) ? pushes : [...pushes, mailChannel(draft)];
  const register = (subscriber_id: string, n: number) => {
    const platform = random.pick(["ios", "android"]);
    const app_version = random.pick<Body>(["1.9.9", "1.10.0", "2", { major: 1, minor: 10 }]);
    const body = {
      subscriber_id,
      platform,
      token: `${platform}-${subscriber_id}-${n}`,
      app_version,
      push_enabled: random.chance(0.8),
    };
    const input = { as: "sdk", handle: newHandle(draft, "device") };
    post(draft, SECOND, "/api/v1/devices", { ...body, ...(random.chance(0.3) && { locale: "de" }) }, input, "device");
  };
  for (const person of people) for (let n = random.pick([1, 1, 2, 21]); n > 0; n--) register(person, n);
  // Some are gone by then.
  if (random.chance(0.4)) {
    failing(draft, "ios", "invalid_token");
    sendTo(draft, SECOND, people.slice(0, 1), { channel_ids: pushes });
    mended(draft);
  }
  const version = random.pick<Body>(["1.10.0", "1.9", { major: 2 }]);
  const device_filters = random.pick<Body>([
    { app_version: { [random.pick(["$gte", "$lt", "$eq"])]: version } },
    { platform: { $in: ["ios"] }, locale: { $exists: random.chance(0.5) } },
  ]);
  const to = random.chance(0.5) ? {} : { subscriberIds: undefined, target: { type: "all" } };
  sendTo(draft, SECOND, people, { channel_ids, device_filters, ...to });
}

/**
 * A journey that is paused, archived or deleted with people in it, and whether they may come again (JND-13, AMB-136). What
 * ends their runs may occur in the pause: what occurred first counts (JND-9). Their messages may wait for the end of quiet
 * hours (D-QUIET).
 */
export function leftInAJourney(draft: Draft): void {
  const { random } = draft;
  const isNight = random.chance(0.4);
  if (isNight) settings(draft, { timezone: "UTC", frequency_caps: [], quiet_hours: allDay });
  const person = personOf(draft);
  const send = {
    type: "send",
    send: { content: { title: "News", body: "Read on" }, next: "end", channel_ids: [mailChannel(draft)] },
  };
  const delay = { type: "delay", delay: { duration: "1h", next: "s2" } };
  const s2 = { id: "s2", ...send };
  const ends = ["buy", "cart"];
  const exit_conditions = random.some(ends, random.pick([0, 2, 2])).map((name) => ({ event: { name } }));
  const start = random.pick([delay, delay, send]);
  const journey = journeyOf(draft, { type: "event", event_name: "visit" }, start, { s2, exit_conditions });
  const move = (name: string) => post(draft, SECOND, `/api/v1/journeys/${journey}/${name}`, undefined);
  eventAt(draft, SECOND, person, "visit");
  pass(draft, random.pick([MINUTE, 59 * MINUTE]));
  move("pause");
  for (const name of random.some(ends, random.pick([0, 1, 2, 2]))) {
    const ago = random.pick([0, SECOND, MINUTE]);
    eventAt(draft, random.pick([SECOND, MINUTE]), person, name, ago > 0 ? { occurred_at: iso(draft.now - ago) } : {});
  }
  const end = random.between(0, 3);
  if (random.chance(0.3)) move(`runs/@run(${journey.slice(1)},0)/cancel`);
  if (end === 0) move("archive");
  else if (end === 1) ask(draft, SECOND, { method: "DELETE", path: `/api/v1/journeys/${journey}`, body: undefined });
  else pass(draft, random.pick([MINUTE, HOUR, DAY]));
  if (end > 1) move("activate");
  if (random.chance(0.6)) eventAt(draft, random.pick([SECOND, HOUR]), person, "visit");
  pass(draft, HOUR + edge(draft));
  if (!isNight) return;
  settings(draft, { quiet_hours: null });
  pass(draft, DAY);
}

/** What follows a message keeps its distance to the end of the night that it waits for, also behind a branch (AMB-136, D-QUIET). */
export function behindTheNight(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  settings(draft, { timezone: "UTC", frequency_caps: [], quiet_hours: allDay });
  const content = { title: "News", body: "Read on" };
  const send = (next: string) => ({ type: "send", send: { content, next, channel_ids: [mailChannel(draft)] } });
  const waits = random.pick<Body>([
    { type: "delay", delay: { duration: "1h", next: "end" } },
    { type: "wait_for_event", wait_for_event: { event_name: "buy", within: "1h", on_event: "end", on_timeout: "end" } },
  ]);
  // biome-ignore lint/suspicious/noThenProperty: the contract names it so
  const branch = { condition: { attribute: { nowhere: { $exists: false } } }, then: "s3", else: "end" };
  const s2 = { id: "s2", ...random.pick<Body>([{ type: "branch", branch }, send("s3")]) };
  const steps = { s2, s3: { id: "s3", ...waits } };
  // Who leaves in the night gets no message of it any more (JND-9).
  const exits = random.chance(0.4) ? { exit_conditions: [{ event: { name: "cart" } }] } : {};
  journeyOf(draft, { type: "event", event_name: "visit" }, send("s2"), { ...steps, ...exits });
  eventAt(draft, SECOND, person, "visit");
  if (random.chance(0.5)) settings(draft, { quiet_hours: null });
  if (random.chance(0.5)) eventAt(draft, MINUTE, person, "cart");
  pass(draft, boundaryAfter(draft.now, "UTC", false) - draft.now + random.pick([0, HOUR]) + edge(draft));
  if (random.chance(0.3)) eventAt(draft, SECOND, person, "buy");
  settings(draft, { quiet_hours: null });
  pass(draft, 2 * HOUR);
}
