// Commands about events, segments, journeys and conversions.
import type { Body } from "../../model/kit.ts";
import {
  add,
  type Draft,
  dashboardOf,
  EVENTS,
  iso,
  momentAround,
  NAMES,
  newHandle,
  PEOPLE,
  predicateOf,
  someOf,
} from "./draft.ts";
import { textOf } from "./people.ts";
import { channelsOf } from "./sends.ts";

const WHERE: Body[] = [{ amount: { $gte: 10 } }, { sku: { $eq: "x" } }, { amount: { $lt: 10 } }];
const PROPERTIES: Body[] = [
  ...[
    { amount: 10 },
    { amount: 9, sku: "x" },
    { sku: "y" },
    {},
    { amount: -5 },
    { amount: 0, vip: true },
    { vip: false },
  ],
  { sku: "" },
];
/** A property of the trigger, whatever it is. */
const LIKE_TRIGGER: Body[] = ["sku", "vip", "amount"].map((key) => ({ [key]: { $eq: `{{trigger.${key}}}` } }));
const WITHIN = ["1h", "24h", "7d", "30m"];

function actorOf(draft: Draft, isServer: boolean): Body {
  const { random } = draft;
  if (random.chance(0.6)) return { subscriber_id: someOf(draft, "person") };
  if (random.chance(0.5) && isServer) return { external_id: random.pick(PEOPLE) };
  return { anonymous_id: random.pick(["anon-1", "anon-2"]) };
}

function eventOf(draft: Draft, isServer: boolean): Body {
  const { random } = draft;
  const actor = actorOf(draft, isServer);
  return {
    event_name: random.chance(0.98) ? random.pick(EVENTS) : random.pick(["", "$own", "n".repeat(129)]),
    ...actor,
    ...(random.chance(0.8) && { properties: random.pick(PROPERTIES) }),
    ...(random.chance(0.1) && { idempotency_key: random.pick(["e1", "e2"]) }),
    ...(random.chance(0.1) && { occurred_at: iso(momentAround(draft)) }),
  };
}

export function event(draft: Draft): void {
  const { random } = draft;
  const isServer = random.chance(0.5);
  const count = random.chance(0.7) ? 1 : random.between(2, 4);
  const events = Array.from({ length: count }, () => eventOf(draft, isServer));
  const said = random.chance(isServer ? 0.1 : 0.01) ? { historical: true } : {};
  const body = { ...(count === 1 && random.chance(0.7) ? events[0] : { events }), ...said };
  add(draft, { as: isServer ? "server" : "sdk", method: "POST", path: "/v1/events", body });
}

export const identify = (draft: Draft) =>
  void add(draft, {
    ...{ as: draft.random.pick(["sdk", "server"]), method: "POST", path: "/v1/events/identify" },
    body: { anonymous_id: draft.random.pick(["anon-1", "anon-2"]), subscriber_id: someOf(draft, "person") },
  });

function frequencyOf({ random }: Draft): Body {
  return random.pick([{ min: 1 }, { min: 2 }, { max: 0 }, { max: 1 }, { min: 1, max: 2 }]);
}

/** A rule tree or a flat form; windows only where no journey hangs on the moment they end. */
function ruleOf(draft: Draft, depth = 0): Body {
  const { random } = draft;
  const kind = random.between(0, 9);
  if (kind < 4) return { attribute: predicateOf(draft) };
  if (kind < 7) {
    const within = random.chance(0.3) ? { within: random.pick(WITHIN) } : {};
    const frequency = random.chance(0.5) ? { frequency: frequencyOf(draft) } : {};
    const where = random.chance(0.3) ? { where: random.pick(WHERE) } : {};
    return { event: { name: random.pick(EVENTS), ...within, ...frequency, ...where } };
  }
  if (kind < 8 && depth === 0) return flatOf(draft);
  if (depth > 1) return { attribute: predicateOf(draft) };
  const nodes = Array.from({ length: random.between(1, 3) }, () => ruleOf(draft, depth + 1));
  return { group: { op: random.pick(["and", "or"]), nodes } };
}

function flatOf({ random }: Draft): Body {
  const attribute = { key: "tier", operator: random.pick(["eq", "ne"]), value: random.pick(["gold", "silver"]) };
  const event = { name: random.pick(EVENTS), operator: random.pick(["gte", "lte", "eq"]), count: random.between(0, 2) };
  return random.pick([{ attribute }, { event }, { attribute, event }, { attribute: { key: "tier" } }]);
}

