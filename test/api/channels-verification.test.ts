// Verification of channels: only the newest one counts, and each gets an outcome (CHN-9 to CHN-11).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { isUsable, listChannels } from "../../shared/store/channels/channels.ts";
import { ChannelItem } from "../../shared/store/channels/items.ts";
import { acceptChannel, findVerification, refuseChannel } from "../../shared/store/channels/verifications.ts";
import { AnnotationItem } from "../../shared/store/insights/annotation-items.ts";
import { channelCalls, kinds, type UploadPath, uploads } from "../support/channels.ts";
import { mailing, mailsOf } from "../support/mails.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const fault = (world: TestWorld, body: object) => world.call("POST /_local/faults", { body });
const noFaults = (world: TestWorld) => world.call("DELETE /_local/faults");

async function notes(tenant: Tenant): Promise<unknown[]> {
  const { items } = await tenant.store.query(AnnotationItem, {});
  return items.map(({ kind, ref_id, text, source }) => ({ kind, ref_id, text, source }));
}

describe.each(Object.keys(uploads) as UploadPath[])("%s", (path) => {
  const { type } = kinds[path];

  it("a channel is pending, then active after the provider accepted its credentials (CHN-6, CHN-8, CHN-9, CRD-8)", async () => {
    const { world, tenant } = await withTenant();
    const { create, upload, get } = await channelCalls(world, tenant);
    const id = await create(type);
    expect((await upload(id, path)).status).toBe(200);
    expect(await get(id)).toMatchObject({ status: "pending" });
    expect(await get(id)).not.toHaveProperty("verified_at");
    await world.settle();
    expect(await get(id)).toMatchObject({ status: "active", verified_at: "2026-11-20T12:00:00.000Z" });
    expect(await get(id)).not.toHaveProperty("verification_error");
  });

  /** A channel whose credentials the provider has refused. */
  async function refused() {
    const { world, tenant } = await withTenant();
    const { create, upload, get, call } = await channelCalls(world, tenant);
    const id = await create(type);
    await fault(world, { channel: `verify:${type}`, outcome: "permanent", message: "this key was revoked" });
    await upload(id, path);
    await world.settle();
    await noFaults(world);
    return { world, tenant, id, get, call };
  }

  it("a channel whose credentials are refused is invalid, with the provider's message (CHN-5, CHN-7, CHN-10)", async () => {
    const { tenant, id, get } = await refused();

    const channel = await get(id);

    const verification_error = expect.stringContaining("this key was revoked");
    expect(channel).toMatchObject({ status: "invalid", verification_error });
    expect(channel).not.toHaveProperty("verified_at");
    expect(await notes(tenant)).toEqual([]);
  });

  it("an invalid channel is pending when it is verified anew, and then active (CHN-7, CHN-11)", async () => {
    const { world, id, get, call } = await refused();

    expect(await call(`POST /${id}/verify`)).toMatchObject({ status: 202, body: { status: "queued" } });

    expect(await get(id)).toMatchObject({ status: "pending" });
    await world.settle();
    expect(await get(id)).toMatchObject({ status: "active", verified_at: expect.any(String) });
    expect(await get(id)).not.toHaveProperty("verification_error");
  });
});

describe("an active channel", () => {
  /** A channel that was verified, and whose account the provider has closed since. */
  async function closed() {
    const { world, tenant } = await withTenant();
    const { create, upload, get, call } = await channelCalls(world, tenant);
    const id = await create("sms", "Texts");
    await upload(id, "sms");
    await world.settle();
    await fault(world, { channel: "verify:sms", outcome: "permanent", message: "account closed" });
    const verify = () => call(`POST /${id}/verify`);
    return { world, tenant, id, get, verify };
  }

  it("an active channel is usable while it is verified anew (CHN-11)", async () => {
    const { tenant, id, verify } = await closed();

    await verify();

    const asked = (await listChannels(tenant.store)).find((channel) => channel.id === id)!;
    expect(asked.status).toBe("pending");
    expect(isUsable(asked)).toBe(true);
  });

  it("an active channel that becomes invalid is annotated once (CHN-11, D-ANNAUTO)", async () => {
    const { world, tenant, id, get, verify } = await closed();

    for (let n = 0; n < 2; n++) {
      await verify();
      await world.settle();
    }

    const verification_error = expect.stringContaining("account closed");
    expect(await get(id)).toMatchObject({ status: "invalid", verification_error });
    const note = { kind: "channel_invalid", ref_id: id, source: "auto", text: expect.stringContaining("Texts") };
    expect(await notes(tenant)).toEqual([note]);
  });
});

it("new credentials of a channel must be verified before a send uses them (CHN-11)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("sms");
  await upload(id, "sms");
  await world.settle();
  await upload(id, "sms");
  const [replaced] = (await listChannels(tenant.store)).filter((channel) => channel.id === id);

  expect(replaced!.status).toBe("pending");
  expect(isUsable(replaced!)).toBe(false);
});

it("a late or double outcome of a verification changes nothing once the credentials were replaced (CHN-11)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("sms");
  const row = () => tenant.store.get(ChannelItem, { id });
  await upload(id, "sms");
  const early = (await findVerification(tenant.store, id, undefined))!;
  await upload(id, "sms");
  expect(await findVerification(tenant.store, id, early.id)).toBeUndefined();
  const before = await row();
  await acceptChannel(tenant.store, early);
  await refuseChannel(tenant.store, early, "too late");
  expect(await row()).toEqual(before);

  const now = (await findVerification(tenant.store, id, undefined))!;
  await acceptChannel(tenant.store, now);
  await refuseChannel(tenant.store, now, "twice");
  expect(await row()).toMatchObject({ status: "active", verified_at: "2026-11-20T12:00:00.000Z" });
});

