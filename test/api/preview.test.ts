// The preview of a send (F8): it equals the result of the same send right after, and writes nothing.
import { expect, it } from "vitest";
import { channelCalls } from "../support/channels.ts";
import { addPeople, send } from "../support/people.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const ROUTE = "POST /api/v1/notifications/preview";

/** A generator of the same numbers every time. */
function dice(seed: number) {
  let state = seed;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  return {
    chance: (share: number) => next() < share,
    below: (max: number) => Math.floor(next() * max),
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!,
  };
}

async function setting() {
  const { world, tenant } = await withTenant();
  const ids = (await openChannels(world, tenant, "ios-push", "email", "sms", "chat_app")) as Record<string, string>;
  const { call } = tenant;
  const channels = (await call("GET /api/v1/channels")).body.channels as { id: string; type: string }[];
  ids.in_app = channels.find(({ type }) => type === "in_app")!.id;
  const preview = async (body: object) => {
    const answer = await call(ROUTE, { title: "Hello", body: "World", ...body });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  };
  return { world, tenant, ids, call, preview };
}

/** People of every kind: with and without addresses, consent, zones, phones, a device. */
async function crowd({ world, tenant }: Awaited<ReturnType<typeof setting>>, count: number) {
  const { chance, pick } = dice(4);
  const zones = ["Europe/London", "Asia/Tokyo", "America/New_York", "Nowhere"];
  const people = await addPeople(world, tenant, count, (n) => ({
    ...(chance(0.7) && { email: `p${n}@example.com` }),
    attributes: {
      n,
      tier: pick(["gold", "silver"]),
      ...(chance(0.6) && { timezone: pick(zones) }),
      ...(chance(0.5) && { phone: pick(["+4915112345678", "0151"]) }),
    },
  }));
  for (const [n, id] of people.entries()) {
    if (chance(0.5)) await addPhone(world, tenant, id, "ios", { push_enabled: chance(0.8) });
    if (chance(0.2)) {
      const consent = { channel: pick(["email", "sms"]), status: "opted_out" };
      await tenant.upsert({ external_id: `p${n}`, consent });
    }
  }
  return people;
}

it("its counts are those of the send made right after, for 50 random audiences (F8, AMB-38)", async () => {
  const all = await setting();
  const { world, tenant, ids, call, preview } = all;
  const people = await crowd(all, 40);
  const body = { name: "some", rule: { attribute: { tier: { $eq: "gold" } } } };
  const segment_id = (await call("POST /api/v1/segments", body)).body.id;
  const list_id = (await call("POST /api/v1/lists", { name: "l" })).body.id;
  await call(`POST /api/v1/lists/${list_id}/subscribers`, { subscriber_ids: people.slice(0, 20) });
  const { call: chat } = await channelCalls(world, tenant);
  const draft = (await chat(`POST /${ids.chat_app}/chat-app-templates`, { body: { name: "n", body: "b" } })).body.id;
  await world.settle();
  const random = dice(11);
  const { chance, below, pick } = random;
  let waiting = 0;
  for (let n = 0; n < 50; n++) {
    const quiet = { start: pick(["08:00", "20:00"]), end: pick(["09:00", "13:00"]), timezone_mode: "subscriber" };
    const cap = { category: "marketing", per: pick(["day", "week"]), max: 1 + below(6) };
    const channel_class = pick(["push", "email", "in_app", undefined]);
    await call("PATCH /api/v1/workspace", {
      quiet_hours: chance(0.4) ? quiet : null,
      frequency_caps: chance(0.6) ? [{ ...cap, ...(channel_class && { channel_class }) }] : [],
      email_consent_mode: pick(["opt_in", "opt_out"]),
    });
    const types = Object.keys(ids).filter(() => chance(0.5));
    const channel_ids = (types.length > 0 ? types : ["in_app"]).map((type) => ids[type]!);
    const targets = [{ type: "all" }, { type: "list", list_id }, { type: "segment", segment_id }];
    const given = people.filter(() => chance(0.5)).concat(chance(0.3) ? ["nobody"] : [], people[0]!);
    const wish = {
      ...(chance(0.4) ? { subscriberIds: given } : { target: pick(targets) }),
      channel_ids,
      ...(chance(0.3) && { subscriber_filters: { n: { $lt: below(40) } } }),
      ...(chance(0.2) && { device_filters: { platform: { $eq: "ios" } } }),
      ...(chance(0.2) && { category: "transactional" }),
      ...(chance(0.3) && { channel_arbitration_mode: "smart" }),
      ...(chance(0.2) && channel_ids.includes(ids.chat_app!) && { chat_app_template_id: draft }),
    };
    const seen = await preview(wish);
    const { job } = await send(world, tenant, wish);
    const { total, sent, skipped } = job.counts;
    const told = { total, sent, skipped, deferred: job.deferred, held_out: 0 };
    expect([n, seen.exact, seen.counts, seen.skip_reasons]).toEqual([n, true, told, job.skip_reasons]);
    // By which channels those are reached who wait is not known yet.
    if (job.deferred > 0) {
      waiting++;
      continue;
    }
    const { ios: push, ...others } = job.delivered_by_channel;
    expect([n, seen.by_class]).toEqual([n, { ...others, ...(push && { push }) }]);
  }
  expect(waiting).toBeGreaterThan(5);
  expect(waiting).toBeLessThan(25);
});

