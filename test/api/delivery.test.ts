// Delivery by every channel: who is reached where, why others are not, and the rows of the ledger (NTF-23, D-CONSENT).
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { NOTHING_LATE } from "../support/late.ts";
import { jobOf } from "../support/notify.ts";
import { addPeople, reachedOf, send } from "../support/people.ts";
import { addPhone, ledgerOf, mend, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const everybody = { target: { type: "all" } };

describe("channels", () => {
  it("an explicit send reaches each subscriber by every selected channel that has an address (NTF-23, NTF-11)", async () => {
    const { world, tenant } = await withTenant();
    await openChannels(world, tenant, "ios-push", "android-push", "vapid", "sms", "chat_app", "email");
    const [ada, bob] = (await addPeople(world, tenant, 2, (n) => ({
      email: `p${n}@example.com`,
      ...(n === 0 && { attributes: { phone: "+4915112345678" } }),
    }))) as [string, string];
    for (const platform of ["ios", "ios", "android", "web"] as const) await addPhone(world, tenant, ada, platform);
    const { job } = await send(world, tenant, { ...everybody, data: { order: 7 } });
    expect(job).toMatchObject({ status: "completed", counts: { total: 2, sent: 2, delivered: 2, failed: 0 } });
    expect(job.delivered_by_channel).toEqual({
      ios: 1,
      android: 1,
      web_push: 1,
      email: 2,
      in_app: 2,
      sms: 1,
      chat_app: 1,
    });
    const given = await outboxOf(world, `?job_id=${job.id}&subscriber_id=${ada}`);
    expect(given.map(({ channel }) => channel).sort()).toEqual([
      ...["android", "chat_app", "email", "ios", "ios", "sms", "web_push"],
    ]);
    expect((await outboxOf(world, `?subscriber_id=${bob}`)).map(({ channel }) => channel)).toEqual(["email"]);
    expect(await reachedOf(world, tenant, [ada, bob])).toEqual([ada, bob]);
    const rows = await ledgerOf(tenant, ada);
    expect(rows.map(({ state }) => state)).toEqual(Array.from({ length: 7 }, () => "sent"));
    expect(rows.every(({ provider_id }) => typeof provider_id === "string" || provider_id === undefined)).toBe(true);
  });

  it("HTML is text on every channel but e-mail, whatever the order of the channels (AMB-121)", async () => {
    const { world, tenant } = await withTenant();
    await openChannels(world, tenant, "ios-push", "sms", "email");
    const [ada] = (await addPeople(world, tenant, 1, () => ({
      email: "ada@example.com",
      attributes: { phone: "+4915112345678", first_name: "<Ada>" },
    }))) as [string];
    await addPhone(world, tenant, ada, "ios");
    for (const name of ["{{ subscriber.first_name }}", "you"]) {
      const { job } = await send(world, tenant, {
        ...{ ...everybody, title: "Hi" },
        body: `<p>Hello ${name}</p><a href="https://a.example/x">Shop</a>`,
      });
      const sent = await outboxOf(world, `?job_id=${job.id}`);
      const plain = `Hello ${name === "you" ? name : "<Ada>"}\n\nShop (https://a.example/x)`;
      expect(sent.filter(({ channel }) => channel !== "email").map(({ body }) => body)).toEqual([plain, plain]);
      expect(sent.find(({ channel }) => channel === "email")?.body).toContain("<p>Hello ");
    }
  });

  it("texts are personalised on every channel, and a static push reads no profile (NTF-23)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await openChannels(world, tenant, "ios-push");
    const [ada] = (await addPeople(world, tenant, 1, () => ({ attributes: { first_name: "Ada" } }))) as [string];
    await addPhone(world, tenant, ada, "ios");
    await send(world, tenant, { ...everybody, channel_ids: [ids.ios], title: "Hi {{ subscriber.first_name }}" });
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
    const fresh = await addPhone(world, tenant, ada, "ios", { os_version: "17.10" });
    await addPhone(world, tenant, ada, "ios", { os_version: "17.9" });
    await addPhone(world, tenant, bob, "ios", { os_version: "16.7" });
    const device_filters = { os_version: { $gte: { major: 17, minor: 10, patch: 0 } } };
    const { job } = await send(world, tenant, { ...everybody, channel_ids: [ios], device_filters });
    expect(job.counts).toMatchObject({ total: 1, delivered: 1 });
    expect((await ledgerOf(tenant, ada)).map(({ device }) => device)).toEqual([fresh.id]);
  });
});

