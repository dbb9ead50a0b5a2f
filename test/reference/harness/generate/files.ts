// Files of imports, and stories of files and of the calendar: choices of topics, files of other platforms, and sends over the end of a month.
import { add, type Draft, dashboardOf, iso, newHandle, PEOPLE, someOf } from "./draft.ts";
import { list } from "./people.ts";
import {
  ask,
  DAY,
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
  settings,
} from "./stories.ts";

/** Who chose a topic here, and what a file says that they chose before or after (docs/decisions/0070). */
export function topicsOfFiles(draft: Draft): void {
  const { random } = draft;
  post(draft, SECOND, "/api/v1/topics", { key: "news", name: "news", default: "in" }, { handle: "news" }, "topic");
  const list = newHandle(draft, "list");
  post(draft, SECOND, "/api/v1/lists", { name: `File ${list}` }, { handle: list }, "list");
  const names = random.some(PEOPLE, random.between(1, 3));
  for (const name of names) {
    const subscriber_id = personOf(draft, name);
    const body = { subscriber_id, topics: { news: random.pick(["opted_in", "opted_in", "opted_out"]) } };
    if (random.chance(0.7)) ask(draft, SECOND, { as: "sdk", method: "PUT", path: "/v1/preferences", body });
  }
  for (let n = random.between(1, 2); n > 0; n--) {
    const times = [
      iso(draft.now - DAY),
      iso(draft.now - 90 * DAY),
      iso(draft.now + 4 * MINUTE),
      iso(draft.now + DAY),
      "",
    ];
    const line = (name: string) => [name, random.pick(["yes", "no", "no", "opted_out", "maybe"]), random.pick(times)];
    const column = random.pick(["topic:news", "topic:news", "topic:gone", "Letters"]);
    const mapping = column === "Letters" ? { mapping: JSON.stringify({ Letters: "topic:news" }) } : {};
    const header = ["external_id", column, random.pick(["topic_at:news", "consent_at"])];
    const file = [header, ...names.map(line)].map((cells) => cells.join()).join("\n");
    const body = { listId: `@${list}`, ...mapping };
    post(draft, SECOND, "/api/v1/lists/import", body, { file, handle: newHandle(draft, "import") });
    pass(draft, MINUTE);
  }
}

/** Sends that are taken from the quota of one month and end in the next (D-BILL, docs/decisions/0093). */
export function overMonthsEnd(draft: Draft): void {
  const { random, commands } = draft;
  const people = random.some(PEOPLE, random.between(2, 4)).map((name) => personOf(draft, name));
  // Who has no address is of the audience, and costs nothing.
  post(draft, SECOND, "/api/v1/subscribers/upsert", { external_id: "f" }, { as: "sdk", handle: "p_f" }, "person");
  mailChannel(draft);
  const day = new Date(draft.now);
  const end = Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1);
  const quiet = { start: "22:00", end: "08:00", timezone_mode: "workspace" };
  settings(draft, { timezone: "UTC", quiet_hours: random.pick([null, quiet, quiet]), frequency_caps: [] });
  const cap = (sends: number | null) => setSendCap(draft, sends);
  if (random.chance(0.4)) cap(random.between(2, 5));
  pass(draft, Math.max(end - 2 * HOUR - draft.now, SECOND));
  const fault = { channel: "email", outcome: "transient", times: random.between(1, 3) };
  if (random.chance(0.8)) commands.push({ kind: "fault", wait: 0, ...fault, person: random.pick(people).slice(1) });
  const everybody = { target: { type: "all" }, subscriberIds: undefined };
  // What goes out at its time holds its audience until it ends; what goes out at once holds what it plans.
  if (random.chance(0.9)) {
    const scheduled_at = iso(end - random.pick([30 * MINUTE, 5 * MINUTE, MINUTE, SECOND]));
    sendTo(draft, SECOND, people, { ...everybody, scheduled_at, holdout_percentage: random.pick([0, 50]) });
  }
  for (const before of random.some([HOUR, 5 * MINUTE, MINUTE, SECOND, 0], random.between(1, 3)).sort((a, b) => b - a))
    sendTo(draft, end - before - draft.now, people, random.chance(0.5) ? everybody : {});
  pass(draft, Math.max(end + random.pick([SECOND, HOUR]) - draft.now, SECOND));
  sendTo(draft, SECOND, people);
  pass(draft, 10 * HOUR);
  commands.push({ kind: "clear faults", wait: 0 });
  settings(draft, { quiet_hours: null });
  cap(null);
  sendTo(draft, SECOND, people);
}