it("an unavailable provider is asked again to verify until it answers, and the channel says so (CHN-10, AMB-123)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload, get } = await channelCalls(world, tenant);
  const id = await create("sms");
  await fault(world, { channel: "verify:sms", outcome: "timeout", times: 3 });
  await upload(id, "sms");
  await world.settle();
  const last_error = { code: "PROVIDER_UNAVAILABLE", message: expect.any(String), at: expect.any(String) };
  expect(await get(id)).toMatchObject({ status: "pending", last_error });
  await world.advance(5 * MINUTE);
  expect(await get(id)).toMatchObject({ status: "active" });
  expect(await get(id)).not.toHaveProperty("last_error");
});

it("after a day of attempts by the timer, an unavailable provider counts as a refusal (CHN-10)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload, get } = await channelCalls(world, tenant);
  const id = await create("sms");
  await fault(world, { channel: "verify:sms", outcome: "timeout" });
  await upload(id, "sms");
  await world.advance(23 * HOUR);
  expect(await get(id)).toMatchObject({ status: "pending" });
  await world.advance(2 * HOUR);
  expect(await get(id)).toMatchObject({
    status: "invalid",
    verification_error: expect.stringContaining("could not be reached"),
    last_error: { code: "VERIFICATION_FAILED" },
  });
});

it("the timer repeats a verification whose messages were lost, and changes nothing after its outcome (CHN-10)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload, get } = await channelCalls(world, tenant);
  const id = await create("sms");
  await upload(id, "sms");
  const lost = await findVerification(tenant.store, id, undefined);
  await world.settle();
  const { pk, sk, react, ...row } = lost!.channel;
  await tenant.store.put(ChannelItem, { id }, row);
  await world.advance(HOUR);
  const taken = await get(id);
  expect(taken).toMatchObject({ status: "active" });
  await world.advance(DAY);
  expect(await get(id)).toEqual(taken);
});

it("a channel that sends from an SES identity of another workspace is refused, and that one's own is active (D-EMAIL, CHN-10)", async () => {
  const { world, tenant } = await withTenant();
  const other = await world.tenant();
  await world.ses.operate("TagResource", {
    ResourceArn: "arn:aws:ses:us-east-1:000000000000:identity/example.com",
    Tags: [{ Key: "engagement-workspace", Value: other.id }],
  });
  const verified = async (of: Tenant) => {
    const { create, upload, get } = await channelCalls(world, of);
    const id = await create("email");
    await upload(id, "email", { body: { provider: "ses", from_email: "shop@example.com", from_name: "Shop" } });
    await world.settle();
    return get(id);
  };

  expect(await verified(tenant)).toMatchObject({
    status: "invalid",
    verification_error: expect.stringContaining("given to other workspaces"),
  });
  expect(await verified(other)).toMatchObject({ status: "active" });
});

it("a channel that is deleted during its verification stays deleted", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload, call } = await channelCalls(world, tenant);
  const id = await create("sms");
  await upload(id, "sms");
  const open = (await findVerification(tenant.store, id, undefined))!;
  await call(`DELETE /${id}?force=true`);
  await acceptChannel(tenant.store, open);
  await refuseChannel(tenant.store, open, "gone");
  await world.settle();
  await world.advance(HOUR);

  expect((await call(`GET /${id}`)).status).toBe(404);
  expect(await tenant.store.get(ChannelItem, { id })).toBeUndefined();
});

it("a send that names a deleted channel continues without it (CHN-17)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload, call, as } = await channelCalls(world, tenant);
  const texts = await create("sms");
  await upload(texts, "sms");
  await world.settle();
  const { channels } = (await call("GET /")).body;
  const inApp = channels.find(({ type }: { type: string }) => type === "in_app").id;
  const { id: subscriber } = (
    await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id: "a" } })
  ).body;
  const body = {
    subscriberIds: [subscriber],
    title: "t",
    body: "b",
    channel_ids: [texts, inApp],
    scheduled_at: "2026-11-20T13:00:00Z",
  };
  const { id } = (await world.call("POST /api/v1/notifications", { as, body })).body;
  expect((await call(`DELETE /${texts}?force=true`)).status).toBe(204);
  await world.advance(2 * HOUR);
  const job = (await tenant.call(`GET /api/v1/notifications/${id}`)).body;
  expect(job).toMatchObject({ status: "completed", counts: { delivered: 1 } });
});

it("who is to confirm an opt-in is asked by a channel that can send, beside an older one without credentials (AMB-129)", async () => {
  const { world, tenant } = await withTenant();
  expect((await tenant.call("POST /api/v1/channels", { type: "email", name: "Unused" })).status).toBe(201);
  await mailing(world, tenant);
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });

  await tenant.upsert({ external_id: "p", email: "p@example.com", consent: { channel: "email", status: "opted_in" } });
  await world.settle();

  const asked = (await mailsOf(world)).filter(({ text }) => text.includes("/i/"));
  expect(asked.map(({ to }) => to)).toEqual(["p@example.com"]);
});
