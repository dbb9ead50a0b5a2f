// Delivery by every channel: who is reached where, why others are not, and the rows of the ledger (NTF-23, D-CONSENT).
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { jobOf } from "../support/notify.ts";
import { addPeople, reachedOf, send } from "../support/people.ts";
import { addPhone, BROWSER_KEYS, ledgerOf, mend, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const everybody = { target: { type: "all" } };
const REACHABLE = { email: "ada@example.com", attributes: { phone: "+4915112345678" } };

describe("channels", () => {
  it("an explicit send reaches each subscriber by every selected channel that has an address (NTF-23, NTF-11)", async () => {
    const { world, tenant } = await withTenant();
    await openChannels(world, tenant, "ios-push", "android-push", "vapid", "sms", "chat_app", "email");
    const ofBob = { email: "bob@example.com" };
    const [ada, bob] = (await addPeople(world, tenant, 2, (n) => (n === 0 ? REACHABLE : ofBob))) as [string, string];
    for (const platform of ["ios", "ios", "android", "web"] as const) await addPhone(world, tenant, ada, platform);

    const { job } = await send(world, tenant, everybody);

    expect(job).toMatchObject({ status: "completed", counts: { total: 2, sent: 2, delivered: 2, failed: 0 } });
    const once = { ios: 1, android: 1, web_push: 1, sms: 1, chat_app: 1 };
    expect(job.delivered_by_channel).toEqual({ ...once, email: 2, in_app: 2 });
    const channelsOf = async (id: string) =>
      (await outboxOf(world, `?subscriber_id=${id}`)).map(({ channel }) => channel).sort();
    expect(await channelsOf(ada)).toEqual(["android", "chat_app", "email", "ios", "ios", "sms", "web_push"]);
    expect(await channelsOf(bob)).toEqual(["email"]);
    expect(await reachedOf(world, tenant, [ada, bob])).toEqual([ada, bob]);
    expect((await ledgerOf(tenant, ada)).map(({ state }) => state)).toEqual(Array(7).fill("sent"));
  });

  it.each([
    ["that names its reader", "{{ subscriber.first_name }}", "<Ada>"],
    ["that is the same for all", "you", "you"],
  ])("HTML %s is text on every channel but e-mail, whatever their order (AMB-121)", async (_, name, read) => {
    const { world, tenant } = await withTenant();
    await openChannels(world, tenant, "ios-push", "sms", "email");
    const person = { ...REACHABLE, attributes: { ...REACHABLE.attributes, first_name: "<Ada>" } };
    const [ada = ""] = await addPeople(world, tenant, 1, () => person);
    await addPhone(world, tenant, ada, "ios");
    const body = `<p>Hello ${name}</p><a href="https://a.example/x">Shop</a>`;

    await send(world, tenant, { ...everybody, title: "Hi", body });

    const sent = Object.fromEntries((await outboxOf(world)).map((item) => [item.channel, item.body]));
    const plain = `Hello ${read}\n\nShop (https://a.example/x)`;
    expect(sent).toEqual({ ios: plain, sms: plain, email: expect.stringContaining("<p>Hello ") });
  });

  it("a push is personalised (NTF-23)", async () => {
    const { world, tenant } = await withTenant();
    const { ios } = await openChannels(world, tenant, "ios-push");
    const [ada = ""] = await addPeople(world, tenant, 1, () => ({ attributes: { first_name: "Ada" } }));
    await addPhone(world, tenant, ada, "ios");

    await send(world, tenant, { ...everybody, channel_ids: [ios], title: "Hi {{ subscriber.first_name }}" });

    expect((await outboxOf(world)).map(({ title }) => title)).toEqual(["Hi Ada"]);
  });

  it("the last of 100 recipients is reached on every device (NTF-11)", async () => {
    const { world, tenant } = await withTenant();
    const { ios } = await openChannels(world, tenant, "ios-push");
    const ids = (await addPeople(world, tenant, 100)).sort();
    const last = String(ids.at(-1));
    for (const id of [...ids, last]) await addPhone(world, tenant, id, "ios");

    const { job } = await send(world, tenant, { subscriberIds: ids, channel_ids: [ios] });

    expect(job.counts).toMatchObject({ delivered: 100, failed: 0 });
    expect((await ledgerOf(tenant, last)).map(({ state }) => state)).toEqual(["sent", "sent"]);
  });

  it("a push goes only to the devices that the filter means (NTF-12, DEV-3)", async () => {
    const { world, tenant } = await withTenant();
    const { ios } = await openChannels(world, tenant, "ios-push");
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    const recent = await addPhone(world, tenant, ada, "ios", { os_version: "17.10" });
    await addPhone(world, tenant, ada, "ios", { os_version: "17.9" });
    await addPhone(world, tenant, bob, "ios", { os_version: "16.7" });
    const device_filters = { os_version: { $gte: { major: 17, minor: 10, patch: 0 } } };

    const { job } = await send(world, tenant, { ...everybody, channel_ids: [ios], device_filters });

    expect(job.counts).toMatchObject({ total: 1, delivered: 1 });
    expect((await ledgerOf(tenant, ada)).map(({ device }) => device)).toEqual([recent.id]);
  });
});

describe("skips", () => {
  /** Five subscribers, each unreachable in another way, and one who is none. */
  async function unreachable() {
    const { world, tenant } = await withTenant();
    const ids = await openChannels(world, tenant, "ios-push", "email", "sms");
    const optedOut = { external_id: "no", email: "no@example.com", consent: { status: "opted_out" } };
    const suppressed = { external_id: "dead", email: "dead@example.com" };
    const wrongNumber = { external_id: "odd", attributes: { phone: "0151-12345" } };
    const subscriberIds = ["nobody"];
    for (const person of [optedOut, suppressed, wrongNumber, { external_id: "bare" }, { external_id: "quiet" }])
      subscriberIds.push(await tenant.upsert(person));
    await suppressAddress(tenant.store, { kind: "email", address: "dead@example.com", reason: "manual" });
    await addPhone(world, tenant, subscriberIds.at(-1)!, "ios", { push_enabled: false });
    const sendBy = async (types: string[], more: object) =>
      (await send(world, tenant, { subscriberIds, channel_ids: types.map((type) => ids[type]), ...more })).job;
    return { sendBy };
  }

  const transactional = { category: "transactional" };
  it.each<[what: string, types: string[], reasons: object, delivered: number, more?: object]>([
    ["a push", ["ios"], { no_device: 5 }, 0],
    ["a mail", ["email"], { no_consent: 1, suppressed: 1, no_address: 3 }, 0],
    ["an SMS", ["sms"], { invalid_phone: 1, no_address: 4 }, 0],
    [
      "a send by all three",
      ["ios", "email", "sms"],
      { no_consent: 1, suppressed: 1, invalid_phone: 1, no_device: 2 },
      0,
    ],
    ["a transactional mail, which ignores an opt-out", ["email"], { suppressed: 1, no_address: 3 }, 1, transactional],
  ])("%s skips whom it cannot reach by the most specific reason (AMB-57, D-CONSENT, D-ATTR)", async (...row) => {
    const [, types, reasons, delivered, more = {}] = row;
    const { sendBy } = await unreachable();

    const job = await sendBy(types, more);

    expect(job.skip_reasons).toEqual({ ...reasons, unknown_subscriber: 1 });
    expect(job.counts.delivered).toBe(delivered);
  });

  it("in a workspace of opt-ins marketing mail goes only to subscribers who opted in (D-CONSENT)", async () => {
    const { world, tenant } = await withTenant();
    const { email } = await openChannels(world, tenant, "email");
    await tenant.call("PATCH /api/v1/workspace", { email_consent_mode: "opt_in" });
    await tenant.upsert({ external_id: "yes", email: "yes@example.com", consent: { status: "opted_in" } });
    await tenant.upsert({ external_id: "silent", email: "silent@example.com" });
    await world.settle();

    const { job } = await send(world, tenant, { ...everybody, channel_ids: [email] });

    expect(job).toMatchObject({ counts: { delivered: 1 }, skip_reasons: { no_consent: 1 } });
    expect((await outboxOf(world)).map(({ to }) => to)).toEqual(["yes@example.com"]);
  });
});

describe("outcomes", () => {
  const onePhone = async () => {
    const { world, tenant } = await withTenant();
    const { ios } = await openChannels(world, tenant, "ios-push");
    const [ada = ""] = await addPeople(world, tenant, 1);
    await addPhone(world, tenant, ada, "ios");
    const push = async () => (await send(world, tenant, { subscriberIds: [ada], channel_ids: [ios] })).job;
    return { world, tenant, ada, push };
  };

  it("a token that its provider does not know any more makes the device invalid (D-DEV)", async () => {
    const { world, tenant, ada, push } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "invalid_token" });

    expect(await push()).toMatchObject({ status: "failed", counts: { sent: 1, delivered: 0, failed: 1 } });

    const { items } = (await tenant.call(`GET /api/v1/subscribers/${ada}/devices`)).body;
    expect(items).toMatchObject([{ status: "invalid" }]);
  });

  it.each([
    ["ios", "ios-push", { token: "new" }],
    ["web", "vapid", { subscription: { endpoint: "https://push.example.com/new", keys: BROWSER_KEYS } }],
  ] as const)(
    "a device of %s that has a new address by the time its old one is known to be dead is used on (D-DEV)",
    async (platform, path, address) => {
      const marking = requests({ of: "deliver", operation: "UpdateItem", naming: '"invalid"' });
      const { world, tenant } = await withTenant({ hooks: marking.hooks });
      const [[type = "", channel]] = Object.entries(await openChannels(world, tenant, path)) as [[string, string]];
      const [ada = ""] = await addPeople(world, tenant, 1);
      const register = (more: object) => addPhone(world, tenant, ada, platform, { device_id: "one", ...more });
      const push = async () => (await send(world, tenant, { subscriberIds: [ada], channel_ids: [channel] })).job;
      await register({});
      await spoil(world, { channel: type, outcome: "invalid_token" });
      marking.next(() => register(address));
      await push();
      expect(marking.isAwaited()).toBe(false);
      await mend(world);

      expect((await push()).counts).toMatchObject({ delivered: 1 });
    },
  );

  it("an invalid device is not used again (D-DEV)", async () => {
    const { world, push } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "invalid_token" });
    await push();
    await mend(world);

    expect((await push()).skip_reasons).toEqual({ no_device: 1 });

    expect(await outboxOf(world)).toEqual([]);
  });

  it("a permanent refusal of a provider fails the delivery at once, with the provider's reason", async () => {
    const { world, tenant, ada, push } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "permanent" });

    const job = await push();

    const [row] = await ledgerOf(tenant, ada);
    expect(row!.state).toBe("failed");
    expect(job).toMatchObject({ status: "failed", counts: { failed: 1 }, fail_reasons: { [String(row!.reason)]: 1 } });
  });

  it("a delivery whose failure is transient is tried again after 1, 5 and 30 minutes, then it has failed", async () => {
    const { world, tenant, ada, push } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "transient" });
    const started = world.clock.now();

    const { id, status } = await push();
    await world.advance(60 * MINUTE);

    expect(status).toBe("processing");
    expect(await jobOf(tenant, id)).toMatchObject({ status: "failed", counts: { failed: 1 } });
    const row = (await ledgerOf(tenant, ada)).at(-1)!;
    expect(row.state).toBe("failed");
    const minutes = (row.tries as string[]).map((at) => Math.round((Date.parse(at) - started) / MINUTE));
    expect(minutes).toEqual([0, 1, 6, 36]);
  });

  it("a delivery whose failure passes reaches its recipient once", async () => {
    const { world, tenant, ada, push } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "transient", times: 2 });

    const { id } = await push();
    await world.advance(10 * MINUTE);

    expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
    expect((await ledgerOf(tenant, ada)).at(-1)).toMatchObject({ state: "sent", tries: { length: 3 } });
    expect(await outboxOf(world)).toHaveLength(1);
  });

  it("a delivery without an answer is uncertain, counted as failed, and not tried again (AMB-95, F1)", async () => {
    const { world, tenant, ada, push } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "timeout", times: 1 });

    const { id } = await push();
    await world.advance(60 * MINUTE);

    const reason = "delivery_unconfirmed";
    expect(await jobOf(tenant, id)).toMatchObject({ status: "failed", uncertain: 1, fail_reasons: { [reason]: 1 } });
    expect((await ledgerOf(tenant, ada))[0]).toMatchObject({ state: "unknown", reason });
    expect((await outboxOf(world)).length).toBeLessThanOrEqual(1);
  });

  it("a recipient whose delivery is uncertain is listed and explained as such (AMB-95, F1)", async () => {
    const { world, tenant, ada, push } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "timeout", times: 1 });
    const { id } = await push();
    await world.advance(60 * MINUTE);

    const route = `GET /api/v1/notifications/${id}/recipients`;
    const uncertain = { state: "uncertain", reason: "delivery_unconfirmed" };
    expect((await tenant.call(`${route}?state=uncertain`)).body.items).toMatchObject([uncertain]);
    expect((await tenant.call(`${route}/${ada}`)).body).toMatchObject({ ...uncertain, decision: "sent" });
  });

  it("a recipient is delivered if one of its addresses is, and what failed is no reason", async () => {
    const { world, tenant, ada, push } = await onePhone();
    await addPhone(world, tenant, ada, "ios");
    await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });

    const job = await push();

    expect(job).toMatchObject({ status: "completed", counts: { total: 1, sent: 1, delivered: 1, failed: 0 } });
    expect(job.fail_reasons).toEqual({});
    expect((await ledgerOf(tenant, ada)).map(({ state }) => state).sort()).toEqual(["failed", "sent"]);
  });

  it.each([
    ["a push", "ios"],
    ["every channel", undefined],
  ])("a subscriber who is held out of %s has a ledger row that says so (ABH-1)", async (_, type) => {
    const { world, tenant } = await withTenant();
    const ids = await openChannels(world, tenant, "ios-push");
    const people = await addPeople(world, tenant, 20);
    for (const id of people) await addPhone(world, tenant, id, "ios");
    const channel_ids = type && [ids[type]];

    const { job } = await send(world, tenant, { ...everybody, holdout_percentage: 40, channel_ids });

    const rows = (await Promise.all(people.map((id) => ledgerOf(tenant, id)))).flat();
    expect(job.counts.held_out).toBeGreaterThan(0);
    expect(rows.filter(({ state }) => state === "held_out")).toHaveLength(job.counts.held_out);
  });
});
