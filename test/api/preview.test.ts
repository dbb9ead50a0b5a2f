// The preview of a send (F8): it equals the result of the same send right after, and writes nothing.
import { describe, expect, it } from "vitest";
import { DAY, timestamp } from "../../shared/kernel/clock.ts";
import { type Random, randomFrom } from "../simulator/random.ts";
import { channelCalls } from "../support/channels.ts";
import { addPeople, send } from "../support/people.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import { spent } from "../support/spending.ts";
import { UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const ROUTE = "POST /api/v1/notifications/preview";
const everybody = { target: { type: "all" } };

async function previewing({ world, tenant }: Awaited<ReturnType<typeof withTenant>>) {
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

const setting = async () => previewing(await withTenant());
type Setting = Awaited<ReturnType<typeof setting>>;

/** People of every kind: with and without addresses, consent, zones, phones, a device. */
async function crowd({ world, tenant }: Setting, count: number) {
  const { chance, pick } = randomFrom(4);
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

/** Random quiet hours, caps and consent of the workspace. */
function randomSettings({ chance, pick, between }: Random) {
  const quiet_hours = { start: pick(["08:00", "20:00"]), end: pick(["09:00", "13:00"]), timezone_mode: "subscriber" };
  const channel_class = pick(["push", "email", "in_app", undefined]);
  const cap = { category: "marketing", per: pick(["day", "week"]), max: between(1, 6) };
  return {
    quiet_hours: chance(0.4) ? quiet_hours : null,
    frequency_caps: chance(0.6) ? [{ ...cap, ...(channel_class && { channel_class }) }] : [],
    email_consent_mode: pick(["opt_in", "opt_out"]),
  };
}

/** A random send to some of these people or to one of these targets, by some of the channels. */
function randomSend(
  { chance, pick, between }: Random,
  { ids, people, targets, draft }: Pick<Setting, "ids"> & { people: string[]; targets: object[]; draft: string },
) {
  const types = Object.keys(ids).filter(() => chance(0.5));
  const channel_ids = (types.length > 0 ? types : ["in_app"]).map((type) => ids[type]!);
  const given = people.filter(() => chance(0.5)).concat(chance(0.3) ? ["nobody"] : [], people[0]!);
  return {
    ...(chance(0.4) ? { subscriberIds: given } : { target: pick(targets) }),
    channel_ids,
    ...(chance(0.3) && { subscriber_filters: { n: { $lt: between(0, 39) } } }),
    ...(chance(0.2) && { device_filters: { platform: { $eq: "ios" } } }),
    ...(chance(0.2) && { category: "transactional" }),
    ...(chance(0.3) && { channel_arbitration_mode: "smart" }),
    ...(chance(0.2) && channel_ids.includes(ids.chat_app!) && { chat_app_template_id: draft }),
  };
}

it("the counts of a preview are those of the send made right after, for 25 random audiences (F8, AMB-38)", async () => {
  const all = await setting();
  const { world, tenant, ids, call, preview } = all;
  const people = await crowd(all, 40);
  const rule = { attribute: { tier: { $eq: "gold" } } };
  const segment_id = (await call("POST /api/v1/segments", { name: "some", rule })).body.id;
  const list_id = (await call("POST /api/v1/lists", { name: "l" })).body.id;
  await call(`POST /api/v1/lists/${list_id}/subscribers`, { subscriber_ids: people.slice(0, 20) });
  const { call: chat } = await channelCalls(world, tenant);
  const draft = (await chat(`POST /${ids.chat_app}/chat-app-templates`, { body: { name: "n", body: "b" } })).body.id;
  await world.settle();
  const targets = [{ type: "all" }, { type: "list", list_id }, { type: "segment", segment_id }];
  const random = randomFrom(11);
  let waiting = 0;
  for (let n = 0; n < 25; n++) {
    await call("PATCH /api/v1/workspace", randomSettings(random));
    const input = randomSend(random, { ids, people, targets, draft });

    const seen = await preview(input);
    const { job } = await send(world, tenant, input);

    const { total, sent, skipped } = job.counts;
    const said = `preview ${n}`;
    expect(seen.exact, said).toBe(true);
    // The preview knows who will be skipped by a cap; the send skips them in the morning.
    if (job.deferred > seen.counts.deferred) {
      expect(seen.counts.total, said).toBe(total);
      continue;
    }
    expect(seen.counts, said).toEqual({ total, sent, skipped, deferred: job.deferred, held_out: 0 });
    expect(seen.skip_reasons, said).toEqual(job.skip_reasons);
    // By which channels those are reached who wait is not known yet.
    if (job.deferred > 0) {
      waiting++;
      continue;
    }
    const { ios: push, ...others } = job.delivered_by_channel;
    expect(seen.by_class, said).toEqual({ ...others, ...(push && { push }) });
  }

  expect(waiting).toBeGreaterThan(3);
  expect(waiting).toBeLessThan(13);
});

describe("the preview of a send to three people, of whom one has a name and one is in quiet hours", () => {
  const three = shared(async (own) => {
    const found = await previewing(await own.withTenant());
    const { world, tenant, call } = found;
    const people = await addPeople(world, tenant, 3, (n) => ({
      attributes: { ...(n === 0 && { first_name: "Ada" }), timezone: n === 2 ? "Asia/Tokyo" : "UTC" },
      email: `p${n}@example.com`,
    }));
    const quiet_hours = { start: "20:00", end: "08:00", timezone_mode: "subscriber" };
    await call("PATCH /api/v1/workspace", { quiet_hours });
    return { ...found, people };
  });

  async function greeted() {
    const { people, ids, preview } = await three();
    const seen = await preview({
      ...everybody,
      channel_ids: [ids.email, ids.ios],
      title: "Hi {{ subscriber.first_name }}",
      body: "{{ data.offer }}!",
      data: { offer: "20%" },
    });
    const sampleOf = (n: number) =>
      seen.samples.find(({ subscriber_id }: { subscriber_id: string }) => subscriber_id === people[n]);
    return { people, seen, sampleOf };
  }

  it("a preview counts who is sent to, by which class of channels, and who waits (F8)", async () => {
    const { seen } = await greeted();

    expect(seen).toMatchObject({
      counts: { total: 3, sent: 3, deferred: 1, skipped: 0, held_out: 0 },
      by_class: { email: 3 },
    });
  });

  it("a preview counts the recipients for whom a variable has no value (F8, D-LIQUID)", async () => {
    const { seen } = await greeted();

    expect(seen.rendered).toEqual({ recipients: 3, failed: 0, unknown_variables: { "subscriber.first_name": 2 } });
  });

  it("a sample of a preview is the message as its recipient gets it (F8, D-LIQUID)", async () => {
    const { people, sampleOf } = await greeted();

    expect(sampleOf(0)).toEqual({
      subscriber_id: people[0],
      variant_id: null,
      channels: ["email"],
      deferred_until: null,
      title: "Hi Ada",
      body: "20%!",
      data: { offer: "20%" },
    });
  });

  it("a sample of a preview says until when it waits (F8)", async () => {
    const { sampleOf } = await greeted();

    expect(sampleOf(2).deferred_until).toBe("2026-11-20T23:00:00.000Z");
  });

  it("the samples of a preview have an arm that one per cent gets (F8)", async () => {
    const { ids, preview } = await three();
    const variant_b = { title: "B", body: "B" };

    const { samples } = await preview({ ...everybody, channel_ids: [ids.email], variant_b, split_percentage: 1 });

    expect(samples.map(({ title }: { title: string }) => title)).toContain("B");
  });

  it("a preview shows who is skipped for each reason (F8)", async () => {
    const { ids, preview } = await three();

    const seen = await preview({ ...everybody, channel_ids: [ids.sms] });

    expect(seen).toMatchObject({ counts: { skipped: 3 }, skip_reasons: { no_address: 3 }, samples: [] });
    expect(seen.skipped_samples.no_address).toHaveLength(3);
  });
});

it("a preview holds a send of tomorrow against the caps of tomorrow (F8, D-CAP)", async () => {
  const { world, tenant, ids, call, preview } = await setting();
  await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "day" }] });
  await addPeople(world, tenant, 1, () => ({ email: "ada@example.com" }));
  const input = { ...everybody, channel_ids: [ids.email] };
  await send(world, tenant, input);
  const scheduled_at = timestamp(world.clock.now() + DAY);

  expect((await preview(input)).skip_reasons).toEqual({ capped: 1 });
  expect((await preview({ ...input, scheduled_at })).skip_reasons).toEqual({});
});

