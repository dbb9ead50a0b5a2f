// Channels of a type that the plan does not have any more: what was authored before does not send by them.
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { explain, inMs, jobOf, post } from "../support/notify.ts";
import { operate } from "../support/people.ts";
import { openChannels, outboxOf, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant, fresh } = worlds();

/** Ada has a phone number and an email address. */
async function setting() {
  const { world, tenant } = await withTenant({ plan: "pro" });
  const { sms = "", email = "" } = await openChannels(world, tenant, "sms", "email");
  const ada = await tenant.upsert({
    external_id: "ada",
    email: "ada@example.com",
    attributes: { phone: "+4915112345678" },
  });
  const later = async (...channel_ids: string[]) => {
    const { body } = await post(world, tenant, {
      target: { type: "all" },
      channel_ids,
      scheduled_at: inMs(world, HOUR),
    });
    return body.id;
  };
  const downgrade = () => operate(world, tenant, { plan: "starter" });
  const sentBy = async () => (await outboxOf(world)).map(({ channel }) => channel);
  return { world, tenant, sms, email, ada, later, downgrade, sentBy };
}

it("a scheduled send leaves out a channel that the plan has no more, and says so of its recipients (GEN-10, AMB-87)", async () => {
  const { world, tenant, sms, email, ada, later, downgrade, sentBy } = await setting();
  const id = await later(sms, email);

  await downgrade();
  await world.advance(2 * HOUR);

  expect(await sentBy()).toEqual(["email"]);
  expect((await explain(tenant, id, ada)).body.now.unusable_channels).toMatchObject([{ id: sms, why: "not_in_plan" }]);
});

it("a scheduled send fails where the plan has none of its channels any more (GEN-10, AMB-87)", async () => {
  const { world, tenant, sms, later, downgrade, sentBy } = await setting();
  const id = await later(sms);

  await downgrade();
  await world.advance(2 * HOUR);

  expect(await sentBy()).toEqual([]);
  expect(await jobOf(tenant, id)).toMatchObject({ status: "failed", error: "no usable channel" });
});

it("a step of a journey sends nothing by a channel that the plan has no more (GEN-10, AMB-87)", async () => {
  const { world, tenant, active, track, person, stats } = await journeySetting(await fresh(), "pro");
  const { sms = "" } = await openChannels(world, tenant, "sms");
  const text = { send: { channel_ids: [sms], content: { title: "t", body: "b" }, next: "end" } };
  const journey = await active(graphOf({ pause: { delay: { duration: "1h", next: "text" } }, text, end: "exit" }));
  await person("ada", { phone: "+4915112345678" });
  await track("ada", "signed_up");

  await operate(world, tenant, { plan: "starter" });
  await world.advance(2 * HOUR);

  expect(await outboxOf(world)).toEqual([]);
  expect((await stats(journey)).steps.text.outcomes).toEqual({ failed: 1 });
});

it("a message that waits for the morning does not go by a channel that the plan has no more (GEN-10, AMB-87)", async () => {
  const { world, tenant, sms, email, ada, downgrade, sentBy } = await setting();
  const quiet_hours = { start: "10:00", end: "14:00", timezone_mode: "workspace" };
  await tenant.call("PATCH /api/v1/workspace", { quiet_hours });
  const { body } = await post(world, tenant, { target: { type: "all" }, channel_ids: [sms, email] });
  await world.settle();

  await downgrade();
  await world.advance(4 * HOUR);

  expect(await sentBy()).toEqual(["email"]);
  const { channels, now, in_words } = (await explain(tenant, body.id, ada)).body;
  expect(channels).toMatchObject([
    { channel: "sms", state: "failed", reason: "no_channel" },
    { channel: "email", state: "delivered" },
  ]);
  expect(now.unusable_channels).toMatchObject([{ id: sms, why: "not_in_plan" }]);
  expect(in_words).toContain("SMS: failed");
});

it("a message to one person that waits for a retry does not go by a channel that the plan has no more (GEN-10, AMB-87)", async () => {
  const { world, tenant, sms, ada, downgrade, sentBy } = await setting();
  await spoil(world, { channel: "sms", outcome: "transient", times: 1 });
  const { body } = await post(world, tenant, { subscriberIds: [ada], channel_ids: [sms] });
  await world.settle();

  await downgrade();
  await world.advance(2 * HOUR);

  expect(await sentBy()).toEqual([]);
  expect(await jobOf(tenant, body.id)).toMatchObject({ status: "failed", fail_reasons: { no_channel: 1 } });
});

it("a smart send that was scheduled fails where the plan has no smart channel any more (GEN-10, AMB-87)", async () => {
  const { world, tenant, email, downgrade, sentBy } = await setting();
  const { body } = await post(world, tenant, {
    target: { type: "all" },
    channel_ids: [email],
    channel_arbitration_mode: "smart",
    scheduled_at: inMs(world, HOUR),
  });

  await downgrade();
  await world.advance(2 * HOUR);

  expect(await sentBy()).toEqual([]);
  expect(await jobOf(tenant, body.id)).toMatchObject({
    status: "failed",
    error: "the workspace's plan does not include smart channel",
  });
});
