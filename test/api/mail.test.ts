// Unsubscribing by the links of mails: headers, the page, the click, and the tokens (D-EMAIL).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MailToken, openMailToken, sealMailToken } from "../../shared/contract/mail-tokens.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { BROWSER, consentsOf, follow, mailing } from "../support/mails.ts";
import { send, wholeTable } from "../support/people.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

describe("unsubscribing", () => {
  it("marketing mail has one-click headers and a visible link, transactional mail has neither (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const { mail: marketing } = await mail({ body: "<p>Hi</p>" });
    const url = /^<(.*)>$/.exec(marketing.headers["List-Unsubscribe"]!)![1]!;
    expect(marketing.headers["List-Unsubscribe-Post"]).toBe("List-Unsubscribe=One-Click");
    expect(marketing.html).toContain(`<a href="${url}">Unsubscribe</a>`);
    expect(marketing.text).toBe(`Hi\n\n-- \nUnsubscribe: ${url}`);
    const { mail: receipt } = await mail({ body: "<p>Hi</p>", category: "transactional" });
    expect(Object.keys(receipt.headers).filter((name) => name.startsWith("List-"))).toEqual([]);
    expect(`${receipt.html}${receipt.text}`).not.toMatch(/unsubscribe/i);
  });

  const SENDER = { sender_name: "Tom & Söhne", postal_address: "Hauptstr. 1\n10115 Berlin" };
  /** Ada reads German, and the workspace has a name and an address. */
  const inGerman = async () => {
    const { world, tenant } = await withTenant();
    const mailed = await mailing(world, tenant);
    expect((await tenant.call("PATCH /api/v1/workspace", SENDER)).body).toMatchObject(SENDER);
    await tenant.upsert({ external_id: "ada", attributes: { locale: "de-AT" } });
    return { world, tenant, ...mailed };
  };

  it("the footer shows the sender's name and postal address, in the subscriber's language (CHC-4)", async () => {
    const { mail } = await inGerman();
    const { text, html } = (await mail({ title: "Neu", body: "Hallo" })).mail;

    expect(text).toMatch(/^Hallo\n\n-- \nTom & Söhne\nHauptstr\. 1\n10115 Berlin\nAbmelden: http/);
    expect(html).toMatch(/Tom &amp; Söhne<br>Hauptstr\. 1<br>10115 Berlin<br><a href="[^"]*">Abmelden<\/a><\/p>/);
  });

  it("the page to unsubscribe shows the sender, in the subscriber's language (CHC-4)", async () => {
    const { world, mail } = await inGerman();
    const { unsubscribe } = (await mail()).mail;

    expect(String((await follow(world, "GET", unsubscribe!)).body)).toMatch(
      /<html lang="de">.*<footer>.*Tom &amp; Söhne<br>\nHauptstr\. 1/s,
    );
  });

  it("a transactional mail has no sender below it (CHC-4)", async () => {
    const { mail } = await inGerman();

    expect((await mail({ category: "transactional" })).mail.text).not.toContain("Hauptstr");
  });

  it("the footer has no sender once it is cleared (CHC-4)", async () => {
    const { world, tenant, mail } = await inGerman();
    await tenant.call("PATCH /api/v1/workspace", { sender_name: null, postal_address: null });
    await world.advance(1_000);

    expect((await mail({ body: "Hallo" })).mail.text).toMatch(/^Hallo\n\n-- \nAbmelden: http/);
  });

  const clickOf = (world: TestWorld, link: string | undefined) =>
    world.call(`POST ${link}`, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      raw: Buffer.from("List-Unsubscribe=One-Click"),
    });

  it("one click opts out of marketing, and the next send skips with no_consent (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { channel, mail } = await mailing(world, tenant);
    expect((await clickOf(world, (await mail()).mail.unsubscribe)).status).toBe(200);
    const input = { target: { type: "all" }, channel_ids: [channel] };

    expect((await send(world, tenant, input)).job.skip_reasons).toEqual({ no_consent: 1 });
    expect((await send(world, tenant, { ...input, category: "transactional" })).job.counts.delivered).toBe(1);
  });

  it("the answer to one click is kept by no cache, and open to no script (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const { headers } = await clickOf(world, (await mail()).mail.unsubscribe);

    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("an opt-out by a link is stated once, however often it is sent (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const { unsubscribe } = (await mail()).mail;
    await clickOf(world, unsubscribe);
    await follow(world, "POST", unsubscribe!);
    await Promise.all([follow(world, "POST", unsubscribe!), follow(world, "POST", unsubscribe!)]);

    expect((await consentsOf(tenant, ada)).items).toMatchObject([
      { channel: "email", status: "opted_out", source: "unsubscribe" },
    ]);
  });

  it("a link never expires: after a new opt-in it works again (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const { unsubscribe } = (await mail()).mail;
    await follow(world, "POST", unsubscribe!);
    await world.advance(1_000);
    const body = { external_id: "ada", consent: { status: "opted_in" } };
    await tenant.upsert(body);
    await world.advance(1_000);
    expect((await follow(world, "POST", unsubscribe!)).status).toBe(200);
    const { items } = await consentsOf(tenant, ada);
    expect(items.map(({ status }: { status: string }) => status)).toEqual(["opted_out", "opted_in", "opted_out"]);
  });

  it("1,000 GET requests of a scanner change nothing (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const { unsubscribe } = (await mail()).mail;
    const before = JSON.stringify(await wholeTable(world));
    const shown = await follow(world, "GET", unsubscribe!);
    expect(shown.status).toBe(200);
    expect(shown.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(shown.body).toContain('<form method="post">');
    expect(shown.body).not.toMatch(/@|ada/i);
    for (let n = 0; n < 999; n++) await follow(world, "GET", unsubscribe!);
    expect(JSON.stringify(await wholeTable(world))).toBe(before);
  });

  it("the pages of a mail say after an erasure that nothing more is sent (AMB-143)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const { unsubscribe } = (await mail()).mail;
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(300_000);

    for (const link of [unsubscribe!, unsubscribe!.replace("/u/", "/p/")])
      for (const method of ["GET", "POST"] as const) {
        const { status, body } = await follow(world, method, link);
        expect(status, `${method}`).toBe(200);
        expect(body).toContain("You will get no more");
        expect(body).not.toContain("<form");
      }
  });

  it("a suppressed address stays suppressed after a click (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant);
    const { unsubscribe } = (await mail()).mail;
    await suppressAddress(tenant.store, { kind: "email", address: "ada@example.com", reason: "manual" });

    expect((await follow(world, "POST", unsubscribe!, BROWSER)).status).toBe(200);
    expect((await mail({ category: "transactional" })).job.skip_reasons).toEqual({ suppressed: 1 });
  });
});

