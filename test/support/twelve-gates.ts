// Twelve people who fail at twelve gates, made by calls alone: each has one question, and one true reason (F2).
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { uploads } from "./channels.ts";
import { graphOf } from "./journeys.ts";
import { QUIET } from "./quiet-hours.ts";

type Tier = "dashboard" | "sdk" | "server" | "local";

interface GateCalls {
  /** Takes a request in a tier. @returns the body of the answer */
  // biome-ignore lint/suspicious/noExplicitAny: answers of many routes
  call(route: string, body?: object, tier?: Tier): Promise<any>;
  /** In the time of the service: noon in UTC, or near it. */
  now(): number;
}

/** A question of a support person, and the reason that its answer must name: one of the rules, or a provider's words. */
export interface Gate {
  /** As it is asked for: an external id or an address. */
  person: string;
  about: "journey" | "send";
  name: string;
  reason: string;
}

const JOURNEY = "Twelve gates";

/** Makes the twelve in a workspace without anybody else's quiet hours and caps. */
export async function makeGates({ call, now }: GateCalls): Promise<readonly Gate[]> {
  const settle = () => call("POST /_local/settle", undefined, "local");
  const { id: email } = await call("POST /api/v1/channels", { name: "Mails", type: "email" });
  await call(`POST /api/v1/channels/${email}/credentials/email`, uploads.email().body);
  await settle();
  await call("PATCH /api/v1/workspace", {
    timezone: "UTC",
    quiet_hours: QUIET,
    frequency_caps: [{ category: "marketing", max: 3, per: "day" }],
  });
  await call("POST /api/v1/topics", { key: "gates", name: "Gates", default: "in" });
  const { id: list } = await call("POST /api/v1/lists", { name: "Friends of the gates" });
  const upsert = (external_id: string, more: object = {}) =>
    call(
      "POST /api/v1/subscribers/upsert",
      { external_id, email: `${external_id}@gates.example`, attributes: { plan: "pro" }, ...more },
      "sdk",
    );
  const track = (external_id: string, more: object = {}) =>
    call("POST /v1/events", { events: [{ event_name: "came_to_gates", external_id, ...more }] }, "server");
  const send = async (title: string, body: object) => {
    await call("POST /api/v1/notifications", { title, body: "b", channel_ids: [email], ...body });
    await settle();
  };

  const mail = { send: { channel_ids: [email], content: { title: "Hi", body: "b" }, next: "end" } };
  const { id: journey } = await call("POST /api/v1/journeys", {
    name: JOURNEY,
    trigger: { type: "event", event_name: "came_to_gates" },
    steps: graphOf({ mail, end: "exit" }),
    entry_rules: { eligibility: { attribute: { plan: { $eq: "pro" } } } },
  });
  await call(`POST /api/v1/journeys/${journey}/activate`);
  await upsert("free", { attributes: { plan: "free" } });
  await upsert("late");
  await upsert("bare", { email: undefined });
  await upsert("out", { consent: { status: "opted_out" } });
  await upsert("dead");
  await call("POST /api/v1/suppressions", { address: "dead@gates.example" });
  await upsert("night", { timezone: "Asia/Tokyo" });
  for (const name of ["free", "bare", "out", "dead", "night"]) await track(name);
  await track("late", { occurred_at: timestamp(now() - 4 * DAY) });

  const { id: left } = await upsert("left");
  await call(`POST /api/v1/subscribers/${left}/consents`, { channel: "topic:gates", status: "opted_out" });
  await send("News of gates", { external_ids: ["left"], topic: "gates" });
  await upsert("often");
  for (const title of ["One", "Two", "Three", "Four"]) await send(title, { external_ids: ["often"] });
  await upsert("stranger");
  await send("For friends", { target: { type: "list", list_id: list } });
  await upsert("young", { attributes: { plan: "pro", age: 9 } });
  await send("Grown up", { target: { type: "all" }, subscriber_filters: { age: { $gte: 18 } } });
  await upsert("refused");
  await call("POST /_local/faults", { channel: "email", outcome: "permanent", times: 1 }, "local");
  await send("Refused", { external_ids: ["refused"] });
  await call("DELETE /_local/faults", undefined, "local");
  await upsert("early");
  await send("Canceled", { external_ids: ["early"], scheduled_at: timestamp(now() + HOUR) });
  const { items } = await call("GET /api/v1/notifications?q=Canceled");
  await call(`POST /api/v1/notifications/${items[0].id}/cancel`);

  const [welcomed, sent] = [{ about: "journey", name: JOURNEY } as const, { about: "send" } as const];
  return [
    { person: "free", ...welcomed, reason: "not_eligible" },
    { person: "late", ...welcomed, reason: "too_old" },
    { person: "bare", ...welcomed, reason: "no_address" },
    { person: "out", ...welcomed, reason: "no_consent" },
    { person: "dead", ...welcomed, reason: "suppressed" },
    { person: "night", ...welcomed, reason: "quiet_hours" },
    { person: "left", ...sent, name: "News of gates", reason: "topic_opt_out" },
    { person: "often", ...sent, name: "Four", reason: "capped" },
    { person: "stranger", ...sent, name: "For friends", reason: "not_in_list" },
    { person: "young", ...sent, name: "Grown up", reason: "subscriber_filters" },
    { person: "early", ...sent, name: "Canceled", reason: "canceled" },
    { person: "refused", ...sent, name: "Refused", reason: "554 5.7.1 Message refused" },
  ];
}
