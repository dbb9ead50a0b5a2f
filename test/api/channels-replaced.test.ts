// A channel that is switched off, or gets other credentials, while a send by it is under way.
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { ChannelItem } from "../../shared/store/channels/items.ts";
import { SMTP } from "../support/channels.ts";
import { addPeople, send } from "../support/people.ts";
import { mend, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** Begins two minutes after the clock of a test, and ends 58 minutes later. */
const QUIET = { start: "12:02", end: "13:00", timezone_mode: "workspace" };

/** A mail whose first attempt its provider refused for a while. */
async function underWay({ quiet = null as object | null } = {}) {
  const { world, tenant } = await withTenant();
  const { email = "" } = await openChannels(world, tenant, "email");
  await tenant.call("PATCH /api/v1/workspace", { quiet_hours: quiet });
  await tenant.upsert({ external_id: "ada", email: "ada@example.com" });
  await spoil(world, { channel: "email", outcome: "transient", times: 1 });
  const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids: [email] });
  const read = async () => (await tenant.call(`GET /api/v1/notifications/${job.id}`)).body;
  const channel = async () =>
    (await tenant.call(`GET /api/v1/channels`)).body.channels.find((one: { id: string }) => one.id === email);
  const change = (body: object) => tenant.call(`PATCH /api/v1/channels/${email}`, body);
  return { world, tenant, email, read, channel, change };
}

/** The same, whose credentials are replaced before its second attempt. */
async function replaced(verification: { outcome?: string; message?: string }, options: { quiet?: object } = {}) {
  const setting = await underWay(options);
  const { world, tenant, email } = setting;
  await spoil(world, { channel: "verify:email", ...verification });
  await tenant.call(`POST /api/v1/channels/${email}/credentials/email`, { ...SMTP, from_email: "new@example.com" });
  return setting;
}

it("a send under way does not go on with credentials that its provider refuses (CRD-8)", async () => {
  const { world, read, channel } = await replaced({ message: "The password is wrong" });

  await world.advance(2 * HOUR);

  expect((await channel()).status).toBe("invalid");
  expect(await outboxOf(world)).toEqual([]);
  expect(await read()).toMatchObject({ counts: { delivered: 0, failed: 1 } });
});

it("a send under way goes on with the credentials that replaced its own, once they are proven (CRD-8)", async () => {
  const { world, read, channel } = await replaced({ outcome: "timeout" });
  await world.advance(3 * MINUTE);
  expect((await channel()).status).toBe("pending");
  expect(await outboxOf(world)).toEqual([]);

  await mend(world);
  await world.advance(DAY);
  expect((await channel()).status).toBe("active");
  expect(await read()).toMatchObject({ counts: { delivered: 1, failed: 0 } });
});

it("a send under way keeps from credentials of which the row of its channel that it read says nothing yet (CRD-8)", async () => {
  const { world, tenant, email, read } = await underWay();
  const key = { id: email };
  const before = await tenant.store.get(ChannelItem, key);
  await spoil(world, { channel: "verify:email", message: "The password is wrong" });
  await tenant.call(`POST /api/v1/channels/${email}/credentials/email`, { ...SMTP, from_email: "new@example.com" });
  const after = await tenant.store.get(ChannelItem, key);

  // Two rows that are read at once may be of two moments.
  await tenant.store.put(ChannelItem, key, before!);
  await world.advance(3 * MINUTE);
  expect(await outboxOf(world)).toEqual([]);

  await mend(world);
  await tenant.store.put(ChannelItem, key, after!);
  await tenant.call(`POST /api/v1/channels/${email}/verify`);
  await world.advance(HOUR);
  expect(await read()).toMatchObject({ counts: { delivered: 1, failed: 0 } });
});

it("who waits for the verification of a channel is told so, and not that its provider throttles (F2, CRD-8)", async () => {
  const { world, tenant, read } = await replaced({ outcome: "timeout" });
  await world.advance(3 * MINUTE);

  const { id } = await read();
  const [ada] = (await tenant.call("GET /api/v1/subscribers?external_id=ada")).body.items;
  const { waits, channels, in_words } = (await tenant.call(`GET /api/v1/notifications/${id}/recipients/${ada.id}`))
    .body;

  expect([waits[0].why, channels[0].reason]).toEqual(["verifying", "verifying"]);
  expect(in_words).toMatch(/^Not yet: the new credentials of its channel are being verified, tried once/);
});

it("a send under way does not go on by a channel that was switched off (CHN-4, CHN-16)", async () => {
  const { world, read, change } = await underWay();
  await change({ active: false });

  await world.advance(2 * HOUR);

  expect(await outboxOf(world)).toEqual([]);
  expect(await read()).toMatchObject({ counts: { delivered: 0, failed: 1 }, fail_reasons: { no_channel: 1 } });
});

