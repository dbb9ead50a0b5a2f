// Explain (F2): the decisions about one recipient of a send, their reasons and their inputs.
import { expect, it } from "vitest";
import { skipReasons } from "../../shared/rules/audience.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { addPeople, send } from "../support/people.ts";
import { addPhone, mend, openChannels, spoil } from "../support/reached.ts";
import type { Answer, Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

const explain = async (tenant: Tenant, job: string, subscriber: string): Promise<Answer> =>
  tenant.call(`GET /api/v1/notifications/${job}/recipients/${subscriber}`);

it("every reason to skip a subscriber is reached, and shown with the input of the rules (F2)", async () => {
  const { world, tenant } = await withTenant();
  const ids = await openChannels(world, tenant, "ios-push", "email", "sms");
  const upsert = async (external_id: string, more: object): Promise<string> =>
    await tenant.upsert({ external_id, ...more });
  const opted = await upsert("opted", { email: "opted@example.com", consent: { status: "opted_out" } });
  const dead = await upsert("dead", { email: "dead@example.com" });
  await suppressAddress(tenant.store, { kind: "email", address: "dead@example.com", reason: "manual" });
  const odd = await upsert("odd", { attributes: { phone: "0151" } });
  const bare = await upsert("bare", {});
  const unused = { name: "unused", type: "web_push" };
  ids.web_push = (await tenant.call("POST /api/v1/channels", unused)).body.id;
  const accented = await upsert("accented", { email: "jorg@example.com" });
  const row = { pk: `T#${tenant.id}#S${accented[0]}`, sk: accented };
  await tenant.rows.update(row, { set: { email: "jörg@example.com" } });
  await tenant.call("POST /api/v1/topics", { key: "x", name: "x", default: "out" });
  const cases: [who: string, channel: string, reason: string, topic?: string][] = [
    [opted, "email", "no_consent"],
    [dead, "email", "suppressed"],
    [odd, "sms", "invalid_phone"],
    [accented, "email", "address_not_supported"],
    [bare, "email", "no_address"],
    [bare, "ios", "no_device"],
    [opted, "email", "topic_opt_out", "x"],
    [bare, "web_push", "no_channel"],
    ["nobody", "ios", "unknown_subscriber"],
  ];
  for (const [who, channel, reason, topic] of cases) {
    const { job } = await send(world, tenant, { subscriberIds: [who], channel_ids: [ids[channel]], topic });
    // A send by a channel that was never usable fails as a whole.
    if (reason !== "no_channel") expect(job.skip_reasons).toEqual({ [reason]: 1 });
    const { body } = await explain(tenant, job.id, who);
    expect(body).toMatchObject({ decision: "skipped", state: "skipped", reason, attempts: [] });
    if (who === "nobody") expect(body.now).toBeNull();
    else if (reason === "no_channel") expect(body.now.channels).toEqual([]);
    else expect(body.now.channels).toMatchObject([{ channel, reachable: false, reason }]);
  }
  expect([...new Set(cases.map(([, , reason]) => reason))].sort()).toEqual([...skipReasons].sort());
});

it("says of a push that its text was cut to what its provider takes (F2, D-PUSH)", async () => {
  const { world, tenant } = await withTenant();
  const { ios } = await openChannels(world, tenant, "ios-push");
  const [ada] = (await addPeople(world, tenant, 1)) as [string];
  await addPhone(world, tenant, ada, "ios");
  const shortenedOf = async (body: string) => {
    const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [ios], body });
    const explained = await explain(tenant, job.id, ada);
    return explained.body.attempts.map(({ state, shortened }: Record<string, unknown>) => [state, shortened]);
  };
  expect(await shortenedOf("long ".repeat(1_000))).toEqual([["delivered", true]]);
  expect(await shortenedOf("short")).toEqual([["delivered", false]]);
});

it("shows every attempt at every address, the arm and the buckets (F2)", async () => {
  const { world, tenant } = await withTenant();
  const { ios } = await openChannels(world, tenant, "ios-push");
  const [ada] = (await addPeople(world, tenant, 1)) as [string];
  const [first, second] = [await addPhone(world, tenant, ada, "ios"), await addPhone(world, tenant, ada, "ios")];
  await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });
  const variant_b = { title: "B", body: "B" };
  const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [ios], variant_b });
  await mend(world);
  const { body } = await explain(tenant, job.id, ada);
  expect(body).toMatchObject({ decision: "sent", state: "delivered", held_out: false, split: { percentage: 50 } });
  expect(["a", "b"]).toContain(body.variant_id);
  const attempts = body.attempts as {
    device_id: string;
    state: string;
    reason: string | null;
    attempted_at: string[];
  }[];
  expect(attempts.map(({ device_id }) => device_id).sort()).toEqual([first.id, second.id].sort());
  expect(attempts.map(({ state }) => state).sort()).toEqual(["delivered", "failed"]);
  expect(attempts.every(({ attempted_at }) => attempted_at.length === 1)).toBe(true);
  expect(attempts.find(({ state }) => state === "failed")!.reason).toBeTruthy();
});

