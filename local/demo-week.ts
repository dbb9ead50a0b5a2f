// A week of history for the demo workspace, made through the API while the service clock runs from a week ago to now.
import { DAY, HOUR, MINUTE, timestamp } from "../shared/kernel/clock.ts";
import type { Demo } from "./demo.ts";
import { type Client, clientOf } from "./demo-client.ts";
import { addPeople, type Person } from "./demo-people.ts";
import { campaign, interact, type Recipients, send, sendOf } from "./demo-sends.ts";
import type { LocalService } from "./local-service.ts";
import type { Tenancy } from "./tenancy.ts";

export const WEEK_MS = 7 * DAY;
/** Few enough that the service is ready soon, and enough that the lift of the campaign is significant. */
const DEMO_PEOPLE = 96;
const BATCH = 500;
/**
 * Purchases are sent once the outcomes of all earlier sends are written, because each purchase is attributed only once.
 */
const HANDED_OVER_AFTER = 20 * MINUTE;
/** How many days ago people came, seen from the last one. */
const VISIT_DAYS = [5, 4, 2, 0];

/** Numbers from 0 to 1 that look random and are the same at every start. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface DemoWeek {
  service: LocalService;
  tenancy: Tenancy;
  demo: Demo;
}

/**
 * Fills the demo workspace, while service time moves on by a week. The sweep for lost timers, which takes many
 * requests, begins only when the service clock ticks: no timer is lost here.
 */
export async function fillDemo(week: DemoWeek): Promise<void> {
  const { service } = week;
  const client = clientOf(week);
  const random = sequence(20_261);
  const begin = service.clock.now();
  const midnight = begin - (begin % DAY);
  const moveTo = (time: number) => service.time.advance(time, { recurring: false });
  /** Moves to an hour of the day in UTC, so that the week does not depend on the hour of the start. */
  const at = (day: number, hour: number) => moveTo(midnight + day * DAY + hour * HOUR);
  const seen = (job_id: string) => ({ job_id, occurred_at: timestamp(service.clock.now()) });

  publish(service);
  const newsletter = await connect(client);
  const people = await addPeople(client, { size: DEMO_PEOPLE, newsletter, random, now: begin });
  await moveTo(begin + MINUTE);
  const { pro, channels } = await describe(client);
  await moveTo(begin + 2 * MINUTE);
  await automate(client, channels);
  await at(1, 9);
  await signUps(client, people.slice(0, DEMO_PEOPLE / 6));
  const autumn = await campaign(client, { channels, name: "Autumn sale", target: { type: "all" }, holdout: 25 });
  await at(1, 13);
  const recipients = await interact(client, seen(autumn), random);
  await at(2, 10);
  await purchases(client, people, recipients, { random, now: service.clock.now() });
  await signUps(client, people.slice(DEMO_PEOPLE / 6, DEMO_PEOPLE / 3));
  await at(3, 9);
  const tips = await send(client, channels, "Weekend tips", { type: "list", list_id: newsletter });
  await at(3, 10);
  await interact(client, seen(tips), random);
  await at(4, 14);
  const news = await send(client, channels, "New: shared boards", { type: "segment", segment_id: pro });
  await at(4, 15);
  await interact(client, seen(news), random);
  await signUps(client, people.slice(DEMO_PEOPLE / 3, DEMO_PEOPLE / 2));
  await at(6, 10);
  await interact(client, seen(await sendOf(client, "experience")), random);
  await at(6, 11);
  await visits(client, people, random, service.clock.now());
  await observe(client);
  await client.owner("POST /api/v1/campaigns", {
    name: "Winter preview",
    target: { type: "segment", segment_id: pro },
    holdout_percentage: 25,
    messages: [{ content: { title: "Winter is near", body: "See what comes in December." }, channel_ids: channels }],
  });
  await moveTo(begin + WEEK_MS);
}

/** Publishes DNS records of the sender's domain: enough to send, with one thing left to do. */
function publish({ providers: { dns } }: LocalService): void {
  dns.add("example.com", "TXT", "v=spf1 include:_spf.example.net ~all");
  dns.add("_dmarc.example.com", "TXT", "v=DMARC1; p=none; rua=mailto:dmarc@example.com");
}

/**
 * Sets up email beside in-app, rules for sending, a conversion, a webhook endpoint and a list. @returns the id of the
 * list.
 */
async function connect(client: Client): Promise<string> {
  const email = await client.owner("POST /api/v1/channels", { type: "email", name: "Email" });
  await client.owner(`POST /api/v1/channels/${email.id}/credentials/email`, {
    provider: "smtp",
    from_email: "hello@example.com",
    from_name: "Tidepool",
    host: "smtp.example.com",
    port: 587,
    username: "tidepool",
    password: "an-app-password",
  });
  await client.owner("PATCH /api/v1/workspace", {
    timezone: "Europe/Berlin",
    currency: "EUR",
    quiet_hours: { start: "22:00", end: "07:00", timezone_mode: "subscriber" },
    frequency_caps: [{ category: "marketing", max: 3, per: "day" }],
  });
  await client.owner("POST /api/v1/insights/config", {
    event_name: "purchase",
    value_property: "amount_cents",
    window_seconds: 604_800,
  });
  await client.owner("POST /api/v1/webhooks", {
    target_url: "https://receiver.example/engagement",
    events: ["notification.terminal"],
    description: "Warehouse",
  });
  for (const address of ["left.the.company@example.com", "asked.by.phone@example.com"])
    await client.owner("POST /api/v1/suppressions", { address, note: "Asked for it by phone" });
  const list = await client.owner("POST /api/v1/lists", { name: "Newsletter", description: "Asked for news" });
  return String(list.id);
}

