// Commands about subscribers, consents, devices, lists, templates and topics.
import type { Body } from "../../model/kit.ts";
import {
  add,
  attributesOf,
  DAY,
  type Draft,
  dashboardOf,
  iso,
  momentAround,
  NAMES,
  newHandle,
  PEOPLE,
  someOf,
} from "./draft.ts";

const EMAILS = [
  ...["ada@example.com", "bo@example.com", "Ada@example.com", "bo@gmail.com", "Ada@Hotmail.co.uk"],
  ...["bounce@simulator.amazonses.com", "complaint@simulator.amazonses.com", "not an address", "c@d"],
];

export function upsert(draft: Draft): void {
  const { random } = draft;
  const external_id = random.pick(PEOPLE);
  const email = random.chance(0.85) ? random.pick(EMAILS.slice(0, 5)) : random.pick(EMAILS);
  const body = {
    external_id,
    ...(random.chance(0.7) && { email }),
    ...(random.chance(0.7) && { attributes: attributesOf(draft) }),
    ...(random.chance(0.03) && { attributes: manyAttributes(draft) }),
    ...(random.chance(0.15) && { phone: "+4915112345670" }),
    ...(random.chance(0.2) && { consent: consentOf(draft) }),
    ...(random.chance(0.1) && { timezone: random.pick(["Europe/Berlin", "America/New_York"]), locale: "de" }),
  };
  const isServer = random.chance(0.2);
  const [as, path] = isServer
    ? ["server:subscribers:write,subscribers:read", "/v1/subscribers/upsert"]
    : [random.chance(0.97) ? "sdk" : "owner", "/api/v1/subscribers/upsert"];
  add(draft, { as, method: "POST", path, body, handle: `p_${external_id}` }, "person");
}

/** On both sides of what the publishable key may write (AMB-146). */
function manyAttributes({ random }: Draft): Body {
  const [from, count] = random.pick<[number, number]>([
    [0, 55],
    [0, 64],
    [0, 65],
    [8, 57],
    [60, 5],
  ]);
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`key_${from + n}`, n]));
}

function consentOf(draft: Draft): Body {
  const { random } = draft;
  return {
    status: random.pick(["opted_in", "opted_out"]),
    ...(random.chance(0.5) && { channel: random.pick(["email", "sms"]) }),
    // Of two statements of one time the later one counts.
    ...(random.chance(0.3) && { consented_at: random.pick([iso(momentAround(draft)), "2026-10-01T00:00:00Z"]) }),
    ...(random.chance(0.2) && { source: "form", text: "Yes" }),
  };
}

export const consent = (draft: Draft) =>
  void add(draft, {
    ...{ as: dashboardOf(draft), method: "POST", path: `/api/v1/subscribers/${someOf(draft, "person")}/consents` },
    body: consentOf(draft),
  });

export function suppression(draft: Draft): void {
  const { random } = draft;
  const address = random.pick(["ada@example.com", "ADA@example.com", "bo@example.com", "+4915112345670", "nobody"]);
  const as = dashboardOf(draft);
  if (random.chance(0.6)) {
    const body = { address, ...(random.chance(0.5) && { note: "asked" }) };
    return void add(
      draft,
      { as, method: "POST", path: "/api/v1/suppressions", body, handle: newHandle(draft, "sup") },
      "suppression",
    );
  }
  const query: Record<string, string> = random.chance(0.9) ? { reason: "back" } : {};
  add(draft, { as, method: "DELETE", path: `/api/v1/suppressions/${someOf(draft, "suppression")}`, query });
}

