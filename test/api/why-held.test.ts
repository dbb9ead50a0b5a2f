// Why somebody has not got a message whose quiet hours are over (F2): what holds it, and not the hours.
import { expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { graphOf } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import { whySetting } from "../support/why.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** It is noon: quiet until two. */
const QUIET = { start: "10:00", end: "14:00", timezone_mode: "workspace" };

async function quietSetting() {
  const here = await whySetting(await fresh());
  await here.call("PATCH /api/v1/workspace", { quiet_hours: QUIET });
  const ada = await here.upsert("ada");
  const { call, email } = here;
  const campaign = async (more: object = {}) => {
    const message = { content: { title: "Hello", body: "b" }, channel_ids: [email], ...more };
    const { id } = (await call("POST /api/v1/campaigns", { name: "Autumn", messages: [message] })).body;
    await call(`POST /api/v1/campaigns/${id}/release`);
    await here.world.settle();
    return id as string;
  };
  const recipientOf = async (job: string) => (await call(`GET /api/v1/notifications/${job}/recipients`)).body.items[0];
  return { ...here, ada, campaign, recipientOf };
}

it("a message of a paused campaign waits for that once quiet hours are over (F2, AMB-14)", async () => {
  const { world, call, campaign, words, recipientOf } = await quietSetting();
  const id = await campaign();
  await call(`PATCH /api/v1/campaigns/${id}`, { action: "pause" });
  await world.advance(3 * HOUR);

  expect(await words("ada", { campaign: "Autumn" })).toBe(
    "Not yet: its campaign is paused. To change: Resume, on the page of the campaign.",
  );
  const [{ job_id }] = (await call(`GET /api/v1/campaigns/${id}`)).body.messages;
  expect(await recipientOf(job_id)).toMatchObject({ state: "deferred", reason: "paused", deferred_until: null });
});

it("a message of a paused journey waits for that once quiet hours are over (F2, AMB-73)", async () => {
  const { world, call, email, active, track, words } = await quietSetting();
  const mail = { send: { channel_ids: [email], content: { title: "Hello", body: "b" }, next: "end" } };
  const journey = await active(graphOf({ mail, end: "exit" }));
  await track("ada", "signed_up");
  await call(`POST /api/v1/journeys/${journey}/pause`);
  await world.advance(3 * HOUR);

  expect(await words("ada", { journey: "Welcome" })).toContain(
    "Not yet: its journey is paused. To change: Activate, on the page of the journey.",
  );
});

it("a message of a workspace that was suspended is told when it is looked at again (F2, AMB-86)", async () => {
  const { world, tenant, send, words } = await quietSetting();
  await send("News", { external_ids: ["ada"] });
  await operate(world, tenant, { status: "suspended" });
  await world.advance(3 * HOUR);
  await operate(world, tenant, { status: "active" });

  expect(await words("ada", { send: "News" })).toMatch(
    /^Not yet: quiet hours are over, and it is still in the queue of the send, and again from 2026-11-20 15:\d\d UTC\.$/,
  );
});

it("a message that its campaign skipped when it was resumed is said to be that (F2, AMB-138)", async () => {
  const { world, call, campaign, words } = await quietSetting();
  const id = await campaign({ scheduled_at: timestamp(world.clock.now() + HOUR) });
  await call(`PATCH /api/v1/campaigns/${id}`, { action: "pause" });
  await world.advance(2 * HOUR);
  await call(`PATCH /api/v1/campaigns/${id}`, { action: "resume", overdue: "skip" });
  await world.settle();

  expect(await words("ada", { campaign: "Autumn" })).toBe(
    "Not sent: the send was canceled first, on 2026-11-20 14:00 UTC " +
      "(it fell due while the campaign was paused, and was skipped when that was resumed).",
  );
});

it("who was in a segment that was deleted before its send is told that the send failed (F2, AMB-119)", async () => {
  const { world, call, upsert, send, words } = await quietSetting();
  await upsert("vip", { attributes: { vip: true } });
  const rule = { attribute: { vip: { $eq: true } } };
  const { id } = (await call("POST /api/v1/segments", { name: "VIP", is_dynamic: true, rule })).body;
  await world.settle();
  const scheduled_at = timestamp(world.clock.now() + HOUR);
  await send("News", { target: { type: "segment", segment_id: id }, scheduled_at });
  await call(`DELETE /api/v1/segments/${id}?force=true`);
  await world.advance(2 * HOUR);

  expect(await words("vip", { send: "News" })).toBe(
    "Not sent: the send failed as a whole (the segment no longer exists).",
  );
});

it("who was skipped by a send is not said to have joined it later, once the ids of those are gone (F2)", async () => {
  const { world, tenant, upsert, send, words } = await quietSetting();
  await upsert("bob");
  await tenant.upsert({ external_id: "no-mail" });
  await send("News", { target: { type: "all" } });
  await world.advance(34 * DAY);
  await upsert("new");

  expect(await words("no-mail", { send: "News" })).toContain("who was skipped, and why, is known for 30 days");
  expect(await words("new", { send: "News" })).toContain("in the audience only since it was planned.");
});

it("a step whose send failed as a whole does not put its words into a provider's mouth (AMB-147)", async () => {
  const { world, call, email, active, track, words } = await quietSetting();
  const mail = { send: { channel_ids: [email], content: { title: "Hi", body: "b" }, next: "end" } };
  await active(graphOf({ rest: { delay: { duration: "1h", next: "mail" } }, mail, end: "exit" }));
  await track("ada", "signed_up");
  await call("PATCH /api/v1/billing", { monthly_send_cap: 0 });
  await world.advance(2 * HOUR);

  const told = await words("ada", { journey: "Welcome" });
  expect(told).toContain("The message “Hi”: failed, the send failed as a whole (");
  expect(told).not.toContain("the provider said");
});

it("who waits at a step for those who get its message first is told so, and until when (AMB-147, F21)", async () => {
  const { call, world, email, active, track, upsert, words } = await quietSetting();
  await call("PATCH /api/v1/workspace", { quiet_hours: null });
  const safety = { canary_percent: 1, canary_wait_minutes: 60 };
  const mail = { send: { channel_ids: [email], content: { title: "Hi", body: "b" }, next: "end", safety } };
  await active(graphOf({ mail, end: "exit" }));
  const names = ["p1", "p2", "p3"];
  for (const name of names) {
    await upsert(name);
    await track(name, "signed_up");
  }

  const told = await Promise.all(names.map((name) => words(name, { journey: "Welcome" })));
  expect(
    told.filter((text) => text.includes("A part of the people gets it first, the others on 2026-11-20 13:00 UTC.")),
  ).not.toEqual([]);
  await world.advance(2 * HOUR);
  expect(await words("p1", { journey: "Welcome" })).toContain("Delivered by Email.");
});
