// Explain (F2): the decisions about one recipient of a send, their reasons and their inputs.
import { describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { skipReasons } from "../../shared/rules/audience.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { explain } from "../support/notify.ts";
import { addPeople, send } from "../support/people.ts";
import { addPhone, mend, openChannels, spoil } from "../support/reached.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh, withPeople, withTenant } = worlds();

describe("a recipient who was skipped", () => {
  /** People who each cannot be reached in another way, and the channels of a workspace, of which web_push is unused. */
  const unreachable = shared(async (own) => {
    const { world, tenant } = await own.withTenant();
    const channels = await openChannels(world, tenant, "ios-push", "email", "sms");
    channels.web_push = (await tenant.call("POST /api/v1/channels", { name: "unused", type: "web_push" })).body.id;
    await tenant.call("POST /api/v1/topics", { key: "x", name: "x", default: "out" });
    const people = {
      bare: await tenant.upsert({ external_id: "bare" }),
      odd: await tenant.upsert({ external_id: "odd", attributes: { phone: "0151" } }),
      dead: await tenant.upsert({ external_id: "dead", email: "dead@example.com" }),
      accented: await tenant.upsert({ external_id: "accented", email: "jorg@example.com" }),
      opted: await tenant.upsert({
        external_id: "opted",
        email: "opted@example.com",
        consent: { status: "opted_out" },
      }),
      nobody: "nobody",
    };
    await suppressAddress(tenant.store, { kind: "email", address: "dead@example.com", reason: "manual" });
    const row = { pk: `T#${tenant.id}#S${people.accented[0]}`, sk: people.accented };
    await tenant.rows.update(row, { set: { email: "jörg@example.com" } });
    return { world, tenant, channels, people };
  });

  type Case = [
    reason: string,
    who: keyof Awaited<ReturnType<typeof unreachable>>["people"],
    channel: string,
    topic?: string,
  ];
  const cases: Case[] = [
    ["no_consent", "opted", "email"],
    ["suppressed", "dead", "email"],
    ["invalid_phone", "odd", "sms"],
    ["address_not_supported", "accented", "email"],
    ["no_address", "bare", "email"],
    ["no_device", "bare", "ios"],
    ["topic_opt_out", "opted", "email", "x"],
    ["no_channel", "bare", "web_push"],
    ["unknown_subscriber", "nobody", "ios"],
  ];

  it.each(cases)(
    "who is skipped for %s is explained with what the rules looked at (F2)",
    async (reason, who, channel, topic) => {
      const { world, tenant, channels, people } = await unreachable();
      const id = people[who];
      const { job } = await send(world, tenant, { subscriberIds: [id], channel_ids: [channels[channel]], topic });

      const { body } = await explain(tenant, job.id, id);

      expect(body).toMatchObject({ decision: "skipped", state: "skipped", reason, attempts: [] });
      // A send by a channel that was never usable fails as a whole.
      if (reason !== "no_channel") expect(job.skip_reasons).toEqual({ [reason]: 1 });
      if (who === "nobody") expect(body.now).toBeNull();
      else if (reason === "no_channel") expect(body.now.channels).toEqual([]);
      else expect(body.now.channels).toMatchObject([{ channel, reachable: false, reason }]);
    },
  );

  it("every reason to skip a subscriber that there is, is explained in these tests (F2)", () => {
    expect(cases.map(([reason]) => reason).sort()).toEqual([...skipReasons].sort());
  });
});

it.each([
  ["longer than its provider takes", "shortened", "long ".repeat(1_000), true],
  ["of a few words", "whole", "short", false],
])("a push %s is explained as %s (F2, D-PUSH)", async (_what, _how, body, shortened) => {
  const { world, tenant, ids } = await withPeople(1);
  const [ada] = ids as [string];
  const { ios } = await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, ada, "ios");

  const { job } = await send(world, tenant, { subscriberIds: ids, channel_ids: [ios], body });

  expect((await explain(tenant, job.id, ada)).body.attempts).toMatchObject([{ state: "delivered", shortened }]);
});