it("a send under way goes on by a channel that is switched on again (CHN-4, CHN-16)", async () => {
  const { world, read, change } = await underWay();
  await change({ active: false });
  await world.advance(3 * MINUTE);

  await change({ active: true });
  await world.advance(HOUR);

  expect(await read()).toMatchObject({ counts: { delivered: 1, failed: 0 } });
});

/** Ninety mails at one a second, of which one in five may fail. */
async function slowSend() {
  const { world, tenant } = await withTenant();
  const { email = "" } = await openChannels(world, tenant, "email");
  await addPeople(world, tenant, 90, (n) => ({ email: `p${n}@example.com` }));
  await tenant.call(`PATCH /api/v1/channels/${email}`, { rate_per_second: 1 });
  const input = { target: { type: "all" }, title: "t", body: "b", channel_ids: [email] };
  const { body } = await tenant.call("POST /api/v1/notifications", { ...input, safety: { max_error_rate: 0.2 } });
  return { world, tenant, email, body };
}

it("a send whose credentials are replaced by others that work is neither halted nor slowed down (CRD-8, F21, AMB-111)", async () => {
  const { world, tenant, email, body } = await slowSend();
  await world.advance(5_000);
  const before = (await outboxOf(world)).length;

  await spoil(world, { channel: "verify:email", outcome: "timeout" });
  await tenant.call(`POST /api/v1/channels/${email}/credentials/email`, { ...SMTP, from_email: "new@example.com" });
  await world.advance(2 * MINUTE);
  const health = (await tenant.call(`GET /api/v1/channels/${email}/health`)).body;
  await mend(world);
  await world.advance(HOUR);

  const sent = await outboxOf(world);
  expect([before > 0, before < 90, sent.length]).toEqual([true, true, 90]);
  const job = (await tenant.call(`GET /api/v1/notifications/${body.id}`)).body;
  expect(job).toMatchObject({ status: "completed", counts: { delivered: 90, failed: 0 } });
  expect([job.halted, health.throttle]).toEqual([undefined, null]);
});

it("a send under way ends without credentials where the provider of new ones cannot be reached (CRD-8)", async () => {
  const { world, read, channel } = await replaced({ outcome: "timeout" });

  await world.advance(2 * HOUR);

  expect((await channel()).status).toBe("pending");
  expect(await read()).toMatchObject({ counts: { delivered: 0, failed: 1 }, fail_reasons: { no_credentials: 1 } });
});

it("a channel that is switched off is read once for all recipients of a chunk (CHN-4)", async () => {
  const reads = requests({ of: "deliver", operation: "BatchGetItem", naming: '"credentials"' });
  const { world, tenant } = await withTenant({ hooks: reads.hooks });
  const { email = "" } = await openChannels(world, tenant, "email");
  await addPeople(world, tenant, 40, (n) => ({ email: `p${n}@example.com` }));
  await spoil(world, { channel: "email", outcome: "transient" });
  await send(world, tenant, { target: { type: "all" }, channel_ids: [email] });
  await tenant.call(`PATCH /api/v1/channels/${email}`, { active: false });
  const before = reads.seen();

  await world.advance(2 * MINUTE);

  expect(reads.seen() - before).toBe(1);
});

it("a brake halts a send whose channel is switched off, and it goes on once both are resumed (CHN-4, F21)", async () => {
  const { world, tenant, email, body } = await slowSend();
  const job = async () => (await tenant.call(`GET /api/v1/notifications/${body.id}`)).body;
  await world.advance(5_000);

  await tenant.call(`PATCH /api/v1/channels/${email}`, { active: false });
  await world.advance(5 * MINUTE);
  const health = (await tenant.call(`GET /api/v1/channels/${email}/health`)).body;
  expect((await job()).halted).toMatchObject({ reason: "error_rate", channel: "email" });
  expect(health.last_error).toBeNull();

  await tenant.call(`PATCH /api/v1/channels/${email}`, { active: true });
  await tenant.call(`POST /api/v1/notifications/${body.id}/resume`);
  await world.advance(2 * HOUR);
  expect(await job()).toMatchObject({ status: "completed", counts: { delivered: 90, failed: 0 } });
  expect(await outboxOf(world)).toHaveLength(90);
});

it("what waits for credentials waits for the end of quiet hours too, and goes then (CRD-8, D-QUIET)", async () => {
  const { world, read } = await replaced({ outcome: "timeout" }, { quiet: QUIET });
  await world.advance(10 * MINUTE);
  await mend(world);

  await world.advance(40 * MINUTE);
  expect((await read()).counts).toMatchObject({ delivered: 0, failed: 0 });
  await world.advance(20 * MINUTE);
  expect((await read()).counts).toMatchObject({ delivered: 1, failed: 0 });
});