describe("tokens", () => {
  const key = Buffer.alloc(32, 7);
  const uuid = fc.uuid();
  const sent = {
    tenant: uuid,
    subscriber: uuid,
    job: uuid,
    arm: fc.constantFrom<"a" | "b">("a", "b"),
    sentAt: fc.nat(2 ** 31),
  };
  const token = fc.oneof(
    fc.record({
      kind: fc.constant("unsubscribe" as const),
      tenant: uuid,
      subscriber: uuid,
      address: uuid,
      channel: fc.constant("email" as const),
      scope: fc.constant("marketing" as const),
      of: fc.option(fc.record({ job: uuid, sentAt: sent.sentAt }), { nil: undefined }),
    }),
    fc.record({ kind: fc.constant("open" as const), ...sent }, { noNullPrototype: true }),
    fc.record({
      kind: fc.constant("click" as const),
      ...sent,
      link: fc.nat(65_535),
      links: fc.nat(65_535),
      target: fc.string({ unit: "grapheme" }).map((path) => `https://shop.example/${encodeURIComponent(path)}`),
    }),
  );
  const kinds = ["unsubscribe", "open", "click"] as const;

  it("tokens of links in mails open with their own kind and key alone, to what they were made of (D-EMAIL)", () => {
    fc.assert(
      fc.property(token, (made: MailToken) => {
        const text = sealMailToken(key, made);
        expect(text).toMatch(/^[\w-]{60,2900}$/);
        for (const kind of kinds) expect(openMailToken(key, kind, text)).toEqual(kind === made.kind ? made : undefined);
        expect(openMailToken(Buffer.alloc(32, 8), made.kind, text)).toBeUndefined();
      }),
    );
  });

  it("tokens of links are invalid with any character changed, added or left out, even if it decodes to the same bytes (D-EMAIL)", () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    fc.assert(
      fc.property(
        token,
        fc.nat(),
        fc.constantFrom(...letters, "", "+", "/", "=", "%"),
        (made: MailToken, n, letter) => {
          const text = sealMailToken(key, made);
          const at = n % text.length;
          const changed = text.slice(0, at) + letter + text.slice(at + 1);
          if (changed !== text) expect(openMailToken(key, made.kind, changed)).toBeUndefined();
          expect(openMailToken(key, made.kind, `${text}${letter || "="}`)).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });
});