export function segment(draft: Draft): void {
  const { random } = draft;
  const as = dashboardOf(draft);
  const path = `/api/v1/segments/${someOf(draft, "segment")}`;
  const kind = random.between(0, 9);
  if (kind < 5 || draft.made.segment.length === 0) {
    const body = {
      name: `${random.pick(NAMES)} ${random.between(1, 3)}`,
      is_dynamic: random.chance(0.7),
      rule: ruleOf(draft),
    };
    add(draft, { as, method: "POST", path: "/api/v1/segments", body, handle: newHandle(draft, "segment") }, "segment");
  } else if (kind < 6)
    add(draft, {
      as,
      method: "PATCH",
      path,
      body: {
        name: random.pick(NAMES),
        rule: ruleOf(draft),
        ...(random.chance(0.2) && { is_dynamic: random.chance(0.5) }),
      },
    });
  else if (kind < 7) add(draft, { as, method: "POST", path: `${path}/recompute` });
  else if (kind < 8) add(draft, { as, method: "POST", path: "/api/v1/segments/preview", body: ruleOf(draft) });
  else if (kind < 9) add(draft, { as, method: "POST", path: `${path}/compare`, body: { rule: ruleOf(draft) } });
  else add(draft, { as, method: "DELETE", path });
}

const DURATIONS = ["30m", "1h", "24h", "1d"];

/** A chain of one to four steps, sometimes with something wrong in it. */
function graphOf(draft: Draft): Body {
  const { random } = draft;
  const length = random.between(1, 4);
  const steps: Record<string, Body> = {};
  for (let n = 1; n <= length; n++) {
    const next = random.chance(0.97) ? `s${n + 1}` : "nowhere";
    steps[`s${n}`] = { id: `s${n}`, ...nodeOf(draft, next, random.chance(0.5) ? "end" : undefined) };
  }
  steps[`s${length + 1}`] = { id: `s${length + 1}`, type: "exit" };
  steps.end = { id: "end", type: "exit" };
  const conditions = [{ event: { name: random.pick(EVENTS) } }, { event: { name: "buy", where: WHERE[0] } }];
  const exit_conditions = random.some(conditions, random.between(1, 2));
  return { start: "s1", steps, ...(random.chance(0.25) && { exit_conditions }) };
}

function nodeOf(draft: Draft, next: string, other: string | undefined): Body {
  const { random } = draft;
  const kind = random.between(0, 9);
  if (kind < 3) {
    const channel_ids = channelsOf(draft).slice(0, 1);
    return { type: "send", send: { content: textOf(draft), next, channel_ids } };
  }
  if (kind < 5)
    return { type: "delay", delay: { duration: random.chance(0.97) ? random.pick(DURATIONS) : "1.5h", next } };
  if (kind < 7) {
    const condition = random.chance(0.6) ? { attribute: predicateOf(draft) } : { event: { name: random.pick(EVENTS) } };
    // biome-ignore lint/suspicious/noThenProperty: the contract names it so
    return { type: "branch", branch: { condition, then: next, ...(other && { else: other }) } };
  }
  const where = random.chance(0.4) ? { where: random.pick([...WHERE, ...LIKE_TRIGGER]) } : {};
  const within = random.chance(0.8) ? { within: random.pick(DURATIONS) } : {};
  const ways = { on_event: next, ...(other && { on_timeout: other }) };
  return { type: "wait_for_event", wait_for_event: { event_name: random.pick(EVENTS), ...within, ...where, ...ways } };
}

function triggerOf(draft: Draft): Body {
  const { random, made } = draft;
  if (made.segment.length > 0 && random.chance(0.4))
    return { type: random.pick(["segment_entered", "segment_exited"]), segment_id: someOf(draft, "segment") };
  return { type: "event", event_name: random.pick(EVENTS) };
}

function entryRulesOf(draft: Draft): Body {
  const { random } = draft;
  return {
    ...(random.chance(0.6) && { allow_reentry: random.chance(0.8) }),
    ...(random.chance(0.3) && { reentry_window: random.pick(DURATIONS) }),
    ...(random.chance(0.3) && { eligibility: { attribute: predicateOf(draft) } }),
  };
}

