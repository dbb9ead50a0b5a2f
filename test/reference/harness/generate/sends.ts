// Commands about channels, sends, inboxes, interactions and provider faults.
import type { Body } from "../../model/kit.ts";
import { add, type Draft, dashboardOf, iso, momentAround, newHandle, predicateOf, someOf, waitOf } from "./draft.ts";
import { textOf, wordsOf } from "./people.ts";

const UPLOADS: Record<string, string> = { email: "email", sms: "sms", ios: "ios-push", android: "android-push" };

/** A channel with its credentials, mostly. */
export function channel(draft: Draft, type = draft.random.pick(Object.keys(UPLOADS))): void {
  const { random } = draft;
  const handle = newHandle(draft, "channel");
  const body = { type, name: `${type} ${random.between(1, 3)}` };
  add(draft, { as: dashboardOf(draft), method: "POST", path: "/api/v1/channels", body, handle }, "channel");
  draft.types.set(handle, type);
  const upload = UPLOADS[type]!;
  if (random.chance(0.95))
    add(draft, { as: "owner", method: "POST", path: `/api/v1/channels/@${handle}/credentials/${upload}`, upload });
}

export function changeChannel(draft: Draft): void {
  const { random } = draft;
  const path = `/api/v1/channels/${someOf(draft, "channel")}`;
  const kind = random.between(0, 5);
  const body = random.pick<Body>([{ active: true }, { active: true }, { active: false }, { name: "email 1" }]);
  if (kind < 3) add(draft, { as: dashboardOf(draft), method: "PATCH", path, body });
  else if (kind < 5) add(draft, { as: dashboardOf(draft), method: "POST", path: `${path}/verify` });
  else add(draft, { as: dashboardOf(draft), method: "DELETE", path, query: { force: random.pick(["true", "false"]) } });
}

export function targetOf(draft: Draft): Body {
  const { random, made } = draft;
  if (random.chance(0.3) && made.list.length > 0) return { type: "list", list_id: someOf(draft, "list") };
  if (random.chance(0.3) && made.segment.length > 0) return { type: "segment", segment_id: someOf(draft, "segment") };
  return { type: "all" };
}

/** One channel or two, so that reasons and fallbacks meet. */
export function channelsOf(draft: Draft): string[] {
  const { random, made } = draft;
  const handles = random.some(made.channel, random.pick([1, 1, 2, 3])).map((handle) => `@${handle}`);
  return handles.length > 0 ? handles : ["@no_channel"];
}

function audienceOf(draft: Draft): Body {
  const { random } = draft;
  if (random.chance(0.6)) return { target: targetOf(draft) };
  if (random.chance(0.3)) return { external_ids: random.some(["a", "b", "c", "zz"], random.between(1, 3)) };
  return { subscriberIds: Array.from({ length: random.between(1, 4) }, () => someOf(draft, "person")) };
}

function contentOf(draft: Draft): Body {
  const { random, made } = draft;
  if (random.chance(0.25) && made.template.length > 0) return { template_id: someOf(draft, "template") };
  if (random.chance(0.4)) return { content: textOf(draft) };
  return random.chance(0.95) ? wordsOf(draft) : { title: "Only a title" };
}

/** A send once more, word for word, as an app repeats it that got no answer (AMB-94). */
function repeatedSend(draft: Draft): boolean {
  const calls = draft.commands.filter((command) => command.kind === "call");
  const keyed = calls.filter(({ headers }) => headers?.["idempotency-key"] !== undefined);
  if (keyed.length === 0) return false;
  const { as, method, path, body, headers } = draft.random.pick(keyed);
  add(draft, { as, method, path, body, headers: headers ?? {} });
  return true;
}

export function send(draft: Draft): void {
  const { random } = draft;
  if (random.chance(0.1) && repeatedSend(draft)) return;
  const wait = waitOf(draft);
  draft.now += wait;
  const body = {
    ...audienceOf(draft),
    ...contentOf(draft),
    ...(random.chance(0.8) && { channel_ids: channelsOf(draft) }),
    ...(random.chance(0.3) && { category: "transactional" }),
    ...(random.chance(0.2) && { data: { code: "X1" } }),
    ...(random.chance(0.2) && { holdout_percentage: random.pick([0, 10, 50, 99]) }),
    ...(random.chance(0.15) && {
      variant_b: {
        title: "B",
        body: "Arm B",
        ...(random.chance(0.3) && { by_channel: { email: { subject: "B mail" } } }),
      },
      split_percentage: random.pick([1, 50, 99]),
    }),
    ...(random.chance(0.2) && { subscriber_filters: predicateOf(draft) }),
    ...(random.chance(0.15) && { channel_arbitration_mode: "smart" }),
    ...(random.chance(0.15) && { scheduled_at: iso(momentAround(draft)) }),
    ...(random.chance(0.1) && draft.made.topic.length > 0 && { topic: random.pick(["news", "offers"]) }),
    ...(random.chance(0.1) && { bypass_quiet_hours: random.chance(0.8) }),
    ...(random.chance(0.05) && { idempotency_key: random.pick(["k1", "k2"]) }),
  };
  draft.now -= wait;
  if (random.chance(0.15)) {
    const handle = newHandle(draft, "preview");
    const asked = { ...body, ...(random.chance(0.4) && { render_for: someOf(draft, "person") }) };
    const path = "/api/v1/notifications/preview";
    add(draft, { as: "owner", method: "POST", path, body: asked, handle }, "preview", wait);
  }
  const headers = random.chance(0.1) ? { "idempotency-key": random.pick(["k1", "k2"]) } : {};
  const isServer = random.chance(0.15);
  const as = isServer ? "server:messages:send,messages:read" : dashboardOf(draft);
  const path = isServer ? "/v1/notifications" : "/api/v1/notifications";
  add(draft, { as, method: "POST", path, body, headers, handle: newHandle(draft, "send") }, "send", wait);
}