describe("skips", () => {
  it("a subscriber that no selected channel reaches is skipped with the most specific reason (AMB-57, D-CONSENT, D-ATTR)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await openChannels(world, tenant, "ios-push", "email", "sms");
    const upsert = async (external_id: string, more: object): Promise<string> =>
      await tenant.upsert({ external_id, ...more });
    const no = await upsert("no", { email: "no@example.com", consent: { status: "opted_out" } });
    const dead = await upsert("dead", { email: "dead@example.com" });
    await suppressAddress(tenant.store, { kind: "email", address: "dead@example.com", reason: "manual" });
    const odd = await upsert("odd", { attributes: { phone: "0151-12345" } });
    const bare = await upsert("bare", {});
    const quiet = await upsert("quiet", {});
    await addPhone(world, tenant, quiet, "ios", { push_enabled: false });
    const all = [no, dead, odd, bare, quiet];
    const reasons = async (types: string[], more: object = {}) => {
      const channel_ids = types.map((type) => ids[type]);
      const { job } = await send(world, tenant, { subscriberIds: [...all, "nobody"], channel_ids, ...more });
      return [job.skip_reasons, job.counts.delivered];
    };
    expect(await reasons(["ios"])).toEqual([{ no_device: 5, unknown_subscriber: 1 }, 0]);
    expect(await reasons(["email"])).toEqual([
      { no_consent: 1, suppressed: 1, no_address: 3, unknown_subscriber: 1 },
      0,
    ]);
    expect(await reasons(["sms"])).toEqual([{ invalid_phone: 1, no_address: 4, unknown_subscriber: 1 }, 0]);
    expect(await reasons(["ios", "email", "sms"])).toEqual([
      { no_consent: 1, suppressed: 1, invalid_phone: 1, no_device: 2, unknown_subscriber: 1 },
      0,
    ]);
    // Transactional mail ignores an opt-out, but not a dead address.
    expect(await reasons(["email"], { category: "transactional" })).toEqual([
      { suppressed: 1, no_address: 3, unknown_subscriber: 1 },
      1,
    ]);
  });

  it("in a workspace of opt-ins marketing mail goes only to subscribers who opted in (D-CONSENT)", async () => {
    const { world, tenant } = await withTenant();
    const { email } = await openChannels(world, tenant, "email");
    await tenant.call("PATCH /api/v1/workspace", { email_consent_mode: "opt_in" });
    for (const external_id of ["yes", "silent"]) {
      const consent = external_id === "yes" ? { consent: { status: "opted_in" } } : {};
      const body = { external_id, email: `${external_id}@example.com`, ...consent };
      await tenant.upsert(body);
    }
    await world.settle();
    const { job } = await send(world, tenant, { ...everybody, channel_ids: [email] });
    expect([job.counts.delivered, job.skip_reasons]).toEqual([1, { no_consent: 1 }]);
    expect((await outboxOf(world)).map(({ to }) => to)).toEqual(["yes@example.com"]);
  });
});