it("a recipient is explained by the attempt at each address, with its reason and its time (F2)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  const [ada] = ids as [string];
  const { ios } = await openChannels(world, tenant, "ios-push");
  const phones = [await addPhone(world, tenant, ada, "ios"), await addPhone(world, tenant, ada, "ios")];
  await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });
  const { job } = await send(world, tenant, { subscriberIds: ids, channel_ids: [ios] });
  await mend(world);

  const { body } = await explain(tenant, job.id, ada);

  expect(body).toMatchObject({ decision: "sent", state: "delivered" });
  expect(body.attempts).toHaveLength(2);
  expect(body.attempts.map((attempt: { device_id: string }) => attempt.device_id).sort()).toEqual(
    phones.map(({ id }) => id).sort(),
  );
  const once = [expect.any(String)];
  expect(body.attempts).toContainEqual(expect.objectContaining({ state: "delivered", attempted_at: once }));
  expect(body.attempts).toContainEqual(
    expect.objectContaining({ state: "failed", reason: expect.any(String), attempted_at: once }),
  );
});

it.each([
  ["a mail", "email", "ios"],
  ["a push", "ios", "email"],
])(
  "of two failures the one that may have arrived explains a recipient, and counts: %s (F2)",
  async (_, lost, refused) => {
    const { world, tenant } = await withTenant();
    const { ios, email } = await openChannels(world, tenant, "ios-push", "email");
    const [ada = ""] = await addPeople(world, tenant, 1, () => ({ email: "ada@example.com" }));
    await addPhone(world, tenant, ada, "ios");
    await spoil(world, { channel: lost, outcome: "timeout" });
    await spoil(world, { channel: refused, outcome: "permanent" });

    const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [ios, email] });

    expect(job.fail_reasons).toEqual({ delivery_unconfirmed: 1 });
    expect((await explain(tenant, job.id, ada)).body.reason).toBe("delivery_unconfirmed");
  },
);

it("a recipient of a split send is explained by the arm and the share (F2)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  const { job } = await send(world, tenant, { subscriberIds: ids, variant_b: { title: "B", body: "B" } });

  const { body } = await explain(tenant, job.id, ids[0]!);

  expect(body).toMatchObject({ held_out: false, split: { percentage: 50 } });
  expect(["a", "b"]).toContain(body.variant_id);
});

it("who was held out of a split send is explained without an arm (F2)", async () => {
  const { world, tenant, ids } = await withPeople(20);
  const variant_b = { title: "B", body: "B" };
  const { job } = await send(world, tenant, { subscriberIds: ids, variant_b, holdout_percentage: 50 });

  const all = await Promise.all(ids.map(async (id) => (await explain(tenant, job.id, id)).body));

  const heldOut = all.filter(({ held_out }) => held_out);
  expect(heldOut).toHaveLength(job.counts.held_out);
  expect(new Set(heldOut.map(({ variant_id }) => variant_id))).toEqual(new Set([null]));
});

describe("a smart send to those of 30 people who pass a filter, with a control group of half of them", () => {
  const explained = shared(async (own) => {
    const { world, tenant } = await own.withTenant();
    const people = await addPeople(world, tenant, 30, (n) => ({ attributes: { n } }));
    const { job } = await send(world, tenant, {
      target: { type: "all" },
      holdout_percentage: 50,
      channel_arbitration_mode: "smart",
      subscriber_filters: { n: { $gte: 10 }, external_id: { $exists: true } },
    });
    const all = await Promise.all(people.map(async (id) => (await explain(tenant, job.id, id)).body));
    return { job, all, of: (decision: string) => all.filter((one) => one.decision === decision) };
  });

  it("who was filtered out is explained by each clause of the filters (F2)", async () => {
    const { all, of } = await explained();

    expect(of("not_in_audience")).toEqual(all.slice(0, 10));
    expect(all[3].now.subscriber_filters).toEqual([
      { key: "n", condition: { $gte: 10 }, value: 3, matches: false },
      { key: "external_id", condition: { $exists: true }, value: "p3", matches: true },
    ]);
  });

  it("who was held out is explained by a bucket below the share (F2)", async () => {
    const { job, of } = await explained();

    const heldOut = of("held_out");

    expect(heldOut).toHaveLength(job.counts.held_out);
    expect(heldOut.filter(({ holdout }) => holdout.bucket >= 5_000)).toEqual([]);
  });

  it("who was sent to is explained by the ranking of channels (F2)", async () => {
    const { job, of } = await explained();

    const sent = of("sent");

    expect(sent).toHaveLength(job.counts.delivered);
    expect(sent[0].attempts).toMatchObject([{ channel: "in_app", state: "delivered" }]);
    expect(sent[0].now.ranking).toEqual([{ class: "in_app", source: "default", score: 0.245 }]);
  });
});

