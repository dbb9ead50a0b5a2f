// The links of mails: which count, where they lead, and which lead nowhere (D-EMAIL, AMB-121).
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { htmlLinks } from "../../shared/rules/html-links.ts";
import { mailParts, withoutAdditions } from "../../shared/rules/mail-parts.ts";
import { interactionTotals } from "../../shared/store/sends/interactions/totals.ts";
import { follow, LINKED_BODY, mailing, SHOP } from "../support/mails.ts";
import { outsideAudit, wholeTable } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

describe("links", () => {
  const sentMail = async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    return { world, sent: (await mail({ body: LINKED_BODY, category: "transactional" })).mail };
  };

  it("the links of the HTML are tracked, but for addresses and pictures (D-EMAIL)", async () => {
    const { sent } = await sentMail();

    expect(sent.clicks).toHaveLength(2);
    expect(sent.html).toContain('<a href="mailto:a@b.example">');
    expect(sent.html).toContain(`<img src="${SHOP}/x.png">`);
    expect(sent.html).not.toContain(`${SHOP}/new`);
  });

  it.each([
    ["no end of its head", "<html><head><title>News</title><body>"],
    ["a comment that ends as browsers let it", "<html><body><!-- News --!>"],
  ])("the links of a mail with %s are safe and tracked (D-EMAIL)", async (_, start) => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const body = `${start}<p><a href="{{ data.site }}">Site</a> <a href="https://shop.example/">Shop</a></p></body></html>`;
    const { mail: sent } = await mail({ body, data: { site: "javascript:alert(1)" } });

    expect(sent.html).toContain('<a href="#">Site</a>');
    expect(sent.clicks).toHaveLength(1);
  });

  it("the links of the text stay plain (D-EMAIL)", async () => {
    const { sent } = await sentMail();

    expect(sent.text).toContain(`New (${SHOP}/new?a=1&b=2) Old (${SHOP}/old)`);
  });

  it("a tracked link leads to its target, and no cache keeps the way (D-EMAIL)", async () => {
    const { world, sent } = await sentMail();
    await world.advance(10 * SECOND);
    const [first, second] = [await follow(world, "GET", sent.clicks[0]!), await follow(world, "GET", sent.clicks[1]!)];

    expect(first).toMatchObject({
      status: 302,
      headers: { location: `${SHOP}/new?a=1&b=2`, "cache-control": "no-store" },
    });
    expect(first.headers["access-control-allow-origin"]).toBeUndefined();
    expect(second).toMatchObject({ status: 302, headers: { location: `${SHOP}/old` } });
  });

  it.each([
    ["javascript:alert(1)", "#"],
    [" java\tscript:alert(1)", "#"],
    ["data:text/html,hi", "#"],
    ["tel:+4915112345678", "tel:+4915112345678"],
  ])("a link that an attribute fills with %j leads to %s (D-EMAIL)", async (site, href) => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const body = '<p><a class="x" href="{{ data.site }}">Site</a></p>';
    const { mail: sent } = await mail({ body, data: { site }, category: "transactional" });

    expect(sent.html).toContain(`<a class="x" href="${href}">Site</a>`);
  });

  it("the URLs of a text mail are links, and tracked (AMB-121)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const { mail: sent } = await mail({
      body: `See ${SHOP}/new?a=1&b=2, or (${SHOP}/old).`,
      category: "transactional",
    });
    expect(sent.text).toBe(`See ${SHOP}/new?a=1&b=2, or (${SHOP}/old).`);
    await world.advance(10 * SECOND);
    const led = [];
    for (const path of sent.clicks) led.push((await follow(world, "GET", path)).headers.location);
    expect(led).toEqual([`${SHOP}/new?a=1&b=2`, `${SHOP}/old`]);
  });

  it("no part of the request changes the target (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const [path] = (await mail({ body: LINKED_BODY })).mail.clicks as [string];
    for (const more of ["?url=https://evil.example", "?target=//evil.example&u=https://evil.example"])
      expect((await follow(world, "GET", path + more)).headers.location).toBe(`${SHOP}/new?a=1&b=2`);
    for (const n of [3, 20, 60, 90]) {
      const forged = path.slice(0, n + 3) + (path[n + 3] === "A" ? "B" : "A") + path.slice(n + 4);
      const { status, headers } = await follow(world, "GET", forged);
      expect(status).toBe(404);
      expect(headers.location).toBeUndefined();
    }
  });

  it("a link leads where it led when it was sent, after a change of attributes and after an erasure (AMB-149)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const [path] = (await mail({ body: `<p><a href="${SHOP}/{{ subscriber.first_name }}">A</a>` })).mail.clicks as [
      string,
    ];
    const target = async () => {
      const { status, headers } = await follow(world, "GET", path);
      return [status, headers.location];
    };
    const again = { external_id: "ada", attributes: { first_name: "Bea" } };
    await tenant.upsert(again);
    expect(await target()).toEqual([302, `${SHOP}/Ada`]);
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.settle();
    expect(await target()).toEqual([302, `${SHOP}/Ada`]);
  });

  it("a link of an erased subscriber counts nothing (AMB-143)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const { job, mail: letter } = await mail({ body: LINKED_BODY });
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(300 * SECOND);
    const before = JSON.stringify(outsideAudit(await wholeTable(world)));

    expect((await follow(world, "GET", letter.clicks[0]!)).status).toBe(302);
    expect((await follow(world, "GET", letter.pixel)).status).toBe(200);
    expect(JSON.stringify(outsideAudit(await wholeTable(world)))).toBe(before);
    expect((await interactionTotals(tenant.store, job.id)).recipients.clicked).toBe(0);
  });

  it("a target that is too long for a token is sent as it is (AMB-149)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const [long, short] = [`${SHOP}/long`, `${SHOP}/short`];
    const random = Array.from({ length: 60 }, (_, i) => createHash("sha512").update(`${i}`).digest("hex")).join("");
    const { mail: letter } = await mail({ body: `<p><a href="${long}?${random}">A</a><a href="${short}">B</a>` });

    expect(letter.html).toContain(`href="${long}?${random}"`);
    expect(letter.clicks).toHaveLength(1);
  });

  it.each([
    ["<a href=https://e.com/x>a</a>", ["https://e.com/x"]],
    ['<a title="a > b" href="https://e.com/x">a</a>', ["https://e.com/x"]],
    ['<a href = "\nhttps://e.com/\tx ">a</a>', ["https://e.com/x"]],
    ['<a data-href="https://e.com/no" href="//e.com">a</a>', []],
    ['<!-- <a href="https://e.com/no">a</a> --><abbr href="https://e.com/no">', []],
    ['<script>"<a href=\'https://e.com/no\'>"</script><a href="https://e.com/">a</a>', ["https://e.com/"]],
    ['<a href="https://e.com/a" href="https://e.com/b">', ["https://e.com/a"]],
    ['<a href="https://e.com/a', []],
    [`<b>${"İ".repeat(40)}</b><STYLE>b{}</Style><a href="https://e.com/">a</a>`, ["https://e.com/"]],
    ["<a", []],
    ['<a href="https://[/">', []],
  ])("the links of a mail are found in %s: %j (D-EMAIL)", (html, targets) => {
    const found = htmlLinks(html);

    expect(found.targets).toEqual(targets);
    expect(found.pieces).toHaveLength(targets.length + 1);
  });

  it("the HTML of a mail is read in one pass, however it is nested (D-EMAIL)", () => {
    for (const html of ["<a href='", "<a ", "<", "<!--", '<a x="', "<a href=https://e.com>", "<style>"])
      expect(htmlLinks(html.repeat(50_000)).targets.length).toBeLessThanOrEqual(1_000);
  });

  it("the footer and the pixel are added before the end of the body, apart from the authored content (D-EMAIL)", () => {
    const urls = {
      unsubscribe: "https://x.example/u/t",
      open: "https://x.example/o/t",
      click: () => "https://x.example/c/t",
    };
    const { html, text } = mailParts({ html: "<html><body><p>Hi</p></BODY></html>", text: "Hi" }, urls);

    expect(html).toMatch(/<\/p><p data-part="unsubscribe".*<img data-part="open".*><\/BODY><\/html>$/);
    expect(withoutAdditions({ html, text })).toEqual({ html: "<html><body><p>Hi</p></BODY></html>", text: "Hi" });
  });

  it("the footer and the pixel of a mail are found in one pass, however often it begins them (D-EMAIL)", () => {
    const starts = ['<p data-part="unsubscribe"', '<p data-part="unsubscribe">', '<img data-part="open" '];
    const began = performance.now();
    for (const start of starts) withoutAdditions({ html: start.repeat(20_000), text: "" });

    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it("the footer stands before the end of the body, also of a text that is longer in small letters (D-EMAIL)", () => {
    const { html } = mailParts(
      { html: "<html><body><p>İSTANBUL</p></body></html>", text: "İSTANBUL" },
      { unsubscribe: "https://x.example/u/t" },
    );

    expect(html).toMatch(/^<html><body><p>İSTANBUL<\/p><p data-part="unsubscribe".*<\/p><\/body><\/html>$/);
  });
});
