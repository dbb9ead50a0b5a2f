// One thing goes to and fro through its states: what a move leaves behind shows after the next.
import type { Body } from "../../model/kit.ts";
import { type Draft, EVENTS, iso, newHandle, PEOPLE } from "./draft.ts";
import { scheduleOf } from "./meetings.ts";
import {
  ask,
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
  setSendCap,
  ZONES,
} from "./stories.ts";

type Move = () => unknown;
const after =
  (...moves: Move[]): Move =>
  () =>
    moves.forEach((move) => void move());

export function anyOf({ random }: Draft, moves: Move[], least: number, most: number): void {
  for (let n = random.between(least, most); n > 0; n--) random.pick(moves)();
}

/** One that waits for its start, is held back, goes out, and is hidden and shown after that (INX-33, INX-34, AMB-6). */
export function movedExperience(draft: Draft): void {
  const { random } = draft;
  personOf(draft);
  const handle = newHandle(draft, "experience");
  const content = { title: "Look", body: "Here" };
  const start = random.chance(0.8) ? { start_at: iso(draft.now + HOUR) } : {};
  const variant_b = { title: "B", body: "Arm B" };
  const arms = random.chance(0.4) ? { variant_b, split_percentage: random.pick([1, 20, 99]) } : {};
  const body = { name: handle, format: "card", content, audience: { type: "all" }, ...start, ...arms };
  post(draft, SECOND, "/api/v1/in-app/experiences", body, { handle }, "experience");
  const change = (fields: Body) =>
    ask(draft, SECOND, { method: "PATCH", path: `/api/v1/in-app/experiences/@${handle}`, body: fields });
  if (random.chance(0.3)) change({ remove_variant_b: true });
  if (random.chance(0.3)) change({ variant_b });
  const move = (name: string) => post(draft, SECOND, `/api/v1/in-app/experiences/@${handle}/${name}`, undefined);
  const waits = () => pass(draft, HOUR);
  const [hides, shows] = [() => move("pause"), () => move("resume")];
  move("publish");
  anyOf(draft, [after(hides, shows), after(hides, shows), after(hides, waits, shows), waits, hides, shows], 2, 5);
  if (random.chance(0.3)) move("end");
}

/** Messages that are read, dismissed, and read again (AMB-37). */
export function movedMessages(draft: Draft): void {
  const { random } = draft;
  const subscriber_id = personOf(draft);
  // Some come at one moment.
  const time = random.chance(0.4) ? { scheduled_at: iso(draft.now + HOUR) } : {};
  const say = { subscriberIds: [subscriber_id], title: "News", body: "Read on", category: "transactional", ...time };
  for (let n = random.between(1, 2); n > 0; n--)
    post(draft, SECOND, "/api/v1/notifications", say, { handle: newHandle(draft, "send") }, "send");
  if (time.scheduled_at) pass(draft, HOUR);
  const path = "/v1/in-app/messages";
  const mark = (name: string) => () => post(draft, SECOND, `${path}/${name}`, { subscriber_id }, { as: "sdk" });
  const one = () => `@msg(${subscriber_id.slice(1)},${random.between(0, 1)})`;
  const [read, dismiss] = [() => mark(`${one()}/read`)(), () => mark(`${one()}/dismiss`)()];
  anyOf(draft, [read, read, dismiss, dismiss, mark("read")], 3, 5);
  // The inbox shows them for so long, and they are the person's for longer (INB-4, F14).
  if (draft.made.schedule.length === 0 && random.chance(0.3)) pass(draft, 30 * DAY + edge(draft));
}

/** An endpoint that fails for a day, is switched off for it, and on again; its log is sent once more up to a moment. */
export function movedHook(draft: Draft): void {
  const { random, commands } = draft;
  const handle = newHandle(draft, "hook");
  const body = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
  post(draft, SECOND, "/v1/hooks", body, { as: "server", handle }, "hook");
  const path = `/api/v1/webhooks/@${handle}`;
  const answers = (status: number) => commands.push({ kind: "receiver", wait: 0, status });
  const times: number[] = [];
  const test = () => {
    post(draft, SECOND, `${path}/test`, { event: body.events[0] });
    times.push(draft.now);
  };
  const again = ([from, to]: [number, number]) =>
    post(draft, SECOND, `${path}/replay`, { from: iso(from), to: iso(to) });
  answers(404);
  for (let n = 4; n > 0; n--) test();
  pass(draft, DAY + edge(draft));
  for (let n = random.between(3, 4); n > 0; n--) again([times[0]!, times[3]!]);
  const change = (change: Body) => () => ask(draft, SECOND, { method: "PATCH", path, body: change });
  const several = () => again([random.pick(times), random.pick(times) + edge(draft)].sort() as [number, number]);
  const turns = [change({ active: true }), change({ active: true }), change({ active: false })];
  if (random.chance(0.4)) {
    turns[0]!();
    // As many failures as switched it off, within minutes.
    for (let n = random.between(4, 6); n > 0; n--) again([times[0]!, times[3]!]);
  }
  const comes = () =>
    post(draft, SECOND, "/api/v1/subscribers/upsert", { external_id: `h${draft.commands.length}` }, { as: "sdk" });
  anyOf(
    draft,
    [...turns, after(...turns.slice(2), comes), several, several, test, change({ description: "Why" })],
    2,
    5,
  );
  answers(204);
}

