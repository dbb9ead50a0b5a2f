// The UTM defaults of a workspace on the links of its mails (CHC-6).
import { describe, expect, it } from "vitest";
import { withUtm } from "../../shared/rules/utm.ts";
import { follow, mailing } from "../support/mails.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const SHOP = "https://shop.example.com";
const UTM = "utm_source=Tom%20%26%20co&utm_medium=email";
const BODY =
  `<a href="${SHOP}/new?a=1&amp;b=2#top">New</a><a href="${SHOP}/own?utm_source=x">Own</a>` +
  `<a href="mailto:a@b.example">Write</a><a href="tel:+4930123">Call</a>`;

async function withDefaults(world: TestWorld, tenant: Tenant, utm_defaults: object | null) {
  const changed = await tenant.call("PATCH /api/v1/workspace", { utm_defaults });
  await world.advance(1_000);
  return changed;
}

/** Where the tracked links of a mail lead. */
async function targetsOf(world: TestWorld, clicks: readonly string[]) {
  const led = [];
  for (const path of clicks) led.push((await follow(world, "GET", path)).headers.location);
  return led;
}

describe("UTM defaults", () => {
  it("UTM defaults are off until a workspace sets them, and off again with null (CHC-6)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    expect((await mail({ body: BODY })).mail.text).not.toContain("utm_medium");
    const set = await withDefaults(world, tenant, { source: "Tom & co" });
    expect(set.body.utm_defaults).toEqual({ source: "Tom & co", medium: "email" });
    const cleared = await withDefaults(world, tenant, null);
    expect(cleared.body.utm_defaults).toBeNull();
    expect((await mail({ body: BODY })).mail.text).not.toContain("utm_medium");
  });

  it("UTM defaults are on tracked links of marketing mail, unless a link has its own (CHC-6)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    await withDefaults(world, tenant, { source: "Tom & co" });
    const { mail: sent } = await mail({ body: BODY, name: "Spring sale" });

    expect(await targetsOf(world, sent.clicks)).toEqual([
      `${SHOP}/new?a=1&b=2&${UTM}&utm_campaign=Spring%20sale#top`,
      `${SHOP}/own?utm_source=x`,
    ]);
    expect(sent.html).toContain('<a href="mailto:a@b.example">Write</a><a href="tel:+4930123">Call</a>');
    expect(sent.text).toContain(`New (${SHOP}/new?a=1&b=2&${UTM}&utm_campaign=Spring%20sale#top)`);
  });

  it("UTM defaults are not on the links to unsubscribe, of its header and of its footer (CHC-6)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    await withDefaults(world, tenant, { source: "shop", campaign: "always" });
    const { mail: sent } = await mail({ body: `See ${SHOP}/new.`, name: "Spring sale" });

    expect(sent.text).toBe(
      `See ${SHOP}/new?utm_source=shop&utm_medium=email&utm_campaign=always.\n\n-- \n` +
        `Unsubscribe: ${/^<(.*)>$/.exec(sent.headers["List-Unsubscribe"]!)![1]}`,
    );
    expect(sent.headers["List-Unsubscribe"]).not.toContain("utm");
  });

  it("UTM defaults are not in transactional mail (CHC-6)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    await withDefaults(world, tenant, { source: "shop" });
    const { mail: receipt } = await mail({ body: BODY, category: "transactional" });

    expect(await targetsOf(world, receipt.clicks)).toEqual([`${SHOP}/new?a=1&b=2#top`, `${SHOP}/own?utm_source=x`]);
    expect(receipt.text).not.toContain("utm_medium");
  });

  it("a preview of a send and of a template shows them (CHC-6)", async () => {
    const { world, tenant } = await withTenant();
    const { channel } = await mailing(world, tenant);
    await withDefaults(world, tenant, { source: "shop" });
    const content = { title: "News", body: `<a href="${SHOP}/new">New</a>` };
    const input = { target: { type: "all" }, channel_ids: [channel], name: "May", ...content };
    const send = await tenant.call("POST /api/v1/notifications/preview", input);
    const href = `href="${SHOP}/new?utm_source=shop&amp;utm_medium=email&amp;utm_campaign=May"`;
    expect(send.body.renderings[0].html).toContain(href);
    const shown = async (more: object) =>
      (await tenant.call("POST /api/v1/templates/preview", { content, channels: ["email"], ...more })).body
        .renderings[0].html;
    expect(await shown({ category: "marketing", name: "May" })).toContain(href);
    expect(await shown({ category: "transactional" })).toContain(`href="${SHOP}/new"`);
    expect(await shown({})).toContain(`href="${SHOP}/new"`);
  });

  it("a test send has them (CHC-6)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel } = await mailing(world, tenant);
    await withDefaults(world, tenant, { source: "shop" });
    await tenant.call("PATCH /api/v1/workspace", { test_subscriber_ids: [ada] });
    const body = { title: "News", body: `See ${SHOP}/new`, channel_ids: [channel], to: [ada] };
    const answer = await tenant.call("POST /api/v1/notifications/test", body);
    expect(answer.body.deliveries).toMatchObject([{ state: "sent" }]);
    const { body: outbox } = await world.call("GET /_local/outbox?channel=email");
    expect(JSON.stringify(outbox)).toContain(`${SHOP}/new?utm_source=shop&utm_medium=email`);
  });

  it("a URL in a text keeps its brackets, and leaves those around it (CHC-6, AMB-121)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    await withDefaults(world, tenant, { source: "shop" });
    const { mail: sent } = await mail({ body: `See ${SHOP}/Cup_(tea), or (${SHOP}/a?x=[1]).` });
    const utm = "utm_source=shop&utm_medium=email";
    expect(sent.text).toContain(`See ${SHOP}/Cup_(tea)?${utm}, or (${SHOP}/a?x=[1]&${utm}).`);
    const [cup] = await targetsOf(world, sent.clicks);
    expect(cup).toBe(`${SHOP}/Cup_(tea)?${utm}`);
  });

  it.each([
    ["https://a.example", "https://a.example?u=1"],
    ["https://a.example/?", "https://a.example/?u=1"],
    ["https://a.example/x?sig=a%20b+c", "https://a.example/x?sig=a%20b+c&u=1"],
    ["https://a.example/x?a=1&#b?c", "https://a.example/x?a=1&u=1#b?c"],
    ["https://a.example/#/path?utm_id=7", "https://a.example/#/path?utm_id=7"],
    ["https://a.example/?UTM_Term=x", "https://a.example/?UTM_Term=x"],
  ])("%s becomes %s, and nothing else of it changes (CHC-6)", (url, marked) => {
    expect(withUtm(url, "u=1")).toBe(marked);
  });
});
