// E-mail: the MIME source, and injection into it; sends by SES.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SesEvent } from "../../local/aws/index.ts";
import { readMail } from "../../local/providers/mail.ts";
import { encodedText, mailSource } from "../../shared/providers/email.ts";
import { openProviders } from "../../shared/providers/providers.ts";
import { mailBodies } from "../../shared/rules/mail-body.ts";
import { textOfHtml } from "../../shared/rules/mail-text.ts";
import { credentials, JOB, messageFor, SUBSCRIBER, sendBy } from "../support/provider-messages.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

function sourceOf(more: Parameters<typeof messageFor<"email">>[1] = {}, own: object = {}): string {
  const made = mailSource({ ...credentials.email, ...own }, messageFor("email", more), START);
  if (made.kind === "refused") throw new Error(made.reason);
  return made.source;
}

describe("the source", () => {
  it("the source of a mail has a text part and an HTML part, and headers that name its send (D-EMAIL)", () => {
    const unsubscribeUrl = "https://api.example.com/u/token";
    const { headers } = readMail(sourceOf({ unsubscribeUrl, variant: "a" }, { reply_to: "help@example.com" }));
    expect(headers).toMatchObject({
      From: "Shop <news@example.com>",
      To: "ada@example.org",
      "Reply-To": "help@example.com",
      Subject: "Hello Ada",
      Date: "Fri, 20 Nov 2026 12:00:00 +0000",
      "MIME-Version": "1.0",
      "X-Notification-Id": JOB,
      "X-Subscriber-Id": SUBSCRIBER,
      "X-Variant-Id": "a",
      "List-Unsubscribe": `<${unsubscribeUrl}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    });
    expect(headers["Content-Type"]).toMatch(/^multipart\/alternative; boundary=/);
    expect(sourceOf()).not.toContain("List-Unsubscribe");
  });

  it("a Message-ID that is unique and repeatable for a send (D-EMAIL)", () => {
    const idOf = (source: string) => /^Message-ID: (<[0-9a-f]{32}@example\.com>)\r$/m.exec(source)?.[1];
    expect(idOf(sourceOf())).toBeTypeOf("string");
    expect(idOf(sourceOf())).toBe(idOf(sourceOf({ body: "Something else" })));
    expect(idOf(sourceOf())).not.toBe(idOf(sourceOf({ job: "another" })));
    expect(idOf(sourceOf())).not.toBe(idOf(sourceOf({ subscriber: "another" })));
  });

  it.each([
    ["text with paragraphs", "One\ntwo\n\nThree & <four>", "One\ntwo\n\nThree & <four>"],
    ["HTML", "<p>Hi <b>Ada</b></p>", "Hi Ada"],
    ["text with line ends of Windows", ...Array(2).fill("One\r\ntwo\r\n\r\nThree & <four>\r\n")],
    ["HTML after spaces", " \n<!doctype html><p>Hi</p>", "Hi"],
    ["text that begins with a sign", "< 5 euros & more", "< 5 euros & more"],
  ])("the source of a mail makes both bodies of %s (D-EMAIL)", (_, body, text) => {
    const bodies = mailBodies(body);
    expect(bodies.text).toBe(text);
    expect(bodies.html.trim()).toMatch(/^<[a-z!]/i);
    if (body.includes("four")) expect(bodies.html).toContain("<p>One<br>\ntwo</p>\n<p>Three &amp; &lt;four&gt;</p>");
  });

  it.each([
    ["<style>p{}</style><p>A</p><script>x<y</script><p>B</p>", "A\n\nB"],
    ['<a href="https://example.com/x?a=1&amp;b=2">Buy</a> now', "Buy (https://example.com/x?a=1&b=2) now"],
    ["<a href=https://e.com>https://e.com</a>", "https://e.com"],
    ['<a href="javascript:x">Go</a>', "Go"],
    ["a<br>b<br/>c<!-- d -->e", "a\nb\nce"],
    ["<ul><li>1</li><li>2</li></ul>", "- 1\n- 2"],
    ["<table><tr><td>Shoe</td><td>20</td></tr><tr><td>Sock</td><td>5</td></tr></table>", "Shoe 20\nSock 5"],
    ['<a href="https://e.com/x"><img src="a.png" alt="Shop"></a>', "Shop (https://e.com/x)"],
    ["<h1>Sale</h1><p>Now</p>", "Sale\n\nNow"],
    ["&#8364; &euro; &#x20AC; &nosuch; &amp;lt;", "€ € € &nosuch; &lt;"],
    ["<p>open", "open"],
    ["<", "<"],
    ["a <!-- b", "a"],
  ])("reduces %s to its text (D-EMAIL)", (html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });

  it("the source of a mail leaves out the text of what is nested deeper than 256 elements (D-EMAIL)", () => {
    expect(textOfHtml(`<p>a</p>${"<div>".repeat(255)}x`)).toBe("a\n\nx");
    expect(textOfHtml(`<p>a</p>${"<div>".repeat(50_000)}x`)).toBe("a");
  });

  it("quotes and lists in more than five others are paragraphs in the text of a mail (D-EMAIL)", () => {
    const list = "<ul><li>a</li><li>b</li></ul>";
    expect(textOfHtml(`${"<blockquote>".repeat(4)}${list}`)).toBe("> > > > - a\n> > > > - b");
    expect(textOfHtml(`${"<blockquote>".repeat(5)}${list}`)).toBe("> > > > > a\n> > > > > b");
  });

  it("the text of a mail is at most as long as its HTML (D-EMAIL)", () => {
    const html = "<hr>".repeat(5_000);
    expect(textOfHtml(html)).toHaveLength(html.length);
  });

  it("the source of a mail reads HTML of any shape (D-EMAIL)", () => {
    expect(textOfHtml("<p> a".repeat(50_000)).split("\n\n")).toHaveLength(50_000);
    expect(textOfHtml("<a href='".repeat(50_000))).toBe("");
  });

  it("a title, name or body cannot inject a header or a part (D-EMAIL)", () => {
    const nasty = fc.array(
      fc.constantFrom(
        "\r\n",
        "\n",
        "\r",
        "\0",
        "\u2028",
        "Bcc: all@example.com",
        "é",
        " ",
        "--=_",
        ".",
        "=?",
        '"',
        "x",
      ),
      { maxLength: 40 },
    );
    const allowed = new Set([
      ...["From", "To", "Subject", "Date", "Message-ID", "X-Notification-Id", "X-Subscriber-Id", "MIME-Version"],
      "Content-Type",
    ]);
    fc.assert(
      fc.property(nasty, nasty, nasty, (a, b, c) => {
        const title = a.join("");
        const body = b.join("");
        const source = sourceOf({ title, body }, { from_name: c.join("").replaceAll(/\p{Cc}/gu, "") || "x" });
        const head = source.slice(0, source.indexOf("\r\n\r\n"));
        for (const line of head.split("\r\n").filter((one) => !one.startsWith(" ")))
          expect(allowed).toContain(line.slice(0, line.indexOf(":")));
        expect(source.replaceAll("\r\n", "")).not.toMatch(/[\r\n\0]/);
        const plain = title.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
        expect(readMail(source).subject).toBe(plain);
      }),
      { numRuns: 300 },
    );
  });

  it("the source of a mail keeps lines and words within the limits of mail, without losing a character (D-EMAIL)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), (text) => {
        const lines = `Subject: ${encodedText(text, "Subject")}`.split("\r\n");
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(76);
        const body = text.replaceAll(/\r\n?/g, "\n");
        const source = sourceOf({ body: `x${body}` });
        expect(readMail(source).body).toBe(`x${body}`);
        for (const line of source.split("\r\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(998);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["an address with a line break", { address: { email: "a@example.com\r\nBcc: b@example.com" } }, "invalid_address"],
    ["an address that is none", { address: { email: "ada" } }, "invalid_address"],
    ["a link with a line break", { unsubscribeUrl: "https://e.com/\r\nBcc: b@e.com" }, "invalid_unsubscribe_url"],
    [
      "a link that closes its brackets",
      { unsubscribeUrl: "https://e.com/>,<mailto:a@b.com" },
      "invalid_unsubscribe_url",
    ],
  ])("the source of a mail refuses %s (D-EMAIL)", (_, more, reason) => {
    expect(mailSource(credentials.email, messageFor("email", more), START)).toEqual({ kind: "refused", reason });
  });
});

describe("SES", () => {
  it.each([
    ["ada@example.org", ["Send", "Delivery"]],
    ["bounce@simulator.amazonses.com", ["Send", "Bounce"]],
    ["complaint@simulator.amazonses.com", ["Send", "Delivery", "Complaint"]],
  ])("%s: %j, identified by the tags of the send (D-EMAIL)", async (email, types) => {
    const world = await fresh();
    const events: SesEvent[] = [];
    world.ses.onEvent((event) => events.push(event));
    const sent = await sendBy(openProviders(world.depsFor("test")), "email", { address: { email } });
    expect(events.map(({ eventType }) => eventType)).toEqual(types);
    expect(events[0]?.mail).toMatchObject({
      destination: [email],
      messageId: sent.kind === "accepted" && sent.providerId,
      tags: { tenant: ["tenant-1"], job: [JOB], subscriber: [SUBSCRIBER] },
    });
  });

  it("the provider of mails sends one request, for any answer (D-EMAIL)", async () => {
    const asked: string[] = [];
    const world = await fresh({ hooks: () => ({ count: (service) => void asked.push(service) }) });
    const providers = openProviders(world.depsFor("test"));
    await world.call("POST /_local/faults", { body: { channel: "email", outcome: "rate_limited" } });
    asked.length = 0;
    const reason = "TooManyRequestsException";
    expect(await sendBy(providers, "email")).toEqual({ kind: "retryable", reason, isThrottled: true });
    expect(asked).toEqual(["ses"]);
  });
});
