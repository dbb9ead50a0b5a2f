// Opens and clicks of mails, and which of them a human did not make (AMB-92, F19).
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { interactionTotals } from "../../shared/store/sends/interactions/totals.ts";
import { NOTHING_BACK, NOTHING_LOST } from "../support/late.ts";
import { follow, LINKED_BODY, mailing, mailsOf, SHOP } from "../support/mails.ts";
import { send, wholeTable } from "../support/people.ts";
import { addPhone, openChannels, spoil } from "../support/reached.ts";
import { receiver } from "../support/receiver.ts";
import { recountInteractions } from "../support/recounts.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const totalsOf = async (tenant: Tenant, job: string) => {
  const totals = await interactionTotals(tenant.store, job);
  expect(await recountInteractions(tenant.store, job)).toEqual(totals);
  const { opened, clicked, opened_human, clicked_human } = totals.recipients;
  const { email_opened, email_clicked } = totals.interactions;
  return { opened, clicked, opened_human, clicked_human, email_opened, email_clicked };
};

const rowsOf = async (world: TestWorld) =>
  (await wholeTable(world))
    .filter(({ react }) => react?.S === "interaction")
    .map(({ interaction, machine }) => ({ interaction: interaction?.S, machine: machine?.S }));

/** A mail to Ada with two links that count, sent ten seconds ago. */
async function mailed(options: Parameters<typeof withTenant>[0] = {}, more: object = {}) {
  const { world, tenant } = await withTenant(options);
  const { mail } = await mailing(world, tenant);
  const { job, mail: sent } = await mail({ body: LINKED_BODY, ...more });
  await world.advance(10 * SECOND);
  return { world, tenant, job, sent, totals: () => totalsOf(tenant, job.id) };
}

describe("opens and clicks", () => {
  it("the pixel of a mail is an image that no cache keeps (D-EMAIL)", async () => {
    const { world, sent } = await mailed();

    const pixel = await follow(world, "GET", sent.pixel);

    expect(pixel).toMatchObject({
      status: 200,
      headers: { "content-type": "image/gif", "cache-control": "no-store" },
    });
    expect(String(pixel.body).slice(0, 6)).toBe("GIF89a");
  });

  it("a click leads to its target while the table takes no count of it (D-EMAIL)", async () => {
    const { world, sent } = await mailed();
    await spoil(world, { channel: "aws:dynamodb", operation: "TransactWriteItems" });

    const { status, headers } = await follow(world, "GET", sent.clicks[0]!);

    expect([status, headers.location]).toEqual([302, `${SHOP}/new?a=1&b=2`]);
  });

  it("an open and a click are interactions of the recipient (D-EMAIL, AMB-92)", async () => {
    const { world, sent, totals } = await mailed();

    await follow(world, "GET", sent.pixel);
    await follow(world, "GET", sent.clicks[0]!);

    expect(await totals()).toEqual({
      opened: 1,
      clicked: 1,
      opened_human: 1,
      clicked_human: 1,
      email_opened: 1,
      email_clicked: 1,
    });
  });

  it("an open and a click count for the channel and for the arm of the recipient (D-EMAIL)", async () => {
    const split = { variant_b: { title: "B", body: LINKED_BODY }, split_percentage: 50 };
    const { world, tenant, job, sent } = await mailed({}, split);
    await follow(world, "GET", sent.pixel);
    await follow(world, "GET", sent.clicks[0]!);

    const { variants, channels } = await interactionTotals(tenant.store, job.id);

    expect(Object.values(variants).map(({ recipients }) => recipients.clicked)).toEqual([1]);
    expect(channels.email?.recipients.opened_human).toBe(1);
  });

  it("every open and every click is told by a webhook (D-EMAIL)", async () => {
    const outside = receiver(() => 0);
    const { world, tenant, sent } = await mailed({ network: outside.network });
    const hook = { target_url: "https://hooks.example.com/in", events: ["notification.interaction"] };
    await world.call("POST /v1/hooks", { as: tenant.server, body: hook });

    await follow(world, "GET", sent.pixel);
    await follow(world, "GET", sent.clicks[0]!);
    await follow(world, "HEAD", sent.clicks[1]!);
    await world.settle();

    const told = outside.received.map(({ body }) => JSON.parse(body).data);

    expect(told.map(({ interaction_type, platform }) => `${interaction_type} ${platform}`).sort()).toEqual([
      "email_clicked email",
      "email_clicked email",
      "email_opened email",
    ]);
  });

  it("a thousand requests of a link in a second are one report (D-EMAIL)", async () => {
    const { world, sent, totals } = await mailed();

    for (let n = 0; n < 50; n++) await follow(world, "GET", sent.pixel);
    await Promise.all(Array.from({ length: 10 }, () => follow(world, "GET", sent.pixel)));

    expect(await totals()).toMatchObject({ email_opened: 1, opened: 1 });
  });
});

