// Sends with a topic (TPC-2): who left it is skipped, also who leaves it while the send waits.
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { mortal } from "../support/mortal.ts";
import { inboxOf, send } from "../support/people.ts";
import { quietSetting, reached, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { addPhone, openChannels } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { choosing, DEALS, NEWS } from "../support/topics.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = choosing({ withTenant });
const content = { title: "t", body: "b" };

/** Ada, who chose nothing, and Ben, who left the news for the deals. */
async function withChoices() {
  const found = await setting([NEWS, DEALS]);
  const [ada, ben] = [await found.person("ada"), await found.person("ben")];
  await found.choose("ben", { news: "opted_out", deals: "opted_in" });
  return { ...found, ada, ben };
}
const input = { target: { type: "all" }, title: "Hello", body: "World" };

it.each([
  ["marketing", "news", "ada", "ben"],
  ["marketing", "deals", "ben", "ada"],
  ["transactional", "news", "ada", "ben"],
  ["transactional", "deals", "ben", "ada"],
] as const)("a %s send with the topic %s goes to %s and skips %s (TPC-2)", async (category, topic, follower, other) => {
  const { world, tenant, ...people } = await withChoices();

  const { job } = await send(world, tenant, { ...input, category, topic });

  expect(job).toMatchObject({ topic, skip_reasons: { topic_opt_out: 1 }, counts: { delivered: 1 } });
  expect(await inboxOf(world, tenant, people[follower])).toHaveLength(1);
  expect(await inboxOf(world, tenant, people[other])).toEqual([]);
});

it("the preview of a send with a topic counts who left it (TPC-2)", async () => {
  const { call } = await withChoices();

  const { body } = await call("POST /api/v1/notifications/preview", { ...input, topic: "news" });

  expect(body).toMatchObject({ counts: { sent: 1, skipped: 1 }, skip_reasons: { topic_opt_out: 1 } });
});

it("who is skipped by a topic is explained by the choice (TPC-2)", async () => {
  const { world, tenant, call, ben } = await withChoices();
  const { job } = await send(world, tenant, { ...input, topic: "news" });

  const { body } = await call(`GET /api/v1/notifications/${job.id}/recipients/${ben}`);

  expect(body).toMatchObject({
    decision: "skipped",
    reason: "topic_opt_out",
    now: { topic: { key: "news", default: "in", choice: "opted_out", reachable: false } },
  });
});

it("a send with an unknown topic is refused with 422, naming it (TPC-2)", async () => {
  const { call } = await withChoices();

  const { status, body } = await call("POST /api/v1/notifications", { ...input, topic: "x" });

  expect(status).toBe(422);
  expect(body.fields).toEqual({ topic: expect.any(String) });
});

it("a backend's send with a topic is answered with how many follow it (TPC-2)", async () => {
  const { world, tenant } = await withChoices();
  const as = await tenant.backend("messages:send", "messages:read");
  const body = { external_ids: ["ada", "ben"], ...content, topic: "news" };

  expect((await world.call("POST /v1/notifications", { as, body })).body).toMatchObject({ sent: 1, unknown: 0 });
});

it("a send that waits keeps the default of its topic, and counts the choices made meanwhile, in push and inbox alike (TPC-2)", async () => {
  const { world, tenant, call, person, push, job, ids } = await quietSetting(withTenant);
  await call("POST /api/v1/topics", { key: "news", name: "News" });
  const [ada, ben] = [await person("ada", "Asia/Tokyo"), await person("ben", "Asia/Tokyo")];
  const { channels } = (await call("GET /api/v1/channels")).body;
  const inApp = channels.find(({ type }: { type: string }) => type === "in_app").id;
  const { job: sent } = await push({ topic: "news" });
  const later = { topic: "news", channel_ids: [inApp, ids.ios], scheduled_at: "2026-11-20T13:00:00Z" };
  const { job: planned } = await push(later);

  await call("PATCH /api/v1/topics/news", { default: "out" });
  const body = { external_id: "ben", topics: { news: "opted_out" } };
  await world.call("PUT /v1/preferences", { as: tenant.sdk, body });
  await world.advance(TOKYO_MORNING + HOUR);

  expect(await reached(world)).toEqual([ada, ada]);
  expect(await job(sent.id)).toMatchObject({
    counts: { delivered: 1, skipped: 1, failed: 0 },
    skip_reasons: { topic_opt_out: 1 },
  });
  expect(await job(planned.id)).toMatchObject({
    counts: { delivered: 1, skipped: 1 },
    skip_reasons: { topic_opt_out: 1 },
  });
  expect(await inboxOf(world, tenant, ada)).toHaveLength(1);
  expect(await inboxOf(world, tenant, ben)).toEqual([]);
});

/** A send to the inboxes of those who follow the topic, whose worker is away while one of them leaves it. */
async function leftMeanwhile(...names: string[]) {
  const worker = mortal("deliver");
  const found = await setting(undefined, { hooks: worker.hooks });
  const { world, call, person, choose, inApp } = found;
  const people = new Map<string, string>();
  for (const name of names) people.set(name, await person(name));
  await choose("cyd", { news: "opted_out" });
  worker.dieAt(1, "before");
  const body = { title: "t", body: "b", channel_ids: [inApp], target: { type: "all" }, topic: "news" };
  const { id } = (await call("POST /api/v1/notifications", body)).body;
  await world.settle();
  await choose("ben", { news: "opted_out" });
  worker.revive();
  await world.advance(HOUR);
  const { body: job } = await call(`GET /api/v1/notifications/${id}`);
  const inbox = (name: string) => inboxOf(world, found.tenant, people.get(name)!);
  return { ...found, job, inbox };
}

it("a choice between the plan and the delivery of a send counts, where it reaches nothing but inboxes (TPC-2)", async () => {
  const { job, inbox } = await leftMeanwhile("ada", "ben");

  expect(job).toMatchObject({
    status: "completed",
    counts: { delivered: 1, skipped: 1, failed: 0 },
    skip_reasons: { topic_opt_out: 1 },
  });
  expect(await inbox("ada")).toHaveLength(1);
  expect(await inbox("ben")).toEqual([]);
});

it("a choice a moment before the delivery of a push counts (TPC-2)", async () => {
  const delivering = requests({ of: "deliver", operation: "BatchGetItem" });
  const { world, person, choose, tenant } = await setting(undefined, { hooks: delivering.hooks });
  const { ios } = await openChannels(world, tenant, "ios-push");
  for (const name of ["ada", "ben"]) await addPhone(world, tenant, await person(name), "ios");
  delivering.next(() => choose("ben", { news: "opted_out" }));

  const { job } = await send(world, tenant, { ...input, channel_ids: [ios], topic: "news" });

  expect(job).toMatchObject({ counts: { delivered: 1, skipped: 1 }, skip_reasons: { topic_opt_out: 1 } });
});

it("who left a topic before a delivery and came back since is told the choice of then (F2, TPC-2)", async () => {
  const { world, tenant, call, person, push, ids } = await quietSetting(withTenant);
  await call("POST /api/v1/topics", { key: "news", name: "News" });
  await person("ben", "Asia/Tokyo");
  const choose = (news: string) =>
    world.call("PUT /v1/preferences", { as: tenant.sdk, body: { external_id: "ben", topics: { news } } });
  const { job } = await push({ topic: "news", channel_ids: [ids.ios] });
  await choose("opted_out");
  await world.advance(TOKYO_MORNING + HOUR);
  await choose("opted_in");

  const { body } = await call(`GET /api/v1/why?person=ben&send=${job.id}`);
  expect(body.in_words).toContain("(news: opted out)");
});

it("the lift counts who left a topic after the plan as treated, and nobody who had left it before (D-ATTRIB)", async () => {
  const { call, job } = await leftMeanwhile("ada", "ben", "cyd");

  const { treated } = (await call(`GET /api/v1/insights/lift?job_id=${job.id}`)).body;

  expect(job).toMatchObject({ counts: { delivered: 1 }, skip_reasons: { topic_opt_out: 2 } });
  expect(treated.size).toBe(2);
});
