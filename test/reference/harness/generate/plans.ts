// Commands about campaigns, schedules, experiences, webhooks, imports and settings.
import type { Body } from "../../model/kit.ts";
import { add, type Draft, dashboardOf, iso, momentAround, NAMES, newHandle, someOf } from "./draft.ts";
import { textOf, wordsOf } from "./people.ts";
import { channelsOf, targetOf } from "./sends.ts";

function messageOf(draft: Draft): Body {
  const { random } = draft;
  const own = random.chance(0.3) && draft.made.template.length > 0;
  const content = own ? { template_id: someOf(draft, "template") } : { content: textOf(draft) };
  const time = random.chance(0.4) ? { scheduled_at: iso(momentAround(draft)) } : {};
  return { ...content, ...time, channel_ids: channelsOf(draft) };
}

export function campaign(draft: Draft): void {
  const { random } = draft;
  const as = dashboardOf(draft);
  const path = `/api/v1/campaigns/${someOf(draft, "campaign")}`;
  const messages = Array.from({ length: random.between(1, 3) }, () => messageOf(draft));
  const body = {
    ...{ name: random.pick(NAMES), messages, target: targetOf(draft) },
    ...(random.chance(0.3) && { category: random.pick(["transactional", "marketing", "other"]) }),
    ...(random.chance(0.2) && { holdout_percentage: random.pick([10, 50, 99, 100]) }),
    ...(random.chance(0.2) && { safety: null }),
  };
  const kind = random.between(0, 9);
  if (kind < 3 || draft.made.campaign.length === 0) {
    const handle = newHandle(draft, "campaign");
    add(draft, { as, method: "POST", path: "/api/v1/campaigns", body, handle }, "campaign");
    if (random.chance(0.8)) add(draft, { as, method: "POST", path: `/api/v1/campaigns/@${handle}/release` });
  } else if (kind < 4 && random.chance(0.5)) {
    add(draft, { as, method: "POST", path: `${path}/duplicate`, handle: newHandle(draft, "campaign") }, "campaign");
  } else if (kind < 4) add(draft, { as, method: "PUT", path, body });
  else if (kind < 5) add(draft, { as, method: "POST", path: `${path}/release` });
  else {
    const action = random.pick(["pause", "pause", "resume", "resume", "archive", "unarchive", "explode"]);
    add(draft, { as, method: "PATCH", path, body: { action } });
  }
}

const CRONS = [
  "0 9 * * *",
  "*/30 * * * *",
  "15 3 * * 1",
  "0 12 1 * *",
  "0 0 29 2 *",
  "0 9 * * MON",
  "61 * * * *",
  "0 2 * * 7",
  "0 9 13 * FRI",
  // Both days are restricted, one of them by a step.
  ...["0 6 */2 * 1", "0 6 1-7 * */3", "30 * * * *", "0 */6 * * 0-6"],
];
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Mars/Base"];

export function schedule(draft: Draft): void {
  const { random } = draft;
  const as = dashboardOf(draft);
  const path = `/api/v1/schedules/${someOf(draft, "schedule")}`;
  const kind = random.between(0, 9);
  if (kind < 4 || draft.made.schedule.length === 0) {
    const body = {
      ...{ cron_expression: random.pick(CRONS), timezone: random.pick(ZONES), target: { type: "all" } },
      ...{ template_id: someOf(draft, "template"), channel_ids: channelsOf(draft) },
      ...(random.chance(0.2) && { active: false }),
      ...(random.chance(0.1) && { topic: "news" }),
    };
    add(
      draft,
      { as, method: "POST", path: "/api/v1/schedules", body, handle: newHandle(draft, "schedule") },
      "schedule",
    );
  } else if (kind < 8) {
    const changes: Body[] = [
      { active: random.chance(0.5) },
      { cron_expression: random.pick(CRONS) },
      { timezone: random.pick(ZONES) },
      { template_id: someOf(draft, "template") },
      { channel_ids: channelsOf(draft) },
      {},
    ];
    add(draft, { as, method: "PATCH", path, body: { ...random.pick(changes), ...random.pick(changes) } });
  } else add(draft, { as, method: "DELETE", path });
}

