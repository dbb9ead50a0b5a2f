// The second of something: another message of a day, another look at an inbox, another send of an experience, another number.
import { type Draft, newHandle } from "./draft.ts";
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

/** Who is refused at the end of the quiet hours got nothing that day: a cap leaves the next message of the day alone (D-CAP). */
export function refusedThenCapped(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const channel_ids = [mailChannel(draft), ...(random.chance(0.4) ? [channelFor(draft, "sms")] : [])];
  const of = random.chance(0.5) ? { channel_class: "email" } : {};
  const frequency_caps = [{ category: "marketing", max: 1, per: random.pick(["day", "week"]), ...of }];
  settings(draft, { timezone: "UTC", quiet_hours: allDay, frequency_caps });
  sendTo(draft, SECOND, [person], { channel_ids });
  const consent = (status: string) => post(draft, SECOND, `/api/v1/subscribers/${person}/consents`, { status });
  consent("opted_out");
  settings(draft, { quiet_hours: null });
  pass(draft, boundaryAfter(draft.now, "UTC", false) - draft.now);
  consent("opted_in");
  for (let n = random.between(1, 2); n > 0; n--) sendTo(draft, SECOND, [person], { channel_ids });
  settings(draft, { frequency_caps: [] });
  // What ended at the beginning of a quarter-hour is counted at the end of it (docs/decisions/0056).
  pass(draft, HOUR);
}

/** All messages are read at once, twice: the first time counts for those that were there (AMB-37). */
export function readAgain(draft: Draft): void {
  const { random } = draft;
  const subscriber_id = personOf(draft);
  const say = { subscriberIds: [subscriber_id], title: "News", body: "Read on", category: "transactional" };
  const send = () => post(draft, SECOND, "/api/v1/notifications", say, { handle: newHandle(draft, "send") }, "send");
  send();
  for (let n = random.between(2, 3); n > 0; n--) {
    post(draft, SECOND, "/v1/in-app/messages/read", { subscriber_id }, { as: "sdk" });
    if (random.chance(0.5)) pass(draft, random.pick([MINUTE, HOUR]));
    if (random.chance(0.5)) send();
  }
}

/** An experience whose send reached nobody, or was canceled by a pause, and goes out once at a resume (INX-34, AMB-6). */
export function unsentExperience(draft: Draft): void {
  const { random } = draft;
  personOf(draft);
  const cap = (monthly_send_cap: number | null) =>
    ask(draft, SECOND, { method: "PATCH", path: "/api/v1/billing", body: { monthly_send_cap } });
  const picture = { image_url: "https://example.com/a.png" };
  const arms = { variant_b: { title: "B", body: "Arm B", ...(random.chance(0.3) && picture) }, split_percentage: 50 };
  const body = {
    ...{ name: newHandle(draft, "experience"), format: "card", audience: { type: "all" } },
    ...{ content: { title: "Look", body: "Here", ...(random.chance(0.7) && picture) } },
    ...(random.chance(0.6) && arms),
    ...(random.chance(0.4) && { start_at: new Date(draft.now + HOUR).toISOString() }),
  };
  const handle = newHandle(draft, "experience");
  post(draft, SECOND, "/api/v1/in-app/experiences", body, { handle }, "experience");
  const move = (name: string) => post(draft, SECOND, `/api/v1/in-app/experiences/@${handle}/${name}`, undefined);
  if (random.chance(0.6)) cap(0);
  move("publish");
  pass(draft, random.pick([SECOND, HOUR]));
  // A second resume sends nothing again.
  for (let n = random.between(1, 2); n > 0; n--) {
    move("pause");
    cap(null);
    move("resume");
    pass(draft, random.pick([SECOND, HOUR]));
  }
}

/** A file that brings another number than the one that was opted out, or the one that was (AMB-128, AMB-130). */
export function numberOfAFile(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const [before, after] = ["+4915112345671", "+4915112345672"];
  const attributes = { phone: before };
  ask(draft, SECOND, { method: "PATCH", path: `/api/v1/subscribers/${person}`, body: { attributes } });
  const gone = random.pick([before, after]);
  const of = random.pick(["number", "number", "sms", "email"]);
  if (of === "number") post(draft, SECOND, "/api/v1/suppressions", { address: gone });
  else post(draft, SECOND, `/api/v1/subscribers/${person}/consents`, { status: "opted_out", channel: of });
  const list = newHandle(draft, "list");
  post(draft, SECOND, "/api/v1/lists", { name: `Numbers ${list}` }, { handle: list }, "list");
  const row = [
    person.slice(3),
    random.pick([before, after, after]),
    "opted_in",
    new Date(draft.now - DAY).toISOString(),
  ];
  const [column, ...channel] = random.chance(0.7) ? [",Channel", "SMS"] : [""];
  const file = `external_id,Phone Number,consent_status,consent_at${column}\n${[...row, ...channel].join()}`;
  post(draft, SECOND, "/api/v1/lists/import", { listId: `@${list}` }, { file, handle: newHandle(draft, "import") });
  pass(draft, MINUTE);
  sendTo(draft, SECOND, [person], { channel_ids: [channelFor(draft, "sms")] });
}