describe("outcomes", () => {
  const onePhone = async () => {
    const { world, tenant } = await withTenant();
    const { ios } = await openChannels(world, tenant, "ios-push");
    const [ada] = (await addPeople(world, tenant, 1)) as [string];
    const device = await addPhone(world, tenant, ada, "ios");
    const body = { subscriberIds: [ada], channel_ids: [ios] };
    return { world, tenant, ada, device, body };
  };

  it("a token that the provider does not know any more makes the device invalid, and it is not used again (D-DEV)", async () => {
    const { world, tenant, ada, body } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "invalid_token" });
    const { job } = await send(world, tenant, body);
    expect(job).toMatchObject({ status: "failed", counts: { sent: 1, delivered: 0, failed: 1 } });
    await mend(world);
    const { items } = (await tenant.call(`GET /api/v1/subscribers/${ada}/devices`)).body;
    expect(items.map(({ status }: { status: string }) => status)).toEqual(["invalid"]);
    expect((await send(world, tenant, body)).job.skip_reasons).toEqual({ no_device: 1 });
    expect(await outboxOf(world)).toEqual([]);
  });

  it("a permanent refusal fails at once, with the provider's reason", async () => {
    const { world, tenant, ada, body } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "permanent" });
    const { job } = await send(world, tenant, body);
    expect([job.status, job.counts.failed, Object.values(job.fail_reasons)]).toEqual(["failed", 1, [1]]);
    const [row] = await ledgerOf(tenant, ada);
    expect(row).toMatchObject({ state: "failed", reason: Object.keys(job.fail_reasons)[0] });
  });

  it("a transient failure is tried again after 1, 5 and 30 minutes, then it has failed", async () => {
    const { world, tenant, ada, body } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "transient" });
    const started = world.clock.now();
    const { job } = await send(world, tenant, body);
    expect(job.status).toBe("processing");
    await world.advance(60 * MINUTE);
    const ended = await jobOf(tenant, job.id);
    expect([ended.status, ended.counts.failed]).toEqual(["failed", 1]);
    const row = (await ledgerOf(tenant, ada)).at(-1);
    expect(row!.state).toBe("failed");
    const minutes = (row!.tries as string[]).map((at) => Math.round((Date.parse(at) - started) / MINUTE));
    expect(minutes).toEqual([0, 1, 6, 36]);
    expect(await outboxOf(world)).toEqual([]);
  });

  it("a transient failure that passes is a delivery", async () => {
    const { world, tenant, ada, body } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "transient", times: 2 });
    const { job } = await send(world, tenant, body);
    await world.advance(10 * MINUTE);
    expect(await jobOf(tenant, job.id)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
    expect((await ledgerOf(tenant, ada)).at(-1)).toMatchObject({ state: "sent", tries: { length: 3 } });
    expect(await outboxOf(world)).toHaveLength(1);
  });

  it("a call without an answer is unconfirmed: uncertain inside failed, and never sent again (AMB-95, F1)", async () => {
    const { world, tenant, ada, body } = await onePhone();
    await spoil(world, { channel: "ios", outcome: "timeout", times: 1 });
    const { job } = await send(world, tenant, body);
    await world.advance(60 * MINUTE);
    const ended = await jobOf(tenant, job.id);
    expect(ended).toMatchObject({ status: "failed", uncertain: 1, fail_reasons: { delivery_unconfirmed: 1 } });
    const route = `GET /api/v1/notifications/${job.id}/recipients`;
    const unsure = { state: "uncertain", reason: "delivery_unconfirmed" };
    expect((await tenant.call(`${route}?state=uncertain`)).body.items).toMatchObject([unsure]);
    expect((await tenant.call(`${route}/${ada}`)).body).toMatchObject({ ...unsure, decision: "sent" });
    expect((await ledgerOf(tenant, ada))[0]).toMatchObject({ state: "unknown", reason: "delivery_unconfirmed" });
    expect((await outboxOf(world)).length).toBeLessThanOrEqual(1);
  });

  it("a recipient is delivered if one of its addresses is", async () => {
    const { world, tenant, ada, body } = await onePhone();
    await addPhone(world, tenant, ada, "ios");
    await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });
    const { job } = await send(world, tenant, body);
    expect([job.status, job.counts, job.fail_reasons]).toEqual([
      "completed",
      { ...NOTHING_LATE, total: 1, sent: 1, delivered: 1, failed: 0, skipped: 0, held_out: 0 },
      {},
    ]);
    expect((await ledgerOf(tenant, ada)).map(({ state }) => state).sort()).toEqual(["failed", "sent"]);
  });

  it("a held-out subscriber has a ledger row that says so, on every path (ABH-1)", async () => {
    const { world, tenant } = await withTenant();
    const { ios } = await openChannels(world, tenant, "ios-push");
    const ids = await addPeople(world, tenant, 20);
    for (const id of ids) await addPhone(world, tenant, id, "ios");
    for (const channel_ids of [[ios], undefined]) {
      const { job } = await send(world, tenant, { ...everybody, holdout_percentage: 40, channel_ids });
      const rows = (await Promise.all(ids.map((id) => ledgerOf(tenant, id))))
        .flat()
        .filter((row) => row.job === job.id);
      const heldOut = rows.filter(({ state }) => state === "held_out");
      expect([heldOut.length, job.counts.held_out > 0]).toEqual([job.counts.held_out, true]);
    }
  });
});