export function experience(draft: Draft): void {
  const { random } = draft;
  const as = dashboardOf(draft);
  const path = `/api/v1/in-app/experiences/${someOf(draft, "experience")}`;
  const kind = random.between(0, 11);
  if (kind < 4 || draft.made.experience.length === 0) {
    const handle = newHandle(draft, "experience");
    const body = experienceBody(draft);
    add(draft, { as, method: "POST", path: "/api/v1/in-app/experiences", body, handle }, "experience");
    if (random.chance(0.7)) add(draft, { as, method: "POST", path: `/api/v1/in-app/experiences/@${handle}/publish` });
  } else if (kind < 5)
    add(draft, {
      as,
      method: "PATCH",
      path,
      body: random.pick<Body>([
        ...[{ audience: targetOf(draft) }, { start_at: "" }, { name: "New" }, { remove_variant_b: true }],
        ...[{ end_at: iso(draft.now - 1000) }, { variant_b: { title: "Only a title" } }],
        ...[{ format: "modal", display: { priority: 3 } }, { holdout_percentage: random.pick([0, 50]) }],
        ...[{ content: wordsOf(draft) }, { variant_b: { title: "B", body: "B" }, split_percentage: 30 }],
      ]),
    });
  else if (kind < 6)
    add(
      draft,
      { as, method: "POST", path: `${path}/duplicate`, body: {}, handle: newHandle(draft, "experience") },
      "experience",
    );
  else
    add(draft, {
      as,
      method: "POST",
      path: `${path}/${random.pick(["publish", "pause", "resume", "end", "archive"])}`,
    });
}

function experienceBody(draft: Draft): Body {
  const { random } = draft;
  return {
    ...{ name: random.pick(NAMES), format: random.pick(["banner", "modal", "card", "inbox_only"]) },
    content: {
      ...wordsOf(draft),
      ...(random.chance(0.3) && { actions: [{ id: "go", title: "Go", url: "https://example.com" }] }),
    },
    ...(random.chance(0.9) && { audience: targetOf(draft) }),
    ...(random.chance(0.2) && {
      display: random.pick<Body>([{ trigger: "event" }, { trigger: "session_start", priority: 10 }, { priority: 11 }]),
    }),
    ...(random.chance(0.2) && { start_at: iso(draft.now + 3_600_000) }),
    ...(random.chance(0.2) && { end_at: iso(momentAround(draft) + 86_400_000) }),
    ...(random.chance(0.3) && { variant_b: { title: "B", body: "Arm B" } }),
    ...(random.chance(0.2) && { holdout_percentage: random.pick([10, 50]) }),
  };
}

const TYPES = ["subscriber.created", "notification.dispatched", "notification.terminal", "notification.interaction"];

