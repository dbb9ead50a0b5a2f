// Links of mails that somebody kept: what they do once the address or the workspace is not what it was.
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { follow, mailing, mailsOf } from "../support/mails.ts";
import { send } from "../support/people.ts";
import { operate, pass30Days, rowsOf } from "../support/purge.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const NEWS = { key: "news", name: "News" };
/** An opt-in is confirmed by a mail. */
const DEALS = { key: "deals", name: "Deals", default: "out", double_opt_in: true };

describe("the preference page of a mail, and a topic into which nobody opts without a confirmation", () => {
  async function setting() {
    const { world, tenant } = await withTenant();
    const { ada, channel, mail } = await mailing(world, tenant, "own@example.com");
    for (const topic of [NEWS, DEALS]) await tenant.call("POST /api/v1/topics", topic);
    const { mail: received } = await mail({ topic: "news", category: "transactional" });
    const path = new URL(/^Your preferences: (.*)$/m.exec(received.text)![1]!).pathname;
    const optIn = () =>
      world.call(`POST ${path}`, {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        raw: Buffer.from("shown=deals&in=deals"),
      });
    const moveTo = async (email: string) => {
      await world.advance(MINUTE);
      await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id: "ada", email } });
      await world.settle();
    };
    /** The recipients of a mail of the topic. */
    const reached = async () => {
      const body = { subscriberIds: [ada], channel_ids: [channel], category: "marketing", topic: "deals" };
      const { job } = await send(world, tenant, body);
      await world.advance(MINUTE);
      return (await mailsOf(world, `&job_id=${job.id}`)).map(({ to }) => to);
    };
    const asked = async () => (await mailsOf(world)).filter(({ text }) => /\/i\/[\w-]+/.test(text)).map(({ to }) => to);
    return { optIn, moveTo, reached, asked };
  }

  it("a choice on the preference page counts as confirmed for its address (AMB-129, TPC-4)", async () => {
    const { optIn, reached, asked } = await setting();
    await optIn();

    expect([await reached(), await asked()]).toEqual([["own@example.com"], []]);
  });

  it("a choice on the preference page is confirmed anew by the owner of the next address (AMB-129, TPC-4)", async () => {
    const { optIn, moveTo, reached, asked } = await setting();
    await optIn();
    await moveTo("victim@example.com");

    expect([await reached(), await asked()]).toEqual([[], ["victim@example.com"]]);
  });

  it("a choice on the preference page of a former address is confirmed by the owner of the present one (AMB-129, TPC-4)", async () => {
    const { optIn, moveTo, reached, asked } = await setting();
    await moveTo("victim@example.com");
    await optIn();

    expect([await reached(), await asked()]).toEqual([[], ["victim@example.com"]]);
  });
});

it("the links of a mail write nothing in a workspace that was purged (D-TENANT, AMB-143)", async () => {
  const { world, tenant } = await withTenant();
  const { mail } = await mailing(world, tenant);
  const { mail: received } = await mail();
  await operate(world, tenant, { status: "deleted" });
  await pass30Days(world);

  const { status } = await follow(world, "POST", received.unsubscribe!);
  await follow(world, "GET", received.pixel);
  await world.settle();

  expect(status).toBe(200);
  expect(await rowsOf(world, tenant)).toHaveLength(1);
});