it("the control group of a preview is drawn as a send draws it, of the same size (F8, ABH-1)", async () => {
  const { world, tenant, preview } = await setting();
  await addPeople(world, tenant, 400);

  const { counts, exact } = await preview({ ...everybody, holdout_percentage: 25 });

  expect(exact).toBe(true);
  expect(counts.total).toBe(400);
  expect(counts.sent).toBe(400 - counts.held_out);
  expect(counts.held_out).toBeGreaterThan(60);
  expect(counts.held_out).toBeLessThan(140);
});

it("a person has the same variant in each preview of one draw, so that it is rendered as the samples say (F8, RDA-8)", async () => {
  const { world, tenant, preview } = await setting();
  await addPeople(world, tenant, 20);
  const parts = { ...everybody, variant_b: { title: "B", body: "B" }, split_percentage: 50 };
  const { samples, preview_id } = await preview(parts);

  expect(samples).toHaveLength(5);
  for (const { subscriber_id, title } of samples) {
    const { renderings } = await preview({ ...parts, preview_id, render_for: subscriber_id });
    const inApp = renderings.find(({ channel }: { channel: string }) => channel === "in_app");
    expect(inApp.title).toBe(title);
  }
});

it("a preview writes no more than the limiter of the request, and sends nothing (F8)", async () => {
  const { world, tenant, call, preview } = await setting();
  await addPeople(world, tenant, 5);
  await preview(everybody);

  const cost = await spent(world, () => preview(everybody));
  await world.settle();

  expect(cost.wcu).toBeLessThanOrEqual(1);
  expect(await outboxOf(world)).toEqual([]);
  expect((await call("GET /api/v1/notifications")).body.items).toEqual([]);
});

describe("refusals of a preview", () => {
  const unchanged = shared(({ withTenant }) => withTenant());

  it.each([
    [
      "by a template that there is not",
      "TEMPLATE_NOT_FOUND",
      { template_id: UNKNOWN, title: undefined, body: undefined },
    ],
    ["by a channel that there is not", "VALIDATION_ERROR", { channel_ids: ["nothing"] }],
    ["to nobody", "VALIDATION_ERROR", { target: undefined }],
  ])("a preview of a send %s is refused with 422 as the send is: %s (F8)", async (_, code, body) => {
    const { tenant } = await unchanged();

    const answer = await tenant.call(ROUTE, { title: "t", body: "b", ...everybody, ...body });

    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe(code);
  });
});

it("the preview of a very large audience is estimated from a sample (F8)", async () => {
  const { world, tenant, ids, preview } = await setting();
  const people = await addPeople(world, tenant, 20);
  await addPhone(world, tenant, people[0]!, "ios");
  const strangers = Array.from({ length: 3_980 }, (_, n) => `nobody-${n}`);

  const told = await preview({ subscriberIds: [...people, ...strangers], channel_ids: [ids.ios] });

  expect(told).toMatchObject({ exact: false, counts: { total: 4_000, sent: 2 } });
});