/** A file of addresses, as providers export them (AMB-128). */
export function suppressionFile(draft: Draft): void {
  const { random } = draft;
  const times = [iso(draft.now + DAY), iso(draft.now - DAY), "2026-10-01", "", "soon"];
  const rows = Array.from({ length: random.between(1, 3) }, () => [
    random.pick(["bo@example.com", "Ada@example.com", "+4915112345670", "none"]),
    random.pick(["hard bounce", "hard bounce", "", "", "delivered", "soft bounce"]),
    random.pick(times),
  ]);
  const header = [random.pick(["email", "email", "Phone", "name"]), "reason", random.pick(["created_at", "date"])];
  const objects = rows.map((cells) => Object.fromEntries(header.map((name, n) => [name, cells[n]])));
  const json = JSON.stringify(random.chance(0.5) ? objects : { Summaries: objects });
  const csv = random.chance(0.3) ? json : [header, ...rows].map((cells) => cells.join()).join("\n");
  add(draft, { as: dashboardOf(draft), method: "POST", path: "/api/v1/suppressions/import", body: { csv } });
}

export function change(draft: Draft): void {
  const { random } = draft;
  const body = { attributes: attributesOf(draft), ...(random.chance(0.3) && { email: random.pick(EMAILS) }) };
  add(draft, { as: dashboardOf(draft), method: "PATCH", path: `/api/v1/subscribers/${someOf(draft, "person")}`, body });
}

export function erase(draft: Draft): void {
  const { random } = draft;
  const isAll = random.chance(0.3);
  if (random.chance(0.6)) {
    const path = `/api/v1/subscribers/${someOf(draft, "person")}`;
    const query = isAll ? { erase_properties: "true" } : {};
    add(draft, { as: dashboardOf(draft), method: "DELETE", path, query });
    return;
  }
  const subscriber_ids = Array.from({ length: random.between(0, 3) }, () => someOf(draft, "person"));
  add(draft, {
    as: dashboardOf(draft),
    method: "POST",
    path: "/api/v1/subscribers/bulk-delete",
    body: { subscriber_ids, ...(isAll && { erase_properties: true }) },
  });
}

export function device(draft: Draft): void {
  const { random } = draft;
  const platform = random.pick(["ios", "android", "ios"]);
  const number = random.pick([1, 1, 2, 3, 4]);
  const owner = random.chance(0.7) ? { subscriber_id: someOf(draft, "person") } : { external_id: random.pick(PEOPLE) };
  const body = {
    ...owner,
    ...{ platform, token: `token-${platform}-${number}`, device_id: `device-${platform}-${number}` },
    os_version: random.pick(["17.4.1", "9.0.0", "10.2.0"]),
    app_version: random.pick(["1.10.0", "1.9.9", "2.0.0"]),
    ...{ sdk_version: "1.0.0", locale: "en", timezone: "UTC", environment: "production" },
    ...(random.chance(0.7) && { model: random.pick(["Phone", "Tablet"]) }),
    ...(random.chance(0.6) && { push_enabled: random.chance(0.6) }),
  };
  const handle = `device_${platform}_${number}`;
  add(draft, { as: "sdk", method: "POST", path: "/api/v1/devices", body, handle }, "device");
}

export const logout = (draft: Draft) =>
  void add(draft, {
    ...{
      as: draft.random.pick(["sdk", "owner"]),
      method: "DELETE",
      path: `/api/v1/devices/${someOf(draft, "device")}`,
    },
    query: { subscriber_id: someOf(draft, "person") },
  });

export function list(draft: Draft): void {
  const { random } = draft;
  const kind = random.between(0, 9);
  const as = dashboardOf(draft);
  const members = () => Array.from({ length: random.between(1, 4) }, () => someOf(draft, "person"));
  const path = `/api/v1/lists/${someOf(draft, "list")}`;
  if (kind < 3 || draft.made.list.length === 0) {
    const asks = {
      ...(random.chance(0.25) && { double_opt_in: true }),
      ...(random.chance(0.2) && { description: "Who" }),
    };
    const body = { name: random.chance(0.95) ? random.pick(NAMES) : "x".repeat(129), ...asks };
    add(draft, { as, method: "POST", path: "/api/v1/lists", body, handle: newHandle(draft, "list") }, "list");
  } else if (kind < 7)
    add(draft, { as, method: "POST", path: `${path}/subscribers`, body: { subscriber_ids: members() } });
  else if (kind < 8)
    add(draft, { as, method: "POST", path: `${path}/subscribers/remove`, body: { subscriber_ids: members() } });
  else if (kind < 9) {
    const body = random.pick<Body>([{ name: random.pick(NAMES) }, { description: "Why" }, { double_opt_in: true }, {}]);
    add(draft, { as, method: "PATCH", path, body });
  } else add(draft, { as, method: "DELETE", path });
}