/** What the page of preferences showed, and what of it was ticked. */
const formOf = (random: Draft["random"], link: string) =>
  link === "preferences"
    ? { form: { shown: random.some(TOPICS, random.between(0, 3)), in: random.some(TOPICS, 1) } }
    : {};
const TOPICS = ["news", "offers", "deals"];

/** A link of one of the newest mails. */
export function link({ random, commands }: Draft): void {
  const link = random.pick([
    "click",
    "click",
    "unsubscribe",
    "unsubscribe",
    "confirm",
    "confirm",
    "preferences",
  ] as const);
  const method = link === "click" || random.chance(0.2) ? "GET" : "POST";
  commands.push({
    kind: "link",
    wait: 1000,
    link,
    method,
    mail: random.pick([0, 0, 0, 1, 2]),
    ...formOf(random, link),
  });
}

export function cancel(draft: Draft): void {
  const path = `/notifications/${someOf(draft, "send")}/${draft.random.pick(["cancel", "cancel", "cancel", "resume"])}`;
  const isServer = draft.random.chance(0.3);
  const as = isServer ? draft.random.pick(["server:messages:send", "server"]) : dashboardOf(draft);
  add(draft, { as, method: "POST", path: isServer ? `/v1${path}` : `/api/v1${path}` });
}

export function inbox(draft: Draft): void {
  const { random } = draft;
  const person = someOf(draft, "person");
  const as = random.pick(["sdk", "sdk", "owner"]);
  const body = { subscriber_id: person };
  const message = `@msg(${person.slice(1)},${random.between(0, 3)})`;
  const kind = random.between(0, 9);
  if (kind < 3) add(draft, { as, method: "POST", path: `/v1/in-app/messages/${message}/read`, body });
  else if (kind < 6) add(draft, { as, method: "POST", path: `/v1/in-app/messages/${message}/dismiss`, body });
  else if (kind < 7) {
    if (random.chance(0.5)) add(draft, { as, method: "POST", path: `/v1/in-app/messages/${message}/dismiss`, body });
    add(draft, { as, method: "POST", path: "/v1/in-app/messages/read", body });
  } else {
    const status = random.chance(0.5) ? { status: random.pick(["unread", "read", "dismissed", "gone"]) } : {};
    const limit = random.chance(0.5) ? { limit: random.pick(["1", "2", "0", "500", "x"]) } : {};
    add(draft, {
      as,
      method: "GET",
      path: "/v1/in-app/messages",
      query: { subscriber_id: person, ...status, ...limit },
    });
  }
}

/** An app opens its stream, or goes on where it was; or its connection ends. */
export function stream(draft: Draft): void {
  const { random, made, commands } = draft;
  if (made.person.length === 0) return;
  const wait = random.pick([1000, 2000, 3000]);
  draft.now += wait;
  commands.push({
    kind: "stream",
    wait,
    person: random.pick(made.person),
    does: random.pick(["open", "open", "close"]),
  });
}

const KINDS = [
  ...["inapp_impression", "inapp_click", "inapp_dismiss", "email_opened", "email_clicked", "tapped"],
  ...["foreground_received", "dismissed", "action_tapped"],
];

function sourceOf(draft: Draft): string {
  const { random, made } = draft;
  if (made.campaign.length > 0 && random.chance(0.3)) return `@job(${random.pick(made.campaign)},0)`;
  if (made.experience.length > 0 && random.chance(0.4)) return `@job(${random.pick(made.experience)},0)`;
  return someOf(draft, "send");
}

export function interact(draft: Draft): void {
  const { random } = draft;
  const job_id = sourceOf(draft);
  const kinds = job_id.startsWith("@job(experience") ? KINDS.filter((kind) => kind.startsWith("inapp")) : KINDS;
  const body = {
    job_id,
    interaction: random.chance(0.97) ? random.pick(kinds) : "licked",
    platform: random.pick(["ios", "android", "web", "email"]),
    occurred_at: iso(draft.now - random.pick([0, 1000, 1000, 7_200_000])),
    subscriber_id: someOf(draft, "person"),
    ...(random.chance(0.3) && { variant_id: random.pick(["a", "b"]) }),
  };
  add(draft, { as: "sdk", method: "POST", path: "/api/v1/notifications/interactions", body });
}

export function fault(draft: Draft): void {
  const { random, made, commands } = draft;
  if (random.chance(0.4)) {
    commands.push({ kind: "clear faults", wait: 0 });
    return;
  }
  const channel = random.pick(["email", "sms", "ios", "android"]);
  const outcome = random.pick([
    "permanent",
    "permanent",
    "transient",
    ...(["ios", "sms"].includes(channel) ? ["invalid_token"] : []),
  ]);
  const person = made.person.length > 0 && random.chance(0.6) ? { person: random.pick(made.person) } : {};
  const times = outcome === "transient" && "person" in person && channel !== "ios" && channel !== "android";
  commands.push({ kind: "fault", wait: 0, channel, outcome, ...person, ...(times && { times: random.between(1, 4) }) });
}
