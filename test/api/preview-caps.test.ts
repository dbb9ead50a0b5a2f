// The preview of a send in quiet hours, in a workspace with frequency caps: what it says is what the morning brings.
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { quietSetting } from "../support/quiet-hours.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const ALL_DAY = { start: "10:00", end: "09:00", timezone_mode: "workspace" };
const MARKETING = { category: "marketing", max: 1 };

/** Ada got a message in spite of quiet hours. Another one is previewed, sent, and waits until the next morning. */
async function previewed(cap: object, { before = true, by = ["ios"] as string[] } = {}) {
  const channels = ["ios-push", "email"] as const;
  const setting = await quietSetting(withTenant, { quiet: ALL_DAY, channels });
  const { world, call, configure, person, ids, push, job } = setting;
  await configure({ frequency_caps: [cap] });
  await person("ada", undefined, { email: "ada@example.com" });
  if (before) await push({ bypass_quiet_hours: true });
  const channel_ids = by.map((type) => ids[type]);
  const body = { target: { type: "all" }, title: "t", body: "b", channel_ids };
  const seen = (await call("POST /api/v1/notifications/preview", body)).body;
  const sent = await push({ channel_ids });
  await world.advance(DAY);
  return { seen, morning: await job(sent.job.id) };
}

it("who waits for a morning of the week whose cap is reached is previewed as skipped, and is (F8, D-CAP)", async () => {
  const { seen, morning } = await previewed({ ...MARKETING, per: "week" });

  expect(morning).toMatchObject({ counts: { sent: 0, skipped: 1 }, skip_reasons: { capped: 1 } });
  expect(seen).toMatchObject({
    counts: { sent: 0, deferred: 0, skipped: 1 },
    by_class: {},
    skip_reasons: { capped: 1 },
    samples: [],
  });
});

it.each<[what: string, cap: object, options?: Parameters<typeof previewed>[1]]>([
  ["of which another day counts", { ...MARKETING, per: "day" }],
  ["that is not reached", { ...MARKETING, per: "week" }, { before: false }],
  ["of another class of channels", { ...MARKETING, per: "week", channel_class: "push" }, { by: ["email"] }],
])("who waits is previewed as deferred beside a cap %s, and is reached (F8, D-CAP)", async (_, cap, options) => {
  const { seen, morning } = await previewed(cap, options);

  expect(morning.counts).toMatchObject({ sent: 1, delivered: 1, skipped: 0 });
  expect(seen.counts).toMatchObject({ sent: 1, skipped: 0 });
});

it("of messages that wait together, those of a class whose cap is reached alone are previewed as skipped, and are (F8, D-CAP)", async () => {
  const { seen, morning } = await previewed(
    { ...MARKETING, per: "week", channel_class: "push" },
    { by: ["ios", "email"] },
  );

  expect(morning.delivered_by_channel).toEqual({ email: 1 });
  expect(seen).toMatchObject({ counts: { sent: 1, deferred: 1, skipped: 0 }, by_class: { email: 1 } });
});

it("of two caps of the same messages and days the lower holds, in a send as in its preview (D-CAP, F8)", async () => {
  const { call, configure, person, ids, push } = await quietSetting(withTenant, { quiet: null });
  const perDay = { ...MARKETING, per: "day" };
  await configure({ frequency_caps: [perDay, { ...perDay, max: 2 }] });
  await person("ada");
  await push({});

  const body = { target: { type: "all" }, title: "t", body: "b", channel_ids: [ids.ios] };
  const seen = (await call("POST /api/v1/notifications/preview", body)).body;

  expect(seen).toMatchObject({ counts: { sent: 0, skipped: 1 }, skip_reasons: { capped: 1 } });
  expect((await push({})).job).toMatchObject({ counts: { sent: 0, skipped: 1 }, skip_reasons: { capped: 1 } });
});
