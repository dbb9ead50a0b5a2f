// Answers that say what many messages say stay below what a function may answer, 6 MB (CHC-1, docs/decisions/0104).
import { expect, it } from "vitest";
import { withChannels } from "../support/content.ts";
import { graphOf } from "../support/journeys.ts";
import { contentOf, htmlOf } from "../support/large-mails.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const many = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

it("who asks why somebody got twenty mails of 200 KB is shown as many as an answer can carry (RDA-4, CHC-1)", async () => {
  const { world, call, ids, ada } = await withChannels(withTenant, "email");
  const messages = [];
  for (const n of many(20, (i) => i)) {
    const template = { name: `${n}`, content: contentOf({ html: `${htmlOf(200_000, `${n}`)}` }) };
    const { id: template_id } = (await call("POST /api/v1/templates", template)).body;
    messages.push({ template_id, channel_ids: [ids.email] });
  }
  const target = { type: "all" };
  const { id } = (await call("POST /api/v1/campaigns", { name: "Long", messages, target })).body;
  await call(`POST /api/v1/campaigns/${id}/release`);
  await world.settle();

  const { status, body } = await call(`GET /api/v1/why?person=${ada}&campaign=${id}`);

  expect([status, body.sends?.length]).toEqual([200, 20]);
  const shown = body.sends.map(({ messages: [message] }: { messages: { html?: string }[] }) => message);
  const whole = shown.filter(({ html }: { html?: string }) => html !== undefined);
  const rest = shown.filter(({ html }: { html?: string }) => html === undefined);
  expect(whole.length).toBeGreaterThanOrEqual(10);
  expect(rest[0]).toEqual({
    channel: "email",
    title: null,
    body: null,
    attributes_changed: null,
    left_out: ["title", "body", "html"],
  });
  expect(body.in_words).toContain("Message 20:");
});

const body = "b".repeat(49_000);

it("a page of campaigns that would say their first messages twice is refused, and a smaller one is not (CMP-14)", async () => {
  const { call, ids } = await withChannels(withTenant, "email");
  const content = { title: "T", body, by_channel: { email: { text: body } } };
  for (const n of many(35, (i) => i))
    await call("POST /api/v1/campaigns", { name: `${n}`, content, channel_ids: [ids.email] });

  const [large, small] = [50, 20].map((size) => call(`GET /api/v1/campaigns?page_size=${size}`));

  expect((await large)?.body.fields).toEqual({ page: "is too large: ask for fewer entries" });
  expect((await small)?.body.items).toHaveLength(20);
});

it("a page of sends that say a body twice ends where it has no more room (NTF-17)", async () => {
  const { call, everyChannel } = await withChannels(withTenant, "email");
  const content = { title: "T", body, by_channel: { email: { subject: "S" } } };
  const scheduled_at = "2100-01-01T00:00:00Z";
  for (const _ of many(80, (i) => i))
    await call("POST /api/v1/notifications", { ...everyChannel, content, scheduled_at });

  const { status, body: page } = await call("GET /api/v1/notifications?limit=100");
  const next = await call(`GET /api/v1/notifications?limit=100&cursor=${page.next_cursor}`);

  expect(status).toBe(200);
  expect(page.items.length + next.body.items.length).toBe(80);
});

it("a simulation whose steps send forty mails of 200 KB says as many as an answer can carry (F12, CHC-1)", async () => {
  const { call, ids, ada } = await withChannels(withTenant, "email");
  const template = { name: "Long", content: contentOf({ html: htmlOf(200_000) }) };
  const { id: template_id } = (await call("POST /api/v1/templates", template)).body;
  const send = (i: number) => ({ send: { channel_ids: [ids.email], template_id, next: `s${i + 1}` } });
  const steps = graphOf({ ...Object.fromEntries(many(40, (i) => [`s${i}`, send(i)])), s40: "exit" });
  const trigger = { type: "event", event_name: "paid" };
  const { id } = (await call("POST /api/v1/journeys", { name: "Long", trigger, steps })).body;

  const { status, body: walk } = await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id: ada });

  expect([status, walk.steps?.length]).toEqual([200, 41]);
  const renderings = walk.steps.flatMap(({ rendering }: { rendering: object | null }) => rendering ?? []);
  expect(renderings).toHaveLength(40);
  expect(renderings[0].body).toHaveLength(htmlOf(200_000).length - "{{ subscriber.first_name }}".length + "Ada".length);
  expect(renderings[39]).toEqual({ title: "", body: "", unknown_variables: [], left_out: ["title", "body"] });
});