const TEXTS = [
  { title: "Hello", body: "World" },
  {
    title: 'Hi {{ subscriber.first_name | default: "you" }}',
    body: "{{ subscriber.external_id }} {{ subscriber.tier }}",
  },
  {
    title: "{{ subscriber.city | upcase }}!",
    body: "{% if subscriber.vip %}VIP{% else %}You{% endif %} {{ data.code }}",
  },
  { title: "Look", body: "See https://example.com/{{ subscriber.tier }}?of={{ subscriber.external_id }} now" },
];
/** What some channels say instead. */
const OWN: Body[] = [
  ...[
    { email: { text: "Own text for {{ subscriber.external_id }}" } },
    { sms: { body: "Short {{ subscriber.tier }}" } },
  ],
  ...[{ email: { subject: "Own subject" }, push: { title: "Own title" } }, { push: { body: "Own push" } }],
  { in_app: { title: "Own card", body: "In the app" }, email: { subject: "Mail", text: "By mail" } },
];
export const wordsOf = ({ random }: Draft) => ({ ...random.pick(TEXTS) });
export const textOf = (draft: Draft) => ({
  ...wordsOf(draft),
  ...(draft.random.chance(0.3) && { by_channel: draft.random.pick(OWN) }),
});

export function template(draft: Draft): void {
  const { random } = draft;
  const as = dashboardOf(draft);
  const path = `/api/v1/templates/${someOf(draft, "template")}`;
  const kind = random.between(0, 9);
  if (kind < 5 || draft.made.template.length === 0) {
    const body = { name: random.pick(NAMES), content: random.chance(0.95) ? textOf(draft) : { title: "No body" } };
    add(
      draft,
      { as, method: "POST", path: "/api/v1/templates", body, handle: newHandle(draft, "template") },
      "template",
    );
  } else if (kind < 8) {
    const content = random.pick<Body>([{ title: "Changed" }, { by_channel: random.pick(OWN) }]);
    const body = random.pick<Body>([{ name: random.pick(NAMES) }, { content }, { content }, {}]);
    add(draft, { as, method: "PATCH", path, body });
  } else if (random.chance(0.5)) {
    const channels = random.some(["email", "sms", "in_app", "ios", "android"], random.between(1, 5));
    const render_for = random.chance(0.8) ? { render_for: someOf(draft, "person") } : {};
    const data = random.chance(0.5) ? { data: { code: "X1" } } : {};
    const category = random.chance(0.5) ? { category: random.pick(["marketing", "transactional"]) } : {};
    const body = { content: textOf(draft), channels, ...render_for, ...data, ...category };
    add(draft, { as, method: "POST", path: "/api/v1/templates/preview", body });
  } else add(draft, { as, method: "DELETE", path, ...(random.chance(0.3) && { query: { force: "true" } }) });
}

export function topic(draft: Draft): void {
  const { random } = draft;
  const key = random.pick(["news", "offers"]);
  if (draft.made.topic.length === 0 || random.chance(0.3)) {
    const asks = {
      ...(random.chance(0.3) && { double_opt_in: true }),
      ...(random.chance(0.2) && { description: "What" }),
    };
    const body = { key, name: key, default: random.pick(["in", "out"]), ...asks };
    add(draft, { as: "owner", method: "POST", path: "/api/v1/topics", body, handle: key }, "topic");
  } else {
    const body = { subscriber_id: someOf(draft, "person"), topics: { [key]: random.pick(["opted_in", "opted_out"]) } };
    add(draft, { as: "sdk", method: "PUT", path: "/v1/preferences", body });
  }
}