export function journey(draft: Draft): void {
  const { random } = draft;
  const as = dashboardOf(draft);
  const path = `/api/v1/journeys/${someOf(draft, "journey")}`;
  const body = {
    name: random.pick(NAMES),
    trigger: triggerOf(draft),
    steps: graphOf(draft),
    ...(random.chance(0.5) && { entry_rules: entryRulesOf(draft) }),
  };
  const kind = random.between(0, 11);
  if (kind < 4 || draft.made.journey.length === 0) {
    const handle = newHandle(draft, "journey");
    add(draft, { as, method: "POST", path: "/api/v1/journeys", body, handle }, "journey");
    if (random.chance(0.8)) add(draft, { as, method: "POST", path: `/api/v1/journeys/@${handle}/activate` });
  } else if (kind < 6) add(draft, { as, method: "PUT", path, body });
  else if (kind < 8) add(draft, { as, method: "POST", path: `${path}/activate` });
  else if (kind < 10) {
    const moves = random.chance(0.4) ? ["pause", "activate", "pause", "activate"] : ["pause"];
    for (const move of moves) add(draft, { as, method: "POST", path: `${path}/${move}` });
  } else if (kind < 11) add(draft, { as, method: "POST", path: `${path}/archive` });
  else add(draft, { as, method: "DELETE", path });
}

export function conversion(draft: Draft): void {
  const { random } = draft;
  const event_name = random.pick(EVENTS);
  const path = "/api/v1/insights/config";
  const value = random.chance(0.7) ? { value_property: "amount" } : {};
  const window = random.chance(0.7) ? { window_seconds: random.pick([60, 3600, 86_400, 90_000]) } : {};
  if (random.chance(0.85))
    add(draft, { as: dashboardOf(draft), method: "POST", path, body: { event_name, ...value, ...window } });
  else add(draft, { as: dashboardOf(draft), method: "DELETE", path, query: { event_name } });
}

/** What a user notes for the charts, and takes away again. */
export function annotation(draft: Draft): void {
  const { random } = draft;
  const as = dashboardOf(draft);
  const path = "/api/v1/annotations";
  if (random.chance(0.3)) return void add(draft, { as, method: "DELETE", path: `${path}/${someOf(draft, "note")}` });
  const ends_at = random.chance(0.3) ? { ends_at: iso(momentAround(draft)) } : {};
  const body = {
    occurred_at: iso(momentAround(draft)),
    text: random.pick(["Launch", "", "x".repeat(501)]),
    ...ends_at,
  };
  add(draft, { as, method: "POST", path, body, handle: newHandle(draft, "note") }, "note");
}

export const exportPage = (draft: Draft) =>
  void add(draft, {
    ...{ as: draft.random.pick(["server", "server", "sdk", "owner"]), method: "GET", path: "/v1/events/export" },
    query: {
      ...(draft.random.chance(0.5) && { from: iso(draft.now - draft.random.pick([0, 1000, 3_600_000])) }),
      ...(draft.random.chance(0.3) && { limit: draft.random.pick(["1", "2", "1001", "0"]) }),
    },
  });

function messageOf(draft: Draft): Body {
  const { random } = draft;
  const whom = random.pick<Body>([
    { userId: random.pick(PEOPLE) },
    { userId: random.pick(PEOPLE), anonymousId: random.pick(["anon-1", "anon-2"]) },
    { anonymousId: random.pick(["anon-1", "anon-2"]) },
    random.chance(0.8) ? { userId: random.pick(PEOPLE) } : {},
  ]);
  const types: Body[] = [
    { type: "track", event: random.pick([...EVENTS, ...EVENTS, "$own", ""]), properties: random.pick(PROPERTIES) },
    { type: "track", event: random.pick(EVENTS), ...(random.chance(0.3) && { messageId: random.pick(["e1", "m1"]) }) },
    {
      type: "identify",
      traits: random.pick<Body>([{}, { firstName: "Ada", tier: "gold" }, { email: "ada@example.com" }]),
    },
    { type: random.pick(["page", "screen"]), name: random.pick(["Home", undefined]) },
    { type: "group", groupId: "g", traits: { size: 2 } },
    { type: "alias", previousId: random.pick(["anon-1", "anon-2"]) },
  ];
  const ago = random.pick([60_000, 3_600_000, 259_200_000]);
  return { ...random.pick(types), ...whom, ...(random.chance(0.2) && { timestamp: iso(draft.now - ago) }) };
}

/** What a library of Segment sends. */
export function tracked(draft: Draft): void {
  const { random } = draft;
  const as = random.pick(["server", "sdk", "sdk", "server:events:write"]);
  if (random.chance(0.6)) {
    const batch = Array.from({ length: random.between(1, 6) }, () => messageOf(draft));
    add(draft, { as, method: "POST", path: random.pick(["/v1/batch", "/v1/segment/batch"]), body: { batch } });
  } else {
    const { type, ...body } = messageOf(draft);
    add(draft, { as, method: "POST", path: `${random.pick(["/v1/segment", "/v1/segment/v1"])}/${type}`, body });
  }
}
