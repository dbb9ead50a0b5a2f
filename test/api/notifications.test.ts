// One-off sends: request, record, references, idempotency, list (NTF-1 to NTF-21, D-NTF).
import { describe, expect, it } from "vitest";
import { ChannelItem } from "../../shared/store/channels/items.ts";
import { NOTHING_LATE } from "../support/late.ts";
import { post } from "../support/notify.ts";
import { addPeople, inboxOf, operate, reachedOf, send } from "../support/people.ts";
import { START, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
/** A workspace in which refusals are tried. */
const unchanged = shared(({ withTenant: make }) => make());
const everybody = { target: { type: "all" } };
const filtered = (subscriber_filters: object) => ({ ...everybody, subscriber_filters });

describe("create", () => {
  it("a send is answered with 201 {id, sent} and delivers to exactly the given subscribers (NTF-1, NTF-2, NTF-3, AMB-35, AMB-38)", async () => {
    const { world, tenant, ids } = await withPeople(3);
    const answer = await post(world, tenant, { subscriberIds: ids.slice(0, 2) });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ id: expect.any(String), sent: 2, unknown: 0, unknown_ids: [] });
    expect(await reachedOf(world, tenant, ids)).toEqual([]);
    await world.settle();
    expect(await reachedOf(world, tenant, ids)).toEqual(ids.slice(0, 2));
    const [message] = await inboxOf(world, tenant, ids[0]!);
    expect(message).toMatchObject({ notification_id: answer.body.id, content: { title: "Hello", body: "World" } });
  });

  it("the record shows everything that was requested and how it ended (NTF-19, D-NTF, AMB-105)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const asked = {
      subscriberIds: ids,
      name: "first",
      category: "transactional",
      data: { order: { id: 7 } },
      subscriber_filters: { external_id: { $exists: true } },
      bypass_quiet_hours: true,
    };
    const { answer, job } = await send(world, tenant, asked);
    const now = new Date(START).toISOString();

    expect(job).toEqual({
      id: answer.id,
      status: "completed",
      name: "first",
      category: "transactional",
      title: "Hello",
      body: "World",
      data: { order: { id: 7 } },
      template_id: null,
      channel_ids: [expect.any(String)],
      target: null,
      subscriber_ids_count: 2,
      device_filters: null,
      subscriber_filters: { external_id: { $exists: true } },
      scheduled_at: null,
      channel_arbitration_mode: "explicit",
      holdout_percentage: 0,
      split_percentage: null,
      variant_b: null,
      source: { type: "api", id: null },
      sent: 2,
      counts: { ...NOTHING_LATE, total: 2, sent: 2, delivered: 2, failed: 0, skipped: 0, held_out: 0 },
      skip_reasons: {},
      fail_reasons: {},
      uncertain: 0,
      delivered_by_channel: { in_app: 2 },
      deferred: 0,
      error: null,
      safety: null,
      cost: expect.objectContaining({ provider_dollars: 0, unpriced: [] }),
      created_at: now,
      dispatched_at: now,
      completed_at: now,
    });
  });

  it("the mode is explicit unless said, and an explicit send has no arbitration readout (NTF-11, SMA-9)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const { job } = await send(world, tenant, { subscriberIds: ids, channel_arbitration_mode: "explicit" });

    expect(job.channel_arbitration_mode).toBe("explicit");
    expect(job).not.toHaveProperty("channel_arbitration");
  });

  it.each<[what: string, field: string, body: object]>([
    ["to nobody", "target", {}],
    ["to a target and to named subscribers", "target", { ...everybody, subscriberIds: [UNKNOWN] }],
    ["to a list that is not named", "target.list_id", { target: { type: "list" } }],
    ["to a list whose id is none", "target.list_id", { target: { type: "list", list_id: "nonsense" } }],
    ["to a list that there is not", "target.list_id", { target: { type: "list", list_id: UNKNOWN } }],
    ["to a segment that is not named", "target.segment_id", { target: { type: "segment" } }],
    ["to a segment that there is not", "target.segment_id", { target: { type: "segment", segment_id: UNKNOWN } }],
    ["to all and to a list", "target.list_id", { target: { type: "all", list_id: UNKNOWN } }],
    ["to an id that is a number", "subscriberIds[0]", { subscriberIds: [7] }],
    ["to an empty id", "subscriberIds[0]", { subscriberIds: [""] }],
    ["to an id of two words", "subscriberIds[1]", { subscriberIds: [UNKNOWN, "two words"] }],
    ["to more than 10,000 ids", "subscriberIds", { subscriberIds: Array.from({ length: 10_001 }, () => UNKNOWN) }],
    ["to ids under a name of ours", "subscriber_ids", { subscriber_ids: [UNKNOWN], ...everybody }],
    ["without a title", "title", { ...everybody, title: undefined }],
    ["without a body", "body", { ...everybody, body: undefined }],
    ["with Liquid that does not end", "body", { ...everybody, body: "{{ broken" }],
    ["by a template that there is not", "template_id", { ...everybody, template_id: UNKNOWN }],
    ["with data that are too large", "data", { ...everybody, data: { big: "x".repeat(300_000) } }],
    ["on a day without a time", "scheduled_at", { ...everybody, scheduled_at: "2026-11-21" }],
    ["for the past", "scheduled_at", { ...everybody, scheduled_at: new Date(START - 1).toISOString() }],
    ["for now", "scheduled_at", { ...everybody, scheduled_at: new Date(START).toISOString() }],
    ["by a channel that there is not", "channel_ids[0]", { ...everybody, channel_ids: [UNKNOWN] }],
    ["with a split of one arm", "split_percentage", { ...everybody, split_percentage: 50 }],
    ["with a filter of no operator", "subscriber_filters.plan", filtered({ plan: "pro" })],
    ["with an unknown operator", "subscriber_filters.plan.$like", filtered({ plan: { $like: "p" } })],
    ["with a filter of alternatives", "subscriber_filters.$or", filtered({ $or: [] })],
  ])("a send %s is refused with 422, naming %s (NTF-6, NTF-7, NTF-8, AMB-93)", async (_, field, body) => {
    const { world, tenant } = await unchanged();

    const answer = await post(world, tenant, body);

    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(answer.body.fields)).toContain(field);
  });

  it("sends that were refused are in no list (NTF-6)", async () => {
    const { world, tenant } = await withTenant();

    await post(world, tenant, { ...everybody, title: undefined });

    expect((await tenant.call("GET /api/v1/notifications")).body.items).toEqual([]);
  });

  it.each([
    ["an id that nothing has", UNKNOWN],
    ["a word", "nonsense"],
    ["nothing", ""],
    ["2,000 characters", "x".repeat(2_000)],
  ])(
    "a send by %s as its template is refused as by an unknown one (NTF-21, ERR-14, AMB-89)",
    async (_, template_id) => {
      const { world, tenant } = await unchanged();

      const answer = await post(world, tenant, { ...everybody, template_id, title: undefined, body: undefined });

      expect(answer).toMatchObject({ status: 422, body: { code: "TEMPLATE_NOT_FOUND" } });
    },
  );

  /** Two workspaces of two people each, of which the other has sent. */
  const neighbours = shared(async (own) => {
    const { world, tenant, ids: mine } = await own.withPeople(2);
    const other = await world.tenant();
    const theirs = await addPeople(world, other, 2);
    const { job } = await send(world, other, { subscriberIds: theirs });
    return { world, tenant, mine, other, theirs, job };
  });

  it("a send to another workspace's subscriber reaches nobody of it (GEN-8)", async () => {
    const { world, tenant, mine, other, theirs } = await neighbours();

    const { answer } = await send(world, tenant, { subscriberIds: [theirs[0]!, mine[0]!] });

    expect(answer.sent).toBe(1);
    expect(await inboxOf(world, other, theirs[0]!)).toHaveLength(1);
  });

  it("unknown ids are skipped with their reason, and counted in the total only (AMB-57, AMB-95)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const { answer, job } = await send(world, tenant, { subscriberIds: [...ids, UNKNOWN, "not-a-uuid"] });

    expect(answer.sent).toBe(2);
    expect(job).toMatchObject({
      status: "completed",
      sent: 2,
      subscriber_ids_count: 4,
      counts: { total: 4, sent: 2, delivered: 2, failed: 0, skipped: 2, held_out: 0 },
      skip_reasons: { unknown_subscriber: 2 },
    });
  });

  it("an id given twice is reached once, whatever the case of its letters (NTF-2)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const { answer, job } = await send(world, tenant, { subscriberIds: [ids[0], ids[0], ids[0]!.toUpperCase()] });

    expect(answer.sent).toBe(1);
    expect(job.subscriber_ids_count).toBe(1);
    expect(job.counts.total).toBe(1);
    expect(await inboxOf(world, tenant, ids[0]!)).toHaveLength(1);
  });

  it.each([
    ["to everybody where there is nobody", everybody],
    ["to an unknown subscriber", { subscriberIds: [UNKNOWN] }],
  ])("a send %s is completed (D-NTF-STATE)", async (_, audience) => {
    const { world, tenant } = await withTenant();

    expect((await send(world, tenant, audience)).job).toMatchObject({ status: "completed", sent: 0, error: null });
  });

  it("a send without a channel that the plan has fails, and says why (D-NTF-STATE)", async () => {
    const { world, tenant } = await withPeople(1);
    await operate(world, tenant, { plan: "free" });

    const { job } = await send(world, tenant, everybody);

    expect(job).toMatchObject({
      status: "failed",
      error: expect.stringContaining("channel"),
      counts: { delivered: 0 },
      completed_at: expect.any(String),
    });
  });

  it.each([
    ["is switched off", { active: false }],
    ["is not verified", { active: true, status: "invalid" }],
  ] as const)("a send fails whose channel %s, whether it is named or not (D-NTF-STATE)", async (_, change) => {
    const { world, tenant, ids } = await withPeople(1);
    const [channel] = (await tenant.call("GET /api/v1/channels")).body.channels;
    await tenant.store.change(ChannelItem, { id: channel.id }, { set: change });

    for (const named of [{}, { channel_ids: [channel.id] }]) {
      const { job } = await send(world, tenant, { subscriberIds: ids, ...named });
      expect(job).toMatchObject({ status: "failed", error: expect.stringContaining("channel") });
    }

    expect(await reachedOf(world, tenant, ids)).toEqual([]);
  });

  it("a send beyond the workspace's cap is refused whole with 402, and takes nothing of it (ERR-3, ERR-4, AMB-87)", async () => {
    const { world, tenant, ids } = await withPeople(3);
    await operate(world, tenant, { monthly_send_cap: 2 });

    const refused = await post(world, tenant, everybody);

    expect(refused).toMatchObject({
      status: 402,
      body: { code: "SEND_CAP_REACHED", message: expect.stringMatching(/0 of 2/) },
    });
    expect((await post(world, tenant, { subscriberIds: ids.slice(0, 2) })).status).toBe(201);
    expect((await post(world, tenant, { subscriberIds: ids.slice(0, 1) })).status).toBe(402);
    await world.settle();
    expect(await reachedOf(world, tenant, ids)).toEqual(ids.slice(0, 2));
  });

  it("data and attributes personalise what each recipient reads (NTF-4, D-LIQUID)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 2, (n) => ({ attributes: n ? { first_name: "Ada" } : {} }));
    await send(world, tenant, {
      subscriberIds: ids,
      title: 'Hi {{ subscriber.attributes.first_name | default: "there" }}',
      body: "Order {{ data.order }}",
      data: { order: 7 },
    });
    const contents = await Promise.all(ids.map(async (id) => (await inboxOf(world, tenant, id))[0].content));

    expect(contents).toEqual([
      { title: "Hi there", body: "Order 7" },
      { title: "Hi Ada", body: "Order 7" },
    ]);
  });
});

describe("what cannot be rendered", () => {
  it("one recipient whose message grows too large fails alone; the others are reached (D-NTF-STATE)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 5, (n) => ({
      attributes: { text: n === 2 ? "x".repeat(240_000) : "small" },
    }));
    const text = "{{ subscriber.attributes.text }}";
    const { job } = await send(world, tenant, { subscriberIds: ids, title: text, body: text });

    expect(job).toMatchObject({ status: "completed", counts: { total: 5, sent: 5, delivered: 4, failed: 1 } });
    expect(await reachedOf(world, tenant, ids)).toEqual(ids.filter((_, n) => n !== 2));
  });
});