it("an explanation takes a send and a subscriber of the same workspace, and is 404 otherwise (F2, GEN-8)", async () => {
  const world = await fresh();
  const [tenant, other] = [await world.tenant(), await world.tenant()];
  const [ada] = (await addPeople(world, tenant, 1)) as [string];
  const [eve] = (await addPeople(world, other, 1)) as [string];
  const { job } = await send(world, tenant, { subscriberIds: [ada] });

  expect((await explain(tenant, job.id, ada)).status).toBe(200);
  expect((await explain(other, job.id, ada)).status).toBe(404);
  expect((await explain(tenant, job.id, eve)).status).toBe(404);
  expect((await explain(tenant, "unknown", ada)).status).toBe(404);
});

it.each([
  [null, {}],
  ["opted_in", { channel: "topic:news", status: "opted_in" }],
])(
  "an attempt is explained by consent, suppression and topic (%s) as they were when the message was claimed (F2)",
  async (topic_choice, choice) => {
    const { world, tenant } = await withTenant();
    const { email } = await openChannels(world, tenant, "email");
    await tenant.call("POST /api/v1/topics", { key: "news", name: "News", default: "in" });
    const consent = { status: "opted_in", consented_at: new Date(world.clock.now()).toISOString(), source: "form" };
    const ada = await tenant.upsert({ external_id: "ada", email: "ada@example.com", consent });
    if (topic_choice !== null) await tenant.upsert({ external_id: "ada", consent: { ...consent, ...choice } });
    const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [email], topic: "news" });
    await suppressAddress(tenant.store, { kind: "email", address: "ada@example.com", reason: "manual" });

    const { body } = await explain(tenant, job.id, ada);

    expect(body.attempts).toMatchObject([
      { channel: "email", claimed_with: { consent: "opted_in", suppression: null, topic_choice } },
    ]);
    expect(body.now.channels).toMatchObject([{ channel: "email", consent: "suppressed" }]);
  },
);

it("a message is explained as the person got it, and by whether attributes in it have changed since (F2)", async () => {
  const { world, tenant } = await withTenant();
  await openChannels(world, tenant, "email");
  const upsert = (attributes: object) => tenant.upsert({ external_id: "ada", email: "ada@example.com", attributes });
  const ada = await upsert({ first_name: "Ada" });
  const { job } = await send(world, tenant, {
    subscriberIds: [ada],
    title: "Hello {{ subscriber.first_name }}",
    body: "b",
  });
  const shown = async () => (await explain(tenant, job.id, ada)).body.messages;
  const asSent = [
    { channel: "in_app", title: "Hello Ada", body: "b", attributes_changed: false },
    { channel: "email", title: "Hello Ada", body: "b", attributes_changed: false },
  ];

  await upsert({ seen: 1 });
  expect(await shown()).toMatchObject(asSent);

  await upsert({ first_name: "Grace" });
  expect(await shown()).toMatchObject([
    asSent[0],
    { channel: "email", title: "Hello Grace", attributes_changed: true },
  ]);
});

it("a person of a large send is explained who was skipped or filtered out, and has no row of its own (F2)", async () => {
  const { world, tenant } = await withTenant();
  const { email } = await openChannels(world, tenant, "email");
  const many = await fill(world, tenant, 2_300, { attributes: { n: 100 } });
  const few = await addPeople(world, tenant, 100, (n) => ({ external_id: `few ${n}`, attributes: { n } }));
  const people = [...few, ...many];
  const filters = { subscriber_filters: { n: { $gte: 100 } } };
  const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids: [email], ...filters });
  for (let n = 0; n < people.length; n += 79) {
    const expected =
      n < 100
        ? { decision: "not_in_audience", reason: "subscriber_filters" }
        : { decision: "skipped", reason: "no_address" };
    expect((await explain(tenant, job.id, people[n]!)).body, `p${n}`).toMatchObject(expected);
  }
});
