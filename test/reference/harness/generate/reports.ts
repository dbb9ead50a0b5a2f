// Stories of what is told late, of the last sends of a plan, of long files, and of names that change.
import type { Body } from "../../model/kit.ts";
import type { Report } from "../program.ts";
import { type Draft, newHandle, PEOPLE } from "./draft.ts";
import { anyOf } from "./moves.ts";
import {
  ask,
  campaignOf,
  conversionOf,
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

/** A mail comes back, or is called spam, hours after it went out; its address may have been lifted since (AMB-129, AMB-139). */
export function lateReport(draft: Draft): void {
  const { random, commands } = draft;
  const person = personOf(draft);
  const mail = mailChannel(draft);
  const address = `${person.slice(3)}@example.com`;
  if (random.chance(0.3)) conversionOf(draft, 86_400);
  const campaign = () => void post(draft, SECOND, `/api/v1/campaigns/${campaignOf(draft, SECOND)}/release`, undefined);
  const journey = () => {
    const send = { content: { title: "News", body: "Read on" }, next: "end", channel_ids: [mail] };
    journeyOf(draft, { type: "event", event_name: "visit" }, { type: "send", send });
    for (let n = random.between(1, 2); n > 0; n--) eventAt(draft, random.pick([SECOND, HOUR]), person, "visit");
  };
  const send = () =>
    random.pick<() => unknown>([
      () => sendTo(draft, SECOND, [person], random.chance(0.5) ? ours : {}),
      campaign,
      journey,
    ])();
  const ours = { category: "transactional" };
  const report = () => {
    const later = isUnsure ? (["arrival", "arrival"] as const) : [];
    const fate = random.pick<Report["fate"]>(["bounce", "bounce", "complaint", ...later]);
    const ago = random.pick([0, MINUTE, HOUR, 3 * HOUR]);
    commands.push({ kind: "report", wait: 0, fate, ago, mail: random.pick([0, 0, 1]) });
  };
  const lift = () => {
    const handle = newHandle(draft, "sup");
    post(draft, SECOND, "/api/v1/suppressions", { address }, { handle }, "suppression");
    const path = `/api/v1/suppressions/@${handle}`;
    ask(draft, SECOND, { method: "DELETE", path, body: undefined, query: { reason: "back" } });
  };
  const buy = () => void eventAt(draft, SECOND, person, "buy", { properties: { amount: 10 } });
  const gone = () =>
    void ask(draft, SECOND, { method: "DELETE", path: `/api/v1/subscribers/${person}`, body: undefined });
  const move = () =>
    void ask(draft, SECOND, {
      method: "PATCH",
      path: `/api/v1/subscribers/${person}`,
      body: { email: "bo@example.com" },
    });
  // Nobody knows whether a mail arrived whose provider does not answer (AMB-95, F1).
  const isUnsure = random.chance(0.3);
  if (isUnsure) {
    const fault = { channel: "email", outcome: "timeout", times: 1, person: person.slice(1) };
    commands.push({ kind: "fault", wait: 0, ...fault });
    sendTo(draft, SECOND, [person], ours);
    pass(draft, MINUTE);
    commands.push({ kind: "clear faults", wait: 0 });
  } else send();
  pass(draft, random.pick([MINUTE, HOUR, 2 * HOUR]));
  anyOf(draft, [report, report, report, lift, lift, send, buy, move, () => pass(draft, HOUR)], 3, 6);
  if (random.chance(0.2)) gone();
  report();
}

/** The last sends that a plan allows, with a cap of the workspace's own above, at and below its quota (D-PLAN, D-BILL). */
export function nearQuota(draft: Draft): void {
  const { random, commands } = draft;
  const people = random.some(PEOPLE, random.between(2, 4)).map((name) => personOf(draft, name));
  mailChannel(draft);
  const plan = (name: string) => {
    ask(draft, SECOND, { method: "PUT", path: "/api/v1/billing/plan", body: { plan: name } });
    pass(draft, 2 * MINUTE);
  };
  const used = (sends: number) => void commands.push({ kind: "usage", wait: 0, sends });
  const send = () => {
    const some = random.some(people, random.between(1, people.length));
    const all = random.chance(0.3) ? { subscriberIds: undefined, target: { type: "all" } } : {};
    sendTo(draft, SECOND, some, { category: "transactional", ...all });
  };
  const [name, quota] = random.pick<[string, number]>([
    ["starter", 100_000],
    ["growth", 500_000],
  ]);
  plan(name);
  used(quota - random.pick([1, 2, 3, 6]));
  const cap = () => void setSendCap(draft, random.pick([null, quota - 1, quota, quota + 50]));
  anyOf(draft, [cap, cap, send, send, send, () => pass(draft, HOUR)], 4, 8);
  used(0);
  setSendCap(draft, null);
  plan("enterprise");
}

/** A file of more rows than a worker takes at once, some of which are rejected (IMP-3). */
export function longFile(draft: Draft): void {
  const { random } = draft;
  const list = newHandle(draft, "list");
  post(draft, SECOND, "/api/v1/lists", { name: `Long ${list}` }, { handle: list }, "list");
  const rows = random.pick([99, 100, 101, 205]);
  const rejected = new Set(random.some([1, 50, 99, 100, 101, 150, 200, 204], random.between(1, 4)));
  const lines = Array.from({ length: rows }, (_, n) =>
    rejected.has(n) ? ",gold" : `${PEOPLE[n % 3]},${random.pick(["gold", "silver", ""])}`,
  );
  const file = ["external_id,tier", ...lines].join("\n");
  post(draft, SECOND, "/api/v1/lists/import", { listId: `@${list}` }, { file, handle: newHandle(draft, "import") });
  if (rows > 100) draft.now += SECOND;
  pass(draft, MINUTE);
}

/** What has a name gets another one, in this state and in that, and is searched for by both. */
export function renamed(draft: Draft): void {
  const { random } = draft;
  personOf(draft);
  const [before, after] = random.some(["Spring", "Autumn", "Sprung"], 2) as [string, string];
  const content = { title: before, body: "Read on" };
  const campaign = campaignOf(draft, SECOND);
  const messages = [{ content, channel_ids: [mailChannel(draft)] }];
  const name = (name: string): Body => ({ name, messages, target: { type: "all" } });
  const handle = newHandle(draft, "template");
  const list = newHandle(draft, "list");
  post(draft, SECOND, "/api/v1/templates", { name: `${before} ${handle}`, content }, { handle }, "template");
  post(draft, SECOND, "/api/v1/lists", { name: `${before} ${list}` }, { handle: list }, "list");
  const put = (text: string) => () =>
    void ask(draft, SECOND, { method: "PUT", path: `/api/v1/campaigns/${campaign}`, body: name(text) });
  const patch = (path: string, body: Body) => () => void ask(draft, SECOND, { method: "PATCH", path, body });
  const act = (action: string) => patch(`/api/v1/campaigns/${campaign}`, { action });
  put(before)();
  anyOf(
    draft,
    [
      ...[put(after), put(before), act("archive"), act("unarchive")],
      ...[patch(`/api/v1/templates/@${handle}`, { name: `${after} ${handle}` })],
      ...[patch(`/api/v1/lists/@${list}`, { name: `${after} ${list}` })],
    ],
    2,
    5,
  );
  for (const q of [before, after])
    ask(draft, SECOND, { method: "GET", path: "/api/v1/campaigns", body: undefined, query: { q } });
}