it("shows who was held out, who was filtered out by which clause, and the ranking (F2)", async () => {
  const { world, tenant } = await withTenant();
  const people = await addPeople(world, tenant, 30, (n) => ({ attributes: { n } }));
  const { job } = await send(world, tenant, {
    target: { type: "all" },
    holdout_percentage: 50,
    channel_arbitration_mode: "smart",
    subscriber_filters: { n: { $gte: 10 }, external_id: { $exists: true } },
  });
  const all = await Promise.all(people.map(async (id) => (await explain(tenant, job.id, id)).body));
  expect(all.slice(0, 10).every(({ decision }) => decision === "not_in_audience")).toBe(true);
  expect(all[3].now.subscriber_filters).toEqual([
    { key: "n", condition: { $gte: 10 }, value: 3, matches: false },
    { key: "external_id", condition: { $exists: true }, value: "p3", matches: true },
  ]);
  const heldOut = all.filter(({ decision }) => decision === "held_out");
  expect(heldOut).toHaveLength(job.counts.held_out);
  expect(heldOut.every(({ holdout }) => holdout.bucket < 5_000)).toBe(true);
  const sent = all.filter(({ decision }) => decision === "sent");
  expect(sent).toHaveLength(job.counts.delivered);
  expect(sent[0].attempts).toMatchObject([{ channel: "in_app", state: "delivered" }]);
  expect(sent[0].now.ranking).toEqual([{ class: "in_app", source: "default", score: 0.245 }]);
});

it("is 404 for a send or a subscriber of another workspace, and for an unknown one (F2, GEN-8)", async () => {
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

it("says at once that somebody is outside the audience, and why, before a send is planned and after it (F2)", async () => {
  const { world, tenant } = await withTenant();
  const [ada, bob] = (await addPeople(world, tenant, 2, (n) => ({ attributes: { n } }))) as [string, string];
  const list = (await tenant.call("POST /api/v1/lists", { name: "l" })).body.id;
  await tenant.call(`POST /api/v1/lists/${list}/subscribers`, { subscriber_ids: [ada] });
  const scheduled_at = new Date(world.clock.now() + 86_400_000).toISOString();
  const made = async (body: object): Promise<string> =>
    (await tenant.call("POST /api/v1/notifications", { title: "t", body: "b", ...body })).body.id;

  const later = await made({ target: { type: "list", list_id: list }, scheduled_at });
  expect((await explain(tenant, later, bob)).body).toMatchObject({
    decision: "not_in_audience",
    reason: "not_in_list",
  });
  expect((await explain(tenant, later, ada)).body.decision).toBe("pending");

  const filtered = await made({ target: { type: "all" }, subscriber_filters: { n: { $eq: 0 } } });
  expect((await explain(tenant, filtered, bob)).body).toMatchObject({
    decision: "not_in_audience",
    reason: "subscriber_filters",
  });
  const named = await made({ subscriberIds: [ada], scheduled_at });
  await tenant.call(`POST /api/v1/notifications/${named}/cancel`);
  expect((await explain(tenant, named, bob)).body).toMatchObject({
    decision: "not_in_audience",
    reason: "not_named",
  });
  const everybody = await made({ target: { type: "all" } });
  await world.settle();
  const [eve] = (await addPeople(world, tenant, 1, () => ({ external_id: "eve" }))) as [string];
  expect((await explain(tenant, everybody, eve)).body.reason).toBe("joined_later");
});

it("names the consent, the suppression and the topic choice as they were when the message was claimed (F2)", async () => {
  const { world, tenant } = await withTenant();
  const { email } = await openChannels(world, tenant, "email");
  await tenant.call("POST /api/v1/topics", { key: "news", name: "News", default: "in" });
  const consent = { status: "opted_in", consented_at: new Date(world.clock.now()).toISOString(), source: "form" };
  const upsert = (body: object) =>
    world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id: "ada", ...body } });
  const ada = (await upsert({ email: "ada@example.com", consent })).body.id;
  const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [email], topic: "news" });
  await suppressAddress(tenant.store, { kind: "email", address: "ada@example.com", reason: "manual" });

  const { body } = await explain(tenant, job.id, ada);
  expect(body.attempts).toMatchObject([
    { channel: "email", claimed_with: { consent: "opted_in", suppression: null, topic_choice: null } },
  ]);
  expect(body.now.channels).toMatchObject([{ channel: "email", consent: "suppressed" }]);
});

it("shows the message as the person got it, and says where attributes that it shows have changed since (F2)", async () => {
  const { world, tenant } = await withTenant();
  await openChannels(world, tenant, "email");
  const upsert = (attributes: object) =>
    world.call("POST /api/v1/subscribers/upsert", {
      as: tenant.sdk,
      body: { external_id: "ada", email: "ada@example.com", attributes },
    });
  const ada = (await upsert({ first_name: "Ada" })).body.id;
  const { job } = await send(world, tenant, {
    subscriberIds: [ada],
    title: "Hello {{ subscriber.first_name }}",
    body: "b",
  });
  const shown = async () => (await explain(tenant, job.id, ada)).body.messages;
  await upsert({ seen: 1 });
  const asSent = [
    { channel: "in_app", title: "Hello Ada", body: "b", attributes_changed: false },
    { channel: "email", title: "Hello Ada", body: "b", attributes_changed: false },
  ];
  expect(await shown()).toMatchObject(asSent);

  await upsert({ first_name: "Grace" });
  expect(await shown()).toMatchObject([
    asSent[0],
    { channel: "email", title: "Hello Grace", attributes_changed: true },
  ]);
});

it("finds a person in the plan of a large send, also one who was skipped or filtered out and has no row of its own (F2)", async () => {
  const { world, tenant } = await withTenant();
  const { email } = await openChannels(world, tenant, "email");
  const people = await addPeople(world, tenant, 2_400, (n) => ({ attributes: { n } }));
  const filters = { subscriber_filters: { n: { $gte: 100 } } };
  const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids: [email], ...filters });
  for (let n = 0; n < people.length; n += 79) {
    const { decision, reason } = (await explain(tenant, job.id, people[n]!)).body;
    const expected = n < 100 ? ["not_in_audience", "subscriber_filters"] : ["skipped", "no_address"];
    expect([n, decision, reason]).toEqual([n, ...expected]);
  }
});
