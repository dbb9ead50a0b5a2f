import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { interactionTotals } from "../../shared/store/sends/interactions/totals.ts";
import { NOTHING_BACK } from "../support/late.ts";
import { follow, mailing, mailsOf } from "../support/mails.ts";
import { receiver } from "../support/receiver.ts";
import { recountInteractions } from "../support/recounts.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

const SHOP = "https://shop.example.com";
const BODY =
  `<p>Hi {{ subscriber.first_name }}</p><a href="${SHOP}/new?a=1&amp;b=2">New</a> <A class=x HREF='${SHOP}/old'>Old</A>` +
  `<a href="mailto:a@b.example">Write</a><a href="javascript:alert(1)">Run</a><img src="${SHOP}/x.png">`;

const totalsOf = async (tenant: Tenant, job: string) => {
  const totals = await interactionTotals(tenant.store, job);
  expect(await recountInteractions(tenant.store, job)).toEqual(totals);
  const { opened, clicked, opened_human, clicked_human } = totals.recipients;
  const { email_opened, email_clicked } = totals.interactions;
  return { opened, clicked, opened_human, clicked_human, email_opened, email_clicked };
};

const rowsOf = async (world: TestWorld) => {
  const { Items } = await world.dynamodb.operate("Scan", { TableName: world.env.TABLE_NAME });
  return (Items as Record<string, { S?: string }>[])
    .filter((row) => row.react?.S === "interaction")
    .map((row) => ({ interaction: row.interaction?.S, machine: row.machine?.S }));
};

describe("counting", () => {
  it("opens and clicks are interactions of the recipient, by arm, and each fires its webhook (D-EMAIL, AMB-92)", async () => {
    const outside = receiver(() => 0);
    const world = await fresh({ network: outside.network });
    const tenant = await world.tenant();
    const { mail } = await mailing(world, tenant);
    const hook = { target_url: "https://hooks.example.com/in", events: ["notification.interaction"] };
    await world.call("POST /v1/hooks", { as: tenant.server, body: hook });
    const variant_b = { title: "B", body: BODY };
    const { job, mail: sent } = await mail({ body: BODY, variant_b, split_percentage: 50 });
    await world.advance(10 * SECOND);
    const pixel = await follow(world, "GET", sent.pixel);
    expect([pixel.status, pixel.headers["content-type"], pixel.headers["cache-control"]]).toEqual([
      ...[200, "image/gif", "no-store"],
    ]);
    expect(String(pixel.body).slice(0, 6)).toBe("GIF89a");
    await follow(world, "GET", sent.clicks[0]!);
    expect(await totalsOf(tenant, job.id)).toEqual({
      opened: 1,
      clicked: 1,
      opened_human: 1,
      clicked_human: 1,
      email_opened: 1,
      email_clicked: 1,
    });
    const { variants, channels } = await interactionTotals(tenant.store, job.id);
    expect(Object.values(variants).map(({ recipients }) => recipients.clicked)).toEqual([1]);
    expect(channels.email?.recipients.opened_human).toBe(1);
    await follow(world, "HEAD", sent.clicks[1]!);
    await world.settle();
    const told = outside.received.map(({ body }) => JSON.parse(body).data);
    expect(told.map(({ interaction_type, platform }) => [interaction_type, platform]).sort()).toEqual([
      ...[
        ["email_clicked", "email"],
        ["email_clicked", "email"],
        ["email_opened", "email"],
      ],
    ]);
  });

  it("a scanner that follows all links is counted with a verdict, and not as a human (AMB-92, F19)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const { job, mail: sent } = await mail({ body: BODY });
    for (const path of [sent.pixel, ...sent.clicks]) await follow(world, "GET", path);
    for (const path of [sent.pixel, ...sent.clicks]) await follow(world, "HEAD", path);
    await world.advance(10 * SECOND);
    await follow(world, "GET", sent.pixel, { "user-agent": "Mozilla/5.0" });
    await follow(world, "GET", sent.clicks[1]!, { "user-agent": "Barracuda Sentinel (EE)" });
    await follow(world, "HEAD", sent.clicks[0]!);
    expect(await totalsOf(tenant, job.id)).toEqual({
      opened: 1,
      clicked: 1,
      opened_human: 0,
      clicked_human: 0,
      email_opened: 2,
      email_clicked: 4,
    });
    const verdicts = (await rowsOf(world)).map(({ machine }) => machine).sort();
    expect(verdicts).toEqual(["head", "prefetch", "scanner", "too_soon", "too_soon", "too_soon"]);
    await world.advance(10 * SECOND);
    await follow(world, "GET", sent.pixel);
    expect(await totalsOf(tenant, job.id)).toMatchObject({ opened: 1, opened_human: 1 });
    expect((await rowsOf(world)).filter(({ machine }) => machine === undefined)).toHaveLength(1);
  });

  it.each(["one after the other", "at once"])(
    "all links within seconds, %s, are a machine's, whenever it comes and whatever agent it names (AMB-92, F19)",
    async (how) => {
      const { world, tenant } = await withTenant();
      const { mail } = await mailing(world, tenant);
      const more = [1, 2].map((n) => `<a href="${SHOP}/${n}">${n}</a>`).join("");
      const { job, mail: sent } = await mail({ body: BODY + more });
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

  it("a thousand requests of a link in a second are one report (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const { job, mail: sent } = await mail({ body: BODY });
    await world.advance(10 * SECOND);
    for (let n = 0; n < 50; n++) await follow(world, "GET", sent.pixel);
    await Promise.all(Array.from({ length: 10 }, () => follow(world, "GET", sent.pixel)));
    expect(await totalsOf(tenant, job.id)).toMatchObject({ email_opened: 1, opened: 1 });
  });

  it("a campaign's report has opens by humans and by all, in total, by channel and by message (F19, CRP-3, CRP-4)", async () => {
    const { world, tenant } = await withTenant();
    const { channel } = await mailing(world, tenant);
    const message = { content: { title: "t", body: BODY }, channel_ids: [channel] };
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
});