/** Endpoints, and receivers that fail for a day and more. */
export function hook(draft: Draft): void {
  const { random, made, commands } = draft;
  const kind = random.between(0, 15);
  const as = "owner";
  if (kind < 3 || made.hook.length === 0) {
    const target_url = random.chance(0.9) ? "https://hooks.example.com/in" : "http://hooks.example.com/in";
    const events = random.chance(0.95) ? random.some(TYPES, random.between(1, 3)) : ["unknown.event"];
    const body = { target_url, events };
    const [who, where] = random.chance(0.7) ? ["server", "/v1/hooks"] : [dashboardOf(draft), "/api/v1/webhooks"];
    add(draft, { as: who!, method: "POST", path: where!, body, handle: newHandle(draft, "hook") }, "hook");
    return;
  }
  const name = someOf(draft, "hook");
  const path = `/api/v1/webhooks/${name}`;
  if (kind < 6) commands.push({ kind: "receiver", wait: 0, status: random.pick([204, 200, 500, 500, 503, 404]) });
  else if (kind < 9) {
    const count = random.pick([1, 1, 6, 10, 19, 20]);
    for (let n = 0; n < count; n++)
      add(draft, { as, method: "POST", path: `${path}/test`, body: { event: random.pick(TYPES) } }, undefined, 1000);
    if (count > 1) commands.push({ kind: "wait", wait: random.pick([43_200_000, 86_399_000, 86_400_000]) });
  } else if (kind < 11) {
    const delivery = `@delivery(${name.slice(1)},${random.between(0, 5)})`;
    add(draft, { as, method: "POST", path: `${path}/deliveries/${delivery}/redeliver`, body: {} });
  } else if (kind < 12) {
    const outcome = random.chance(0.5) ? { outcome: random.pick(["failed", "delivered"]) } : {};
    const from = iso(draft.now - random.pick([60_000, 86_400_000]));
    add(draft, { as, method: "POST", path: `${path}/replay`, body: { from, to: iso(draft.now), ...outcome } });
  } else if (kind < 15) {
    const body = random.pick<Body>([{ active: true }, { active: false }, { events: random.some(TYPES, 2) }]);
    add(draft, { as: dashboardOf(draft), method: "PATCH", path, body });
  } else {
    const deletes = [
      { as: dashboardOf(draft), path },
      { as: "server", path: `/v1/hooks/${name}` },
    ] as const;
    if (random.chance(0.5)) add(draft, { as, method: "POST", path: `${path}/secret/rotate` });
    else add(draft, { method: "DELETE", ...random.pick(deletes) });
  }
}

/** A file of everything that is listed, or of a part. */
export function file(draft: Draft): void {
  const { random } = draft;
  const period = random.chance(0.5) ? { filter: { start: iso(draft.now - random.pick([1000, 3_600_000])) } } : {};
  const body = random.pick<Body>([
    ...[{ kind: "subscribers" }, { kind: "subscribers" }, { kind: "suppressions" }],
    ...[
      { kind: "list", filter: { list_id: someOf(draft, "list") } },
      { kind: "report", ...period },
    ],
    ...[
      { kind: "segment", filter: { segment_id: someOf(draft, "segment") } },
      { kind: "events", ...period },
    ],
    { kind: "recipients", filter: { notification_id: someOf(draft, "send") } },
  ]);
  const handle = newHandle(draft, "file");
  add(draft, { as: dashboardOf(draft), method: "POST", path: "/api/v1/exports", body, handle });
}

export function settings(draft: Draft): void {
  const { random } = draft;
  const days = random.chance(0.4) ? { days: random.some([0, 1, 2, 3, 4, 5, 6], random.between(1, 5)) } : {};
  const body = random.pick<Body>([
    { email_consent_mode: random.pick(["opt_in", "opt_out"]) },
    { double_opt_in: random.chance(0.7) },
    {
      quiet_hours: random.pick([
        null,
        { start: "22:00", end: "08:00", timezone_mode: "workspace", ...days },
        { start: "12:00", end: "13:00", timezone_mode: "workspace", ...days },
      ]),
    },
    {
      frequency_caps: random.pick<Body>([
        [],
        [{ category: "marketing", max: 1, per: "day" }],
        [
          { category: "marketing", max: 2, per: "week" },
          { category: "marketing", channel_class: "email", max: 1, per: "day" },
        ],
        // Alike but for their number, or of two classes.
        random.some([1, 2, 3], 2).map((max) => ({ category: "marketing", max, per: "day" })),
        ["email", "sms"].map((channel_class) => ({
          ...{ category: "marketing", channel_class, max: random.between(1, 2), per: "day" },
        })),
      ]),
    },
  ]);
  add(draft, {
    as: random.chance(0.9) ? "owner" : dashboardOf(draft),
    method: "PATCH",
    path: "/api/v1/workspace",
    body,
  });
}

export const cap = (draft: Draft) =>
  void add(draft, {
    ...{ as: dashboardOf(draft), method: "PATCH", path: "/api/v1/billing" },
    body: { monthly_send_cap: draft.random.pick([0, 5, 1000, null]) },
  });