/** A schedule of which one thing alone changes: its zone, its expression, or whether it is on (SCH-7, SCH-14, AMB-43). */
export function movedSchedule(draft: Draft): void {
  const { random } = draft;
  personOf(draft);
  const crons = [
    "0 9 * * *",
    "30 23 * * *",
    "0 6 */2 * 1",
    "0 6 1-7 * */3",
    "0 12 */5 * 5",
    "15 */6 * * *",
    "0 */2 * * *",
  ];
  const handle = scheduleOf(draft, { cron_expression: random.pick(crons), timezone: random.pick(ZONES) });
  const change = (body: Body) => ask(draft, SECOND, { method: "PATCH", path: `/api/v1/schedules/@${handle}`, body });
  const moves = [
    () => change({ timezone: random.pick(ZONES) }),
    () => change({ cron_expression: random.pick(crons) }),
    () => change({ active: random.chance(0.5) }),
    () => pass(draft, random.pick([HOUR, DAY])),
  ];
  anyOf(draft, moves, 2, 5);
  change({ active: false });
}

/** An address that is suppressed, lifted and suppressed again, with a note or none, and what a file says of it (AMB-128). */
export function movedSuppression(draft: Draft): void {
  const { random } = draft;
  const person = personOf(draft);
  const phone = "+4915112345673";
  ask(draft, SECOND, { method: "PATCH", path: `/api/v1/subscribers/${person}`, body: { attributes: { phone } } });
  const address = random.pick([`${person.slice(3)}@example.com`, phone]);
  const path = "/api/v1/suppressions";
  const suppress = () => {
    const body = { address, ...(random.chance(0.5) && { note: "asked" }) };
    return post(draft, SECOND, path, body, { handle: newHandle(draft, "sup") }, "suppression");
  };
  const lift = () => {
    const id = `@${draft.made.suppression.at(-1)}`;
    ask(draft, SECOND, { method: "DELETE", path: `${path}/${id}`, body: undefined, query: { reason: "back" } });
  };
  const file = () => {
    const row = [address, random.pick(["hard bounce", ""])];
    post(draft, SECOND, `${path}/import`, { csv: `${address === phone ? "phone" : "email"},reason\n${row.join()}` });
  };
  const listed = () => {
    const handle = newHandle(draft, "file");
    post(draft, SECOND, "/api/v1/exports", { kind: random.pick(["suppressions", "subscribers"]) }, { handle });
  };
  suppress();
  anyOf(draft, [after(lift, suppress), after(lift, file), suppress, lift, listed], 2, 4);
  if (random.chance(0.5))
    ask(draft, SECOND, { method: "DELETE", path: `/api/v1/subscribers/${person}`, body: undefined });
  listed();
}

/** A cap of the workspace's own that its sends come near to, and that moves meanwhile (F25). */
export function movedCap(draft: Draft): void {
  const { random } = draft;
  const people = random.some(PEOPLE, 2).map((name) => personOf(draft, name));
  mailChannel(draft);
  const cap = (sends: number | null) => setSendCap(draft, sends);
  const send = () => {
    const to = random.chance(0.7) ? {} : { subscriberIds: undefined, target: { type: "all" } };
    sendTo(draft, SECOND, random.some(people, random.between(1, 2)), { category: "transactional", ...to });
  };
  cap(random.pick([5, 10]));
  anyOf(draft, [send, send, send, send, send, () => cap(random.pick([5, 10, 20, 40]))], 5, 10);
  cap(null);
}

/** Events of the past move somebody into a segment, or out of it, that a journey begins with; others are of today. */
export function movedByHistory(draft: Draft): void {
  const { random } = draft;
  const people = random.some(PEOPLE, 2).map((one) => personOf(draft, one));
  const name = random.pick(EVENTS);
  const frequency = random.pick([{ min: 1 }, { min: 1 }, { min: 2 }, { max: 1 }]);
  const is_dynamic = random.chance(0.4);
  const segment = segmentOf(draft, { event: { name, frequency } }, is_dynamic);
  const type = random.pick(["segment_entered", "segment_entered", "segment_exited"]);
  journeyOf(draft, { type, segment_id: segment }, { type: "delay", delay: { duration: "1h", next: "s2" } });
  for (let n = random.between(2, 5); n > 0; n--) {
    const historical = random.chance(0.6) ? { historical: true } : {};
    eventAt(draft, random.pick([SECOND, 20 * MINUTE, DAY]), random.pick(people), name, historical);
    if (random.chance(0.6)) post(draft, random.pick([MINUTE, DAY]), `/api/v1/segments/${segment}/recompute`, undefined);
  }
}