/** Columns of the exports of two other platforms, and what stands in them (AMB-132). */
const PLATFORMS: Record<string, Record<string, string[]>> = {
  platform_a: {
    "Email Marketing Consent": ["SUBSCRIBED", "UNSUBSCRIBED", "NEVER_SUBSCRIBED", ""],
    "Email Marketing Consent Timestamp": ["2026-10-01T00:00:00Z", ""],
    "Email Suppressions": ["HARD_BOUNCE", "", "", ""],
  },
  platform_b: {
    STATUS: ["subscribed", "unsubscribed", "pending", "cleaned", "nonsubscribed", "transactional", ""],
    CONFIRM_TIME: ["2026-10-01 10:00:00", "", ""],
    OPTIN_TIME: ["2026-09-01 10:00:00", "", ""],
    UNSUB_TIME: ["2026-10-02 10:00:00", "", "", ""],
    CLEAN_TIME: ["2026-10-03 10:00:00", "", "", ""],
  },
};

export function platformFile(draft: Draft): void {
  const { random } = draft;
  const list = newHandle(draft, "list");
  post(draft, SECOND, "/api/v1/lists", { name: `Moved ${list}` }, { handle: list }, "list");
  for (const name of random.some(PEOPLE, random.between(0, 2))) personOf(draft, name);
  const source = random.pick(Object.keys(PLATFORMS));
  const columns = PLATFORMS[source]!;
  const header = ["Email", ...random.some(Object.keys(columns), random.between(1, 4))];
  const addresses = random.some([...PEOPLE, "new"], random.between(1, 4)).map((name) => `${name}@example.com`);
  const rows = addresses.map((address) => [address, ...header.slice(1).map((name) => random.pick(columns[name]!))]);
  const file = [header, ...rows].map((cells) => cells.join()).join("\n");
  const constant = random.chance(0.3) ? { consent_at: "2026-09-01", consent_source: "Shop" } : {};
  const body = { listId: `@${list}`, source, ...constant };
  post(draft, SECOND, "/api/v1/lists/import", body, { file, handle: newHandle(draft, "import") });
  pass(draft, MINUTE);
}

/** Files of numbers alone, as platforms for text messages write them (docs/decisions/0136). */
export function numbersFile(draft: Draft): void {
  const { random } = draft;
  const list = newHandle(draft, "list");
  post(draft, SECOND, "/api/v1/lists", { name: `Texts ${list}` }, { handle: list }, "list");
  for (let n = random.between(1, 2); n > 0; n--) {
    const [status, numbers] = [random.pick(["subscribed", "consent_status"]), ["+4915112345671", "0151 1234568", "12"]];
    const mail = random.chance(0.5) ? ["Email"] : [];
    const header = ["Phone Number", status, "consent_at", "unsubscribed", ...mail];
    const line = (number: string) => [
      number,
      random.pick(["yes", "yes", "no", ""]),
      random.pick(["2026-10-01T00:00:00Z", iso(draft.now + random.pick([3, 4, 9]) * MINUTE), ""]),
      random.pick(["", "", "yes", "2026-10-02"]),
      ...mail.map(() => ""),
    ];
    const rows = Array.from({ length: random.between(1, 4) }, () => random.pick(numbers));
    const file = [header, ...rows.map(line)].map((cells) => cells.join()).join("\n");
    const body = { listId: `@${list}`, phone_region: "DE" };
    post(draft, SECOND, "/api/v1/lists/import", body, { file, handle: newHandle(draft, "import") });
    pass(draft, MINUTE);
  }
}

