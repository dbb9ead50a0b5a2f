// Whom each channel of a send did not reach, whatever another one did (AMB-139).
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { mailing, tagsOf, tellOfMail } from "../support/mails.ts";
import { addPhone, openChannels, spoil } from "../support/reached.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PHONE = "+4915112345678";

/** Ada by mail and message, Bob by message and on two phones, and the campaign that reaches for both by all three. */
async function reaching(world: TestWorld, tenant: Tenant) {
  const { ada, channel: email } = await mailing(world, tenant);
  const { sms, ios } = await openChannels(world, tenant, "sms", "ios-push");
  const bob = String(await tenant.upsert({ external_id: "bob" }));
  for (const id of [ada, bob]) await tenant.call(`PATCH /api/v1/subscribers/${id}`, { attributes: { phone: PHONE } });
  for (const _ of ["old", "new"]) await addPhone(world, tenant, bob, "ios");
  const read = async (route: string, body?: object) =>
    (await world.call(route, { as: await tenant.dashboard(), ...(body && { body }) })).body;
  const release = async () => {
    const messages = [{ content: { title: "t", body: "b" }, channel_ids: [email, sms, ios] }];
    const { id } = await read("POST /api/v1/campaigns", { name: "News", messages, target: { type: "all" } });
    const { job_id } = (await read(`POST /api/v1/campaigns/${id}/release`)).messages[0];
    await world.advance(MINUTE);
    return { job: String(job_id), report: () => read(`GET /api/v1/campaigns/${id}/report`) };
  };
  const days = async () => (await read("GET /api/v1/insights/series?group_by=channel")).buckets;
  return { ada, bob, release, days };
}

it("a channel counts whom its message did not reach, also where another channel did (AMB-139, CRP-3, RDA-10)", async () => {
  const { world, tenant } = await withTenant();
  const { release, days } = await reaching(world, tenant);
  await spoil(world, { channel: "sms", outcome: "permanent", times: 2 });
  await spoil(world, { channel: "email", outcome: "timeout", times: 1 });
  const { report } = await release();

  const { failed, uncertain, by_channel } = await report();
  expect({ failed, uncertain }).toEqual({ failed: 1, uncertain: 1 });
  expect(by_channel).toMatchObject([
    { channel: "email", delivered: 0, failed: 1, uncertain: 1 },
    { channel: "ios", delivered: 1, failed: 0, uncertain: 0 },
    { channel: "sms", delivered: 0, failed: 2, uncertain: 0 },
  ]);
  expect(await days()).toMatchObject([
    { group: "email", sent: null, failed: 1, uncertain: null },
    { group: "ios", delivered: 1, failed: 0 },
    { group: "sms", delivered: 0, failed: 2 },
  ]);
});

it("a channel that reached one of two devices did reach its recipient (AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const { release, days } = await reaching(world, tenant);
  await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });
  const { report } = await release();

  expect((await report()).by_channel[1]).toMatchObject({ channel: "ios", delivered: 1, failed: 0 });
  expect((await days())[1]).toMatchObject({ group: "ios", delivered: 1, failed: 0 });
});

it("a channel does not count whom it may reach by a later attempt (AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const { release, days } = await reaching(world, tenant);
  await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });
  await spoil(world, { channel: "ios", outcome: "transient", times: 2 });
  await spoil(world, { channel: "sms", outcome: "permanent", times: 2 });
  const { report } = await release();
  expect(await days()).toMatchObject([{ group: "email" }, { group: "sms", failed: 2 }]);
  await world.advance(10 * MINUTE);

  expect((await report()).by_channel[1]).toMatchObject({ channel: "ios", delivered: 1, failed: 0 });
  expect((await days())[1]).toMatchObject({ group: "ios", delivered: 1, failed: 0 });
});

const BOUNCE = { bounceType: "Permanent", bounceSubType: "General", bouncedRecipients: [] };

it.each([
  ["arrived", { eventType: "Delivery" }, { delivered: 1, bounced: 0 }],
  ["came back", { eventType: "Bounce", bounce: BOUNCE }, { delivered: 0, bounced: 1 }],
])(
  "a mail without an answer leaves the failures of its channel once it is told that it %s (AMB-139)",
  async (_, event, told) => {
    const { world, tenant } = await withTenant();
    const { ada, release, days } = await reaching(world, tenant);
    await spoil(world, { channel: "email", outcome: "timeout", times: 1 });
    const { job, report } = await release();
    expect((await report()).by_channel[0]).toMatchObject({ channel: "email", failed: 1, uncertain: 1 });

    const mail = { tags: await tagsOf(tenant, ada, job) };
    for (const _ of ["once", "again"]) await tellOfMail(world, { ...event, mail });

    expect((await report()).by_channel[0]).toMatchObject({ channel: "email", ...told, failed: 0, uncertain: 0 });
    expect((await days())[0]).toMatchObject({ group: "email", ...told, failed: 0 });
  },
);

it("a mail that comes back is no failure of its channel (AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const { ada, release, days } = await reaching(world, tenant);
  await tenant.call(`PATCH /api/v1/subscribers/${ada}`, { email: "bounce@simulator.amazonses.com" });
  const { report } = await release();

  expect((await report()).by_channel[0]).toMatchObject({ channel: "email", delivered: 0, bounced: 1, failed: 0 });
  expect((await days())[0]).toMatchObject({ group: "email", delivered: 0, bounced: 1, failed: 0 });
});

it("an inbox counts whose message has no text (AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  await tenant.upsert({ external_id: "ada", attributes: { first_name: "Ada" } });
  await tenant.upsert({ external_id: "bob" });
  const [channel] = (await tenant.call("GET /api/v1/channels")).body.channels;
  const name = "{{ subscriber.first_name }}";
  const messages = [{ content: { title: name, body: name }, channel_ids: [channel.id] }];
  const input = { name: "News", messages, target: { type: "all" } };
  const { id } = (await tenant.call("POST /api/v1/campaigns", input)).body;
  await tenant.call(`POST /api/v1/campaigns/${id}/release`);
  await world.settle();

  const { by_channel } = (await tenant.call(`GET /api/v1/campaigns/${id}/report`)).body;
  expect(by_channel).toMatchObject([{ channel: "in_app", delivered: 1, failed: 1, uncertain: 0 }]);
});