/** Makes a segment and a template. @returns the audiences of the sends. */
async function describe(client: Client): Promise<{ pro: string; channels: string[] }> {
  const pro = await client.owner("POST /api/v1/segments", {
    name: "Pro customers",
    is_dynamic: true,
    rule: { group: { op: "and", nodes: [{ attribute: { plan: { $eq: "pro" } } }] } },
  });
  await client.owner("POST /api/v1/templates", {
    name: "Receipt",
    content: { title: "Thank you, {{ subscriber.first_name }}", body: "Your receipt is attached to your account." },
  });
  const { channels } = (await client.owner("GET /api/v1/channels")) as { channels: { id: string }[] };
  return { pro: String(pro.id), channels: channels.map(({ id }) => id) };
}

/** Makes a segment by events. It is computed once, because its events were recorded before it. */
const observe = (client: Client) =>
  client.owner("POST /api/v1/segments", {
    name: "Active this week",
    is_dynamic: true,
    rule: { group: { op: "and", nodes: [{ event: { name: "board_opened", within: "7d", frequency: { min: 2 } } }] } },
  });

/** Makes a journey for people who sign up, and a live banner. */
async function automate(client: Client, channel_ids: readonly string[]): Promise<void> {
  const message = (id: string, title: string, body: string, next: string) => ({
    id,
    type: "send",
    send: { channel_ids, content: { title, body }, category: "marketing", next },
  });
  const steps = {
    welcome: message("welcome", "Welcome, {{ subscriber.first_name }}", "Make your first board in a minute.", "day"),
    day: { id: "day", type: "delay", delay: { duration: "1d", next: "plan" } },
    plan: {
      id: "plan",
      type: "branch",
      // biome-ignore lint/suspicious/noThenProperty: the API's name of the way
      branch: { condition: { attribute: { plan: { $eq: "pro" } } }, then: "call", else: "wait" },
    },
    call: message("call", "A call with us?", "Twenty minutes, and your team is set up.", "end"),
    wait: {
      id: "wait",
      type: "wait_for_event",
      wait_for_event: { event_name: "purchase", within: "3d", on_event: "end", on_timeout: "offer" },
    },
    offer: message("offer", "A month for free", "Try the plan Pro until the end of the month.", "end"),
    end: { id: "end", type: "exit" },
  };
  const journey = await client.owner("POST /api/v1/journeys", {
    name: "Welcome",
    trigger: { type: "event", event_name: "signed_up" },
    steps: { start: "welcome", steps },
  });
  await client.owner(`POST /api/v1/journeys/${journey.id}/activate`);
  const banner = await client.owner("POST /api/v1/in-app/experiences", {
    name: "Maintenance on Sunday",
    format: "banner",
    content: { title: "Maintenance on Sunday", body: "Boards are read-only from 02:00 to 03:00." },
  });
  await client.owner(`PATCH /api/v1/in-app/experiences/${banner.id}`, { audience: { type: "all" } });
  await client.owner(`POST /api/v1/in-app/experiences/${banner.id}/publish`);
}

async function record(client: Client, events: readonly object[]): Promise<void> {
  for (let n = 0; n < events.length; n += BATCH)
    await client.server("POST /v1/events", { events: events.slice(n, n + BATCH) });
}

/** The visits of the week, as a server that stores its own events would send them. */
const visits = (client: Client, people: readonly Person[], random: () => number, now: number) =>
  record(
    client,
    VISIT_DAYS.flatMap((ago) =>
      people.flatMap(({ external_id, isPro }) => {
        const occurred_at = timestamp(now - ago * DAY - Math.floor(random() * HOUR));
        return random() < (isPro ? 0.8 : 0.45) ? [{ event_name: "board_opened", external_id, occurred_at }] : [];
      }),
    ),
  );

const signUps = (client: Client, people: readonly Person[]) =>
  record(
    client,
    people.map(({ external_id }) => ({ event_name: "signed_up", external_id })),
  );

/** A fixed share of the people, without chance, so that the lift is significant at every start. */
const shareOf = (people: readonly Person[], share: number): Person[] =>
  people.filter((_, n) => Math.floor((n + 1) * share) > Math.floor(n * share));

/** Recipients of the message buy more often than the control group. */
async function purchases(
  client: Client,
  people: readonly Person[],
  recipients: Recipients,
  { random, now }: { random: () => number; now: number },
): Promise<void> {
  const isHeldOut = ({ external_id }: Person) => recipients.get(external_id)?.state === "held_out";
  const [heldOut, treated] = [people.filter(isHeldOut), people.filter((person) => !isHeldOut(person))];
  await record(
    client,
    [...shareOf(treated, 0.32), ...shareOf(heldOut, 0.05)].map(({ external_id }) => {
      const occurred_at = timestamp(now - HANDED_OVER_AFTER - Math.floor(random() * 3 * HOUR));
      const properties = { amount_cents: 900 + Math.floor(random() * 6_000) };
      return { event_name: "purchase", external_id, occurred_at, properties };
    }),
  );
}