/** A file moves people into a segment, or out of it, that a journey begins with, and may start none (AMB-133). */
export function quietFile(draft: Draft): void {
  const { random } = draft;
  const list = newHandle(draft, "list");
  post(draft, SECOND, "/api/v1/lists", { name: `Quiet ${list}` }, { handle: list }, "list");
  const segment = segmentOf(draft, { attribute: { plan: { $eq: "pro" } } }, random.chance(0.6));
  const type = random.pick(["segment_entered", "segment_entered", "segment_exited"]);
  journeyOf(draft, { type, segment_id: segment }, { type: "delay", delay: { duration: "1h", next: "s2" } });
  const names = random.some(PEOPLE, random.between(1, 3));
  for (const name of random.some(names, random.between(0, names.length))) personOf(draft, name);
  for (let n = random.between(2, 4); n > 0; n--) {
    const plan = () => random.pick(["pro", "free"]);
    const rows = random.some(names, random.between(1, names.length)).map((name) => `${name},${plan()}`);
    const file = ["external_id,plan", ...rows].join("\n");
    const body = { listId: `@${list}`, ...random.pick([{}, { start_journeys: "false" }, { start_journeys: "false" }]) };
    if (random.chance(0.7))
      post(draft, SECOND, "/api/v1/lists/import", body, { file, handle: newHandle(draft, "import") });
    else {
      const body = { external_id: random.pick(names), attributes: { plan: plan() } };
      post(draft, SECOND, "/api/v1/subscribers/upsert", body, { as: "sdk" });
    }
    pass(draft, random.pick([MINUTE, HOUR, DAY]));
    if (random.chance(0.6)) post(draft, SECOND, `/api/v1/segments/${segment}/recompute`, undefined);
  }
}

/** Standard columns, columns that state a consent by their name, and others. */
const CELLS: Record<string, string[]> = {
  external_id: ["a", "b", "f", ""],
  "Customer ID": ["a", "b", "g"],
  email: ["ada@example.com", "New@example.com", "broken", ""],
  "E-Mail Address": ["ada@example.com", "bo@example.com"],
  first_name: ["Ada", '"Bo, the ""first"""'],
  tier: ["gold", "silver", ""],
  score: ["1", "007", "2.5", "true"],
  consent_status: ["opted_in", "unsubscribed", "yes", "maybe", ""],
  consent_at: [
    ...["2026-10-01T00:00:00Z", "2026-10-01 10:00", "2026-10-01", "2031-01-01T00:00:00Z", ""],
    ...["2026-10-01 12:30 AM", "2026-10-01 12:30 PM", "2026-10-01 01:15 pm", "soon"],
  ],
  locale: ["de_DE", "en", "fr-CA", "not a locale", ""],
  timezone: ["Europe/Berlin", "Mars/Base", ""],
  consent_source: ["shop", ""],
  phone: ["+4915112345678", "0151 12345679", "call me", ""],
  tags: ["x", ""],
  Unsubscribed: ["true", "no", "2026-10-02", ""],
  Newsletter: ["yes", "no", ""],
  Bounced: ["true", "false", ""],
  "topic:news": ["yes", "no", "opted_in", "opted_out", "maybe", ""],
  "topic_at:news": ["2026-10-01", "2026-10-01T00:00:00Z", ""],
};
const IDS = ["external_id", "email", "Customer ID", "E-Mail Address"];

export function importFile(draft: Draft): void {
  const { random } = draft;
  if (draft.made.list.length === 0) list(draft);
  const header = [
    ...random.pick([["external_id"], ["email"], ["external_id", "email"], ["Customer ID", "E-Mail Address"]]),
    // A yes counts with its time.
    ...(random.chance(0.4) ? ["consent_status", "consent_at"] : []),
    ...random.some(
      Object.keys(CELLS).filter((name) => ![...IDS, "consent_status", "consent_at"].includes(name)),
      random.between(0, 4),
    ),
  ];
  const rows = Array.from({ length: random.between(0, 4) }, () => {
    const cells = header.map((name) => random.pick(CELLS[name]!));
    return random.chance(0.92) ? cells : [...cells, "extra"];
  });
  const file = [header, ...rows].map((cells) => cells.join(",")).join(random.pick(["\n", "\r\n"]));
  const body = {
    listId: someOf(draft, "list"),
    ...(random.chance(0.1) && { source: "platform_z" }),
    ...(random.chance(0.3) && { time_zone: random.pick(["Europe/Berlin", "America/New_York", "Mars/Base"]) }),
    ...(random.chance(0.3) && { phone_region: "DE" }),
    ...(random.chance(0.3) && { consent_at: "2026-09-01", consent_source: "Checkout" }),
  };
  const path = "/api/v1/lists/import";
  const handle = newHandle(draft, "import");
  const said = random.chance(0.1) ? { ...body, dry_run: random.pick(["true", "false", "maybe"]) } : body;
  add(draft, { as: dashboardOf(draft), method: "POST", path, body: said, file, handle });
  if (random.chance(0.05)) add(draft, { as: "owner", method: "POST", path: `${path}/@${handle}/cancel` });
}
