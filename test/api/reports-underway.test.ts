// While a send waits for another attempt, all that counts it says the same (AMB-139).
import { expect, it } from "vitest";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { mailing, SES } from "../support/mails.ts";
import { openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const BOUNCES = "bounce@simulator.amazonses.com";

it("while a mail waits for another attempt, the report, the funnel and the series of its campaign say what its record says (AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const { channel } = await mailing(world, tenant);
  await tenant.upsert({ external_id: "bob", email: "bob@example.com" });
  const read = async (route: string, body?: object) =>
    (await world.call(route, { as: await tenant.dashboard(), ...(body && { body }) })).body;
  const { channels } = await read("GET /api/v1/channels");
  const inApp = channels.find(({ type }: { type: string }) => type === "in_app").id;
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [channel, inApp] }];
  const { id } = await read("POST /api/v1/campaigns", { name: "News", messages, target: { type: "all" } });
  await spoil(world, { channel: "email", outcome: "transient", times: 1 });
  const { messages: released } = await read(`POST /api/v1/campaigns/${id}/release`);
  await world.settle();
  const [{ job_id }] = released;
  const of = `source_type=campaign&source_id=${id}`;
  const { status, counts } = await read(`GET /api/v1/notifications/${job_id}`);
  const { sent, delivered } = counts;
  expect([status, sent, delivered]).toEqual(["processing", 2, 2]);

  expect(await read(`GET /api/v1/notifications/${job_id}/report`)).toMatchObject({ sent, delivered });
  expect(await read(`GET /api/v1/campaigns/${id}/report`)).toMatchObject({ sent, delivered });
  expect(await read(`GET /api/v1/insights/funnel?${of}`)).toMatchObject({ sent, delivered });
  expect((await read(`GET /api/v1/insights/series?${of}`)).buckets).toMatchObject([{ sent, delivered }]);
});

/** Two people get a message of a journey by mail, which comes back, and by SMS. @param outcome what the provider of the first text does */
async function twice(outcome: "timeout" | "transient") {
  const setting = await journeySetting(await fresh());
  const { world, tenant, call, active, track, stats } = setting;
  const { email = "", sms = "" } = await openChannels(world, tenant, "email", "sms");
  await call(`POST /api/v1/channels/${email}/credentials/email`, SES);
  await world.settle();
  const message = { channel_ids: [email, sms], content: { title: "Hello", body: "b" } };
  const id = await active(graphOf({ m: { send: message }, end: "exit" } as never));
  for (const [n, name] of ["ada", "bob"].entries())
    await tenant.upsert({ external_id: name, email: BOUNCES, attributes: { phone: `+491511234567${n}` } });
  await spoil(world, { channel: "sms", outcome, times: 1 });
  await Promise.all([track("ada", "signed_up"), track("bob", "signed_up")]);
  await world.settle();
  const outcomes = async () => (await stats(id)).steps.m.outcomes;
  const counts = async () =>
    (await call(`GET /api/v1/notifications?source_type=journey&source_id=${id}`)).body.items[0].counts;
  const funnel = async () => (await call(`GET /api/v1/insights/funnel?source_type=journey&source_id=${id}`)).body;
  return { world, outcomes, counts, funnel };
}

it("the outcomes of a journey's step are the counts of its send, also before it is known which mails came back (AMB-142)", async () => {
  const { world, outcomes, counts } = await twice("timeout");
  const { delivered, bounced } = await counts();
  expect(await outcomes()).toEqual({ ...(delivered && { sent: delivered }), ...(bounced && { bounced }) });
  await world.advance(60_000);
  expect(await counts()).toMatchObject({ delivered: 1, bounced: 1 });
  expect(await outcomes()).toEqual({ sent: 1, bounced: 1 });
});

it("a mail that comes back while a text waits for another attempt makes no number of a journey's funnel negative (AMB-139)", async () => {
  const { world, counts, funnel } = await twice("transient");
  expect(await counts()).toMatchObject({ delivered: 1, bounced: 1 });
  expect((await funnel()).delivered).toBeGreaterThanOrEqual(0);
  await world.advance(20 * 60_000);
  expect(await counts()).toMatchObject({ delivered: 2, bounced: 0 });
  expect(await funnel()).toMatchObject({ sent: 2, delivered: 2, bounced: 0 });
});
