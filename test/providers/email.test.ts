// E-mail: the MIME source, injection into it, and interrupted SMTP sessions.

import type { Duplex } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SesEvent } from "../../local/aws/index.ts";
import { readMail } from "../../local/providers/mail.ts";
import { encodedText, mailSource } from "../../shared/providers/email.ts";
import { openProviders } from "../../shared/providers/providers.ts";
import { mailBodies, textOfHtml } from "../../shared/rules/mail-body.ts";
import { onLines } from "../support/networks.ts";
import { credentials, JOB, messageFor, SUBSCRIBER, sendBy, verifyBy } from "../support/provider-messages.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

function sourceOf(more: Parameters<typeof messageFor<"email">>[1] = {}, own: object = {}): string {
  const made = mailSource({ ...credentials.email, ...own }, messageFor("email", more), START);
  if ("refused" in made) throw new Error(made.refused);
  return made.source;
}

describe("the source", () => {
  it("D-EMAIL has a text part and an HTML part, and headers that name its send", () => {
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

  it("D-EMAIL a Message-ID that is unique and repeatable for a send", () => {
    const idOf = (source: string) => /^Message-ID: (<[0-9a-f]{32}@example\.com>)\r$/m.exec(source)?.[1];
    expect(idOf(sourceOf())).toBeTypeOf("string");
    expect(idOf(sourceOf())).toBe(idOf(sourceOf({ body: "Something else" })));
    expect(idOf(sourceOf())).not.toBe(idOf(sourceOf({ job: "another" })));
    expect(idOf(sourceOf())).not.toBe(idOf(sourceOf({ subscriber: "another" })));
  });

  it.each([
    ["text with paragraphs", "One\ntwo\n\nThree & <four>", "One\ntwo\n\nThree & <four>"],
    ["HTML", "<p>Hi <b>Ada</b></p>", "Hi Ada"],
    ["HTML after spaces", " \n<!doctype html><p>Hi</p>", "Hi"],
    ["text that begins with a sign", "< 5 euros & more", "< 5 euros & more"],
  ])("D-EMAIL makes both bodies of %s", (_, body, text) => {
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
    ["<ul><li>1</li><li>2</li></ul>", "1\n2"],
    ["&#8364; &euro; &#x20AC; &nosuch; &amp;lt;", "€ € € &nosuch; &lt;"],
    ["<p>open", "open"],
    ["<", ""],
    ["a <!-- b", "a"],
  ])("D-EMAIL reduces %s to its text", (html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });

  it("D-EMAIL reads HTML in one pass, however it is nested", () => {
    expect(textOfHtml("<div>".repeat(50_000) + "x".repeat(50_000))).toHaveLength(50_000);
    expect(textOfHtml("<p> a".repeat(50_000)).split("\n\n")).toHaveLength(50_000);
    expect(textOfHtml("<a href='".repeat(50_000))).toBe("");
  });

  it("D-EMAIL a title, name or body cannot inject a header or a part", () => {
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

  it("D-EMAIL keeps lines and words within the limits of mail, without losing a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), (text) => {
        const encoded = encodedText(text);
        for (const line of encoded.split("\r\n")) expect(line.trim().length).toBeLessThanOrEqual(75);
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
  ])("D-EMAIL refuses %s", (_, more, refused) => {
    expect(mailSource(credentials.email, messageFor("email", more), START)).toEqual({ refused });
  });
});

describe("SES", () => {
  it.each([
    ["ada@example.org", ["Send", "Delivery"]],
    ["bounce@simulator.amazonses.com", ["Send", "Bounce"]],
    ["complaint@simulator.amazonses.com", ["Send", "Delivery", "Complaint"]],
  ])("D-EMAIL %s: %j, identified by the tags of the send", async (email, types) => {
    const world = await fresh();
    const events: SesEvent[] = [];
    world.ses.onEvent((event) => events.push(event));
    const sent = await sendBy(openProviders(world.depsFor("test")), "email", { address: { email } });
    expect(events.map(({ eventType }) => eventType)).toEqual(types);
    expect(events[0]?.mail).toMatchObject({
      destination: [email],
      messageId: sent.status === "accepted" && sent.providerId,
      tags: { tenant: ["tenant-1"], job: [JOB], subscriber: [SUBSCRIBER] },
    });
  });

  it("D-EMAIL sends one request, for any answer", async () => {
    const asked: string[] = [];
    const world = await fresh({ hooks: () => ({ count: (service) => void asked.push(service) }) });
    const providers = openProviders(world.depsFor("test"));
    await world.call("POST /_local/faults", { body: { channel: "email", outcome: "rate_limited" } });
    asked.length = 0;
    const reason = "TooManyRequestsException";
    expect(await sendBy(providers, "email")).toEqual({ status: "retryable", reason, isThrottled: true });
    expect(asked).toEqual(["ses"]);
  });
});

/** A server that answers each line with the next one of a script; a function ends the connection. */
function scripted(...script: (string | ((line: Duplex) => void))[]) {
  const heard: string[] = [];
  const network = onLines((line) => {
    const next = () => {
      const step = script.shift();
      if (typeof step === "function") step(line);
      else if (step !== undefined) line.write(`${step}\r\n`);
    };
    line.on("data", (chunk: Buffer) => {
      heard.push(chunk.toString());
      if (chunk.toString().endsWith("\r\n")) next();
    });
    next();
  });
  return { network, heard };
}
const cut = (line: Duplex) => void line.destroy();
const hello = ["220 hi", "250-me\r\n250-STARTTLS\r\n250 AUTH PLAIN", "220 go", "250-me\r\n250 AUTH PLAIN"];
const smtp = { provider: "smtp", host: "smtp.example.com" } as const;

async function talk(script: (string | ((line: Duplex) => void))[], own: object = {}) {
  const world = await fresh();
  const { network, heard } = scripted(...script);
  const providers = openProviders({ ...world.depsFor("test"), network });
  return { outcome: await sendBy(providers, "email", {}, { ...smtp, ...own }), heard };
}

describe("SMTP", () => {
  it.each<[string, (string | ((line: Duplex) => void))[], object]>([
    ["no greeting", [cut], { status: "retryable" }],
    ["a busy server", ["421 later"], { status: "retryable" }],
    ["a server that refuses", ["554 no"], { status: "rejected" }],
    ["no TLS", ["220 hi", "250 me"], { status: "rejected", reason: "the server offers no TLS" }],
    ["TLS that does not come", ["220 hi", "250-me\r\n250 STARTTLS", "454 later"], { status: "retryable" }],
    ["a sender it refuses", [...hello, "550 5.7.1 no"], { status: "rejected" }],
    ["a mailbox that is not there", [...hello, "250 ok", "550 5.1.1 unknown"], { addressDead: true }],
    ["a mailbox that is full", [...hello, "250 ok", "452 4.2.2 full"], { status: "retryable" }],
    ["a cut after the recipient", [...hello, "250 ok", cut], { status: "retryable" }],
    ["no DATA", [...hello, "250 ok", "250 ok", "451 later"], { status: "retryable" }],
    ["a cut before the mail", [...hello, "250 ok", "250 ok", cut], { status: "retryable" }],
    ["a cut after the mail", [...hello, "250 ok", "250 ok", "354 go", cut], { status: "unknown" }],
    ["a refusal of the mail", [...hello, "250 ok", "250 ok", "354 go", "554 spam"], { status: "rejected" }],
    ["a later of the mail", [...hello, "250 ok", "250 ok", "354 go", "451 later"], { status: "retryable" }],
    ["a mail that is taken", [...hello, "250 ok", "250 ok", "354 go", "250 2.0.0 queued"], { status: "accepted" }],
  ])("D-EMAIL %s", async (_, script, expected) => {
    const { outcome } = await talk(script);
    expect(outcome).toMatchObject(expected);
  });

  it("D-EMAIL logs in only under TLS, and doubles the dot of a line", async () => {
    const own = { username: "u", password: "p" };
    const taken = ["235 ok", "250 ok", "250 ok", "354 go", "250 ok", "221 bye"];
    const { outcome, heard } = await talk([...hello, ...taken], own);
    expect(outcome.status).toBe("accepted");
    const login = `AUTH PLAIN ${Buffer.from("\0u\0p").toString("base64")}\r\n`;
    expect(heard.slice(0, 6)).toEqual([
      ...["EHLO example.com\r\n", "STARTTLS\r\n", "EHLO example.com\r\n", login],
      ...["MAIL FROM:<news@example.com>\r\n", "RCPT TO:<ada@example.org>\r\n"],
    ]);
    const refused = await talk([...hello, "535 5.7.8 wrong"], own);
    expect(refused.outcome).toEqual({ status: "rejected", reason: "535 5.7.8 wrong" });
    const world = await fresh();
    await sendBy(openProviders(world.depsFor("test")), "email", { body: ".dot\n..two\n." }, smtp);
    expect((await world.call("GET /_local/outbox")).body.items[0].body).toBe(".dot\n..two\n.");
  });

  it("CRD-8 returns the server's message of a refusal", async () => {
    const world = await fresh();
    const { network } = scripted(...hello, "535 5.7.8 Wrong password");
    const providers = openProviders({ ...world.depsFor("test"), network });
    expect(await verifyBy(providers, "email", { ...smtp, username: "u", password: "p" })).toEqual({
      ok: false,
      error: "Wrong password",
    });
  });

  it("D-EMAIL CHN-7 reads the server's message as UTF-8, wherever its bytes were cut", async () => {
    const world = await fresh();
    const bytes = Buffer.from("535 5.7.8 密码错误 ✗\r\n");
    const inPieces = (line: Duplex) => {
      for (const byte of bytes) line.write(Buffer.of(byte));
    };
    const { network } = scripted(...hello, inPieces);
    const providers = openProviders({ ...world.depsFor("test"), network });
    expect(await verifyBy(providers, "email", { ...smtp, username: "u", password: "p" })).toEqual({
      ok: false,
      error: "密码错误 ✗",
    });
  });

  it("T4 never connects to a mail server inside a network", async () => {
    const world = await fresh();
    for (const host of ["localhost", "127.0.0.1", "[::1]", "10.0.0.5", "mail.internal", "169.254.169.254"]) {
      const outcome = await sendBy(openProviders(world.depsFor("test")), "email", {}, { ...smtp, host });
      expect(outcome).toMatchObject({ status: "rejected" });
    }
    expect(await sendBy(openProviders(world.depsFor("test")), "email", {}, { ...smtp, port: 6379 })).toMatchObject({
      status: "rejected",
      reason: "the host must use port 25 or 465 or 587 or 2525",
    });
    expect((await world.call("GET /_local/meter")).body.providers.requests).toBe(0);
  });
});