it("samples are rendered, with arms and what waits; variables without a value are counted (F8, D-LIQUID)", async () => {
  const { world, tenant, ids, call, preview } = await setting();
  const [ada] = await addPeople(world, tenant, 3, (n) => ({
    attributes: { ...(n === 0 && { first_name: "Ada" }), timezone: n === 2 ? "Asia/Tokyo" : "UTC" },
    email: `p${n}@example.com`,
  }));
  await call("PATCH /api/v1/workspace", {
    quiet_hours: { start: "20:00", end: "08:00", timezone_mode: "subscriber" },
  });
  const told = await preview({
    target: { type: "all" },
    channel_ids: [ids.email, ids.ios],
    title: "Hi {{ subscriber.first_name }}",
    body: "{{ data.offer }}!",
    data: { offer: "20 %" },
  });
  expect(told).toMatchObject({
    counts: { total: 3, sent: 3, deferred: 1, skipped: 0, held_out: 0 },
    by_class: { email: 3 },
    rendered: { recipients: 3, failed: 0, unknown_variables: { "subscriber.first_name": 2 } },
  });
  expect(told.samples.find(({ subscriber_id }: { subscriber_id: string }) => subscriber_id === ada)).toEqual({
    subscriber_id: ada,
    variant_id: null,
    channels: ["email"],
    deferred_until: null,
    title: "Hi Ada",
    body: "20 %!",
    data: { offer: "20 %" },
  });
  const waits = told.samples.filter(({ deferred_until }: { deferred_until: string | null }) => deferred_until);
  expect(waits).toMatchObject([{ deferred_until: "2026-11-20T23:00:00.000Z" }]);
  const split = await preview({
    target: { type: "all" },
    channel_ids: [ids.email],
    variant_b: { title: "B", body: "B" },
    split_percentage: 1,
  });
  expect(new Set(split.samples.map(({ title }: { title: string }) => title)).has("B")).toBe(true);
  const none = await preview({ target: { type: "all" }, channel_ids: [ids.sms] });
  expect(none).toMatchObject({ counts: { skipped: 3 }, skip_reasons: { no_address: 3 }, samples: [] });
  expect(none.skipped_samples.no_address).toHaveLength(3);
});

it("the control group is drawn as a send draws it, of the same size (F8, ABH-1)", async () => {
  const { world, tenant, preview } = await setting();
  await addPeople(world, tenant, 400);
  const { counts, exact } = await preview({ target: { type: "all" }, holdout_percentage: 25 });
  expect([exact, counts.total, counts.sent + counts.held_out]).toEqual([true, 400, 400]);
  expect(counts.held_out).toBeGreaterThan(60);
  expect(counts.held_out).toBeLessThan(140);
});

it("a person has the same variant in each preview of one draw, so that it is rendered as the samples say (F8, RDA-8)", async () => {
  const { world, tenant, preview } = await setting();
  await addPeople(world, tenant, 20);
  const parts = { target: { type: "all" }, variant_b: { title: "B", body: "B" }, split_percentage: 50 };
  const { samples, preview_id } = await preview(parts);
  for (const { subscriber_id, title } of samples) {
    const { renderings } = await preview({ ...parts, preview_id, render_for: subscriber_id });
    const inApp = renderings.find(({ channel }: { channel: string }) => channel === "in_app");
    expect(inApp.title).toBe(title);
  }
  expect(samples).toHaveLength(5);
});

it("writes nothing and sends nothing; what a creation refuses it refuses (F8)", async () => {
  const { world, tenant, call, preview } = await setting();
  await addPeople(world, tenant, 5);
  await preview({ target: { type: "all" } });
  const cost = await spent(world, () => preview({ target: { type: "all" } }));
  // The limiter of the request alone.
  expect(cost.wcu).toBeLessThanOrEqual(1);
  await world.settle();
  expect(await outboxOf(world)).toEqual([]);
  expect((await call("GET /api/v1/notifications")).body.items).toEqual([]);
  const refusal = async (body: object) => {
    const answer = await call(ROUTE, { title: "t", body: "b", target: { type: "all" }, ...body });
    return [answer.status, answer.body.code];
  };
  expect(
    await refusal({ template_id: "00000000-0000-4000-8000-000000000000", title: undefined, body: undefined }),
  ).toEqual([422, "TEMPLATE_NOT_FOUND"]);
  expect(await refusal({ channel_ids: ["nothing"] })).toEqual([422, "VALIDATION_ERROR"]);
  expect(await refusal({ target: undefined })).toEqual([422, "VALIDATION_ERROR"]);
});

it("a very large audience is estimated from a sample (F8)", async () => {
  const { world, tenant, ids, preview } = await setting();
  const people = await addPeople(world, tenant, 20);
  await addPhone(world, tenant, people[0]!, "ios");
  const strangers = Array.from({ length: 3_980 }, (_, n) => `nobody-${n}`);
  const told = await preview({ subscriberIds: [...people, ...strangers], channel_ids: [ids.ios] });
  expect(told).toMatchObject({ exact: false, counts: { total: 4_000, sent: 2 } });
});