describe("machines", () => {
  /** What scanners did with a mail: all links at once, with GET and with HEAD, and later by agents that name themselves. */
  async function scanned() {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const { job, mail: sent } = await mail({ body: LINKED_BODY });
    for (const path of [sent.pixel, ...sent.clicks]) await follow(world, "GET", path);
    for (const path of [sent.pixel, ...sent.clicks]) await follow(world, "HEAD", path);
    await world.advance(10 * SECOND);
    await follow(world, "GET", sent.pixel, { "user-agent": "Mozilla/5.0" });
    await follow(world, "GET", sent.clicks[1]!, { "user-agent": "Barracuda Sentinel (EE)" });
    await follow(world, "HEAD", sent.clicks[0]!);
    return { world, sent, totals: () => totalsOf(tenant, job.id) };
  }

  it("what a scanner follows is counted, and not as a human's (AMB-92, F19)", async () => {
    const { totals } = await scanned();

    expect(await totals()).toEqual({
      opened: 1,
      clicked: 1,
      opened_human: 0,
      clicked_human: 0,
      email_opened: 2,
      email_clicked: 4,
    });
  });

  it("what a scanner follows is kept with the reason of the verdict (AMB-92, F19)", async () => {
    const { world } = await scanned();

    const verdicts = (await rowsOf(world)).map(({ machine }) => machine);

    expect(verdicts.sort()).toEqual(["head", "prefetch", "scanner", "too_soon", "too_soon", "too_soon"]);
  });

  it("an open by a human after a scanner is a human's (AMB-92, F19)", async () => {
    const { world, sent, totals } = await scanned();
    await world.advance(10 * SECOND);

    await follow(world, "GET", sent.pixel);

    expect(await totals()).toMatchObject({ opened: 1, opened_human: 1 });
    expect((await rowsOf(world)).filter(({ machine }) => machine === undefined)).toHaveLength(1);
  });

  it.each(["one after the other", "at once"])(
    "all links within seconds, %s, are a machine's, whenever it comes and whatever agent it names (AMB-92, F19)",
    async (how) => {
      const { world, tenant } = await withTenant();
      const { mail } = await mailing(world, tenant);
      const more = [1, 2].map((n) => `<a href="${SHOP}/${n}">${n}</a>`).join("");
      const { job, mail: sent } = await mail({ body: LINKED_BODY + more });
      await world.advance(3 * HOUR);
      const paths = [sent.pixel, ...sent.clicks];
      if (how === "at once") await Promise.all(paths.map((path) => follow(world, "GET", path)));
      else
        for (const path of paths) {
          await follow(world, "GET", path);
          await world.advance(SECOND);
        }

      const machines = { opened: 1, opened_human: 0, clicked: 1, clicked_human: 0 };
      expect(await totalsOf(tenant, job.id)).toMatchObject({ ...machines, email_clicked: 4 });

      await world.advance(MINUTE);
      await follow(world, "GET", sent.clicks[0]!);
      await world.advance(5 * SECOND);
      await follow(world, "GET", sent.clicks[2]!);
      const people = { opened: 1, opened_human: 1, clicked: 1, clicked_human: 1 };
      expect(await totalsOf(tenant, job.id)).toMatchObject(people);
    },
  );
});

it("what a person did with a push stays, where a machine follows the links of the mail of the same send (AMB-92, F19)", async () => {
  const { world, tenant } = await withTenant();
  const { ada, channel } = await mailing(world, tenant);
  const { ios } = await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, ada, "ios");
  const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [channel, ios], body: LINKED_BODY });
  const [sent] = await mailsOf(world);
  await world.advance(HOUR);
  const tap = { job_id: job.id, interaction: "tapped", platform: "ios", subscriber_id: ada };
  const body = { ...tap, occurred_at: timestamp(world.clock.now()) };
  await world.call("POST /api/v1/notifications/interactions", { as: tenant.sdk, body });

  for (const path of sent!.clicks) await follow(world, "GET", path);

  const { recipients, channels } = await interactionTotals(tenant.store, job.id);
  expect(recipients).toMatchObject({ opened_human: 1, clicked_human: 1 });
  expect(channels.email?.recipients).toMatchObject({ clicked: 1, clicked_human: 0 });
});

it("clicks that turn out to be a machine's are taken back from the arm of their recipient too (AMB-92, F19, ABH-1)", async () => {
  const { world, tenant } = await withTenant();
  const { mail } = await mailing(world, tenant);
  const more = [1, 2].map((n) => `<a href="${SHOP}/${n}">${n}</a>`).join("");
  const { job, mail: sent } = await mail({
    body: LINKED_BODY + more,
    variant_b: { title: "B", body: LINKED_BODY + more },
  });
  await world.advance(3 * HOUR);
  for (const path of sent.clicks) {
    await follow(world, "GET", path);
    await world.advance(SECOND);
  }
  const { recipients, variants } = await interactionTotals(tenant.store, job.id);

  expect(recipients).toMatchObject({ clicked: 1, clicked_human: 0 });
  expect(Object.values(variants).map((arm) => arm.recipients)).toEqual([recipients]);
});

it("a campaign's report has opens by humans and by all, in total, by channel and by message (F19, CRP-3, CRP-4)", async () => {
  const { world, tenant } = await withTenant();
  const { channel } = await mailing(world, tenant);
  const message = { content: { title: "t", body: LINKED_BODY }, channel_ids: [channel] };
  const body = { name: "News", messages: [message, message], target: { type: "all" } };
  const { body: campaign } = await tenant.call("POST /api/v1/campaigns", body);
  expect((await tenant.call(`POST /api/v1/campaigns/${campaign.id}/release`)).status).toBe(200);
  await world.settle();
  const [first, second] = await mailsOf(world);
  await follow(world, "GET", first!.pixel, { "user-agent": "Mozilla/5.0" });
  await world.advance(10 * SECOND);
  await follow(world, "GET", second!.pixel);

  const { body: report } = await tenant.call(`GET /api/v1/campaigns/${campaign.id}/report`);

  expect(report).toMatchObject({ opened: 2, opened_human: 1 });
  expect(report.by_channel).toEqual([
    {
      ...NOTHING_BACK,
      ...NOTHING_LOST,
      channel: "email",
      delivered: 2,
      opened: 2,
      opened_human: 1,
      clicked: 0,
      clicked_human: 0,
      provider_dollars: 0.0002,
    },
  ]);
  const humans = report.by_message.map(({ opened_human }: { opened_human: number }) => opened_human);
  expect(humans.toSorted()).toEqual([0, 1]);
});
