// How the SDK sends events and reports: once in effect, however often it must send them.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createBrowserClient } from "../../sdk/src/browser.ts";
import { clientOf, envelope, json, lost, outcome } from "./support/answers.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

it("an event has one key through all attempts, also without an answer, and a key of the caller stays (EVT-8)", async () => {
  const taken = () => json(202, { accepted: 1 });
  const { sent, client } = clientOf(lost, envelope(503, "X"), taken);
  const event = { event_name: "e", external_id: "ada" };
  expect(await outcome(client.events.create(event))).toEqual({ accepted: 1 });
  const bodies = sent.map(({ body }) => JSON.parse(String(body)));
  expect(bodies[0]).toEqual({ ...event, idempotency_key: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(bodies).toEqual([bodies[0], bodies[0], bodies[0]]);
  await outcome(client.events.create({ events: [event, { ...event, idempotency_key: "mine" }] }));
  const { events } = JSON.parse(String(sent[3]?.body));

  expect(events[0].idempotency_key).toMatch(/^[0-9a-f]{32}$/);
  expect(events[0].idempotency_key).not.toBe(bodies[0].idempotency_key);
  expect(events[1].idempotency_key).toBe("mine");
});

it("each attempt of a browser says when it is sent: the wait before it moves no event (AMB-135)", async () => {
  const { sent, fetch } = clientOf(envelope(429, "RATE_LIMITED", { "retry-after": "50" }), () => json(202, {}));
  const browser = createBrowserClient({ baseUrl: "https://api.example.com", sdkKey: "sk_x", fetch });
  await outcome(browser.events.create({ events: [{ event_name: "e", anonymous_id: "a" }] }));
  const times = sent.map(({ body }) => Date.parse(JSON.parse(String(body)).sent_at));

  expect(times).toEqual(sent.map(({ at }) => at));
});

it("a report of an interaction, and an identification, are repeated without an answer (AMB-106, AMB-26)", async () => {
  const { client } = clientOf(lost, () => json(200, { linked: true, backfilled: 0 }));
  const identified = { anonymous_id: "a", subscriber_id: "s" };
  expect(await outcome(client.events.identify(identified))).toEqual({ linked: true, backfilled: 0 });
  const { sent, client: reporting } = clientOf(lost, () => json(202, undefined));
  const report = {
    job_id: "j",
    interaction: "tapped",
    platform: "ios",
    occurred_at: "2026-01-01T00:00:00Z",
  } as const;
  await outcome(reporting.notifications.createInteraction(report));

  expect(sent).toHaveLength(2);
});

it("the browser client says when it sends a batch of events, by the clock of the device (AMB-135)", async () => {
  const bodies: unknown[] = [];
  const fetch = (async (_: string, { body }: RequestInit) => {
    bodies.push(JSON.parse(String(body)));
    return json(202, { accepted: 1 });
  }) as typeof globalThis.fetch;
  const client = createBrowserClient({ baseUrl: "https://api.example.com", sdkKey: "pk_1", fetch });
  const event = { event_name: "seen", anonymous_id: "visitor" };
  vi.setSystemTime("2026-01-02T03:04:05Z");
  await client.events.create({ events: [event] });
  await client.events.create(event);
  const keyed = { ...event, idempotency_key: expect.any(String) };
  expect(bodies).toEqual([{ sent_at: "2026-01-02T03:04:05.000Z", events: [keyed] }, keyed]);
});
